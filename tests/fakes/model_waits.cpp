// model_waits - held messages: what they came after, and what becomes of them when that has ended.
#include "tests/fakes/model.h"

// System.
#include <algorithm>

namespace fq::test {

namespace {

/// What waits for its end knows how it did.
bool is_settled(State state) { return state == State::dead || is_finished(state); }

}  // namespace

void Model::hold(Message& message, const NewMessage& from, MessageId behind) {
  const auto add = [&](MessageId id, bool any) {
    const auto same = [&](const Waited& each) { return each.id == id; };
    if (std::none_of(message.waits.begin(), message.waits.end(), same))
      message.waits.push_back({id, any, false, ++last_wait_});
  };
  for (const MessageId id : from.after) add(id, false);
  for (const MessageId id : from.after_any) add(id, true);
  for (const Waited& each : message.waits) message.info.after.push_back(each.id);
  if (number(behind) != 0) add(behind, true);
  message.behind = behind;
  for (const Waited& each : message.waits) {
    if (is_settled(find(each.id)->info.state)) note_ended(each.id);
  }
}

void Model::note_ended(MessageId id) {
  if (std::find(ended_.begin(), ended_.end(), id) == ended_.end()) ended_.push_back(id);
}

/// Those that waited for what ended first go first, and among them those that began to wait first.
void Model::settle_held() {
  while (!ended_.empty()) {
    const MessageId ended = ended_.front();
    while (Message* waiter = is_settled(find(ended)->info.state) ? first_waiter(ended) : nullptr) {
      settle_wait(*waiter, ended);
    }
    while (Message* buried = is_settled(find(ended)->info.state) ? nullptr : buried_by(ended)) kick(*buried);
    ended_.pop_front();
  }
}

Model::Message* Model::buried_by(MessageId id) {
  for (Message& each : messages) {
    if (each.info.state != State::dead) continue;
    bool waited = false, failed = false;
    for (const Waited& wait : each.waits) {
      const State state = find(wait.id)->info.state;
      waited |= wait.id == id && !wait.any;
      failed |= !wait.any && is_settled(state) && state != State::acked;
    }
    if (waited && !failed) return &each;
  }
  return nullptr;
}

Model::Message* Model::first_waiter(MessageId id) {
  Message* first = nullptr;
  uint64_t oldest = UINT64_MAX;
  for (Message& each : messages) {
    for (const Waited& wait : each.waits) {
      const bool open = each.info.state == State::held && wait.id == id && !wait.closed;
      if (open && wait.began < oldest) first = &each, oldest = wait.began;
    }
  }
  return first;
}

void Model::settle_wait(Message& message, MessageId ended) {
  const State state = find(ended)->info.state;
  bool failed = false, open = false;
  for (Waited& each : message.waits) {
    if (each.id == ended) each.closed = true, failed = !each.any && state != State::acked;
    open |= !each.closed;
  }
  if (failed) return static_cast<void>(end(message, State::dead, "buried"));
  if (open) return;
  message.waits.clear();
  message.behind = {};
  note(message, "freed");
  come_back(message, message.held_delay_ms.value_or(message.held_due_ms - clock.boot_ms()));
  message.held_delay_ms.reset();
}

bool Model::hold_again(Message& message) {
  bool holds = false;
  for (Waited& each : message.waits) {
    each.closed = is_settled(find(each.id)->info.state);
    holds |= !each.closed;
    each.began = ++last_wait_;
  }
  if (!holds) message.waits.clear();
  return holds;
}

}  // namespace fq::test
