// random_steps - steps as random histories keep them, and as they are compared.
#pragma once

// System.
#include <algorithm>
#include <random>
#include <string>
#include <vector>
// Tests.
#include "tests/fakes/model.h"

namespace fq::test {

/// A receipt, as each side gave it.
struct Taken {
  Receipt engine;
  Receipt model;
};

class RandomStep {
 public:
  RandomStep(std::mt19937_64& random, const std::string& whose, std::string& log)
      : name_(1, static_cast<char>('a' + random() % 3)),
        output_(random() % 8 == 0 ? 70'000 : random() % 20, 'o') {
    log += "step " + name_ + " " + whose + ", " + std::to_string(output_.size()) + " bytes\n";
  }
  std::string keep(Queue& engine, const Receipt& receipt) const {
    return said(engine.steps()->keep(receipt, name_, as_bytes(output_)));
  }
  std::string keep(Model& model, const Receipt& receipt) const {
    return said(model.keep_step(receipt, name_, output_));
  }

 private:
  static std::string said(const Result<SettleStatus>& kept) {
    if (!kept.ok()) return kept.error().text;
    return *kept == SettleStatus::ok ? "kept" : "refused";
  }

  std::string name_;
  std::string output_;
};

/// By name: no engine promises where one stands that was kept twice.
inline std::string text_of(std::vector<StepInfo> steps) {
  std::sort(steps.begin(), steps.end(), [](const StepInfo& a, const StepInfo& b) { return a.name < b.name; });
  std::string text;
  for (const StepInfo& step : steps) text += step.name + " " + std::to_string(step.bytes) + " ";
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
