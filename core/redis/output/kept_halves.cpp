#include "core/redis/output/kept_halves.h"

// System.
#include <algorithm>

namespace fq {

namespace {

constexpr uint64_t kSpareBytes = 256 * 1024;  // more than is kept, before what is too old is given back

}  // namespace

void KeptHalves::write(std::string_view bytes) {
  written_ += bytes.size();
  const size_t room = std::min<uint64_t>(first_bytes() - first_.size(), bytes.size());
  first_.append(bytes.substr(0, room));
  last_.append(bytes.substr(room));
  if (last_.size() > 2 * last_bytes() + kSpareBytes) last_.erase(0, last_.size() - last_bytes());
}

Gap KeptHalves::gap() const {
  return written_ > bytes_max_ ? Gap{first_bytes(), written_ - bytes_max_} : Gap{};
}

std::string KeptHalves::text() const {
  const uint64_t last = kept_bytes() - first_.size();
  return first_ + last_.substr(last_.size() - last);
}

}  // namespace fq
