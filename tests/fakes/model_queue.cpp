// model_queue - the life of a message in the model: pushed, leased, settled, moved by timers.
//
// Every call first fires the timers that are due, earliest first, as every engine must.
#include "tests/fakes/model_queue.h"

// System.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

namespace fq::test {

namespace {

/// Reads "ID.SERIAL".
bool read_receipt(const Receipt& receipt, uint64_t& id, uint64_t& serial) {
  const char* end = receipt.text.data() + receipt.text.size();
  const auto first = std::from_chars(receipt.text.data(), end, id);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return false;
  const auto second = std::from_chars(first.ptr + 1, end, serial);
  return second.ec == std::errc() && second.ptr == end;
}

Receipt receipt_of(const ModelMessage& message) {
  return {std::to_string(number(message.info.id)) + "." + std::to_string(message.serial)};
}

bool is_finished(State state) { return state == State::acked || state == State::cancelled; }

}  // namespace

Caps ModelQueue::caps() const { return {.exact_global_order = true, .wake_latency_bound_ms = 10}; }

Result<PushReply> ModelQueue::push(std::span<const NewMessage> messages, const PushOptions&) {
  const std::lock_guard lock(store_->mutex);
  fire_timers();
  if (messages.size() > kBatchMessagesMax) return Error{ErrorKind::usage, "batch: has too many messages", 0};
  PushReply reply;
  for (const NewMessage& message : messages) {
    const std::string_view problem = problem_with(message, store_->settings);
    reply.items.push_back({problem.empty() ? PushStatus::unknown : PushStatus::invalid, {}});
    if (!problem.empty()) reply.error = Error{ErrorKind::usage, std::string(problem), 0};
  }
  if (reply.error) return reply;
  for (size_t i = 0; i < messages.size(); ++i) {
    reply.items[i] = {PushStatus::accepted, MessageId{store_->next_id++}};
    add(messages[i], reply.items[i].id);
  }
  return reply;
}

void ModelQueue::add(const NewMessage& from, MessageId id) {
  ModelMessage& message = store_->messages[number(id)];
  message.info.id = id;
  message.info.tenant = from.tenant;
  message.info.priority = from.priority;
  message.info.tags = from.tags;
  message.info.pushed_at_wall_ms = store_->clock.wall_ms();
  message.info.payload = std::string(as_text(from.payload));
  message.attempts_max = from.attempts_max;
  message.place = {std::string(from.key), from.priority, number(id)};
  if (store_->settings.order == Order::fifo) message.place = {{}, 0, number(id)};
  int64_t delay_ms = from.delay_ms.value_or(0);
  if (from.at_wall_ms) delay_ms = *from.at_wall_ms - store_->clock.wall_ms();
  note(message, "pushed");
  count(message, &StatsRow::pushed);
  message.info.state = State::held;  // neither ready nor with a timer: move() takes it out of nothing
  come_back(message, delay_ms);
}

Result<LeaseReply> ModelQueue::lease(const LeaseRequest& request) {
  const int64_t start_ms = store_->clock.boot_ms();
  for (;;) {
    LeaseReply reply;
    {
      const std::lock_guard lock(store_->mutex);
      reply = take(request);
    }
    if (!reply.deliveries.empty() || !request.wait) return reply;
    if (request.interrupt != nullptr && request.interrupt->raised()) {
      reply.why_empty = WhyEmpty::interrupted;
      return reply;
    }
    if (request.wait_ms && store_->clock.boot_ms() - start_ms >= *request.wait_ms) {
      reply.why_empty = WhyEmpty::timed_out;
      return reply;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

LeaseReply ModelQueue::take(const LeaseRequest& request) {
  fire_timers();
  LeaseReply reply;
  const std::string path(request.tenant);
  uint64_t bytes = 0;
  while (reply.deliveries.size() < request.want) {
    const std::optional<uint64_t> id = store_->tree.next(path);
    if (!id) break;
    ModelMessage& message = store_->messages.at(*id);
    bytes += message.info.payload->size();
    if (!reply.deliveries.empty() && bytes > request.bytes_max) break;
    store_->tree.take(path);
    reply.deliveries.push_back(deliver(message, request));
  }
  reply.why_empty = reply.deliveries.empty() ? WhyEmpty::nothing : WhyEmpty::none;
  if (!store_->timers.empty()) reply.next_wake_ms = store_->timers.begin()->first - store_->clock.boot_ms();
  return reply;
}

Delivery ModelQueue::deliver(ModelMessage& message, const LeaseRequest& request) {
  const int64_t hold_ms = request.hold_ms.value_or(store_->settings.lease_ms);
  const bool timed = request.hold == Hold::duration;
  move(message, State::leased,
       timed ? std::optional(store_->clock.boot_ms() + hold_ms) : std::optional<int64_t>());
  message.serial = store_->next_serial++;
  message.info.deliveries += 1;
  note(message, "leased");
  count(message, &StatsRow::popped);
  Delivery delivery;
  delivery.receipt = receipt_of(message);
  delivery.id = message.info.id;
  delivery.tenant = message.info.tenant;
  delivery.attempt = message.info.attempts + 1;
  delivery.attempts_max = attempts_max(message);
  delivery.delivery = message.info.deliveries;
  delivery.crashes = message.info.crashes;
  delivery.priority = message.info.priority;
  delivery.pushed_at_wall_ms = *message.info.pushed_at_wall_ms;
  if (timed) delivery.deadline_wall_ms = store_->clock.wall_ms() + hold_ms;
  delivery.payload = Payload(*message.info.payload);
  return delivery;
}

ModelMessage* ModelQueue::held_by(const Receipt& receipt, SettleStatus& status) {
  uint64_t id = 0;
  uint64_t serial = 0;
  status = SettleStatus::invalid;
  if (!read_receipt(receipt, id, serial)) return nullptr;
  status = SettleStatus::gone;
  const auto found = store_->messages.find(id);
  if (found == store_->messages.end()) return nullptr;
  status = SettleStatus::stale;
  if (found->second.info.state != State::leased || found->second.serial != serial) return nullptr;
  status = SettleStatus::ok;
  return &found->second;
}

Result<SettleReply> ModelQueue::settle(std::span<const Settle> items, const LeaseRequest* next) {
  SettleReply reply;
  {
    const std::lock_guard lock(store_->mutex);
    fire_timers();
    for (const Settle& item : items) reply.items.push_back(settle_one(item));
  }
  if (next != nullptr) {
    FQ_TRY_SET(reply.next, lease(*next));
  }
  return reply;
}

SettleStatus ModelQueue::settle_one(const Settle& item) {
  SettleStatus status;
  ModelMessage* message = held_by(item.receipt, status);
  if (message == nullptr) return status;
  if (item.verdict == Verdict::retry || item.verdict == Verdict::bury) {
    message->info.last_error = LastError{item.exit, item.signal, std::string(item.reason),
                                         std::string(item.stderr_tail), store_->clock.wall_ms()};
  }
  switch (item.verdict) {
    case Verdict::ack:
      move(*message, State::acked);
      note(*message, "acked");
      count(*message, &StatsRow::acked);
      break;
    case Verdict::release:
      note(*message, "released");
      count(*message, &StatsRow::released);
      come_back(*message, item.delay_ms);
      break;
    case Verdict::retry:
      message->info.attempts += 1;
      if (message->info.attempts < attempts_max(*message)) {
        note(*message, "retried", item.reason);
        count(*message, &StatsRow::retried);
        come_back(*message, item.delay_ms);
        break;
      }
      status = SettleStatus::buried;
      [[fallthrough]];
    case Verdict::bury:
      move(*message, State::dead);
      note(*message, "buried", item.reason);
      count(*message, &StatsRow::buried);
      break;
  }
  return status;
}

Result<std::vector<ExtendResult>> ModelQueue::extend(std::span<const Receipt> receipts, int64_t duration_ms) {
  const std::lock_guard lock(store_->mutex);
  fire_timers();
  std::vector<ExtendResult> results;
  for (const Receipt& receipt : receipts) {
    ExtendResult result;
    if (ModelMessage* message = held_by(receipt, result.status)) {
      // A lease that a process holds has no time of its own.
      if (message->timer) move(*message, State::leased, store_->clock.boot_ms() + duration_ms);
      result.deadline_wall_ms = store_->clock.wall_ms() + duration_ms;
      note(*message, "extended");
    }
    results.push_back(result);
  }
  return results;
}

void ModelQueue::fire_timers() {
  while (!store_->timers.empty() && store_->timers.begin()->first <= store_->clock.boot_ms()) {
    ModelMessage& message = store_->messages.at(store_->timers.begin()->second);
    if (message.info.state == State::leased) {
      message.info.crashes += 1;
      attempt_failed(message);
    } else {
      move(message, State::ready);
    }
  }
}

void ModelQueue::attempt_failed(ModelMessage& message) {
  message.info.attempts += 1;
  if (message.info.attempts < attempts_max(message)) return come_back(message, 0);
  move(message, State::dead);
  note(message, "buried");
  count(message, &StatsRow::buried);
}

void ModelQueue::come_back(ModelMessage& message, int64_t delay_ms) {
  if (delay_ms <= 0) return move(message, State::ready);
  message.info.due_at_wall_ms = store_->clock.wall_ms() + delay_ms;
  move(message, State::delayed, store_->clock.boot_ms() + delay_ms);
}

void ModelQueue::move(ModelMessage& message, State state, std::optional<int64_t> timer) {
  const uint64_t id = number(message.info.id);
  if (message.timer) store_->timers.erase({*message.timer, id});
  if (message.info.state == State::ready) store_->tree.remove(message.info.tenant, message.place);
  message.info.state = state;
  message.timer = timer;
  if (timer) store_->timers.insert({*timer, id});
  if (state == State::ready) store_->tree.put(message.info.tenant, message.place);
}

void ModelQueue::note(ModelMessage& message, std::string_view event, std::string_view reason) {
  message.history.push_back({event, store_->clock.wall_ms(), {}, {}, std::string(reason)});
}

void ModelQueue::count(const ModelMessage& message, uint64_t StatsRow::*counter) {
  store_->counters[""].*counter += 1;
  store_->counters[message.info.tenant].*counter += 1;
}

uint32_t ModelQueue::attempts_max(const ModelMessage& message) const {
  return message.attempts_max.value_or(store_->settings.attempts_max);
}

bool ModelQueue::act(ModelMessage& message, Action action) {
  if (is_finished(message.info.state)) return false;
  if (action == Action::cancel) {
    move(message, State::cancelled);
    note(message, "cancelled");
    count(message, &StatsRow::cancelled);
    return true;
  }
  if (message.info.state != State::dead && message.info.state != State::delayed) return false;
  message.info.attempts = 0;
  message.info.crashes = 0;  // attempts too, that ended badly
  note(message, "kicked");
  move(message, State::ready);
  return true;
}

}  // namespace fq::test
