#include "core/schedule/rings/costs.h"

// System.
#include <algorithm>

namespace fq {
namespace {

// A tenant's average follows its last runs, the queue's those of all; arbitrary.
constexpr int64_t kOfTenant = 8;
constexpr int64_t kOfQueue = 64;
constexpr uint32_t kRoughParts = 256;

uint32_t average(uint32_t so_far, uint32_t latest, int64_t of) {
  if (so_far == 0) return latest;
  const int64_t difference = int64_t{latest} - so_far;
  return static_cast<uint32_t>(so_far + (difference + (difference > 0 ? of - 1 : 1 - of)) / of);
}

}  // namespace

uint32_t Costs::usual_ticks() const {
  return ticks_of(static_cast<uint8_t>(region_.root.usual_run / kRoughParts));
}

Cost Costs::of_work(const Entry& entry) const {
  switch (region_.root.terms.fair_by) {
    case FairBy::turns:
      break;
    case FairBy::bytes: {
      const uint64_t pieces = (uint64_t{entry.payload_bytes} + kCostlyBytes - 1) / kCostlyBytes;
      return {std::max<uint64_t>(1, pieces) * kCostPerPiece, 0};
    }
    case FairBy::time: {
      const uint32_t own = region_.tenant(entry.tenant).run_ticks;
      // Of who has not run yet nothing better is known than what all take.
      const uint32_t expected = own != 0 ? own : usual_ticks();
      const uint8_t rough = rough_of(std::max(expected, kTicksMin));
      return {ticks_of(rough) * kCostPerTick, rough};
    }
  }
  return {};
}

uint64_t Costs::of_newcomer(Txn& txn, const Entry& entry, int64_t now_ms) const {
  if (region_.root.terms.fair_by != FairBy::time) return std::min(of(entry).turns, kTurn);
  return of_group(txn, entry, now_ms);
}

uint64_t Costs::of_group(Txn& txn, const Entry& entry, int64_t now_ms) const {
  if (region_.root.terms.fair_by != FairBy::time) return kTurn;
  Tenant& leaf = region_.tenant(entry.tenant);
  if (leaf.counts.leased == 0 && time_after(leaf.used_ms, kIdleMs) <= now_ms) put(txn, leaf.run_ticks, 0);
  return std::min(of(entry).turns, std::max(usual_ticks(), kTicksMin) * kCostPerTick);
}

void Costs::expect(Txn& txn, const Entry& entry, uint8_t rough) const {
  StepLimit limit(kDepthMax);
  for (uint32_t i = entry.tenant; region_.tenant(i).level > entry.height; limit.step()) {
    seats_.expect(txn, i, ticks_of(rough));
    i = region_.tenant(i).parent;
  }
}

void Costs::learn(Txn& txn, Tenant& leaf, uint32_t ticks) const {
  put(txn, leaf.run_ticks, average(leaf.run_ticks, ticks, kOfTenant));
  put(txn, region_.root.usual_run, average(region_.root.usual_run, rough_of(ticks) * kRoughParts, kOfQueue));
}

void Costs::note_end(Txn& txn, Entry& entry, uint32_t ticks, int64_t now_ms) const {
  const uint8_t rough = entry.rough_cost;
  if (rough != 0) region_.open(txn, entry).set(&Entry::rough_cost, 0);
  const uint32_t took = std::max(ticks, kTicksMin);
  // What was charged by time before turns cost something else does not stand in any tag.
  const bool timed = rough != 0 && region_.root.terms.fair_by == FairBy::time;
  if (timed) learn(txn, region_.tenant(entry.tenant), took);
  StepLimit limit(kDepthMax);
  for (uint32_t i = entry.tenant; timed && i != kRoot; limit.step()) {
    const Tenant& node = region_.tenant(i);
    if (node.level > entry.height) seats_.correct(txn, i, ticks_of(rough), took);
    i = node.parent;
  }
  note_idle(txn, entry.tenant, now_ms, 1);
}

void Costs::note_idle(Txn& txn, uint32_t leaf, int64_t now_ms, uint32_t running) const {
  StepLimit limit(kDepthMax);
  for (uint32_t i = leaf; i != kRoot; limit.step()) {
    Tenant& node = region_.tenant(i);
    if (!has_something(node) && node.counts.leased <= running) put(txn, node.used_ms, now_ms);
    i = node.parent;
  }
}

}  // namespace fq
