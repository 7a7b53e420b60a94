// wall_clock - the difference between the wall's clock and the boot's, as the queue knows it: written down
// anew where the wall's was set.
#pragma once

// fq, this room.
#include "core/local/write/writer.h"

namespace fq {

class WallClock : private Linked {
 public:
  WallClock(Link& link, Writer& writer) : Linked(link), writer_(writer) {}

  /// A caller that was told of the step before finds nothing to do.
  Result<void> follow();

 private:
  bool is_step_on_disk();
  Result<void> move_schedules(int64_t measured);

  Writer& writer_;
};

}  // namespace fq
