// message_checks - the checks that a message must pass to be taken at all.
#pragma once

// fq, below us.
#include "core/api/queue.h"

namespace fq {

inline bool is_keyed(const NewMessage& message) {
  return !message.unique.empty() || !message.debounce.empty();
}
inline bool comes_after(const NewMessage& message) {
  return !message.after.empty() || !message.after_any.empty();
}
/// A key, or messages that it comes after.
inline bool has_terms(const NewMessage& message) { return is_keyed(message) || comes_after(message); }

/// Nothing is said of it but its tenant, payload and priority, as of most. Asked all at once, since as a rule
/// each answer is the same.
inline bool is_bare(const NewMessage& message) {
  const auto any = [](const auto&... given) { return (size_t{given.has_value()} | ...); };
  const size_t values = any(message.delay_ms, message.at_wall_ms, message.attempts_max, message.command,
                            message.timeout_ms, message.keep_ms, message.call, message.ttl_ms);
  const size_t texts =
      message.key.size() | message.unique.size() | message.debounce.size() | message.schedule.size();
  return (values | texts) == 0 && message.tags.empty() && !comes_after(message);
}

Result<void> check_message(const NewMessage& message, uint64_t payload_bytes_max);
/// A fault of this item of a batch.
inline Error at_item(Error error, size_t item) { return error.item = item, error; }

/// A place for each, or none.
inline Result<void> check_ends(const EndRequest& request) {
  if (request.ends.empty() || request.ends.size() == request.ids.size()) return {};
  return Error{ErrorKind::usage, "ends: there is not a place for each message", 0};
}

Result<void> check_step_name(std::string_view name);

/// The values that a push would give of it: all but its past and its dependencies.
NewMessage values_of(const ExportedMessage& message);
/// The fault of a message that another queue is said to have exported; "": none.
std::string import_fault(const ExportedMessage& message, uint64_t payload_bytes_max);

/// Of a push that a limit refused and that did not ask to wait.
inline Error but_could_wait(Error error) { return error.could_wait = true, error; }

}  // namespace fq
