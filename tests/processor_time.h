// processor_time - what this process has used of a processor: what others on a busy machine take is no part
// of it.
#pragma once

// System.
#include <ctime>

namespace fq::test {

/// Since it began.
inline double processor_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace fq::test
