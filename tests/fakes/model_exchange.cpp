// model_exchange - a message goes out with all that is known of it, and one of another queue comes in.
#include "tests/fakes/model.h"

// System.
#include <algorithm>

namespace fq::test {

bool Model::is_unfinished(MessageId id) {
  const State state = find(id)->info.state;
  return state != State::dead && !is_finished(state);
}

/// What runs stands there as if it did not; where its job sleeps, as that has left it.
void Model::tell_place(const Message& message, ExportedMessage& to) {
  const int64_t wall_ms = clock.wall_ms() - clock.boot_ms();
  to.state = message.info.state;
  to.since_wall_ms = message.since_ms + wall_ms;
  to.due_wall_ms = message.held_due_ms + wall_ms;
  to.delay_ms = message.held_delay_ms.value_or(0);
  for (const Waited& each : message.waits) {
    if (each.id != message.behind || !each.any) to.after.push_back({each.id, each.any, each.closed && to.state != State::dead});
  }
  if (message.info.state == State::held && number(message.behind) != 0 && is_unfinished(message.behind))
    to.behind = message.behind;
  if (message.info.state == State::delayed) to.since_wall_ms = *message.timer + wall_ms;
  if (message.info.state != State::leased) return;
  to.state = State::ready;
  to.since_wall_ms = clock.wall_ms();
  if (!message.suspended) return;
  for (const MessageId id : message.step_waits) to.after.push_back({id, true, false});
  if (!to.after.empty()) to.state = State::held;
  if (!to.after.empty() || to.due_wall_ms <= clock.wall_ms()) return;
  to.state = State::delayed;
  to.since_wall_ms = to.due_wall_ms;
}

void Model::tell_steps(const Message& message, ExportedMessage& to) {
  for (const Step& step : message.steps) {
    ExportedStep& told = to.steps.emplace_back();
    told.name = step.info.name;
    told.kind = step.info.kind;
    told.at_wall_ms = step.info.at_wall_ms;
    told.output = step.output;
    told.child = step.child;
    told.open = !step.over;
    told.failed = !step.all_acked;
    for (const MessageId id : step.ids) {
      const State state = find(id)->info.state;
      if (!is_finished(state)) told.ids.push_back(id);
      told.failed = told.failed || (!step.over && state == State::cancelled);
    }
  }
}

std::optional<ExportedMessage> Model::exported(MessageId id) {
  fire_timers();
  const Message* const message = find(id);
  if (message == nullptr || is_finished(message->info.state)) return std::nullopt;
  ExportedMessage to;
  to.id = id;
  to.tenant = message->info.tenant;
  to.payload = *message->info.payload;
  to.priority = message->info.priority;
  to.key = message->key;
  if (message->info.attempts_max != 0) to.attempts_max = message->info.attempts_max;
  to.attempts_in_force = message->attempts_in_force;
  to.attempts = message->info.attempts;
  to.deliveries = message->info.deliveries;
  to.crashes = message->info.crashes;
  to.pushed_at_wall_ms = *message->info.pushed_at_wall_ms;
  to.ttl_ms = message->ttl_ms.value_or(0);
  const bool gets_key = message->info.state == State::dead || number(message->behind) != 0;
  if (!message->key_debounced && (message->holds_key || gets_key))
    to.unique = message->unique_key, to.unique_for_ms = message->unique_for_ms;
  if (message->key_debounced && message->holds_key) to.debounce = message->unique_key;
  to.expired = message->expired;
  tell_place(*message, to);
  tell_steps(*message, to);
  return to;
}

/// Its key, and what it comes after.
void Model::tie(Message& message, const ExportedMessage& from) {
  const bool dead = from.state == State::dead;
  message.key_debounced = !from.debounce.empty();
  message.unique_key = message.key_debounced ? from.debounce : from.unique;
  message.unique_for_ms = from.unique_for_ms;
  message.behind = from.behind;
  message.holds_key = !message.unique_key.empty() && !dead && number(from.behind) == 0;
  const auto add = [&](MessageId id, bool any, bool closed) {
    message.waits.push_back({id, any, closed, ++last_wait_});
    message.info.after.push_back(id);
    if (!closed && !is_unfinished(id)) note_ended(id);
  };
  for (const ExportedWait& wait : from.after) {
    if (!wait.closed || !dead) add(wait.id, wait.any, wait.closed);
  }
  const bool is_named = std::any_of(from.after.begin(), from.after.end(),
                                    [&](const ExportedWait& wait) { return wait.id == from.behind; });
  if (number(from.behind) != 0 && !is_named) add(from.behind, true, false);
}

std::optional<MessageId> Model::import(const ExportedMessage& told) {
  fire_timers();
  ExportedMessage from = told;
  const bool waits =
      number(from.behind) != 0 || std::any_of(from.after.begin(), from.after.end(),
                                              [](const ExportedWait& wait) { return !wait.closed; });
  if (from.state == State::held && !waits) {
    from.since_wall_ms = std::max(from.due_wall_ms, clock.wall_ms()) + from.delay_ms;
    from.state = from.since_wall_ms > clock.wall_ms() ? State::delayed : State::ready;
    from.after.clear();
  }
  const bool debounced = !from.debounce.empty();
  const std::string& key = debounced ? from.debounce : from.unique;
  const bool keyed = !key.empty() && from.state != State::dead && number(from.behind) == 0;
  if (keyed && holder(from.tenant, key, debounced) != nullptr) return std::nullopt;
  meet(from.tenant);
  Message& message = messages.emplace_back();
  message.info.id = MessageId{messages.size()};
  message.info.tenant = from.tenant;
  message.info.payload = from.payload;
  message.info.priority = from.priority;
  message.info.attempts_max = from.attempts_max.value_or(0);
  message.info.pushed_at_wall_ms = from.pushed_at_wall_ms;
  message.info.attempts = from.attempts;
  message.info.deliveries = from.deliveries;
  message.info.crashes = from.crashes;
  message.info.state = State::held;  // move() takes it out of nothing
  message.attempts_in_force = from.attempts_in_force;
  if (from.ttl_ms != 0) message.ttl_ms = from.ttl_ms;
  if (settings.order != Order::fifo) message.key = from.key, message.rank = from.priority;
  const int64_t boot_ms = clock.boot_ms() - clock.wall_ms();
  message.since_ms = from.since_wall_ms + boot_ms;
  message.held_due_ms = std::max<int64_t>(0, from.due_wall_ms + boot_ms);
  if (from.delay_ms != 0) message.held_delay_ms = from.delay_ms;
  for (const ExportedStep& step : from.steps)
    message.steps.push_back({{step.name, step.kind, step.at_wall_ms, step.output.size(), step.child},
                             step.output,
                             step.child,
                             !step.open,
                             !step.failed,
                             step.ids});
  note(message, "arrived");
  tie(message, from);
  const MessageId id = message.info.id;
  if (from.state == State::ready) ready_since(message, message.since_ms);
  if (from.state == State::delayed) come_back(message, message.since_ms - clock.boot_ms());
  if (from.state == State::dead) message.info.state = State::dead, message.expired = from.expired;
  return id;
}

}  // namespace fq::test
