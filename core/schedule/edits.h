// edits - a message that does not run gets other values, and the place that they give it.
//
// The claim of its tenant stays: a tenant that has a turn to come keeps it, whatever becomes of the order of
// its messages. The name of its tenant, its unique key and its dependencies are not values of a message: they
// stay.
#pragma once

// fq, this room.
#include "core/schedule/memory/arrays.h"
#include "core/schedule/messages.h"

namespace fq {

/// All of its values, changed or not.
struct Edit {
  std::string_view key;  // order-preserving bytes, empty for none
  int32_t priority = 0;
  uint16_t attempts_max = 0;  // in force; 0: not leased yet and no own
  bool own_attempts = false;
  int64_t ttl_ms = kNever;
  SlotState state{};          // ready, delayed, held or dead
  int64_t at_ms = 0;          // ready and dead: since, delayed: due
  int64_t due_ms = 0;         // held: not before
  bool from_release = false;  // due_ms is how long after its release
  uint32_t transit = 0;       // as of NewEntry: then it is held, and waits for nothing
  uint32_t deliveries = 0;
  uint16_t attempts = 0;
  uint16_t crashes = 0;
  uint32_t payload_bytes = 0;
  bool blob = false;
  uint8_t job_flags = 0;  // of kEntryJob
  uint64_t overhead_bytes = 0;
  int64_t now_ms = 0;
};

class Edits {
 public:
  explicit Edits(const Region& region) : region_(region) {}

  /// Whatever its state was: a rebuild may know an older one. At most 16 steps. Needs: room for need_of() of
  /// the key.
  void apply(Txn& txn, SlotIndex slot, const Edit& edit) const;
  static Need need_of(std::string_view key);

 private:
  void set_values(Txn& txn, const Message& message, const Edit& edit) const;
  void set_rank(Txn& txn, Entry& entry, const Edit& edit) const;

  const Region& region_;
};

}  // namespace fq
