// event - one thing that happened to one message, as the log of a queue tells it.
//
// Millions of them are read in a row, so an Event is a view: its texts lie in the page that it came with, or
// in the engine, and are good until the next call of Queue::events.
#pragma once

// System.
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/policy.h"
// fq, this room.
#include "core/api/message.h"

namespace fq {

class Interrupt;

struct Event {
  std::string_view event;  // "pushed", "leased", "acked", ... as HistoryEvent::event; "set"
  int64_t at_wall_ms = 0;
  MessageId id{};
  std::string_view tenant;      // empty: nothing tells it any more
  std::string_view receipt;     // leased; else empty
  int pid = 0;                  // leased: by this process, for as long as it lives; 0: by time
  int64_t until_wall_ms = 0;    // leased, extended: 0: as long as its process lives
  int64_t due_wall_ms = 0;      // pushed, retried, released: not before; 0: at once
  int64_t expires_wall_ms = 0;  // pushed: dead if not started by then, as it was pushed; 0: not told
  std::optional<int16_t> exit;  // retried, buried: of its job
  std::optional<int16_t> signal;
  std::string_view reason;
  std::string_view stderr_tail;
  // leaving, left, arrived: the other queue, and the id there where that is known (else 0).
  std::string_view other_queue;
  MessageId other_id{};
  // pushed by a schedule, or about a schedule (scheduled, unscheduled, skipped), which has no id then.
  std::string_view schedule;
  int64_t scheduled_wall_ms = 0;
  // stepped: which step, and of which kind.
  std::string_view step;
  std::string_view kind;
  // pushed: the values that its turn rests on.
  std::optional<uint64_t> bytes;  // none: these are not told; stepped: of its output
  int32_t priority = 0;
  std::string_view key;        // SortKey bytes
  std::string_view after;      // ids that it waits for, "3,17"
  std::string_view after_any;  // the same, however these end
  // set, at run time, for `tenant` or where that is empty the whole queue; has no id. `limited` is the wall
  // time until which.
  const PolicyPatch* set = nullptr;
};

struct EventRequest {
  Cursor from;         // EventPage::next of another page; empty: from the oldest on
  std::string tenant;  // only of this one and below; empty: any
  std::optional<Tag> tag;
  std::optional<MessageId> id;
  std::optional<int64_t> since_wall_ms;
  /// With an empty `from`: begin so late that at least the last so many that fit are told, of what there is
  /// now. An engine may begin earlier.
  std::optional<uint64_t> last;
  /// Parts of the queue that cannot be reached are passed over, and noted in OpenOptions::away: what they
  /// tell later is missing here, and behind `next`. False: without them there is no order, and it is an
  /// Error.
  bool passes_over_away = false;
  size_t n = 4096;                 // of a page, at most
  bool wait = false;               // until there is one
  std::optional<int64_t> wait_ms;  // with wait: at most so long
  Interrupt* interrupt = nullptr;
};

/// In the order in which they happened. What is kept is a matter of the engine (Caps::event_horizon_ms): what
/// it has given back is not told, and neither is, without Caps::tells_timers, what only the passing of time
/// did: a message that expired, a lease that ran out, and that an attempt was the last one.
struct EventPage {
  std::vector<Event> events;         // may be empty although there are more
  Cursor next;                       // where the next page begins; never empty
  bool at_end = false;               // there was nothing behind it
  std::vector<std::string> notices;  // each a line for a person: records that could not be read, or are gone

  std::string texts;                 // of the engine: the views point to it
  std::deque<PolicyPatch> settings;  // of the engine too
};

}  // namespace fq
