// delivered - what a delivery changes in a message itself and in the counts of deliveries, in one place.
#pragma once

// System.
#include <algorithm>
// fq, below us.
#include "core/base/policy.h"
// fq, this room.
#include "core/schedule/memory/extras.h"
#include "core/schedule/memory/histogram.h"
#include "core/schedule/memory/run_marks.h"
#include "core/schedule/memory/service.h"

namespace fq {

struct LeaseTerms {
  uint64_t serial = 0;
  HolderIndex holder = kHeldByTime;
  int64_t until_ms = kNever;  // kNever: held by the process alone
  uint16_t attempts_max = 0;  // for messages without their own; 0: kStandardAttempts and its like
  int64_t now_ms = 0;
};

/// Needs: it is in the state that it leaves now.
[[gnu::always_inline]] inline void note_delivery(Txn& txn, const Region& region, const Message& message,
                                                 const LeaseTerms& terms) {
  auto& [slot, entry, tenant] = message;
  if (entry.deliveries == 0 && state_of(entry) == SlotState::ready) {
    const auto wait = static_cast<uint64_t>(std::max<int64_t>(0, time_between(entry.at_ms, terms.now_ms)));
    histogram_note(txn, region.root.wait, wait);
    histogram_note(txn, tenant.wait, wait);
  }
  const Opened<Entry> opened = region.open(txn, entry);
  if (__builtin_expect(terms.now_ms >= region.root.run_mark_due_ms, 0))
    run_mark_set(txn, region.root, terms.serial, terms.now_ms);
  opened.set(&Entry::serial, terms.serial);
  opened.set(&Entry::began_ms, static_cast<uint32_t>(terms.now_ms));
  const bool is_command = (entry.flags & kEntryCommand) != 0;
  const auto queues =
      static_cast<uint16_t>(terms.attempts_max != 0 ? terms.attempts_max : standard_attempts(is_command));
  if ((entry.flags & kEntryOwnAttempts) == 0) opened.set(&Entry::attempts_max, queues);
  // At its most it stays: 0 is said of what was never delivered.
  if (__builtin_expect(entry.deliveries != UINT32_MAX, 1)) add_to(opened, &Entry::deliveries, 1);
  add_to(open_sums(txn, region.root), region.root.counters.popped, 1);
  const Opened<Tenant> leaf = region.open(txn, tenant);
  add_to(leaf, &Tenant::popped, 1);
  service_note_start(region, entry, leaf, terms.now_ms);
}

}  // namespace fq
