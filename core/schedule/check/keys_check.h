// keys_check - unique keys (E1, E2).
#pragma once

// fq, this room.
#include "core/schedule/check/check_part.h"

namespace fq {

class KeysCheck : private CheckPart {
 public:
  explicit KeysCheck(CheckScene& scene) : CheckPart(scene) {}

  void check();
};

}  // namespace fq
