// model - the life of a message: pushed, leased, settled, moved by timers.
#include "tests/fakes/model.h"

// System.
#include <algorithm>
#include <set>

namespace fq::test {

MessageId Model::push(const NewMessage& from, MessageId behind) {
  fire_timers();
  meet(std::string(from.tenant));
  Message& message = messages.emplace_back();
  message.info.id = MessageId{messages.size()};
  message.info.tenant = from.tenant;
  message.info.state = State::held;  // neither ready nor with a timer: move() takes it out of nothing
  message.info.priority = from.priority;
  message.info.tags = from.tags;
  message.info.schedule = from.schedule;
  if (!from.schedule.empty()) message.info.scheduled_at_wall_ms = from.scheduled_at_wall_ms;
  message.info.command = from.command;
  message.timeout_ms = from.timeout_ms;
  message.keep_ms = fitting(from.keep_ms);
  message.call = from.call;
  message.ttl_ms = fitting(from.ttl_ms);
  message.info.attempts_max = from.attempts_max.value_or(0);  // 0: the queue's
  message.info.pushed_at_wall_ms = clock.wall_ms();
  message.info.payload = std::string(as_text(from.payload));
  if (settings.order != Order::fifo) message.key = from.key, message.rank = from.priority;
  note(message, "pushed");
  const int64_t delay_ms = wait_ms(from.at_wall_ms, from.delay_ms);
  hold(message, from, behind);
  message.held_due_ms = clock.boot_ms() + delay_ms;
  const MessageId id = message.info.id;
  if (message.waits.empty()) come_back(message, delay_ms);
  return id;
}

std::vector<Delivery> Model::lease(const LeaseRequest& request) {
  fire_timers();
  std::vector<Delivery> deliveries;
  uint64_t bytes = 0;
  std::string leaf;   // whose group is being taken
  uint64_t left = 0;  // of it
  while (!request.look) {
    Message* message = left > 0 && !turns_.is_blocked(leaf) ? first_of(leaf) : nullptr;
    if (left == 0 && deliveries.size() < request.want) message = next(request.tenant);
    const bool fits = message != nullptr &&
                      (deliveries.empty() || bytes + message->info.payload->size() <= request.bytes_max);
    if (fits) {
      bytes += message->info.payload->size();
      deliveries.push_back(deliver(*message, request, left > 0));
    }
    if (!fits && left == 0) break;
    if (!request.grouped) continue;
    if (left > 0) {
      left = fits ? left - 1 : 0;
    } else {
      leaf = message->info.tenant + "/";
      left = std::min({std::max<uint64_t>(request.group_max, 1), settings.batch_max, 1 + ready_in(leaf)}) - 1;
    }
    if (left == 0) gather(leaf);
  }
  return deliveries;
}

uint64_t Model::ready_in(const std::string& leaf) const {
  return static_cast<uint64_t>(std::count_if(messages.begin(), messages.end(), [&](const Message& each) {
    return each.info.state == State::ready && each.info.tenant + "/" == leaf;
  }));
}

void Model::gather(const std::string& leaf) {
  int64_t since_ms = kNever;
  for (const Message& each : messages) {
    const bool is_there = each.info.state == State::ready && each.info.tenant + "/" == leaf;
    if (is_there) since_ms = std::min(since_ms, each.since_ms);
  }
  if (since_ms != kNever && settings.linger_ms > 0) turns_.gather(leaf, since_ms, clock.boot_ms());
}

Delivery Model::deliver(Message& message, const LeaseRequest& request, bool more) {
  const int64_t hold_ms = request.hold_ms.value_or(settings.lease_ms);
  const bool timed = request.hold == Hold::duration;
  const std::string own = message.info.tenant + "/";
  note_key(message, State::leased);
  message.start = turns_.charge(own, request.tenant, message.info.payload->size(), more);
  message.began_ms = clock.boot_ms();
  message.run_us.reset();
  if (message.info.deliveries == 0)
    times[message.info.tenant].waits_ms.push_back(message.began_ms - message.since_ms);
  turns_.started(own, clock.boot_ms());
  message.info.state = State::leased;
  message.timer = timed ? std::optional(clock.boot_ms() + hold_ms) : std::nullopt;
  message.receipt = Receipt(std::to_string(number(message.info.id)) + "." + std::to_string(++last_serial_));
  message.info.deliveries += 1;
  message.attempts_in_force =
      request.attempts_max.value_or(attempts_of(settings, message.info.command.has_value()));
  message.extended_until.clear();
  note(message, "leased");
  Delivery delivery{.receipt = message.receipt,
                    .id = message.info.id,
                    .tenant = message.info.tenant,
                    .attempt = message.info.attempts + 1,
                    .attempts_max = attempts_max(message),
                    .delivery = message.info.deliveries,
                    .crashes = message.info.crashes,
                    .priority = message.info.priority,
                    .pushed_at_wall_ms = *message.info.pushed_at_wall_ms,
                    .tags = message.info.tags,
                    .command = message.info.command,
                    .timeout_ms = message.timeout_ms,
                    .keep_ms = message.keep_ms,
                    .call = message.call,
                    .payload = Payload(*message.info.payload)};
  if (timed) delivery.deadline_wall_ms = clock.wall_ms() + hold_ms;
  delivery.schedule = message.info.schedule;
  delivery.scheduled_at_wall_ms = message.info.scheduled_at_wall_ms.value_or(0);
  return delivery;
}

Model::Message* Model::held_by(const Receipt& receipt) {
  const auto held = std::find_if(messages.begin(), messages.end(), [&](const Message& each) {
    return each.info.state == State::leased && each.receipt == receipt;
  });
  return held == messages.end() ? nullptr : &*held;
}

SettleStatus Model::settle(const Settle& item) {
  fire_timers();
  const SettleStatus status = judge(item);
  settle_held();
  return status;
}

SettleStatus Model::judge(const Settle& item) {
  Message* message = held_by(item.receipt);
  if (message == nullptr) return SettleStatus::stale;
  const std::string reason(item.reason);
  times[message->info.tenant].runs_ms.push_back(clock.boot_ms() - message->began_ms);
  // What it ends with is no verdict, and tells nothing: it ran as long as it was leased.
  if (fall_asleep(*message)) return SettleStatus::slept;
  message->run_us = item.run_us;
  message->output_ms = item.output != nullptr ? item.output->keep_ms : 0;
  if (item.verdict == Verdict::ack) {
    end(*message, State::acked, "acked");
    if (message->told_until_wall_ms != 0) message->info.exit = item.exit;
    return SettleStatus::ok;
  }
  if (item.verdict == Verdict::release) {
    come_back(*message, item.delay_ms);
    note(*message, "released");
    return SettleStatus::ok;
  }
  message->info.last_error =
      LastError{item.exit, item.signal, reason, std::string(item.stderr_tail), clock.wall_ms()};
  if (item.verdict == Verdict::bury) return end(*message, State::dead, "buried", reason);
  if (attempt_failed(*message, item.delay_ms, reason)) {
    message->last_retries += 1;
    return SettleStatus::buried;
  }
  note(*message, "retried", reason);
  return SettleStatus::ok;
}

ExtendResult Model::extend(const Receipt& receipt, int64_t duration_ms) {
  fire_timers();
  Message* message = held_by(receipt);
  if (message == nullptr) return {.status = SettleStatus::stale};
  // A lease that a process holds has no time of its own.
  if (message->timer) message->timer = clock.boot_ms() + duration_ms;
  note(*message, "extended");
  message->extended_until.push_back(clock.wall_ms() + duration_ms);
  return {SettleStatus::ok, clock.wall_ms() + duration_ms};
}

SettleStatus Model::mutate(MessageId id, Action action) {
  fire_timers();
  Message* message = find(id);
  if (message == nullptr || is_finished(message->info.state)) return SettleStatus::gone;
  if (action == Action::cancel) {
    end(*message, State::cancelled, "cancelled");
    return SettleStatus::ok;
  }
  if (message->info.state != State::dead && message->info.state != State::delayed) return SettleStatus::stale;
  if (action == Action::kick_fresh && !message->steps.empty()) note(*message, "unstepped");
  if (action == Action::kick_fresh) message->steps.clear();
  kick(*message);
  return SettleStatus::ok;
}

void Model::kick(Message& message) {
  if (message.info.state == State::dead) ended_.push_back(message.info.id);
  message.info.attempts = 0;
  message.info.crashes = 0;  // attempts too, that ended badly
  message.ttl_ms.reset();
  message.info.last_error.reset();
  regain_key(message);
  if (hold_again(message))
    move(message, State::held);
  else
    ready_since(message, clock.boot_ms());
  note(message, "kicked");
}

int64_t Model::next_timer_ms() const {
  int64_t next = turns_.next_timer_ms();
  for (const Message& each : messages) next = std::min(next, each.timer.value_or(kNever));
  return next;
}

void Model::fire_timers() {
  bool fired = false;
  for (; next_timer_ms() <= clock.boot_ms(); fired = true) {
    const int64_t due_ms = next_timer_ms();
    const auto first = std::find_if(messages.begin(), messages.end(),
                                    [&](const Message& each) { return each.timer == due_ms; });
    if (first == messages.end()) {
      turns_.fire(due_ms);
      continue;
    }
    if (first->info.state == State::delayed) {
      ready_since(*first, due_ms);
    } else if (first->info.state == State::ready) {
      first->since_ms = due_ms;
      first->info.last_error = LastError{{}, {}, "expired", {}, clock.wall_ms()};
      end(*first, State::dead, "expired");
      first->expired = true;
      first->since_ms = due_ms;
    } else if (patient_until_ms && clock.boot_ms() < patient_until_ms(first->info.id)) {
      first->timer = patient_until_ms(first->info.id);
    } else {
      // Who looks late at a lease that is over does not make it longer.
      first->run_us = static_cast<uint64_t>(due_ms - first->began_ms) * 1000;
      first->info.crashes += 1;
      first->info.last_error =
          LastError{{}, {}, "its lease ran out", {}, clock.wall_ms() - (clock.boot_ms() - due_ms)};
      cut_off(*first);
    }
  }
  if (fired) settle_held();
  for (Message& each : messages) {
    const bool is_over = settings.dead_retention_ms <= clock.boot_ms() - each.since_ms;
    if (each.info.state == State::dead && is_over) end(each, State::cancelled, "cancelled");
  }
}

bool Model::cut_off(Message& message) {
  if (!message.info.command) return attempt_failed(message, 0, {});
  if (message.info.crashes < 5) return come_back(message, 0), false;
  return end(message, State::dead, "buried"), true;
}

bool Model::attempt_failed(Message& message, int64_t delay_ms, const std::string& reason) {
  message.info.attempts += 1;
  const bool last = message.info.attempts >= attempts_max(message);
  if (last) end(message, State::dead, "buried", reason);
  if (!last) come_back(message, delay_ms);
  return last;
}

/// What is told of one after its end, if it is to be.
void Model::note_told(Message& message) {
  const int64_t retention_ms = retention_of(settings.retention_ms, message.info.command.has_value());
  const int64_t asked_ms = message.keep_ms.value_or(retention_ms);
  const int64_t kept_ms = asked_ms == 0 ? message.output_ms : asked_ms;
  if (kept_ms == 0) return;
  message.told_until_wall_ms = clock.wall_ms() + kept_ms;
  message.info.ended_at_wall_ms = clock.wall_ms();
  message.info.started_at_wall_ms = started_at(message);
  const bool was_over = message.info.state != State::leased && message.info.deliveries > 0;
  if (!was_over || !message.info.last_error) return;
  message.info.exit = message.info.last_error->exit;
  message.info.signal = message.info.last_error->signal;
}

std::optional<int64_t> Model::started_at(const Message& message) {
  const auto run = std::find_if(message.history.rbegin(), message.history.rend(),
                                [](const HistoryEvent& event) { return event.event == "leased"; });
  return run == message.history.rend() ? std::nullopt : std::optional(run->at_wall_ms);
}

SettleStatus Model::end(Message& message, State state, std::string_view event, const std::string& reason) {
  if (state != State::dead) note_told(message);
  move(message, state);
  if (state == State::dead) message.since_ms = clock.boot_ms();
  note_ended(message.info.id);
  note(message, event, reason);
  return SettleStatus::ok;
}

int64_t Model::wait_ms(std::optional<int64_t> at_wall_ms, std::optional<int64_t> delay_ms) const {
  if (at_wall_ms) return std::clamp<int64_t>(*at_wall_ms, 0, kLatestMs) - clock.wall_ms();
  return fitting(delay_ms).value_or(0);
}

void Model::come_back(Message& message, int64_t delay_ms) {
  if (delay_ms <= 0) return ready_since(message, clock.boot_ms());
  message.info.due_at_wall_ms = clock.wall_ms() + delay_ms;
  move(message, State::delayed, clock.boot_ms() + delay_ms);
}

void Model::ready_since(Message& message, int64_t since_ms) {
  message.since_ms = since_ms;
  move(message, State::ready, end_of_wait(message));
}

std::optional<int64_t> Model::end_of_wait(const Message& message) {
  if (!message.ttl_ms || message.info.deliveries > 0) return std::nullopt;
  return message.since_ms + *message.ttl_ms;
}

void Model::move(Message& message, State state, std::optional<int64_t> timer) {
  note_key(message, state);
  const State before = std::exchange(message.info.state, state);
  const std::string leaf = message.info.tenant + "/";
  message.timer = timer;
  message.expired = false;
  if (before == State::ready && state != State::ready)
    turns_.unready(leaf, state == State::dead ? message.since_ms : clock.boot_ms());
  if (before == State::leased) {
    const auto passed_us = static_cast<uint64_t>(clock.boot_ms() - message.began_ms) * 1000;
    turns_.ran(leaf, message.start, message.run_us.value_or(passed_us) / 10, clock.boot_ms());
    turns_.ended(leaf);
  }
  if (before != State::ready && state == State::ready)
    turns_.ready(leaf, message.info.payload->size(), message.since_ms);
}

bool Model::is_idle() const {
  return std::none_of(messages.begin(), messages.end(), [&](const Message& each) {
    const bool returns = each.info.state == State::delayed && each.info.deliveries > 0;
    const bool is_left = turns_.is_paused(each.info.tenant);
    return (each.info.state == State::ready && !is_left) || each.info.state == State::leased || returns;
  });
}

Model::Message* Model::find(MessageId id) {
  return number(id) == 0 || number(id) > messages.size() ? nullptr : &messages[number(id) - 1];
}

}  // namespace fq::test
