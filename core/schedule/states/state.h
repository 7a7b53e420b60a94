// state - a message's way from one state to another: out of the structure of the old, into that of the new.
//
// The one place where counts of messages by state change, so that they are the states and nothing else.
// An entry in flight between leave() and enter_...() belongs to no structure; both happen in one change.
#pragma once

// fq, this room.
#include "core/schedule/order/dead_order.h"
#include "core/schedule/order/delay_heap.h"
#include "core/schedule/order/holder_list.h"
#include "core/schedule/rings/gathering.h"
#include "core/schedule/order/message_order.h"
#include "core/schedule/tree/tenant_tree.h"
#include "core/schedule/order/unique_keys.h"
#include "core/schedule/order/waits.h"

namespace fq {

class States {
 public:
  explicit States(const Region& region) : region_(region) {}

  /// Out of its lane, heap or holder's list; its tenant's seat follows unless `reseat` is false.
  void leave(Txn& txn, const Message& message, bool reseat = true) const;
  void enter_ready(Txn& txn, const Message& message, int64_t since_ms) const;
  void enter_delayed(Txn& txn, const Message& message, int64_t due_ms) const;
  /// `until_ms` kNever: no timer. Holder kHeldByTime: in no holder's list.
  void enter_leased(Txn& txn, const Message& message, HolderIndex holder, int64_t until_ms) const;
  void enter_held(Txn& txn, const Message& message, int64_t since_ms) const;
  void enter_dead(Txn& txn, const Message& message, int64_t since_ms) const;
  /// Counts a message that is new (from free) or that ends (to free).
  void count(Txn& txn, const Message& message, SlotState from, SlotState to) const;
  struct Size {
    uint32_t payload_bytes;
    bool blob;
    uint8_t overhead;  // see overhead.h
  };
  /// Takes `less` from the bytes that count as its own, and adds `more`. Needs: it is not free.
  void change_bytes(Txn& txn, const Message& message, uint32_t less, uint32_t more) const;
  /// It has another payload. Needs: it is not free.
  void set_size(Txn& txn, const Message& message, const Size& size) const;
  /// Another place of a ready one among its tenant's, which keeps its turn: `change` makes its rank another.
  template <class Change>
  void reorder(Txn& txn, const Message& message, Change&& change) const {
    auto& [slot, entry, tenant] = message;
    lanes().remove(txn, lane_of(txn, message), slot, region_.open(txn, entry));
    heap().remove(txn, slot);
    change();
    lanes().insert(txn, lane_of(txn, message), slot, region_.open(txn, entry));
    if (expires_ms(region_, entry) != kNever) heap().insert(txn, slot);
    if (is_ranked(region_.root)) seats().rerank(txn, entry.tenant, slot);
  }
  /// Where it was leased: the tenants that waited for that to end are free. Before it comes to its tenant's
  /// lane, so that a tenant which has nothing else counts as one that has something again.
  void note_end(Txn& txn, const Message& message, SlotState from) const;

 private:
  void set_state(Txn& txn, const Message& message, SlotState to) const;
  Opened<Lane> lane_of(Txn& txn, const Message& message) const;
  Opened<Lane> dead_lane(Txn& txn) const;
  void note_extra(Txn& txn, const Message& message, SlotState to) const;
  void note_key(Txn& txn, const Message& message, SlotState to) const;

  // Made where they are needed: of most changes of state, few are.
  DelayHeap heap() const { return DelayHeap(region_); }
  MessageLane lanes() const { return MessageLane(MessageKind{&region_}); }
  DeadLane dead() const { return DeadLane(DeadKind{&region_}); }
  Seats seats() const { return Seats(region_); }
  Limits limits() const { return Limits(region_); }
  Gathering gathering() const { return Gathering(region_); }

  const Region& region_;
};

}  // namespace fq
