// root - the root of a schedule: its arrays, its sums, and the heads of its lists.
//
// Lies in the segment's header, at a fixed place, so that everything else can be reached from it. Zeroed
// bytes are not a valid root: Growth::initialise makes one. All fields are Shared: they change only through a
// transaction. Sums are kept here because a look at a queue must not walk it; they change in one place
// (core/schedule/states/state.h) together with the state that they count.
//
// Invariants
//  A1  used elements + free elements + elements at or above the high-water mark = capacity, an array each.
//  A2  counts.x is the number of entries in state x; payload_bytes and journal_bytes are the sums over all of
//      them, dead ones included.
//  A3  heap capacity holds a place for every used entry, tenant, key, pool and schedule, so a lease never
//      needs room.
#pragma once

// fq, below us.
#include "core/base/policy.h"
// fq, this room.
#include "core/schedule/memory/pool.h"
#include "core/schedule/memory/recurring.h"
#include "core/schedule/memory/step.h"
#include "core/schedule/memory/tenant.h"

namespace fq {

inline constexpr uint32_t kOutcomesMax = 65536;     // the last so many ends are remembered
inline constexpr uint32_t kRuleBucketsMax = 65536;  // a policy file has at most some 30,000 entries
inline constexpr uint32_t kPoolBucketsMax = 65536;
inline constexpr uint32_t kRecurringBucketsMax = 65536;

/// Where elements of an array come from: first the freed ones, then those never used.
template <uint32_t kOpens>
struct SupplyOf {
  Shared<uint32_t, kOpens> free_head;
  Shared<uint32_t, kOpens> high_water;  // elements at or above it were never used
  Shared<uint32_t, kOpens> used;
};
using Supply = SupplyOf<kNotOpened>;

/// Times of a whole queue, log-linear, never halved: see histogram.h.
struct QueueHistogram {
  static constexpr uint32_t kExact = 32;  // so many buckets of one millisecond
  static constexpr uint32_t kPerOctave = 16;
  static constexpr uint32_t kOctaves = 27;  // up to 2^32 ms, 49 days; longer times are in the last bucket
  static constexpr uint32_t kBuckets = kExact + kOctaves * kPerOctave;
  Shared<uint64_t> bucket[kBuckets];
  Shared<uint64_t> max_ms;
  Shared<uint64_t> sum_ms;
};

/// The counters at one time, see rates.h. The lower halves of the counters: differences are enough.
struct RateSample {
  Shared<int64_t> at_ms;
  Shared<uint32_t> pushed, popped, acked;
  Shared<uint32_t> zero;
};

struct SharedRates {
  static constexpr uint32_t kSamples = 184;  // at 5 s each a little more than 15 minutes
  Shared<int64_t> next_ms;                   // when the next one is taken
  Shared<uint32_t> taken;                    // since the segment was made
  Shared<uint32_t> zero;
  RateSample samples[kSamples];  // the newest at (taken - 1) % kSamples
};

/// See run_marks.h.
struct RunMark {
  Shared<uint64_t> serial;  // of the first delivery
  Shared<int64_t> at_ms;    // from this time on
};
inline constexpr uint32_t kRunMarks = 32;  // chosen: more than a year of them

/// The leases of one process, linked through Entry::prev and next.
struct Holder {
  Shared<uint32_t> head;
  Shared<uint32_t> count;
};

/// Counts since the queue was made, with the names of core/journal/record.h.
struct RootCounters {
  SumField<uint64_t> pushed, popped, acked;
  Shared<uint64_t> retried, released, buried, expired, cancelled, recoveries;
  Shared<uint64_t> left;  // into other queues, since this segment was made
};

/// See terms.h.
struct SharedTerms {
  Shared<Scope> scope;
  Shared<uint32_t> ages;
  Shared<uint32_t> ranks;       // ranks.h: those that places have are of this number; 0: none are kept
  Shared<uint32_t> last_ranks;  // the number that was given last
  Shared<uint64_t> stamps;      // given out, see Place::stamp
  Shared<FairBy> fair_by;
  Shared<int64_t> linger_ms;
  Shared<uint64_t> batch_max;
  Shared<uint32_t> next_node;     // of the walk; kNoIndex: there is none
  Shared<uint32_t> other_cost;    // 1: the walk is to even out what turns of another cost have left
  Shared<uint32_t> other_groups;  // 1: and to see which nodes gather
  Shared<uint32_t> zero;
};

/// The fields that nearly every operation touches come first: a process pays for each page, and for each
/// sixteen of them that lie in a row, when it first looks there. Then the arrays, those of every push first,
/// the large last.
struct ScheduleRoot {
  Supply tenant_supply;
  Supply text_supply;
  Supply extra_supply;
  Supply key_supply;
  Supply dependency_supply;
  Supply wait_supply;
  Supply control_supply;
  Supply rule_supply;
  Supply pool_supply;
  Supply recurring_supply;
  Supply step_supply;

