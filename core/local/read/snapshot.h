// snapshot - a copy of a message taken under the lock, to be described without it.
#pragma once

// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "core/local/write/link.h"

namespace fq {

struct Snapshot {
  uint64_t id = 0;
  State state = State::ready;
  SlotState slot_state{};
  uint16_t attempts = 0;
  uint16_t attempts_max = 0;
  uint16_t crashes = 0;
  uint32_t deliveries = 0;
  int64_t at_wall_ms = 0;  // 0: held by a process
  int64_t ttl_ms = 0;      // that still holds; 0: none
  bool has_ttl = false;    // or had until its first start
  bool expired = false;
  bool due_from_release = false;  // held, and due so long after its release
  bool suspended = false;         // leased, and its job sleeps
  bool wait_failed = false;       // the last wait of a step: not all were acked
  int64_t wakes_wall_ms = 0;      // suspended or held: not before; 0: otherwise
  bool in_transit = false;        // held, and on its way between queues
  bool has_key = false;           // of --unique or --debounce
  bool key_lost = false;          // and holds it no more
  int64_t since_wall_ms = 0;      // its push, by the clock as it is now; of one with a key
  uint64_t serial = 0;
  int pid = 0;                  // that leased it by living; 0: by time
  uint64_t pid_started = 0;     // see process_started
  bool holder_is_dead = false;  // and it is kept by what its job left behind
  uint64_t event_position = 0;
  std::optional<ItemPlace> place;
};

/// Needs: the lock.
Snapshot take_snapshot(Link& link, SlotIndex slot);

/// As which one that is not in this queue any more is shown.
State state_of_end(RecordType verdict);
/// As which a message is shown; none: there is none in this slot.
std::optional<State> shown_state_of(const Entry& entry);
/// Whether a filter takes it, but for its tag; `below`: the filter's tenant. Needs: the lock.
bool matches(Link& link, const Filter& filter, std::optional<TenantIndex> below, const Entry& entry);

}  // namespace fq
