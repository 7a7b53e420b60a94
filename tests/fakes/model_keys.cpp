// model_keys - keys of --unique and --debounce: who holds one, and what a second push does.
#include "tests/fakes/model.h"

// System.
#include <algorithm>

namespace fq::test {

bool Model::holds_key(const Message& message) const {
  if (!message.holds_key) return false;
  return message.info.state != State::acked || clock.boot_ms() < message.key_until_ms;
}

Model::Message* Model::holder(const std::string& tenant, const std::string& key, bool debounced) {
  const auto found = std::find_if(messages.begin(), messages.end(), [&](const Message& each) {
    return each.key_debounced == debounced && each.unique_key == key && each.info.tenant == tenant &&
           holds_key(each);
  });
  return found == messages.end() ? nullptr : &*found;
}

PushResult Model::put(const NewMessage& from) {
  fire_timers();
  const bool debounced = !from.debounce.empty();
  const std::string key(debounced ? from.debounce : from.unique);
  if (key.empty()) return {PushStatus::accepted, push(from)};
  Message* there = holder(std::string(from.tenant), key, debounced);
  if (there != nullptr && !debounced) {
    if (from.unique_mode == UniqueMode::keep) return {PushStatus::duplicate, there->info.id};
    if (there->info.state != State::acked) return put_beside(*there, from);
    there->holds_key = false;  // it has ended: it does not count
    there = nullptr;
  }
  if (there != nullptr) {
    const int64_t pushed_ms = *there->info.pushed_at_wall_ms - clock.wall_ms() + clock.boot_ms();
    const int64_t latest_ms = from.max_wait_ms ? pushed_ms + *from.max_wait_ms : kNever;
    move(*there, State::delayed, std::min(clock.boot_ms() + from.quiet_ms, latest_ms));
    there->info.due_at_wall_ms = *there->timer - clock.boot_ms() + clock.wall_ms();
    replace(*there, from);
    return {PushStatus::debounced, there->info.id};
  }
  NewMessage first = from;
  if (debounced) first.delay_ms = std::min(from.quiet_ms, from.max_wait_ms.value_or(kNever));
  return {PushStatus::accepted, take_key(push(first), from, key, debounced)};
}

MessageId Model::take_key(MessageId id, const NewMessage& from, const std::string& key, bool debounced) {
  Message& message = *find(id);
  message.unique_key = key;
  message.key_debounced = debounced;
  message.unique_for_ms = from.unique_for_ms;
  message.holds_key = message.info.state != State::dead && number(message.behind) == 0;
  return id;
}

PushResult Model::put_beside(Message& there, const NewMessage& from) {
  for (Message& each : messages) {
    if (each.behind != there.info.id || each.info.state != State::held) continue;
    replace(each, from);
    return {PushStatus::replaced, each.info.id};
  }
  if (there.info.state == State::leased) {
    const MessageId behind = there.info.id;
    return {PushStatus::accepted, take_key(push(from, behind), from, std::string(from.unique), false)};
  }
  if (from.unique_mode == UniqueMode::after) return {PushStatus::duplicate, there.info.id};
  replace(there, from);
  return {PushStatus::replaced, there.info.id};
}

void Model::replace(Message& message, const NewMessage& from) {
  message.info.payload = std::string(as_text(from.payload));
  message.info.tags = from.tags;
  message.info.command = from.command;
  message.timeout_ms = from.timeout_ms;
  message.keep_ms = from.keep_ms;
  message.call = from.call;
  note(message, "replaced");
}

void Model::note_key(Message& message, State state) {
  const bool ends = state == State::dead || is_finished(state);
  if (state == State::dead) message.behind = {};
  if (ends && message.holds_key && !message.key_debounced) {
    for (Message& each : messages) {
      if (each.behind != message.info.id || each.info.state != State::held) continue;
      each.holds_key = true;
      message.holds_key = false;
    }
  }
  if (message.key_debounced && state != State::delayed) message.holds_key = false;
  if (state == State::dead || state == State::cancelled) message.holds_key = false;
  if (state == State::acked) message.key_until_ms = clock.boot_ms() + message.unique_for_ms;
}

void Model::regain_key(Message& message) {
  if (message.unique_key.empty() || message.key_debounced) return;
  message.holds_key = holder(message.info.tenant, message.unique_key, false) == nullptr || message.holds_key;
}

}  // namespace fq::test
