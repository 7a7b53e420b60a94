#include "core/api/message.h"

// fq, below us.
#include "core/base/assert.h"

namespace fq {

size_t batch_bytes(const NewMessage& message) {
  // Lengths, numbers and check sums around a message and around a tag.
  constexpr size_t kMessageOverhead = 80;
  constexpr size_t kTagOverhead = 8;
  constexpr size_t kCommandOverhead = 64;
  constexpr size_t kWordOverhead = 4;
  constexpr size_t kTermsOverhead = 32;
  size_t bytes = kMessageOverhead + message.tenant.size() + message.key.size();
  for (const Tag& tag : message.tags) bytes += kTagOverhead + tag.name.size() + tag.value.size();
  const size_t ids = message.after.size() + message.after_any.size();
  if (message.ttl_ms || !message.unique.empty() || !message.debounce.empty() || ids != 0)
    bytes += kTermsOverhead + message.unique.size() + message.debounce.size() + 8 * (ids + 1);
  if (message.command || message.timeout_ms || message.keep_ms || message.call) bytes += kCommandOverhead;
  if (message.command) {
    bytes += message.command->cwd.size();
    for (const std::string& word : message.command->argv) bytes += kWordOverhead + word.size();
    for (const std::string& word : message.command->env) bytes += kWordOverhead + word.size();
  }
  if (message.payload.size() <= kInlinePayloadBytesMax) bytes += message.payload.size();
  return bytes;
}

Error unknown_before(MessageId id) {
  return Error{
      ErrorKind::missing,
      "message " + std::to_string(number(id)) + ": not known (any more), so nothing can come after it", 0};
}

std::string_view name_of(State state) {
  switch (state) {
    case State::ready:
      return "ready";
    case State::delayed:
      return "delayed";
    case State::leased:
      return "leased";
    case State::held:
      return "held";
    case State::dead:
      return "dead";
    case State::acked:
      return "acked";
    case State::cancelled:
      return "cancelled";
    case State::moved:
      return "moved";
  }
  FQ_ASSERT(false && "a state without a name");
  return "";
}

}  // namespace fq
