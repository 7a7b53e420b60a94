#include "core/redis/policy/kept_policy.h"

// System.
#include <array>
// fq, below us.
#include "core/base/text/escape.h"
// fq, this room.
#include "core/redis/records/base32.h"

namespace fq {

namespace {

constexpr size_t kLetters = 7;  // 35 bits
constexpr int64_t kLonger = -1;
constexpr std::string_view kAnyVersion = "any", kThisVersion = "this";

}  // namespace

std::string KeptPolicy::seal_of(const std::string& text) const {
  if (access_.command_key == nullptr) return {};
  return access_.command_key->mac("fq: a policy of all queues, 1\n" + text);
}

Result<PolicyText> KeptPolicy::read() {
  const std::string key = access_.place.key("policy");
  const std::array<std::string_view, 5> words = {"HMGET", key, "version", "text", "seal"};
  FQ_TRY_SET(const Reply reply, access_.link->call(key, words));
  PolicyText found;
  if (reply.at(0).is_text()) found.version = reply.at(0).text;
  found.text = reply.at(1).text;
  const std::string seal = seal_of(found.text);
  found.may_vouch = !seal.empty();
  found.may_command = !seal.empty() && are_same(seal, reply.at(2).text);
  return found;
}

Result<std::string> KeptPolicy::replace(const std::string& text,
                                        const std::optional<std::string>& if_version) {
  const std::string key = access_.place.key("policy"), letters = draw_base32(kLetters), seal = seal_of(text);
  const std::string_view which = if_version ? kThisVersion : kAnyVersion;
  const std::string expected = if_version.value_or("");
  const auto say = [&](std::string_view function) {
    return call_function(*access_.link, *access_.library, function, std::array<std::string_view, 1>{key},
                         std::array<std::string_view, 5>{which, expected, letters, text, seal});
  };
  FQ_TRY_SET(Reply reply, say("shorten"));  // also while the server's memory is full
  if (reply.at(0).number == kLonger) {
    FQ_TRY_SET(reply, say("policy"));
  }
  if (reply.at(0).number == 1) return reply.at(1).text;
  return Error{ErrorKind::later,
               "fq.toml: is of version " + in_quotes(reply.at(1).text) + " by now, not " +
                   in_quotes(expected) + "; nothing was changed",
               0};
}

}  // namespace fq
