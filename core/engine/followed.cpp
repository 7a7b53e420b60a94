#include "core/engine/followed.h"

// System.
#include <algorithm>

namespace fq {

FollowStep step_of(FollowStep::What what, Channel channel, uint64_t count) {
  FollowStep step;
  step.what = what;
  step.channel = channel;
  step.count = count;
  return step;
}

FollowStep step_of(Channel channel, std::string_view bytes) {
  FollowStep step = step_of(FollowStep::What::bytes, channel);
  step.bytes = bytes;
  return step;
}

void KeptOutput::add(const JobOutput& kept) {
  for (const Channel channel : kChannels) {
    const std::string_view text = channel == Channel::out ? kept.out : kept.err;
    const Gap& gap = channel == Channel::out ? kept.out_gap : kept.err_gap;
    const uint64_t at = std::min<uint64_t>(gap.at, text.size());
    if (at > 0) add(step_of(channel, text.substr(0, at)));
    if (gap.bytes > 0) add(step_of(FollowStep::What::missing, channel, gap.bytes));
    if (at < text.size()) add(step_of(channel, text.substr(at)));
  }
}

std::optional<FollowStep> KeptOutput::next() {
  if (at_ == steps_.size()) return std::nullopt;
  return steps_[at_++];
}

}  // namespace fq
