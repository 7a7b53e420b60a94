#include "core/redis/shard/kept_policy.h"

// System.
#include <array>
// fq, this room.
#include "core/redis/records/base32.h"

namespace fq {

namespace {

constexpr size_t kLetters = 7;  // 35 bits

}  // namespace

Result<PolicyText> KeptPolicy::read() {
  const std::string key = access_.place.key("policy");
  FQ_TRY_SET(const Reply reply,
             access_.link->call(key, std::array<std::string_view, 4>{"HMGET", key, "version", "text"}));
  PolicyText found;
  if (reply.at(0).is_text()) found.version = reply.at(0).text;
  found.text = reply.at(1).text;
  return found;
}

Result<std::string> KeptPolicy::replace(const std::string& text,
                                        const std::optional<std::string>& if_version) {
  const std::string key = access_.place.key("policy"), letters = draw_base32(kLetters);
  const std::string expected = if_version.value_or("");
  FQ_TRY_SET(const Reply reply,
             call_function(*access_.link, *access_.library, "policy", std::array<std::string_view, 1>{key},
                           std::array<std::string_view, 3>{expected, letters, text}));
  if (reply.at(0).number == 1) return reply.at(1).text;
  return Error{
      ErrorKind::later,
      "fq.toml: is of version " + reply.at(1).text + " by now, not " + expected + "; nothing was changed", 0};
}

}  // namespace fq
