#include "core/worker/process/transcript.h"

// System.
#include <algorithm>

namespace fq::worker {

Transcript::Transcript(std::shared_ptr<RunOutput> run, uint64_t bytes_max)
    : run_(std::move(run)), bytes_max_(bytes_max), keeps_(true), refused_(run_ == nullptr) {}

bool Transcript::is_too_long() const {
  const auto above = [this](const Part& part) { return part.text.size() > bytes_max_; };
  return parts_[0].text.size() + parts_[1].text.size() > kInMemoryBytes || above(parts_[0]) ||
         above(parts_[1]);
}

void Transcript::write(Channel channel, std::string_view bytes) {
  if (!keeps_ || bytes.empty()) return;
  if (open_) return run_->write(channel, bytes);
  Part& part = parts_[static_cast<size_t>(channel)];
  part.text.append(bytes);
  if (!refused_ && hand_on_at_ms_ == kNever) hand_on_at_ms_ = system_clock().boot_ms() + kMomentMs;
  const bool now = run_ && (run_->is_called() || is_too_long());
  if (now && !refused_ && hand_on()) return;
  // Where there is no run at all, memory is what keeps it.
  const uint64_t kept_max = run_ ? std::min(bytes_max_, kInMemoryBytes) : bytes_max_;
  if (!refused_ || part.text.size() <= kept_max) return;
  part.lost_bytes += part.text.size() - kept_max;
  part.text.resize(kept_max);
}

/// False: nobody else can read it. That is not tried again: what was lost meanwhile would be in the middle.
bool Transcript::hand_on() {
  hand_on_at_ms_ = kNever;
  const Result<void> opened = run_->open();
  open_ = opened.ok();
  refused_ = !open_;
  if (!open_) fault_ = opened.error().text;
  if (!open_) return false;
  for (const Channel channel : kChannels) {
    std::string& text = parts_[static_cast<size_t>(channel)].text;
    if (!text.empty()) run_->write(channel, text);
    text = std::string();
  }
  return true;
}

void Transcript::on_time(int64_t now_ms) {
  if (now_ms >= hand_on_at_ms_) hand_on();
}

bool Transcript::close() {
  if (!open_) return true;
  run_->close();
  return run_->is_closed();
}

JobOutput Transcript::take() {
  JobOutput output;
  if (open_) {
    output.run = std::move(run_);
    return output;
  }
  const auto gap_of = [](const Part& part) {
    return part.lost_bytes == 0 ? Gap{} : Gap{part.text.size(), part.lost_bytes};
  };
  output.out_gap = gap_of(parts_[0]);
  output.err_gap = gap_of(parts_[1]);
  output.out = std::move(parts_[0].text);
  output.err = std::move(parts_[1].text);
  return output;
}

}  // namespace fq::worker
