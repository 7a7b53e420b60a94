// carried - all that is known of a message as one record, so that it needs no older one.
//
// The message is copied under the lock and told without it; the caller that appends the record asks first
// whether the message still is what it was.
#pragma once

// System.
#include <array>
#include <optional>
#include <string>
#include <vector>
// fq, this room.
#include "core/local/read/event_walk.h"

namespace fq {

/// Owns what the views of its record point to.
class Carried {
 public:
  Carried() {  // nothing is allocated under the lock
    waits_.reserve(kWaitsMax);
    failed_.reserve(kWaitsMax);
  }
  Carried(const Carried&) = delete;
  Carried& operator=(const Carried&) = delete;

  /// Needs: the lock.
  void look(Link& link, SlotIndex slot);
  /// Its item, and what happened to it. False: the item cannot be read. Needs: look().
  Result<bool> read(Link& link);
  /// The same of one whose item cannot be read, with what is known of that.
  Result<void> read_as(Link& link, const MessageItem& item);
  /// Whether it is in this slot as it was when it was looked at. Needs: the lock.
  bool holds(Link& link, SlotIndex slot) const;

  const Snapshot& snapshot() const { return snapshot_; }
  MovedRecord& record() { return record_; }
  const MovedRecord& record() const { return record_; }

 private:
  Result<void> tell(Link& link);

  Snapshot snapshot_;
  uint64_t item_position_ = 0;
  int64_t wall_minus_boot_ms_ = 0;  // with which its times were made wall times
  std::vector<uint64_t> waits_;     // the ids for which it waits
  std::vector<uint64_t> failed_;    // and those that have failed
  StoredItem stored_;
  MovedRecord record_;
  std::optional<LastError> error_;
  std::string terms_;
  std::vector<std::byte> after_;
};

}  // namespace fq
