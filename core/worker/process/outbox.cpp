#include "core/worker/process/outbox.h"

// System.
#include <unistd.h>

#include <cerrno>

namespace fq::worker {

void Outbox::add(std::string receipt, std::string_view line) {
  text_ += line;
  lines_.push_back({erased_ + text_.size(), std::move(receipt)});
}

bool Outbox::write_to(int descriptor) {
  while (!empty()) {
    const ssize_t written = ::write(descriptor, text_.data() + written_, text_.size() - written_);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno == EAGAIN;
    note_written(static_cast<size_t>(written));
  }
  return true;
}

void Outbox::note_written(size_t bytes) {
  written_ += bytes;
  while (!lines_.empty() && lines_[0].end <= erased_ + written_) {
    line_begin_ = lines_[0].end;
    lines_.pop_front();
  }
  // What is moved for it is never more than what was written since the last time.
  if (written_ < text_.size() - written_) return;
  text_.erase(0, written_);
  erased_ += written_;
  written_ = 0;
}

std::vector<std::string> Outbox::take_back() {
  std::vector<std::string> receipts;
  const bool begun = line_begin_ < erased_ + written_;
  const size_t kept = begun ? 1 : 0;
  for (size_t i = kept; i < lines_.size(); ++i) receipts.push_back(std::move(lines_[i].receipt));
  lines_.resize(kept);
  text_.resize(begun ? lines_[0].end - erased_ : written_);
  return receipts;
}

}  // namespace fq::worker
