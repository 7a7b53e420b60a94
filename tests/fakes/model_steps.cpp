#include "tests/fakes/model_steps.h"

// System.
#include <algorithm>
#include <chrono>
#include <thread>
// fq, below us.
#include "core/base/limits.h"
#include "core/base/tenant_name.h"

namespace fq::test {

const Model::Step* Model::step_of(const Message& message, std::string_view name) {
  const auto found = std::find_if(message.steps.begin(), message.steps.end(),
                                  [&](const Step& step) { return step.info.name == name; });
  return found == message.steps.end() ? nullptr : &*found;
}

Result<SettleStatus> Model::keep_step(const Receipt& receipt, std::string_view name,
                                      std::string_view output) {
  fire_timers();
  Message* const message = held_by(receipt);
  if (message == nullptr || message->suspended) return SettleStatus::stale;
  const Step* const there = step_of(*message, name);
  uint64_t bytes = output.size();
  for (const Step& step : message->steps) bytes += &step == there ? 0 : step.output.size();
  const bool too_many = there == nullptr && message->steps.size() >= kStepsPerMessageMax;
  if (output.size() > kStepBytesMax || bytes > kStepsBytesMax || too_many)
    return Error{ErrorKind::bad_data, "too much", 0};
  std::erase_if(message->steps, [&](const Step& step) { return step.info.name == name; });
  message->steps.push_back(
      {{std::string(name), StepKind::run, clock.wall_ms(), output.size()}, std::string(output), {}});
  return SettleStatus::ok;
}

std::optional<MessageId> Model::push_step(const Receipt& receipt, std::string_view name,
                                          const NewMessage& from) {
  fire_timers();
  Message* message = held_by(receipt);
  if (message == nullptr || message->suspended) return std::nullopt;
  if (const Step* const there = step_of(*message, name)) return there->child;
  const MessageId child = push(from);
  message = held_by(receipt);  // the messages lie elsewhere by now
  message->steps.push_back({{std::string(name), StepKind::push, clock.wall_ms(), 0}, "", child});
  return child;
}

bool Model::fall_asleep(Message& message) {
  if (!message.suspended) return false;
  message.suspended = false;
  std::erase_if(message.step_waits, [&](MessageId id) {
    const State state = find(id)->info.state;
    return state == State::dead || is_finished(state);
  });
  const std::vector<MessageId> ids = std::exchange(message.step_waits, {});
  if (ids.empty()) {
    come_back(message, std::max<int64_t>(0, message.held_due_ms - clock.boot_ms()));
  } else {
    move(message, State::held);
    message.held_due_ms = clock.boot_ms();
    for (const MessageId id : ids) message.waits.push_back({id, true, false, ++last_wait_});
  }
  note(message, "released");
  return true;
}

StepPause Model::sleep_step(const Receipt& receipt, std::string_view name, int64_t span_ms) {
  fire_timers();
  Message* const message = held_by(receipt);
  if (message == nullptr || message->suspended) return {SettleStatus::stale};
  if (step_of(*message, name) != nullptr) return {SettleStatus::ok, true};
  message->steps.push_back({{std::string(name), StepKind::sleep, clock.wall_ms(), 0}, "", {}});
  if (span_ms <= 0) return {SettleStatus::ok, true};
  message->suspended = true;
  message->held_due_ms = clock.boot_ms() + span_ms;
  if (message->timer) fall_asleep(*message);
  return {SettleStatus::ok, false};
}

StepPause Model::wait_step(const Receipt& receipt, std::string_view name, std::vector<MessageId> ids) {
  fire_timers();
  Message* const message = held_by(receipt);
  if (message == nullptr || message->suspended) return {SettleStatus::stale};
  Step* step = const_cast<Step*>(step_of(*message, name));
  if (step == nullptr) {
    message->steps.push_back(
        {{std::string(name), StepKind::wait, clock.wall_ms(), 0}, "", {}, false, true, ids});
    step = &message->steps.back();
  }
  if (step->over) return {SettleStatus::ok, true, step->all_acked};
  std::vector<MessageId> open;
  for (const MessageId id : step->ids) {
    const State state = find(id)->info.state;
    const bool ended = state == State::dead || is_finished(state);
    if (!ended) open.push_back(id);
    if (ended && state != State::acked) step->all_acked = false;
  }
  step->over = open.empty();
  if (step->over) return {SettleStatus::ok, true, step->all_acked};
  message->suspended = true;
  message->step_waits = open;
  message->held_due_ms = 0;
  if (message->timer) fall_asleep(*message);
  return {SettleStatus::ok, false};
}

/// Others of this name wait for its end.
class ModelSteps::Turn final : public StepTurn {
 public:
  Turn(ModelSteps& steps, std::pair<uint64_t, std::string> what) : steps_(steps), what_(std::move(what)) {}
  ~Turn() override {
    const std::lock_guard lock(steps_.mutex_);
    steps_.at_work_.erase(what_);
  }
  int descriptor() const override { return -1; }

