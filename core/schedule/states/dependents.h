// dependents - held messages: the messages they wait for, and what becomes of them when those have ended.
//
// Stands on Waits (order/waits.h), which owns the lists: see W1 and W2. When a message ends, or dies, that is
// noted; the messages that waited for it are decided upon one by one, each in the transaction that carries
// the decision out.
#pragma once

// System.
#include <optional>
#include <span>
// fq, this room.
#include "core/schedule/order/waits.h"

namespace fq {

class Dependents {
 public:
  explicit Dependents(const Region& region) : region_(region) {}

  /// Adds the waits of a message that comes in. `linked`: it is held. One step each.
  void add(Txn& txn, SlotIndex slot, Bytes after, bool linked) const;
  /// For a message that is held again: it waits for those that have not ended yet. One of which nothing is
  /// known may be unfinished where a rebuild does not know it yet: it is waited for too, and decided upon
  /// like one that has ended.
  void hold_again(Txn& txn, const Extra& extra) const;
  /// Whether a kick of this message is to hold it: something that it came after is unfinished.
  bool would_hold(SlotIndex slot) const;
  /// Whether a held message waits for this one.
  bool is_waited_for(MessageId id) const;
  /// The ids that a held message still waits for, or a dead one did. At most kWaitsMax.
  uint32_t waits_of(SlotIndex slot, std::span<uint64_t> ids) const;
  /// Of the ids that it came after those whose ack it needed and will not have. At most kWaitsMax.
  uint32_t failed_of(SlotIndex slot, std::span<uint64_t> ids) const;

  /// A dependency that has ended, for which a message may have waited.
  std::optional<uint32_t> first_ended() const;
  uint64_t id_of(uint32_t dependency) const { return region_.dependency(dependency).id; }
  struct Decision {
    SlotIndex slot;
    bool bury = false;   // else it is let go, or
    bool again = false;  // held again
    uint32_t waits = 0;  // that it had
  };
  /// The next message that waited for it and is to be let go or buried now, or, where it has come back, that
  /// it buried and that is to be held again; none: there is no other. It no longer waits for it, so the
  /// decision has to be carried out in the same transaction. At most 32 steps.
  std::optional<Decision> decide(Txn& txn, uint32_t dependency) const;
  /// Held no longer: ready, or delayed until it is due; a message on its way between queues is as it was
  /// before. At most 12 steps and one for each of its waits.
  void let_go(Txn& txn, SlotIndex slot, int64_t now_ms) const;
  /// For Messages: one whose job has ended that a step suspended is delayed, or held until all that it waits
  /// for have ended. Needs: it has left its holder. At most 12 steps and one for each of its waits.
  void enter_suspended(Txn& txn, const Message& message, int64_t now_ms) const;

  /// A message that is not known has ended.
  void note_ended(Txn& txn, MessageId id, bool acked) const;
  /// After a rebuild: messages that ended before are looked at again. Without bound: never where others see
  /// the region.
  void note_all_ended() const;

 private:
  uint32_t failed_wait(const Extra& extra) const;
  std::optional<Decision> decide_again(Txn& txn, uint32_t dependency) const;

  const Region& region_;
};

}  // namespace fq
