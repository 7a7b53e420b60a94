// random_steps - steps as random histories keep them, and as they are compared.
#pragma once

// System.
#include <algorithm>
#include <random>
#include <string>
#include <vector>
// Tests.
#include "tests/api/random_patch.h"
#include "tests/fakes/model_steps.h"

namespace fq::test {

/// A receipt, as each side gave it.
struct Taken {
  Receipt engine;
  Receipt model;
};

/// A message of both sides.
using IdPair = std::pair<MessageId, MessageId>;

/// A step of any kind, drawn at random: its kind is told by its name.
class RandomStep {
 public:
  /// Of what it may wait for; none where `waits` is false.
  RandomStep(const RandomPatch::Draw& draw, const std::vector<IdPair>& ids, bool waits)
      : name_(1, "abcxystuvw"[draw.below(waits ? 10 : 7)]) {
    payload_ = "s" + std::to_string(ids.size());
    if (kind() == StepKind::run) output_.assign(draw.below(8) == 0 ? 70'000 : draw.below(20), 'o');
    if (kind() == StepKind::push) tenant_ = draw.below(2) == 0 ? "c" : "a/x";
    if (kind() == StepKind::sleep) span_ms_ = draw.fresh_span_ms(2'000);
    all_ = draw.below(3) == 0;
    for (size_t left = 1 + draw.below(3); left > 0 && !ids.empty(); --left)
      ids_.push_back(ids[draw.below(ids.size())]);
  }
  StepKind kind() const {
    if (name_ <= "c") return StepKind::run;
    return name_ >= "x" ? StepKind::push : name_ <= "t" ? StepKind::sleep : StepKind::wait;
  }
  std::string text() const {
    std::string text = std::string(name_of(kind())) + " " + name_ + " " + std::to_string(output_.size()) +
                       " bytes, " + std::to_string(span_ms_) + " ms, " + (all_ ? "all" : "these");
    for (const IdPair& each : ids_) text += " " + std::to_string(number(each.second));
    return text;
  }

  std::string on(Queue& engine, const Receipt& receipt) {
    Steps& steps = *engine.steps();
    switch (kind()) {
      case StepKind::run:
        return said(steps.keep(receipt, name_, as_bytes(output_)));
      case StepKind::push: {
        const Result<StepPush> done = steps.push(receipt, name_, pushed());
        if (done.ok()) child_.first = done->child;
        return done.ok() ? said(done->receipt) : done.error().text;
      }
      case StepKind::sleep:
        return said(steps.sleep(receipt, name_, span_ms_, 0));
      default:
        return said(steps.wait(receipt, name_, all_ ? std::nullopt : std::optional(ids_of(&IdPair::first))));
    }
  }
  /// `steps` are the model's.
  std::string on(Model& model, ModelSteps& steps, const Receipt& receipt) {
    switch (kind()) {
      case StepKind::run:
        return said(model.keep_step(receipt, name_, output_));
      case StepKind::push: {
        const std::optional<MessageId> child = model.push_step(receipt, name_, pushed());
        child_.second = child.value_or(MessageId{});
        return said(Result<SettleStatus>(child ? SettleStatus::ok : SettleStatus::stale));
      }
      case StepKind::sleep:
        return said(steps.sleep(receipt, name_, span_ms_, 0));
      default:
        return said(steps.wait(receipt, name_, all_ ? std::nullopt : std::optional(ids_of(&IdPair::second))));
    }
  }
  /// Of a step that has pushed, on both sides.
  const IdPair& child() const { return child_; }

 private:
  NewMessage pushed() const { return {.tenant = tenant_, .payload = as_bytes(payload_)}; }
  std::span<const MessageId> ids_of(MessageId IdPair::*side) {
    side_.clear();
    for (const IdPair& each : ids_) side_.push_back(each.*side);
    return side_;
  }
  static std::string said(const Result<SettleStatus>& kept) {
    if (!kept.ok()) return kept.error().text;
    return *kept == SettleStatus::ok ? "kept" : "refused";
  }
  static std::string said(const Result<StepPause>& paused) {
    if (!paused.ok()) return "error of kind " + std::to_string(static_cast<int>(paused.error().kind));
    if (paused->receipt != SettleStatus::ok) return "refused";
    return paused->over ? paused->all_acked ? "over" : "over, not all acked" : "not over";
  }

  std::string name_, payload_, output_, tenant_;
  int64_t span_ms_ = 0;
  bool all_ = false;
  std::vector<IdPair> ids_;
  std::vector<MessageId> side_;
  IdPair child_{};
};

/// By name: no engine promises where one stands that was kept twice.
inline std::string text_of(std::vector<StepInfo> steps) {
  std::sort(steps.begin(), steps.end(), [](const StepInfo& a, const StepInfo& b) { return a.name < b.name; });
  std::string text;
  for (const StepInfo& step : steps) {
    text += step.name + " " + std::string(name_of(step.kind)) + " " + std::to_string(step.bytes) + " ";
  }
  return text;
}
inline std::string steps_of(Queue& engine, MessageId id) {
  if (engine.steps() == nullptr) return "";
  const Result<std::optional<std::vector<StepInfo>>> steps = engine.steps()->list(id);
  return steps.ok() && *steps ? text_of(**steps) : "";
}
/// Those of what has ended are told by few queues.
inline std::string steps_of(const Model::Message& message) {
  if (is_finished(message.info.state)) return "";
  std::vector<StepInfo> steps;
  for (const Model::Step& step : message.steps) steps.push_back(step.info);
  return text_of(std::move(steps));
}

}  // namespace fq::test
