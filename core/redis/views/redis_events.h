// redis_events - the events of messages, read from the stream of a shard.
#pragma once

// System.
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>
// fq, this room.
#include "core/redis/records/event_records.h"
#include "core/redis/waits/awaiting.h"
#include "core/redis/leases/redis_leases.h"

namespace fq {

class RedisEvents {
 public:
  RedisEvents(Shard& shard, const RedisLeases& leases) : shard_(shard), leases_(leases) {}

  Result<void> events(const EventRequest& request, EventPage& page);
  Result<HistoryPage> history(MessageId id, const Cursor& from, size_t n);

  /// Where a page begins: an entry of the stream, and how many of its events are behind us.
  struct Place {
    std::string entry = "-";  // the last one that was read to its end
    uint64_t skipped = 0;     // of the next one
  };
  static Result<Place> place_of(const Cursor& cursor);
  static Cursor cursor_of(const Place& place);
  /// A page from there on without waiting, and where each of its events ends. True: there was no more.
  Result<bool> read(const EventRequest& request, Place& place, EventPage& page, std::vector<Place>& ends);
  /// What brings this about that it asks for.
  static Awaited awaited(const EventRequest& request);
  /// The server's time when it was last read: what happens later is not before that.
  int64_t now_ms() const { return now_ms_; }

 private:
  /// False: that is enough.
  using Visit = std::function<bool(const StreamEvent&)>;

  /// Goes on to the end, or until the visitor has enough; true: there was no more.
  Result<bool> walk(Place& place, const Visit& visit);
  Result<bool> read_page(const EventRequest& request, Place& place, EventPage& page,
                         std::vector<Place>* ends = nullptr);
  void begin(const EventRequest& request);
  void note_tags(const StreamEvent& record);
  Result<void> gather_tags(const Place& end);
  Result<bool> has_tag(uint64_t id);
  std::string_view keep(std::string_view text) { return texts_.emplace_back(text); }
  Event event_of(const StreamEvent& record);

  Shard& shard_;
  const RedisLeases& leases_;
  Awaiting awaiting_;
  std::deque<std::string> texts_;     // of the last page; they stay where they are
  std::deque<PolicyPatch> settings_;  // likewise
  Tag tag_;                           // that is asked for
  std::map<uint64_t, bool> tagged_;   // whether it has that, as of the event that was read last
  bool is_gathered_ = false;          // also of what happened before
  Reply page_;                        // of the stream, which is walked
  int64_t now_ms_ = 0;
};

}  // namespace fq
