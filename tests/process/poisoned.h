// poisoned - a segment marked as damaged while others use it: the next lock of each process finds it so, and
// it is made anew.
#pragma once

// System.
#include <cstddef>
// fq, below us.
#include "core/local/shared/layout.h"
// Tests.
#include "tests/process/real_fq.h"

namespace fq::test {

inline void poison(const Spool& spool) {
  const auto poisoned = static_cast<uint32_t>(Phase::poisoned);
  write_at(spool.queue("segment"), offsetof(SegmentHeader, phase),
           {reinterpret_cast<const char*>(&poisoned), sizeof poisoned});
}

}  // namespace fq::test
