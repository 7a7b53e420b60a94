// local_group - which message a lease takes next: by its turn, or as one more of the group that was begun.
//
// A group's messages are leased in one hold of the lock as far as kGroupRecords reaches; what is left of a
// larger one is open to others meanwhile, as if it had gathered for them too.
#include "core/local/local_queue.h"

// System.
#include <algorithm>

namespace fq {

/// The next one for this request; none: there is none, or it would be too much. Needs: the lock.
std::optional<SlotIndex> LocalQueue::take_next(Txn& txn, const LeaseRequest& request, TenantIndex from,
                                               const LeaseTerms& terms, uint64_t bytes) {
  const uint64_t bytes_left = bytes >= request.bytes_max ? 0 : request.bytes_max - bytes;
  if (group_.left > 0) {
    if (const auto slot = take_of_group(txn, from, terms, bytes_left)) return slot;
  }
  if (taken_.size() >= request.want) return std::nullopt;
  // A limit of bytes is looked at before the turn is taken: a turn cannot be given back.
  if (request.bytes_max != UINT64_MAX && !taken_.empty()) {
    const std::optional<SlotIndex> next = schedule().next(from);
    if (!next || schedule().entry(*next).payload_bytes > bytes_left) return std::nullopt;
  }
  const std::optional<SlotIndex> slot = schedule().lease_next(txn, from, terms);
  if (!slot || !request.grouped) return slot;
  const TenantIndex leaf{schedule().entry(*slot).tenant.get()};
  group_.leaf = leaf;
  group_.left = std::min(request.group_max, schedule().group_size(leaf, 1)) - 1;
  if (group_.left == 0) schedule().end_group(txn, leaf, terms.now_ms);
  return slot;
}

/// None: the group has ended, since no more of it can be had.
std::optional<SlotIndex> LocalQueue::take_of_group(Txn& txn, TenantIndex from, const LeaseTerms& terms,
                                                   uint64_t bytes_left) {
  const std::optional<SlotIndex> next = schedule().first_ready(group_.leaf);
  std::optional<SlotIndex> slot;
  if (next && schedule().entry(*next).payload_bytes <= bytes_left) {
    slot = schedule().lease_more(txn, from, group_.leaf, terms);
  }
  group_.left = slot ? group_.left - 1 : 0;
  if (group_.left == 0) schedule().end_group(txn, group_.leaf, terms.now_ms);
  return slot;
}

}  // namespace fq
