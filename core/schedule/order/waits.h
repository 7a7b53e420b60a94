// waits - the dependencies of a held message, and the messages that wait for one.
//
// A Dependency names, by its id, a message that others wait for. That message need not be known: a rebuild
// may meet the waiting one first. Each Wait links a waiting message with one of its dependencies. When a
// dependency has ended, it joins the list of the ended ones; a process that can write to the journal takes
// from that list, a few in a transaction, and decides about each waiting message: released, buried, or still
// waiting for others. So the ack of a message that ten thousand others wait for costs one step, and a process
// that dies half-way leaves the rest to the next one. Nothing is decided here: the list only says where to
// look.
//
// A message that was buried while it was held keeps its waits, so that a kick can hold it again: a kick of
// its own, or of the message whose death buried it. For that, the waits that needed an ack are in another
// list of their dependency. A message that comes back from the dead is looked at like one that has ended.
//
// Invariants
//  W1  A linked wait is in the list of its dependency, once; a dependency has a wait, linked or not, or has
//      ended.
//  W2  A wait belongs to one message that is held, dead or leased and suspended, is linked only while it is
//      held and among the buried only while it is dead; a message has kWaitsMax at most.
//  W3  The dependency of a linked wait is unfinished, or in the list of the ended ones: so a message is held
//      for a message that lives, or is about to be decided upon.
#pragma once

// System.
#include <optional>
// fq, below us.
#include "core/base/limits.h"
// fq, this room.
#include "core/schedule/memory/linear_hash.h"

namespace fq {

inline constexpr uint32_t kWaitsMax = kAfterMax + 1;  // a unique key may add one

inline constexpr uint32_t kWaitAny = 1;     // however it ends; else it has to be acked
inline constexpr uint32_t kWaitLinked = 2;  // in its dependency's list
inline constexpr uint32_t kWaitBuried = 4;  // in its dependency's list of those that it buried

struct NewWait {
  uint64_t id = 0;
  bool any = false;
  bool linked = true;
  bool failed = false;  // it has ended, and not by an ack
};

/// What is known of a message that others wait for. `failed`: dead, or ended otherwise than by an ack;
/// `forgotten`: nothing is known of it any more.
enum class Standing : uint8_t { unfinished, acked, failed, forgotten };

struct DependencyIndexKind
    : IndexKind<&ScheduleRoot::dependency_buckets, &ScheduleRoot::dependency_bucket_count,
                &ScheduleRoot::dependencies, 2> {
  static uint64_t hash_of(const Dependency& dependency);
};

class Waits {
 public:
  explicit Waits(const Region& region) : region_(region), index_(DependencyIndexKind{&region}) {}

  /// One step. Needs: room for it.
  void add(Txn& txn, uint32_t waiter, Extra& extra, const NewWait& wait) const;
  /// All of a message. At most kWaitsMax steps, each of at most 12 stores.
  void drop(Txn& txn, Extra& extra) const;
  /// This message has ended, died, or is back from the dead: the messages that waited for it are to be looked
  /// at.
  void note_ended(Txn& txn, uint64_t id, Fate fate) const;
  /// Whether a message that this one waits for has ended other than by an ack.
  bool has_failed(const Extra& extra) const;
  /// The Dependency of this message, or kNoIndex.
  uint32_t find(uint64_t id) const;
  /// A dependency that may have ended and that a message waits for, or kNoIndex.
  uint32_t first_ended() const { return region_.root.first_ended; }
  /// It has not ended after all, or no message waits for it any more.
  void forget_ended(Txn& txn, uint32_t dependency) const;
  void unlink(Txn& txn, uint32_t wait) const;
  /// Into the list of its dependency, which is to be looked at where that has ended (W3).
  void link(Txn& txn, uint32_t wait) const;
  /// All of a message that is dead, which keeps them. At most kWaitsMax steps, each of at most 9 stores.
  void bury_all(Txn& txn, const Extra& extra) const;
  /// Needs: it is in no list.
  void bury(Txn& txn, uint32_t wait) const;
  /// Not finished: ready, delayed, leased or held.
  bool is_unfinished(uint64_t id) const;
  Standing standing_of(const Dependency& dependency) const;

 private:
  void add_to_ended(Txn& txn, uint32_t dependency) const;
  uint32_t dependency_of(Txn& txn, uint64_t id) const;
  void free_if_unused(Txn& txn, uint32_t dependency) const;

  const Region& region_;
  LinearHash<DependencyIndexKind> index_;
};

}  // namespace fq
