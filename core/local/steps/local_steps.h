// local_steps - the steps of a local queue, as the door has them.
#pragma once

// fq, this room.
#include "core/local/consume/ended_view.h"
#include "core/local/steps/step_pauses.h"

namespace fq {

class LocalSteps final : public Steps {
 public:
  LocalSteps(Link& link, StepBook& book, EndedView& ended)
      : reader_(link), book_(book), pauses_(link, book), ended_(ended) {}

  Result<StepBegin> begin(const Receipt& receipt, std::string_view name, Interrupt* interrupt) override {
    return book_.begin(receipt, name, interrupt);
  }
  Result<SettleStatus> keep(const Receipt& receipt, std::string_view name, Bytes output) override {
    return book_.keep(receipt, name, output);
  }
  Result<StepPush> push(const Receipt& receipt, std::string_view name, const NewMessage& message) override {
    return book_.push(receipt, name, message);
  }
  Result<StepPause> sleep(const Receipt& receipt, std::string_view name, std::optional<int64_t> delay_ms,
                          int64_t until_wall_ms) override {
    return pauses_.sleep(receipt, name, delay_ms, until_wall_ms);
  }
  Result<StepPause> wait(const Receipt& receipt, std::string_view name,
                         std::optional<std::span<const MessageId>> ids) override {
    return pauses_.wait(receipt, name, ids);
  }
  Result<std::optional<std::vector<StepInfo>>> list(MessageId id) override {
    FQ_TRY_SET(std::optional<std::vector<StepInfo>> steps, reader_.list(id));
    return steps ? Result<std::optional<std::vector<StepInfo>>>(std::move(steps)) : ended_.steps(id);
  }

 private:
  StepReader reader_;
  StepBook& book_;
  StepPauses pauses_;
  EndedView& ended_;
};

}  // namespace fq
