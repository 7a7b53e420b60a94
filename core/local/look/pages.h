// pages - the messages that peek, cancel and kick go through, page after page, each from where the last one
// stopped.
//
// A cursor says where its page begins, and any process can go on from it. This one remembers the messages
// that it has found beyond the page that it gave, so that the next page costs no look from the front. It
// remembers only ids, and looks at the messages anew when it tells them.
#pragma once

// fq, this room.
#include "core/local/read/message_reader.h"

namespace fq {

/// A place in the order of pages: for those in one state, but for held ones, when that ends or has begun,
/// else (0) the id alone. Of those that come newest first both are turned round, see newest_place().
struct PagePlace {
  int64_t at_ms = 0;
  uint64_t id = 0;
  bool operator==(const PagePlace&) const = default;
  bool operator<(const PagePlace& other) const {
    return at_ms != other.at_ms ? at_ms < other.at_ms : id < other.id;
  }
};

/// Since `at_ms`, in an order that has the newest and then the highest id first; and back.
inline PagePlace newest_place(int64_t at_ms, uint64_t id) { return {-at_ms, ~id}; }

class Pages : private Linked {
 public:
  enum class Order { id, due, newest };

  Pages(Link& link, MessageReader& messages) : Linked(link), messages_(messages) {}

  /// The next `n` places behind `after`; fewer: there are no more.
  Result<std::vector<PagePlace>> select(const Filter& filter, Order order, const PagePlace& after, size_t n);
  /// The message that was found a moment ago, if it still is that: the same message (by its id, as it is), in
  /// a state, with a tag and for a reason that the filter takes.
  Result<std::optional<Snapshot>> look_again(const Filter& filter, const PagePlace& place);

 private:
  struct Found {
    Filter filter;
    Order order{};
    PagePlace begin;  // `places` lie behind it
    PagePlace last;   // that was given
    size_t given = 0;
    std::vector<PagePlace> places;
    size_t next = 0;       // of them
    bool at_end = false;   // there are none behind them
    bool is_told = false;  // to its end: so dead messages are, among which others are told page by page
  };
  Result<void> fire_timers();
  PagePlace place_of(const Entry& entry) const;
  /// The node that the filter names; nothing: there is no such node.
  struct Wanted {
    std::optional<TenantIndex> below;
    bool nothing = false;
  };
  Result<void> find_more(size_t room);
  Result<bool> find_among_few(size_t room, std::vector<PagePlace>& best);
  Result<void> find_among_all(size_t room, std::vector<PagePlace>& best);
  Wanted wanted_now();
  void see(SlotIndex slot, const Wanted& wanted, std::vector<PagePlace>& seen);

  MessageReader& messages_;
  std::optional<Found> found_;
};

}  // namespace fq
