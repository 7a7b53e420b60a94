// schedule - the messages and tenants of one region in order of service, and the objects that change them.
//
// A pure library over a byte region and a given time: no locks, no system calls, no clock, no allocation in
// anything that takes a Txn. The caller holds the state lock. Every call that takes a Txn makes at most the
// element steps that its comment names, so that the caller can fit several in one transaction.
//
// Each object's own header says what it does. An object is only a view: it knows where the region lies and
// nothing else, so a caller asks for it where it is used, and it does not outlive its schedule.
#pragma once

// fq, this room.
#include "core/schedule/states/dependents.h"
#include "core/schedule/edits.h"
#include "core/schedule/growth.h"
#include "core/schedule/states/kept_steps.h"
#include "core/schedule/messages.h"
#include "core/schedule/node_policy.h"
#include "core/schedule/order/timetable.h"
#include "core/schedule/past.h"
#include "core/schedule/plain/plain_push.h"
#include "core/schedule/tenants.h"
#include "core/schedule/timers.h"
#include "core/schedule/turns.h"
#include "core/schedule/views.h"

namespace fq {

class Schedule {
 public:
  Schedule(Arena arena, ScheduleRoot& root) : region_{std::move(arena), root} {}

  Messages messages() const { return Messages(region_); }
  PlainPush plain_push() const { return PlainPush(region_); }
  Turns turns() const { return Turns(region_); }
  Edits edits() const { return Edits(region_); }
  Dependents dependents() const { return Dependents(region_); }
  Timers timers() const { return Timers(region_); }
  NodePolicy policy() const { return NodePolicy(region_); }
  Growth growth() const { return Growth(region_); }
  Tenants tenants() const { return Tenants(region_); }
  Views views() const { return Views(region_); }
  Past past() const { return Past(region_); }
  KeptSteps steps() const { return KeptSteps(region_); }
  UniqueKeys keys() const { return UniqueKeys(region_); }

  Timetable timetable() const { return Timetable(region_); }

  /// Tables of where the arrays lie, for a process that stays: see Arena. Room for them, and for hints, is
  /// made without the lock; they are filled under it, between transactions.
  bool is_behind() const { return region_.arena.is_behind(); }
  void make_room() {
    region_.hints.make_room();
    any_array(
        [&](ArrayName, const auto& row) { return region_.arena.make_room(region_.root.*row.array), false; });
  }
  void learn() {
    any_array(
        [&](ArrayName, const auto& row) { return region_.arena.learn(region_.root.*row.array), false; });
    region_.arena.note_learned();
  }

  const ScheduleRoot& root() const { return region_.root; }
  const Region& region() const { return region_; }

 private:
  Region region_;
};

}  // namespace fq
