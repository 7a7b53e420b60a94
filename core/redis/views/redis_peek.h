// redis_peek - goes through the messages that have not ended, page after page.
//
// Ready ones come in the order of their turns, as far as the server looks ahead; those that lie further by
// id. For a cursor that this object gave last it remembers what it has shown, so that nothing is shown twice
// or left out whatever comes and goes meanwhile; any other one goes on by its place.
#pragma once

// System.
#include <unordered_set>
// fq, this room.
#include "core/redis/views/redis_look.h"

namespace fq {

/// So far the order of turns is told: a look ahead is one call of the server's program.
inline constexpr uint32_t kTurnsTold = 4096;

class RedisPeek {
 public:
  RedisPeek(Shard& shard, RedisLook& look) : shard_(shard), look_(look) {}

  Result<MessagePage> peek(const Filter& filter, const Cursor& from, size_t n);

 private:
  /// Where a listing stands: in a list, behind a place in it.
  struct Place {
    size_t list = 0;
    std::string behind;
  };
  /// Of ready ones.
  struct Listing {
    std::string tenant, behind;  // where it stands
    std::unordered_set<uint64_t> shown;
    std::vector<uint64_t> ids;  // as the last look ahead had them
    size_t next = 0;            // of them
    size_t asked = 0;           // of that look
    bool is_whole = false;      // there were no more
  };
  static Result<Place> place_of(const Cursor& cursor);
  Result<bool> add_page(const Filter& filter, Place& place, size_t n, MessagePage& page);
  Result<bool> add_timed(const Filter& filter, Place& place, size_t n, MessagePage& page);
  Result<bool> add_ready(const Filter& filter, Place& place, size_t n, MessagePage& page);
  Result<bool> add_far(const Filter& filter, Place& place, size_t n, MessagePage& page);
  Result<void> go_on(const Filter& filter, const Place& place);
  Result<std::vector<uint64_t>> next_turns(size_t n);
  Result<void> add_shown(const Filter& filter, const std::vector<uint64_t>& ids, MessagePage& page);

  Shard& shard_;
  RedisLook& look_;
  Listing listing_;
};

}  // namespace fq
