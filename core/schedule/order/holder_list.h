// holder_list - the leases of one process, the newest first, so that they are found when it is dead.
//
// In line: most leases are held by processes, so most starts and ends of messages come here.
#pragma once

// fq, this room.
#include "core/schedule/memory/region.h"

namespace fq {

inline bool has_holder(const Entry& entry) { return entry.holder != static_cast<uint16_t>(kHeldByTime); }

class HolderList {
 public:
  explicit HolderList(const Region& region) : region_(region) {}

  /// Needs: it is in no list. One step.
  [[gnu::always_inline]] void insert(Txn& txn, const Message& message, HolderIndex index) const {
    const auto place = static_cast<uint16_t>(index);
    if (place >= kHoldersMax) region_damaged("a holder is out of range");
    Holder& holder = region_.root.holders[place];
    const Opened<Entry> entry = region_.open(txn, message.entry);
    const uint32_t head = holder.count == 0 ? kNoIndex : holder.head.get();
    entry.set(&Entry::holder, place);
    entry.set(&Entry::prev, kNoIndex);
    entry.set(&Entry::next, head);
    if (head != kNoIndex) txn.set(region_.entry(head).prev, message.slot);
    const Opened<Holder> opened = txn.open<kNotOpened>(holder);
    opened.set(&Holder::head, message.slot);
    add_to(opened, &Holder::count, 1);
  }

  /// Needs: it is in one. One step.
  [[gnu::always_inline]] void remove(Txn& txn, const Message& message) const {
    const Opened<Entry> entry = region_.open(txn, message.entry);
    if (entry->holder >= kHoldersMax) region_damaged("a holder is out of range");
    Holder& holder = region_.root.holders[entry->holder];
    const uint32_t prev = entry->prev, next = entry->next;
    const Opened<Holder> opened = txn.open<kNotOpened>(holder);
    if (prev == kNoIndex) opened.set(&Holder::head, next);
    if (prev != kNoIndex) txn.set(region_.entry(prev).next, next);
    if (next != kNoIndex) txn.set(region_.entry(next).prev, prev);
    take_from(opened, &Holder::count, 1);
    entry.set(&Entry::holder, static_cast<uint16_t>(kHeldByTime));
  }

 private:
  const Region& region_;
};

}  // namespace fq
