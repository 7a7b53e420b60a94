// timetable_check - schedules (N1, N2).
#pragma once

// fq, this room.
#include "core/schedule/check/check_part.h"

namespace fq {

class TimetableCheck : private CheckPart {
 public:
  explicit TimetableCheck(CheckScene& scene) : CheckPart(scene) {}

  void check();
};

}  // namespace fq
