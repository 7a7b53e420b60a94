// redis_crossing - messages go to a queue whose keys no call reaches together with those that they lie under.
//
// One is set out here, taken there under a token that is drawn for it, and ended here. Where it goes is
// decided by whether it was taken: as long as nobody knows that, nobody serves it here. A client that dies in
// between leaves it to whoever calls here a while later, and to whoever moves it at once: that one has the
// token closed there, so that no answer which is still on its way can make two of one.
#pragma once

// System.
#include <optional>
#include <string>
// fq, below us.
#include "core/api/move.h"
// fq, this room.
#include "core/redis/moves/move_target.h"

namespace fq {

class RedisCrossing {
 public:
  /// Out of `queue`, which is the shard's; `access`: by which the shards that they go to are reached.
  RedisCrossing(Shard& shard, ServerAccess access, std::string queue, std::string nonce)
      : shard_(shard), access_(std::move(access)), queue_(std::move(queue)), nonce_(std::move(nonce)) {}

  /// Of a message with a command, what only clients read of it: as it was seen, and as it has to be there.
  /// Both are "" where it has none.
  struct Rests {
    std::string here, there;
  };
  /// To `tenant` there. None: others changed it meanwhile.
  Result<std::optional<MoveResult>> move(MessageId id, const Rests& rests, MoveTarget& to,
                                         const std::string& tenant);
  /// Brings one to its end of which the server's program tells that it was set out before.
  Result<void> finish(const Reply& told) { return finish(on_its_way(told)); }
  /// Brings to their end those that somebody has left on their way. What cannot be done now is done later.
  Result<void> finish_due();
  /// Likewise all of them, also those that somebody is about to. ErrorKind::later: of some that cannot be
  /// done now.
  Result<void> finish_all();

 private:
  /// One that was set out.
  struct OnItsWay {
    std::string id, token;
    std::string tag;  // of the shard that it goes to
    bool has_left = false;
  };
  static OnItsWay on_its_way(const Reply& told);
  Result<std::optional<MoveResult>> carry(const OnItsWay& message, const Reply& parcel, const Rests& rests,
                                          MoveTarget& to, const std::string& tenant);
  Result<Reply> say(const OnItsWay& message, std::string_view what, std::string_view more = {});
  Result<Reply> say_there(const OnItsWay& message, std::string_view what);
  Result<void> finish(const OnItsWay& message);
  /// How many there were.
  Result<size_t> finish_those(std::string_view which);
  Result<void> end(const OnItsWay& message, const std::string& id_there);

  Shard& shard_;
  const ServerAccess access_;
  const std::string queue_, nonce_;
};

}  // namespace fq
