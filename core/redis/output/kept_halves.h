// kept_halves - the first and the last half of the bytes to keep, of those written on a channel.
#pragma once

// System.
#include <algorithm>
#include <string>
#include <string_view>
// fq, below us.
#include "core/api/job_output.h"

namespace fq {

class KeptHalves {
 public:
  explicit KeptHalves(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  void write(std::string_view bytes);
  uint64_t kept_bytes() const { return std::min(written_, bytes_max_); }
  Gap gap() const;
  /// Of what is kept.
  std::string text() const;

 private:
  uint64_t last_bytes() const { return bytes_max_ / 2; }
  uint64_t first_bytes() const { return bytes_max_ - last_bytes(); }

  uint64_t bytes_max_;
  uint64_t written_ = 0;
  std::string first_, last_;  // behind the first half: at least as much of the end as is kept
};

}  // namespace fq
