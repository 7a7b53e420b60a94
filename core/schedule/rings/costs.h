// costs - what a turn costs: one of them, its bytes, or the time that it runs.
//
// All are told in parts of kTurn, so that a tag means the same whatever the queue counts by: a turn is as
// much as 4 KiB or 10 ms. What a run takes is known at its end; at its start the moving average of its tenant
// is charged, and the difference at the end. An entry remembers what it was charged in one byte, so what is
// charged is an average that such a byte can hold: the difference is exact all the same.
#pragma once

// System.
#include <bit>
// fq, this room.
#include "core/schedule/rings/seats.h"

namespace fq {

/// A run of the scheduler's clock, in ticks of 10 us.
inline constexpr uint32_t kTicksPerMs = 100;
inline constexpr uint64_t kCostPerTick = kTurn / (10 * kTicksPerMs);
inline constexpr uint32_t kCostlyBytes = 64;  // bytes are counted by so many, at least one of these
inline constexpr uint64_t kCostPerPiece = kTurn / (4096 / kCostlyBytes);
/// Nothing is free: else who has endless runs that take no time would never leave his turn.
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

/// What a start costs every node on the way to its message.
struct Cost {
  uint64_t turns = kTurn;
  uint8_t rough = 0;  // of time: what was charged; 0: what it costs is known already
};

class Costs {
 public:
  explicit Costs(const Region& region) : region_(region), seats_(region) {}

  Cost of(const Entry& entry) const;
  /// It is the first that is ready in its tenant. How far behind those that wait that takes its place: as
  /// much as one more start, but never more than is usual. A tenant that comes with something large pays for
  /// it then, and does not wait for it before. What is known of a tenant that was idle for a minute is known
  /// no more, so that it makes no difference when it is forgotten.
  uint64_t of_newcomer(Txn& txn, const Entry& entry, int64_t now_ms) const;
  /// The same for the first of a group.
  uint64_t of_group(Txn& txn, const Entry& entry, int64_t now_ms) const;
  /// It starts, and the nodes above `level` are charged that.
  static void note_start(const Opened<Entry>& entry, const Cost& cost, uint8_t level);
  /// It has run: what it was charged too little or too much is made up for. A second time does nothing.
  void note_end(Txn& txn, Entry& entry, uint32_t ticks, int64_t now_ms) const;

  /// What was ready or ran in this leaf does so no more, but for `running` that are about to end: nodes that
  /// have nothing else are idle from now on.
  void note_idle(Txn& txn, uint32_t leaf, int64_t now_ms, uint32_t running = 0) const;

 private:
  void learn(Txn& txn, Tenant& leaf, uint32_t ticks) const;
  uint32_t usual_ticks() const;

  const Region& region_;
  Seats seats_;
};

}  // namespace fq
