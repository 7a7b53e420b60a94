// model_steps - what steps have to do: an engine's Steps that is nothing but the model.
#pragma once

// System.
#include <mutex>
#include <set>
// Tests.
#include "tests/fakes/model.h"

namespace fq::test {

class ModelSteps final : public Steps {
 public:
  ModelSteps(Model& model, std::mutex& mutex) : model_(model), mutex_(mutex) {}

  Result<StepBegin> begin(const Receipt& receipt, std::string_view name, Interrupt* interrupt) override;
  Result<SettleStatus> keep(const Receipt& receipt, std::string_view name, Bytes output) override;
  Result<StepPause> sleep(const Receipt& receipt, std::string_view name, std::optional<int64_t> delay_ms,
                          int64_t until_wall_ms) override;
  Result<StepPause> wait(const Receipt& receipt, std::string_view name,
                         std::optional<std::span<const MessageId>> ids) override;
  Result<StepPush> push(const Receipt& receipt, std::string_view name, const NewMessage& message) override;
  Result<std::optional<std::vector<StepInfo>>> list(MessageId id) override;

 private:
  class Turn;
  Model& model_;
  std::mutex& mutex_;
  std::set<std::pair<uint64_t, std::string>> at_work_;
};

}  // namespace fq::test
