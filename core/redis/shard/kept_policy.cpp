#include "core/redis/shard/kept_policy.h"

// System.
#include <array>
// fq, this room.
#include "core/redis/records/base32.h"
#include "core/redis/wire/answer.h"

namespace fq {

namespace {

constexpr size_t kLetters = 7;  // 35 bits

}  // namespace

Result<KeptPolicy> KeptPolicy::open(const ServerAccess& access) {
  FQ_TRY_SET(std::unique_ptr<Server> server, Server::open(access.place, access.password));
  return KeptPolicy(access, std::move(server));
}

std::string KeptPolicy::seal_of(const std::string& text) const {
  if (access_.command_key == nullptr) return {};
  return access_.command_key->mac("fq: a policy of all queues, 1\n" + text);
}

Result<PolicyText> KeptPolicy::read() {
  const std::string key = access_.place.key("policy");
  FQ_TRY_SET(const Reply reply,
             server_->call(std::array<std::string_view, 5>{"HMGET", key, "version", "text", "seal"}));
  if (reply.kind == Reply::Kind::error) return error_of_refusal(server_->name(), "HMGET", reply.text);
  PolicyText found;
  if (reply.at(0).is_text()) found.version = reply.at(0).text;
  found.text = reply.at(1).text;
  const std::string seal = seal_of(found.text);
  found.may_command = !seal.empty() && are_same(seal, reply.at(2).text);
  return found;
}

Result<std::string> KeptPolicy::replace(const std::string& text,
                                        const std::optional<std::string>& if_version) {
  const std::string key = access_.place.key("policy"), letters = draw_base32(kLetters), seal = seal_of(text);
  const std::string expected = if_version.value_or("");
  FQ_TRY_SET(const Reply reply,
             call_function(*server_, *access_.library, "policy", std::array<std::string_view, 1>{key},
                           std::array<std::string_view, 4>{expected, letters, text, seal}, false));
  if (reply.at(0).number == 1) return reply.at(1).text;
  return Error{
      ErrorKind::later,
      "fq.toml: is of version " + reply.at(1).text + " by now, not " + expected + "; nothing was changed", 0};
}

}  // namespace fq
