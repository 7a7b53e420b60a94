// event_records - events as they lie on the server: the twin of core/redis/lua/keys/events.lua, which says
// what is where.
#pragma once

// System.
#include <optional>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/policy.h"
#include "core/api/queue.h"
// fq, this room.
#include "core/redis/records/packing.h"

namespace fq {

/// The views lie in what was read. Times are the server's.
struct StreamEvent {
  std::string_view event, tenant, nonce;
  int64_t at_ms = 0, until_ms = 0, due_ms = 0, expires_ms = 0;
  uint64_t id = 0, serial = 0;
  uint32_t pid = 0;
  std::string_view failure;              // of an attempt, without its time; empty: none
  std::optional<std::string_view> tags;  // of what was pushed or changed: a block as in a message's record
  std::string_view step;                 // stepped: its name, kind and the bytes of its output
  uint8_t step_kind = 0;
  uint64_t step_bytes = 0;
  std::string_view schedule;  // that it is about, and for skipped: which time, and why (Occurrence)
  int64_t scheduled_wall_ms = 0;
  uint8_t skipped = 0;
  // pushed, unless an older fq told it: bytes of its payload, and what else its turn rests on.
  std::optional<uint64_t> pushed_bytes;
  int32_t priority = 0;
  std::string_view key;
  std::string after, after_any;    // ids, "3,17"
  std::optional<PolicyPatch> set;  // times are the server's
  std::string_view other_queue;    // left for it, or arrived from it: the message has this id there
  uint64_t other_id = 0;
};

/// The next one; none: there is no more, or what follows is none that this fq knows.
std::optional<StreamEvent> read_event(Unpacker& bytes);

}  // namespace fq
