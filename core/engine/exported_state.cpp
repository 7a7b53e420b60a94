#include "core/engine/exported_state.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/clock.h"

namespace fq {

bool waits(const ExportedMessage& message) {
  return number(message.behind) != 0 || std::any_of(message.after.begin(), message.after.end(),
                                                    [](const ExportedWait& wait) { return !wait.closed; });
}

void settle_state(int64_t now_wall_ms, ExportedMessage& message) {
  if (message.state != State::held || waits(message)) return;
  const int64_t due_wall_ms = message.delay_ms > 0 ? later(now_wall_ms, message.delay_ms)
                                                   : std::max(message.due_wall_ms, now_wall_ms);
  message.state = due_wall_ms > now_wall_ms ? State::delayed : State::ready;
  message.since_wall_ms = due_wall_ms;
}

std::optional<ExportedMessage> settled(int64_t now_wall_ms, const ExportedMessage& message) {
  if (message.state != State::held || waits(message)) return std::nullopt;
  std::optional<ExportedMessage> copy(message);
  settle_state(now_wall_ms, *copy);
  return copy;
}

}  // namespace fq
