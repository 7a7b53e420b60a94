#include "core/redis/moves/redis_mover.h"

// fq, below us.
#include "core/base/text/decimal.h"
#include "core/base/text/escape.h"
#include "core/engine/move_checks.h"
// fq, this room.
#include "core/redis/records/records.h"
#include "core/redis/wire/answer.h"

namespace fq {

namespace {

constexpr int kMoveTriesMax = 100;  // of one that others get in the way of

Error met_in(Error error, const std::string& queue) {
  error = of_queue(std::move(error), queue);
  const std::string front = "queue " + in_quotes(queue) + ": ";
  if (!error.text.starts_with(front)) error.text.insert(0, front);
  return error;
}

}  // namespace

Result<MoveReply> RedisMover::move(std::span<const MessageId> ids, const MoveRequest& request,
                                   const std::string& queue, const OpenMoveTarget& open,
                                   const std::function<RedisMover&(MessageId)>& mover_of) {
  FQ_TRY(check_move(request, queue));
  FQ_TRY_SET(const std::unique_ptr<MoveTarget> to, open(request.to));
  MoveReply reply;
  for (const MessageId id : ids) {
    Result<MoveResult> moved = mover_of(id).move_one(id, request, *to);
    if (!moved) {
      const bool refused = moved.error().kind == ErrorKind::later;
      reply.error = refused ? met_in(std::move(moved).error(), request.to) : std::move(moved).error();
      return reply;
    }
    reply.items.push_back(std::move(moved).value());
  }
  return reply;
}

Result<RedisMover::MessageSnapshot> RedisMover::see(MessageId id, const MoveRequest& request) {
  MessageSnapshot seen;
  FQ_TRY_SET(const Reply reply, shard_.look({"get", std::to_string(number(id))}));
  const std::string& bytes = reply.at(1).at(1).text;
  const std::optional<MessageRecord> record = read_record(bytes);
  seen.tenant = request.tenant.empty() && record ? std::string(record->tenant) : request.tenant;
  if (!record && !bytes.empty()) seen.why_it_stays = "its record cannot be read";
  // What is told of one that has ended is not all that was signed; and it goes nowhere.
  if (!record || !record->command || has_ended(record->state)) return seen;
  NewMessage message = message_of(*record);
  if (!signer_.has_key()) seen.why_it_stays = lacks_command_key("its command").text;
  if (signer_.has_key()) seen.why_it_stays = signer_.fault(message, record->signature, kUnlimited);
  if (!seen.why_it_stays.empty()) return seen;
  message.tenant = seen.tenant;
  FQ_TRY_SET(const std::string signature, signer_.of(request.to).sign_again(message, record->signature));
  seen.rests = {std::string(rest_of_record(bytes)), push_rest(message, signature)};
  return seen;
}

Result<std::optional<MoveResult>> RedisMover::move_at_once(MessageId id, const MoveRequest& request,
                                                           const RedisCrossing::Rests& rests,
                                                           const std::string& tag) {
  const std::string name = std::to_string(number(id));
  FQ_TRY_SET(
      const Reply reply,
      shard_.change_both(tag, "move", {queue_, request.to, request.tenant, name, rests.here, rests.there}));
  const std::string& said = reply.at(1).at(0).text;
  const std::string& more = reply.at(1).at(1).text;
  if (said == "crossing") FQ_TRY(crossing_.finish(reply.at(1)));
  if (said == "crossing" || said == "again") return std::optional<MoveResult>();
  if (said == "gone") return std::optional(MoveResult{MoveResult::What::gone, {}, {}});
  const std::optional<uint64_t> id_there = parse_decimal(more);
  if (said == "moved" && id_there)
    return std::optional(MoveResult{MoveResult::What::moved, MessageId{*id_there}, {}});
  return std::optional(MoveResult{MoveResult::What::stays, {}, more});
}

Result<std::optional<MoveResult>> RedisMover::try_move(MessageId id, const MoveRequest& request,
                                                       MoveTarget& to) {
  if (number(id) > kMessageIdMax) return std::optional(MoveResult{MoveResult::What::gone, {}, {}});
  FQ_TRY_SET(const MessageSnapshot seen, see(id, request));
  if (!seen.why_it_stays.empty())
    return std::optional(MoveResult{MoveResult::What::stays, {}, seen.why_it_stays});
  FQ_TRY_SET(const bool is_beside, to.is_beside(shard_.tag()));
  if (is_beside) return move_at_once(id, request, seen.rests, to.shard_of(seen.tenant).tag());
  return crossing_.move(id, seen.rests, to, seen.tenant);
}

Result<MoveResult> RedisMover::move_one(MessageId id, const MoveRequest& request, MoveTarget& to) {
  for (int tries = 0; tries < kMoveTriesMax; ++tries) {
    FQ_TRY_SET(std::optional<MoveResult> moved, try_move(id, request, to));
    if (moved) return *std::move(moved);
  }
  return MoveResult{MoveResult::What::stays, {}, "others change it, too"};
}

}  // namespace fq
