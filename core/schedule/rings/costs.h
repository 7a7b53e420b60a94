// costs - the cost of a turn: one, or its bytes, or the time that it runs.
//
// All costs are told in parts of kTurn, so that a tag means the same whatever the queue counts by: a turn is
// as much as 4 KiB or 10 ms. The cost of a run is known at its end; at its start the moving average of its
// tenant is charged, and the difference at the end. An entry remembers its charge in one byte, so the charge
// is an average that such a byte can hold: the difference is exact all the same.
#pragma once

// System.
#include <bit>
// fq, this room.
#include "core/schedule/rings/seats.h"

namespace fq {

inline constexpr uint32_t kCostlyBytes = 64;  // bytes are counted by so many, at least one of these
inline constexpr uint64_t kCostPerPiece = kTurn / (4096 / kCostlyBytes);
/// Nothing is free: else a tenant with endless runs that take no time would never give up its turn.
inline constexpr uint32_t kTicksMin = kTicksPerMs / 2;

/// The largest number with a byte of its own that is not above `ticks`; apart by at most an eighth.
constexpr uint8_t rough_of(uint32_t ticks) {
  if (ticks < 8) return static_cast<uint8_t>(ticks);
  const auto shift = static_cast<uint32_t>(std::bit_width(ticks)) - 4;
  return static_cast<uint8_t>(8 * shift + (ticks >> shift));
}
constexpr uint32_t ticks_of(uint8_t rough) {
  if (rough < 16) return rough;
  const uint32_t shift = rough / 8u - 1;
  return (8u + rough % 8u) << shift;
}

/// The cost of a start to every node on the way to its message.
struct Cost {
  uint64_t turns = kTurn;
  uint8_t rough = 0;  // of time: what was charged; 0: what it costs is known already
};

class Costs {
 public:
  explicit Costs(const Region& region) : region_(region), seats_(region) {}

  Cost of(const Entry& entry) const {
    return region_.root.terms.fair_by == FairBy::turns ? Cost{} : of_work(entry);
  }
  /// For the first message that is ready in its tenant: how far behind the waiting tenants it takes its
  /// place. That is as much as one more start, but never more than is usual: a tenant that comes with a large
  /// message pays for it at its start, and does not wait for it before. What was learnt of a tenant is
  /// dropped when it has been idle for a minute, so it makes no difference when the tenant is forgotten.
  uint64_t of_newcomer(Txn& txn, const Entry& entry, int64_t now_ms) const;
  /// The same for the first of a group.
  uint64_t of_group(Txn& txn, const Entry& entry, int64_t now_ms) const;
  /// A message starts, and the nodes below `level` were charged its cost.
  void note_start(Txn& txn, Entry& entry, const Cost& cost, uint8_t level) const {
    const Opened<Entry> opened = region_.open(txn, entry);
    opened.set(&Entry::rough_cost, cost.rough);
    opened.set(&Entry::height, level);
    if (cost.rough != 0) expect(txn, entry, cost.rough);
  }
  /// A message has run: corrects what was charged too little or too much for it. A second time does nothing.
  void note_end(Txn& txn, Entry& entry, uint32_t ticks, int64_t now_ms) const;

  /// Nothing is ready or runs in this leaf any more, but for `running` messages that are about to end: nodes
  /// that have nothing else are idle from now on. Needs: not idle until now, or what it owes is forgiven no
  /// sooner than from now on; while its messages gather it is.
  void note_idle(Txn& txn, uint32_t leaf, int64_t now_ms, uint32_t running = 0) const;

 private:
  Cost of_work(const Entry& entry) const;
  void expect(Txn& txn, const Entry& entry, uint8_t rough) const;
  void learn(Txn& txn, Tenant& leaf, uint32_t ticks) const;
  uint32_t usual_ticks() const;

  const Region& region_;
  Seats seats_;
};

}  // namespace fq
