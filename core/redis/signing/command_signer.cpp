#include "core/redis/signing/command_signer.h"

// System.
#include <algorithm>
#include <random>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/text/duration.h"

namespace fq {

namespace {

std::string drawn_salt() {
  std::random_device random;
  std::string salt;
  while (salt.size() < kSignatureSaltBytes) salt += static_cast<char>(random());
  return salt;
}

int64_t due_of(const NewMessage& message, int64_t now_wall_ms) {
  if (message.at_wall_ms) return std::min(*message.at_wall_ms, kLatestMs);
  if (message.delay_ms) return later(now_wall_ms, *message.delay_ms);
  if (message.debounce.empty()) return now_wall_ms;
  return later(now_wall_ms, std::max(message.quiet_ms, message.max_wait_ms.value_or(0)));
}

}  // namespace

Error lacks_command_key(std::string_view object) {
  return Error{ErrorKind::config,
               std::string(object) +
                   ": commands on a server are signed, and there is no key for that; make a file (head -c 32 "
                   "/dev/urandom | base64), for yourself alone (chmod 600), and name it in "
                   "FQ_REDIS_COMMAND_KEY_FILE, here and where workers run",
               0};
}

Result<std::string> CommandSigner::signed_at(const NewMessage& message, Signature::Of of,
                                             int64_t at_wall_ms) const {
  if (!message.command) return std::string();
  if (!has_key()) return lacks_command_key("command");
  Signature signature;
  signature.of = of;
  signature.key_name = key_->name();
  signature.at_wall_ms = at_wall_ms;
  signature.salt = drawn_salt();
  signature.mac = key_->mac(signed_text(queue_, message, signature));
  return signature_bytes(signature);
}

Result<std::string> CommandSigner::sign(const NewMessage& message, int64_t due_wall_ms) const {
  const int64_t now_wall_ms = clock_->wall_ms();
  const int64_t at_wall_ms = std::max({now_wall_ms, due_of(message, now_wall_ms), due_wall_ms});
  return signed_at(message, Signature::Of::push, at_wall_ms);
}

Result<std::string> CommandSigner::sign_schedule(const NewMessage& message) const {
  return signed_at(message, Signature::Of::schedule, clock_->wall_ms());
}

Result<std::string> CommandSigner::sign_again(const NewMessage& message, std::string_view signature) const {
  const std::optional<Signature> before = read_signature(signature);
  const bool has_age = before && before->of == Signature::Of::push;
  return signed_at(message, Signature::Of::push, has_age ? before->at_wall_ms : clock_->wall_ms());
}

std::string CommandSigner::fault(const NewMessage& message, std::string_view signature,
                                 int64_t age_ms) const {
  if (signature.empty()) return "its command is not signed";
  const std::optional<Signature> read = read_signature(signature);
  if (!read) return "its command is signed in no way that this fq knows";
  if (read->key_name != key_->name()) return "its command is signed with another key";
  if (!are_same(read->mac, key_->mac(signed_text(queue_, message, *read))))
    return "its command is signed for another queue, tenant or schedule, or it or its payload was changed";
  const int64_t old_ms = clock_->wall_ms() - read->at_wall_ms;
  if (read->of == Signature::Of::schedule || old_ms <= age_ms) return "";
  return "its command was signed " + format_duration(old_ms / 1'000 * 1'000) +
         " ago, and command_age of the queue is " + format_duration(age_ms);
}

}  // namespace fq
