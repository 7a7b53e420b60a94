// redis_mover - messages go to another queue of the place, with all that they have.
//
// Both queues are on one server, and each message goes in one call of its program: whoever dies at it leaves
// the message in one of the two. Where an answer is lost the message itself says where it is.
#pragma once

// System.
#include <span>
#include <string>
// fq, below us.
#include "core/api/move.h"
// fq, this room.
#include "core/redis/shard/shard.h"
#include "core/redis/signing/command_signer.h"

namespace fq {

class RedisMover {
 public:
  /// Out of `queue`, which is the shard's; `access`: by which the other one is found.
  RedisMover(Shard& shard, ServerAccess access, std::string queue, const CommandSigner& signer)
      : shard_(shard), access_(std::move(access)), queue_(std::move(queue)), signer_(signer) {}

  /// As of Queue.
  Result<MoveReply> move(std::span<const MessageId> ids, const MoveRequest& request);

 private:
  Result<MoveResult> move_one(MessageId id, const MoveRequest& request, const std::string& tag_there);
  /// None: others changed it meanwhile.
  Result<std::optional<MoveResult>> try_move(MessageId id, const MoveRequest& request,
                                             const std::string& tag_there);
  /// What only clients read of a message with a command, as it is and as it has to be there, where the
  /// command is signed for that queue. Both are "" where it has none.
  struct Rests {
    std::string here, there;
    std::string why_it_stays;
  };
  Result<Rests> rests_of(const std::string& id, const MoveRequest& request);

  Shard& shard_;
  const ServerAccess access_;
  const std::string queue_;
  const CommandSigner& signer_;
};

}  // namespace fq
