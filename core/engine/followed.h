// followed - the steps that every engine tells a follower of a job.
#pragma once

// System.
#include <optional>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/api/job_output.h"

namespace fq {

FollowStep step_of(FollowStep::What what, Channel channel = Channel::out, uint64_t count = 0);
FollowStep step_of(Channel channel, std::string_view bytes);

/// The rest, still to be told, of the output that was kept of a job that has ended. The texts have to outlive
/// it.
class KeptOutput {
 public:
  void add(const FollowStep& step) { steps_.push_back(step); }
  void add(const JobOutput& kept);
  /// None: all is told.
  std::optional<FollowStep> next();

 private:
  std::vector<FollowStep> steps_;
  size_t at_ = 0;
};

}  // namespace fq
