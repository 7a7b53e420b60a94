// messages_check - messages as their entries tell of them, what has ended, timers, holders and dead letters.
#pragma once

// fq, this room.
#include "core/schedule/check/check_part.h"

namespace fq {

class MessagesCheck : private CheckPart {
 public:
  explicit MessagesCheck(CheckScene& scene) : CheckPart(scene) {}

  void check_entries();
  void check_outcomes();
  /// Needs: all timers were counted.
  void check_heap();
  void check_holders();
  void check_dead();

 private:
  void check_steps(uint32_t slot, const Entry& entry);
  void add_charge(const Entry& entry);
};

}  // namespace fq
