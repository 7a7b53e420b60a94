#include "core/worker/process/capture.h"

// System.
#include <unistd.h>

#include <array>
#include <cerrno>

namespace fq::worker {

namespace {

// A descendant that floods must not keep us here. A run output takes so much of who has no room for it.
constexpr int kFloodReadsMax = 64;

}  // namespace

void Capture::keep(std::string_view bytes) {
  if (terms_.transcript != nullptr) terms_.transcript->write(terms_.channel, bytes);
  if (terms_.tail_bytes == 0) return;
  if (bytes.size() >= terms_.tail_bytes) tail_.clear();
  tail_.append(bytes.substr(bytes.size() - std::min(bytes.size(), terms_.tail_bytes)));
  if (tail_.size() > terms_.tail_bytes) tail_.erase(0, tail_.size() - terms_.tail_bytes);
}

void Capture::pass_on(std::string_view bytes) {
  if (terms_.passage == nullptr || bytes.empty()) return;
  if (terms_.tag.empty()) return terms_.passage->write(bytes);
  terms_.passage->write(lines_.take(bytes));
}

Capture::Progress Capture::take_some() {
  is_blocked_ = terms_.passage != nullptr && !terms_.passage->has_room();
  if (is_blocked_) return Progress::blocked;
  if (terms_.transcript != nullptr && !terms_.transcript->has_room(terms_.channel))
    return Progress::held_back;
  std::array<char, kReadBytes> buffer;
  const ssize_t got = ::read(pipe_.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Progress::more;
  if (got <= 0) {
    pipe_.close();
    return Progress::ended;
  }
  const std::string_view bytes(buffer.data(), static_cast<size_t>(got));
  keep(bytes);
  pass_on(bytes);
  return Progress::more;
}

void Capture::finish() {
  std::array<char, kReadBytes> buffer;
  for (int i = 0; open() && i < kFloodReadsMax; ++i) {
    const ssize_t got = ::read(pipe_.get(), buffer.data(), buffer.size());
    if (got == 0) pipe_.close();
    if (got <= 0) break;
    const std::string_view bytes(buffer.data(), static_cast<size_t>(got));
    keep(bytes);
    pass_on(bytes);
  }
  if (terms_.passage != nullptr) terms_.passage->write(lines_.finish());
  terms_ = {};
  is_blocked_ = false;
}

}  // namespace fq::worker
