// waits_check - waits of messages for others (W1, W2, W3).
#pragma once

// fq, this room.
#include "core/schedule/check/check_part.h"

namespace fq {

class WaitsCheck : private CheckPart {
 public:
  explicit WaitsCheck(CheckScene& scene) : CheckPart(scene) {}

  void check();
};

}  // namespace fq
