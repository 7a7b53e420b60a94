#include "core/redis/redis_mover.h"

// fq, below us.
#include "core/base/text/decimal.h"
#include "core/base/text/escape.h"
#include "core/engine/move_checks.h"
// fq, this room.
#include "core/redis/shard/catalog.h"
#include "core/redis/wire/slots.h"

namespace fq {

namespace {

/// What is in the way there is that queue's, which the server's program does not name.
Error of_queue(Error error, const std::string& queue) {
  constexpr std::string_view kQueue = "queue: ";
  const bool says_so = error.text.starts_with(kQueue);
  error.text.insert(0, "queue " + in_quotes(queue) + (says_so ? "" : ": "));
  if (says_so) error.text.erase(error.text.find(kQueue), kQueue.size() - 2);
  return error;
}

}  // namespace

Result<MoveReply> RedisMover::move(std::span<const MessageId> ids, const MoveRequest& request) {
  FQ_TRY(check_move(request, queue_));
  Catalog catalog(access_);
  FQ_TRY_SET(const std::optional<QueueEntry> there, catalog.find(request.to));
  if (!there) return Error{ErrorKind::missing, "queue " + in_quotes(request.to) + ": there is none", 0};
  if (!there->tags.empty()) {
    return Error{ErrorKind::unusable,
                 "queue " + in_quotes(request.to) + ": has several shards: messages are not moved into it",
                 0};
  }
  FQ_TRY_SET(const bool is_cluster, access_.link->is_cluster());
  if (is_cluster && slot_of(there->tag) != slot_of(shard_.tag())) {
    return Error{ErrorKind::unusable,
                 "queue " + in_quotes(request.to) +
                     ": lies elsewhere in the cluster: messages are not moved into it; export them",
                 0};
  }
  MoveReply reply;
  for (const MessageId id : ids) {
    Result<MoveResult> moved = move_one(id, request, there->tag);
    if (!moved) {
      const bool refused = moved.error().kind == ErrorKind::later;
      reply.error = refused ? of_queue(std::move(moved).error(), request.to) : std::move(moved).error();
      return reply;
    }
    reply.items.push_back(std::move(moved).value());
  }
  return reply;
}

Result<MoveResult> RedisMover::move_one(MessageId id, const MoveRequest& request,
                                        const std::string& tag_there) {
  const std::string name = std::to_string(number(id) > kMessageIdMax ? 0 : number(id));
  FQ_TRY_SET(const Reply reply,
             shard_.change_both(tag_there, "move", {queue_, request.to, request.tenant, name}));
  const std::string& said = reply.at(1).at(0).text;
  const std::string& more = reply.at(1).at(1).text;
  if (said == "gone") return MoveResult{MoveResult::What::gone, {}, {}};
  const std::optional<uint64_t> id_there = parse_decimal(more);
  if (said == "moved" && id_there) return MoveResult{MoveResult::What::moved, MessageId{*id_there}, {}};
  return MoveResult{MoveResult::What::stays, {}, more};
}

}  // namespace fq
