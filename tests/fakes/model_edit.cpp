// model_edit - a message gets other values.
#include "tests/fakes/model.h"

// System.
#include <algorithm>

namespace fq::test {

void Model::set_time(Message& message, const MessagePatch& patch) {
  const int64_t delay_ms = wait_ms(patch.at_wall_ms, patch.delay_ms);
  if (message.info.state == State::held) {
    message.held_delay_ms = fitting(patch.delay_ms);
    message.held_due_ms = clock.boot_ms() + delay_ms;
  } else if (delay_ms > 0 || message.info.state == State::delayed) {
    come_back(message, delay_ms);
  }
}

SettleStatus Model::edit(MessageId id, const MessagePatch& patch) {
  fire_timers();
  Message* found = find(id);
  if (found == nullptr || is_finished(found->info.state)) return SettleStatus::gone;
  Message& message = *found;
  if (message.info.state == State::leased) return SettleStatus::stale;
  if (is_empty(patch)) return SettleStatus::ok;
  if (patch.payload) message.info.payload = std::string(as_text(*patch.payload));
  if (patch.priority) message.info.priority = message.rank = *patch.priority;
  if (patch.key) message.key = *patch.key;
  if (patch.attempts_max) message.info.attempts_max = patch.attempts_max->value_or(0);
  if (patch.attempts_max && !*patch.attempts_max) message.attempts_in_force = 0;
  if (patch.timeout_ms) message.timeout_ms = *patch.timeout_ms;
  if (patch.keep_ms) message.keep_ms = fitting(*patch.keep_ms);
  for (const TagPatch& tag : patch.tags) {
    std::erase_if(message.info.tags, [&](const Tag& each) { return each.name == tag.name; });
    if (tag.value) message.info.tags.push_back({tag.name, *tag.value});
  }
  if (patch.command) message.info.command = *patch.command;
  if (patch.ttl_ms) message.ttl_ms = fitting(*patch.ttl_ms);
  if (patch.delay_ms || patch.at_wall_ms) set_time(message, patch);
  if (message.info.state == State::ready) {
    message.timer = end_of_wait(message);
  }
  note(message, "edited");
  settle_held();
  return SettleStatus::ok;
}

}  // namespace fq::test