 private:
  ModelSteps& steps_;
  std::pair<uint64_t, std::string> what_;
};

Result<StepBegin> ModelSteps::begin(const Receipt& receipt, std::string_view name, Interrupt*) {
  if (!queue_name_fault(name).empty()) return Error{ErrorKind::usage, "no name", 0};
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {  // between two looks: it has no word
    const std::lock_guard lock(mutex_);
    model_.fire_timers();
    const Model::Message* const message = model_.held_by(receipt);
    if (message == nullptr || message->suspended) return StepBegin{SettleStatus::stale, {}, {}};
    const Model::Step* const step = Model::step_of(*message, name);
    if (step != nullptr && step->info.kind != StepKind::run) return Error{ErrorKind::usage, "another", 0};
    if (step != nullptr) return StepBegin{SettleStatus::ok, step->output, {}};
    if (message->steps.size() >= kStepsPerMessageMax) return Error{ErrorKind::bad_data, "too many", 0};
    std::pair<uint64_t, std::string> what(number(message->info.id), name);
    if (!at_work_.insert(what).second) continue;
    return StepBegin{SettleStatus::ok, {}, std::make_unique<Turn>(*this, std::move(what))};
  }
}

Result<StepPause> ModelSteps::sleep(const Receipt& receipt, std::string_view name,
                                    std::optional<int64_t> delay_ms, int64_t until_wall_ms) {
  const std::lock_guard lock(mutex_);
  return model_.sleep_step(receipt, name, delay_ms.value_or(until_wall_ms - model_.clock.wall_ms()));
}

Result<StepPause> ModelSteps::wait(const Receipt& receipt, std::string_view name,
                                   std::optional<std::span<const MessageId>> ids) {
  const std::lock_guard lock(mutex_);
  model_.fire_timers();
  const Model::Message* const message = model_.held_by(receipt);
  if (message == nullptr || message->suspended) return StepPause{SettleStatus::stale};
  if (Model::step_of(*message, name) != nullptr) return model_.wait_step(receipt, name, {});
  std::vector<MessageId> all;
  if (ids) all.assign(ids->begin(), ids->end());
  for (size_t i = 0; !ids && i < message->steps.size(); ++i)
    if (message->steps[i].info.kind == StepKind::push) all.push_back(message->steps[i].child);
  for (const MessageId id : all) {
    if (id == message->info.id) return Error{ErrorKind::usage, "itself", 0};
    if (model_.find(id) == nullptr) return Error{ErrorKind::missing, "unknown", 0};
  }
  return model_.wait_step(receipt, name, all);
}

Result<StepPush> ModelSteps::push(const Receipt& receipt, std::string_view name, const NewMessage& message) {
  const bool keyed = !message.unique.empty() || !message.debounce.empty();
  if (!queue_name_fault(name).empty() || keyed || !message.after.empty() || !message.after_any.empty())
    return Error{ErrorKind::usage, "not so", 0};
  const std::lock_guard lock(mutex_);
  if (const Model::Message* const parent = model_.held_by(receipt)) {
    const Model::Step* const there = Model::step_of(*parent, name);
    if (there != nullptr && there->info.kind != StepKind::push) return Error{ErrorKind::usage, "another", 0};
  }
  const std::optional<MessageId> child = model_.push_step(receipt, name, message);
  return child ? StepPush{SettleStatus::ok, *child} : StepPush{SettleStatus::stale, MessageId{}};
}

Result<SettleStatus> ModelSteps::keep(const Receipt& receipt, std::string_view name, Bytes output) {
  const std::lock_guard lock(mutex_);
  return model_.keep_step(receipt, name, as_text(output));
}

Result<std::optional<std::vector<StepInfo>>> ModelSteps::list(MessageId id) {
  const std::lock_guard lock(mutex_);
  model_.fire_timers();
  const Model::Message* const message = model_.find(id);
  const bool told = message != nullptr && (!is_finished(message->info.state) ||
                                           message->told_until_wall_ms > model_.clock.wall_ms());
  if (!told) return std::optional<std::vector<StepInfo>>();
  std::vector<StepInfo> infos;
  for (const Model::Step& step : message->steps) infos.push_back(step.info);
  return std::optional(std::move(infos));
}

}  // namespace fq::test
