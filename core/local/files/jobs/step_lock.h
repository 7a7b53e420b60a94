// step_lock - `running`, the file whose locks also tell the steps at work.
//
// A step has a byte there by its message and its name, far behind those of jobs. The lock belongs to the open
// file (OFD), so it goes with the last process that has it open: with the process that runs the step, or with
// the command that it runs, should that outlive it. Two steps may have one byte: then one waits for the
// other.
#pragma once

// System.
#include <memory>
#include <string_view>
// fq, below us.
#include "core/api/interrupt.h"
#include "core/api/steps.h"
#include "core/base/disk/disk.h"

namespace fq {

class StepLock final : public StepTurn {
 public:
  /// Waits until it is ours; signals come through meanwhile. ErrorKind::later: interrupted.
  static Result<std::unique_ptr<StepLock>> take(Disk& disk, uint64_t id, std::string_view name,
                                                const Interrupt* interrupt);
  /// Given back also where others have the descriptor: the step is over.
  ~StepLock() override;
  int descriptor() const override { return file_->descriptor(); }

 private:
  StepLock(std::unique_ptr<File> file, uint64_t byte) : file_(std::move(file)), byte_(byte) {}

  std::unique_ptr<File> file_;
  uint64_t byte_;
};

}  // namespace fq
