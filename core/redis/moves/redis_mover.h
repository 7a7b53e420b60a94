// redis_mover - messages go to another queue of the place, with all that they have.
//
// Where a server has both queues and each is one shard, a message goes in one call of its program: whoever
// dies at it leaves the message in one of the two. Where an answer is lost the message itself says where it
// is. Elsewhere it goes in parts: see redis_crossing.h.
#pragma once

// System.
#include <functional>
#include <span>
#include <string>
// fq, this room.
#include "core/redis/moves/redis_crossing.h"
#include "core/redis/signing/command_signer.h"

namespace fq {

class RedisMover {
 public:
  /// Out of `queue`, which is the shard's; `access`: by which the other one is reached.
  RedisMover(Shard& shard, const ServerAccess& access, std::string queue, const CommandSigner& signer,
             const std::string& nonce)
      : shard_(shard), queue_(std::move(queue)), signer_(signer), crossing_(shard, access, queue_, nonce) {}

  /// As of Queue, each by the one whose shard has it. `open`: the queue that they go to.
  static Result<MoveReply> move(std::span<const MessageId> ids, const MoveRequest& request,
                                const std::string& queue, const OpenMoveTarget& open,
                                const std::function<RedisMover&(MessageId)>& mover_of);
  /// Brings to their end those that somebody has left on their way.
  Result<void> finish_due() { return crossing_.finish_due(); }

 private:
  Result<MoveResult> move_one(MessageId id, const MoveRequest& request, MoveTarget& to);
  /// None: others changed it meanwhile.
  Result<std::optional<MoveResult>> try_move(MessageId id, const MoveRequest& request, MoveTarget& to);
  Result<std::optional<MoveResult>> move_at_once(MessageId id, const MoveRequest& request,
                                                 const RedisCrossing::Rests& rests, const std::string& tag);
  /// What is read of it before: nothing where it is not there.
  struct MessageSnapshot {
    std::string tenant;
    RedisCrossing::Rests rests;
    std::string why_it_stays;
  };
  Result<MessageSnapshot> see(MessageId id, const MoveRequest& request);

  Shard& shard_;
  const std::string queue_;
  const CommandSigner& signer_;
  RedisCrossing crossing_;
};

}  // namespace fq
