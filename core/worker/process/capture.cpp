#include "core/worker/process/capture.h"

// System.
#include <unistd.h>

#include <array>
#include <cerrno>
// fq, below us.
#include "core/base/text/size.h"

namespace fq::worker {

namespace {

constexpr int kFloodReadsMax = 64;  // a descendant that floods must not keep us here

}  // namespace

void Capture::keep(std::string_view bytes) {
  const uint64_t room = terms_.kept_bytes_max - std::min<uint64_t>(terms_.kept_bytes_max, kept_.size());
  const auto kept = static_cast<size_t>(std::min<uint64_t>(room, bytes.size()));
  kept_.append(bytes.substr(0, kept));
  if (terms_.kept_bytes_max > 0) cut_bytes_ += bytes.size() - kept;
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
  if (terms_.passage != nullptr && !terms_.passage->has_room()) return Progress::blocked;
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
    if (got <= 0) break;
    const std::string_view bytes(buffer.data(), static_cast<size_t>(got));
    keep(bytes);
    pass_on(bytes);
  }
  if (terms_.passage != nullptr) terms_.passage->write(lines_.finish());
  pipe_.close();
}

std::string Capture::take_kept() {
  if (cut_bytes_ > 0) kept_ += "\n[fq: cut here; " + format_size(cut_bytes_) + " more were not kept]\n";
  return std::move(kept_);
}

}  // namespace fq::worker
