// indexes_check - rules for tenants, and the indexes of messages and tenants (H1).
#pragma once

// fq, this room.
#include "core/schedule/check/check_part.h"

namespace fq {

class IndexesCheck : private CheckPart {
 public:
  explicit IndexesCheck(CheckScene& scene) : CheckPart(scene) {}

  void check_rules();
  void check_indexes();
};

}  // namespace fq
