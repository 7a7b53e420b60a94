// gathering - messages of one tenant that are to be taken together.
//
// Where the queue says `linger`, a leaf that has something ready is blocked until that has gathered: until
// its oldest message has been ready so long, or `batch` of them are there. Messages that have gathered are
// open to a consumer, until none of them is left or a group of them was taken; messages that a group left
// behind, or that come later, gather anew. Without `linger` all messages have gathered at once, and `batch`
// is only the most of one group: no message waits for a number that may never be reached.
//
// Invariants
//  G1  A node blocked by kBlockGather is a leaf with something ready, and has a timer that is no later
//      than its window's end.
#pragma once

// fq, this room.
#include "core/schedule/rings/limits.h"

namespace fq {

class Gathering {
 public:
  explicit Gathering(const Region& region) : region_(region), seats_(region), limits_(region) {}

  /// A message that is ready since then has come to this leaf's lane, which has no seat if it was empty.
  void came(Txn& txn, uint32_t leaf, int64_t since_ms) const;
  /// Its lane is empty.
  void emptied(Txn& txn, uint32_t leaf) const;
  /// A group was taken of it: the messages left gather anew.
  void begin_anew(Txn& txn, uint32_t leaf, int64_t now_ms) const;
  /// Its window is over. Needs: its timer is set again behind this.
  void fire(Txn& txn, uint32_t node, int64_t now_ms) const;
  /// The queue's terms have changed.
  void look_again(Txn& txn, uint32_t node, int64_t now_ms) const;

 private:
  bool is_waiting(uint32_t leaf) const;
  int64_t oldest_ms(uint32_t leaf) const;
  void close(Txn& txn, uint32_t leaf, int64_t since_ms) const;
  void open(Txn& txn, uint32_t leaf, int64_t now_ms) const;

  const Region& region_;
  Seats seats_;
  Limits limits_;
};

}  // namespace fq
