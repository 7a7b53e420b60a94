// arrays_check - the arrays of a schedule (A1, A3): their capacities and what of them is free.
#pragma once

// fq, this room.
#include "core/schedule/check/check_part.h"

namespace fq {

class ArraysCheck : private CheckPart {
 public:
  explicit ArraysCheck(CheckScene& scene) : CheckPart(scene) {}

  /// Needed before any other walk: loops over a wrong capacity might not end.
  void check_capacities();
  void check_supplies();

 private:
  template <class Array>
  void check_capacity(const Array& array, const char* what);
};

}  // namespace fq