  Shared<uint32_t> heap_count;
  Shared<uint32_t> id_bucket_count;  // in use, see linear_hash.h
  Shared<uint32_t> tenant_bucket_count;
  Shared<uint32_t> key_bucket_count;
  Shared<uint32_t> held_keys;  // in the key index
  Shared<uint32_t> dependency_bucket_count;
  Shared<uint32_t> first_ended, last_ended;  // of the dependencies that ended, see waits.h
  Shared<uint32_t> named_tenants;            // in the tenant index

  Shared<uint32_t> tenants_count;  // that have a queue of their own (leaves)
  Shared<uint32_t> parked_count;   // nodes that are parked
  Shared<uint32_t> paused_count;   // of these, paused
  Shared<uint32_t> usual_run;      // moving average of the logarithms of all runs, see costs.cpp; 0: none yet

  Shared<int64_t> run_mark_due_ms;   // when the first delivery sets the next mark; 0: there is none yet
  Shared<uint64_t> run_mark_serial;  // of the newest one

  // The rules that hold are those of one generation; those of others are about to be removed.
  Shared<uint32_t> rule_bucket_count;
  Shared<uint32_t> rule_heads;        // in the index: one for each beginning
  Shared<uint32_t> rules_generation;  // 0: there are none
  Shared<uint32_t> capped;            // something may say max_messages or max_bytes of some node
  Shared<uint64_t> rule_prefixes[4];  // bit n: some pattern begins with n literal bytes

  Shared<uint32_t> places_used;  // 1: every tenant has a Place
  Shared<uint32_t> pool_bucket_count;
  Shared<uint32_t> recurring_bucket_count;
  Shared<uint32_t> paused_recurring;
  RecurringList due;             // schedules whose time has come
  RecurringList refused;         // of these, those that found no room
  Shared<uint64_t> closed_sets;  // bits of those that lack room

  SharedTerms terms;
  Lane dead;                         // see dead_order.h
  Shared<uint64_t> dead_bytes;       // of payload_bytes, in dead messages
  Shared<uint64_t> setting_bytes;    // that what was set at run time for tenants takes in the journal
  Shared<uint64_t> recurring_bytes;  // that schedules take there
  // From here to counters.acked: opened by every operation that adds, starts or ends messages.
  SupplyOf<kOpensSums> entry_supply;
  SumField<uint32_t> first_outcome, last_outcome;  // of the messages that ended and are remembered
  SumField<uint32_t> outcome_count;
  SumField<uint32_t> active_count;  // tenants with something ready
  SumField<uint32_t> zero;
  StateCounts<kOpensSums> counts;
  SumField<uint32_t> returning;  // delayed ones that were delivered before: retried or released
  SumField<uint64_t> payload_bytes;
  SumField<uint64_t> journal_bytes;  // that all messages take in the journal, about: see overhead.h
  RootCounters counters;
  Shared<uint64_t> hash_key[2];  // random, set by the owner before the first tenant; keys the tenant index
  SharedRates rates;

  ChunkedArray<IndexCell, 256, 0> tenant_buckets;
  ChunkedArray<IndexCell, 2048, 1> id_buckets;
  ChunkedArray<IndexCell, 2048, 2> heap;
  ChunkedArray<TextCell, 4096, 3> text;
  ChunkedArray<Tenant, 4096, 4> tenants;
  ChunkedArray<Entry, 8192, 5> entries;
  ChunkedArray<Extra, 4096, 6> extras;
  ChunkedArray<UniqueKey, 4096, 7> keys;
  ChunkedArray<IndexCell, 1024, 8> key_buckets;
  ChunkedArray<Dependency, 1024, 9> dependencies;
  ChunkedArray<IndexCell, 256, 10> dependency_buckets;
  ChunkedArray<Wait, 1024, 11> waits;
  ChunkedArray<Control, 1024, 12> controls;
  ChunkedArray<Rule, 64, 13> rules;
  ChunkedArray<IndexCell, 1, 14> rule_buckets;
  ChunkedArray<Place, 1024, 15> places;  // as many as tenants, or none: see pool.h
  ChunkedArray<Pool, 32, 16> pools;
  ChunkedArray<IndexCell, 1, 17> pool_buckets;
  ChunkedArray<Recurring, 32, 18> recurring;
  ChunkedArray<IndexCell, 1, 19> recurring_buckets;
  ChunkedArray<Step, 4096, 20> steps;

  PoolSet pool_sets[kPoolSetsMax + 1];  // by bit; the first is no set
  QueueHistogram wait;
  QueueHistogram run;
  RunMark run_marks[kRunMarks];  // the newest at (run_marks_made - 1) % kRunMarks
  Shared<uint32_t> run_marks_made;
  Holder holders[kHoldersMax];
};

/// For all messages of this transaction.
using OpenedSums = OpenedFields<kOpensSums>;
[[gnu::always_inline]] inline OpenedSums open_sums(Txn& txn, ScheduleRoot& root) {
  constexpr size_t kSumsBytes = offsetof(ScheduleRoot, counters) + offsetof(RootCounters, retried) -
                                offsetof(ScheduleRoot, entry_supply);
  static_assert(offsetof(ScheduleRoot, entry_supply) % alignof(uint64_t) == 0);
  return txn.open_fields<kOpensSums, kSumsBytes>(&root.entry_supply);
}

}  // namespace fq
