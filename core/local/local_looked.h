// local_looked - what is copied of a message under the lock, to be described without it.
#pragma once

// fq, this room.
#include "core/local/local_queue.h"

namespace fq {

struct LocalQueue::Looked {
  uint64_t id = 0;
  State state = State::ready;
  SlotState slot_state{};
  uint16_t attempts = 0;
  uint16_t attempts_max = 0;
  uint16_t crashes = 0;
  uint32_t deliveries = 0;
  int64_t at_wall_ms = 0;  // 0: held by a process
  int64_t ttl_ms = 0;      // that still holds; 0: none
  bool expired = false;
  bool has_key = false;   // of --unique or --debounce
  bool key_lost = false;  // and holds it no more
  uint64_t serial = 0;
  int pid = 0;                  // that leased it by living; 0: by time
  uint64_t pid_started = 0;     // see process_started
  bool holder_is_dead = false;  // and it is kept by what its job left behind
  uint64_t event_position = 0;
  std::optional<ItemPlace> place;
};

/// What compaction copies forward, with the texts that its views point to.
struct LocalQueue::Carried {
  MovedRecord record;
  std::string reason;
  std::string stderr_tail;
  std::string terms;
  std::vector<uint64_t> waits;  // the ids for which it waits
  std::vector<std::byte> after;
  uint32_t item_offset = 0;        // of the message in the encoded body
  int64_t wall_minus_boot_ms = 0;  // with which its times were made wall times
};

/// A place in the order of pages: due time for those that wait for one, else (0) the id alone.
struct LocalQueue::Place {
  int64_t at_ms = 0;
  uint64_t id = 0;
  bool operator==(const Place&) const = default;
  bool operator<(const Place& other) const {
    return at_ms != other.at_ms ? at_ms < other.at_ms : id < other.id;
  }
};

}  // namespace fq
