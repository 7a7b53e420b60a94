// parts - a look at all slots, or all nodes, a part of them under each hold of the lock.
#pragma once

// System.
#include <algorithm>
#include <utility>
// fq, this room.
#include "core/local/write/link.h"

namespace fq {

class Parts {
 public:
  static constexpr uint32_t kPerLook = 4096;

  explicit Parts(Link& link) : link_(link), segment_(link.segments_seen()) {}

  /// Calls `look(from, to)` for the next indices before `end()`, under a hold of the lock; from 0 again where
  /// the segment was replaced by another meanwhile. Returns whether there are more.
  template <class End, class Look>
  Result<bool> next(End&& end, Look&& look) {
    bool more = false;
    uint32_t to = 0;
    FQ_TRY(link_.locked([&]() -> Result<void> {
      if (std::exchange(segment_, link_.segments_seen()) != link_.segments_seen()) next_ = 0;
      to = static_cast<uint32_t>(std::min<uint64_t>(end(), uint64_t{next_} + kPerLook));
      if (next_ < to) look(next_, to);
      more = to < end();
      return {};
    }));
    next_ = to;
    return more;
  }

 private:
  Link& link_;
  uint64_t segment_;
  uint32_t next_ = 0;
};

}  // namespace fq
