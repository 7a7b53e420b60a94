#include "core/journal/holes.h"

// System.
#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fq {

namespace {

constexpr uint64_t kPageBytes = 4096;  // the kernel reads by pages: less cannot be had
constexpr size_t kPagesMax = 1024;     // chosen

bool is_hole(const Result<size_t>& read) { return !read.ok() && read.error().sys == EIO; }

}  // namespace

bool HolePages::add(uint64_t offset) {
  pages_.insert(offset / kPageBytes);
  return pages_.size() <= kPagesMax;
}

uint64_t HolePages::end_of_first(uint64_t offset, uint64_t bytes) const {
  auto page = pages_.lower_bound(offset / kPageBytes);
  if (page == pages_.end() || *page * kPageBytes >= offset + bytes) return 0;
  uint64_t end = *page + 1;
  while (++page != pages_.end() && *page == end) ++end;
  return end * kPageBytes;
}

std::vector<HolePages::Stretch> HolePages::readable(uint64_t offset, uint64_t bytes) const {
  std::vector<Stretch> stretches;
  const uint64_t end = offset + bytes;
  uint64_t from = offset;
  for (auto page = pages_.lower_bound(offset / kPageBytes); from < end; ++page) {
    const uint64_t hole = page == pages_.end() ? end : std::min(*page * kPageBytes, end);
    if (hole > from) stretches.push_back({from, hole - from});
    if (hole == end) break;
    from = hole + kPageBytes;
  }
  return stretches;
}

Result<size_t> read_around_holes(File& file, uint64_t offset, MutableBytes to, HolePages& holes) {
  Result<size_t> whole = file.read_at(offset, to);
  if (!is_hole(whole)) return whole;
  size_t done = 0;
  while (done < to.size()) {
    const uint64_t at = offset + done;
    const MutableBytes page =
        to.subspan(done, std::min<uint64_t>(to.size() - done, kPageBytes - at % kPageBytes));
    const Result<size_t> got = file.read_at(at, page);
    if (!got.ok() && (!is_hole(got) || !holes.add(at))) return got.error();
    if (!got.ok()) std::memset(page.data(), 0, page.size());
    done += got.ok() ? *got : page.size();
    if (got.ok() && *got < page.size()) break;
  }
  return done;
}

Error of_hole(Error error) {
  if (error.sys == EIO) error.text += "; fq check --repair goes on without it";
  return error;
}

}  // namespace fq
