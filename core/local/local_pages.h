// local_pages - what peek, cancel and kick go through, page after page, each from where the last one stopped.
//
// A cursor says where its page begins, and any process can go on from it. This one remembers what it has
// found beyond the page that it gave (Found, Turns), so that the next page costs no look from the front. What
// is remembered are ids, and they are looked at anew when they are told.
#pragma once

// System.
#include <unordered_set>
// fq, this room.
#include "core/local/read/snapshot.h"

namespace fq {

/// A place in the order of pages: due time for those that wait for one, else (0) the id alone.
struct LocalQueue::Place {
  int64_t at_ms = 0;
  uint64_t id = 0;
  bool operator==(const Place&) const = default;
  bool operator<(const Place& other) const {
    return at_ms != other.at_ms ? at_ms < other.at_ms : id < other.id;
  }
};

class LocalQueue::Pages {
 public:
  enum class Order { id, due };

  explicit Pages(LocalQueue& queue);
  ~Pages();

  /// The next `n` places behind `after`; fewer: there are no more.
  Result<std::vector<Place>> select(const Filter& filter, Order order, const Place& after, size_t n);
  /// The next `n` ready messages in the order of their turns, behind so many that were given; fewer: there
  /// are no more.
  Result<std::vector<Snapshot>> turns(const Filter& filter, size_t given, size_t n);
  /// What was found a moment ago, if it still is that: the same message, in a state and with a tag that the
  /// filter takes.
  Result<std::optional<Snapshot>> look_again(const Filter& filter, const Place& place);

 private:
  /// local_select.cpp
  struct Found {
    Filter filter;
    Order order{};
    Place last;  // that was given
    size_t given = 0;
    std::vector<Place> places;
    size_t next = 0;      // of them
    bool at_end = false;  // there are none behind them
  };
  Result<void> find_more(size_t room);

  /// local_turns.cpp
  class TurnCopy;
  struct Turns {
    std::string tenant;
    size_t given = 0;
    size_t to_pass = 0;                  // of a listing that another process began: how many it has shown
    std::unordered_set<uint64_t> shown;  // before there was a copy
    std::unique_ptr<TurnCopy> copy;
  };
  Result<bool> look_at_next(size_t n, std::vector<Snapshot>& looked);
  Result<void> look_at_copy(const Filter& filter, size_t n, std::vector<Snapshot>& looked);

  LocalQueue& queue_;
  std::optional<Found> found_;
  std::optional<Turns> turns_;
};

}  // namespace fq
