#include "core/redis/moves/redis_crossing.h"

// System.
#include <utility>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/base/text/decimal.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "core/redis/records/base32.h"

namespace fq {

namespace {

constexpr size_t kTokenBytes = 20;  // 100 random bits
constexpr int kFinishTriesMax = 5;  // where somebody goes on to move messages

MoveResult moved_to(const std::string& id_there) {
  return {MoveResult::What::moved, MessageId{parse_decimal(id_there).value_or(0)}, {}};
}

Error unknown(Error error, const std::string& id, const std::string& queue) {
  error.kind = ErrorKind::io;
  error.text = "message " + id + ": is on its way to queue " + in_quotes(queue) +
               "; whoever comes next brings it there, or back: " + error.text;
  return error;
}

/// A queue that is not there any more has taken it with it, or never will.
bool is_gone(const Result<Reply>& said_there) {
  return !said_there && said_there.error().kind == ErrorKind::missing;
}

}  // namespace

RedisCrossing::OnItsWay RedisCrossing::on_its_way(const Reply& told) {
  return {told.at(1).text, told.at(2).text, told.at(3).text, told.at(4).number == 1};
}

Result<Reply> RedisCrossing::say(const OnItsWay& message, std::string_view what, std::string_view more) {
  return shard_.change("crossing", {what, message.id, message.token, more}, Shard::Lost::is_repeated);
}

Result<Reply> RedisCrossing::say_there(const OnItsWay& message, std::string_view what) {
  ServerAccess elsewhere = access_;
  elsewhere.queue.clear();  // it is of another one
  Shard there(std::move(elsewhere), message.tag, nonce_);
  return there.change("crossing", {what, message.token}, Shard::Lost::is_repeated);
}

Result<std::optional<MoveResult>> RedisCrossing::move(MessageId id, const Rests& rests, MoveTarget& to,
                                                      const std::string& tenant) {
  const OnItsWay message{std::to_string(number(id)), draw_base32(kTokenBytes), to.shard_of(tenant).tag()};
  FQ_TRY_SET(
      const Reply sent,
      shard_.change("crossing", {"send", message.id, message.token, message.tag, to.name(), rests.here},
                    Shard::Lost::is_repeated));
  const Reply& parcel = sent.at(1);
  const std::string& said = parcel.at(0).text;
  if (said == "gone") return std::optional(MoveResult{MoveResult::What::gone, {}, {}});
  if (said == "stays") return std::optional(MoveResult{MoveResult::What::stays, {}, parcel.at(1).text});
  if (said == "crossing") FQ_TRY(finish(parcel));
  if (said != "sent") return std::optional<MoveResult>();
  FQ_POINT("crossing.sent");
  return carry(message, parcel, rests, to, tenant);
}

Result<std::optional<MoveResult>> RedisCrossing::carry(const OnItsWay& message, const Reply& parcel,
                                                       const Rests& rests, MoveTarget& to,
                                                       const std::string& tenant) {
  Shard& there = to.shard_of(tenant);
  Result<Reply> taken =
      there.change("take",
                   {message.token, queue_, to.name(), message.id, tenant, rests.there, parcel.at(1).text,
                    parcel.at(2).text, parcel.at(3).text, parcel.at(4).text},
                   Shard::Lost::is_repeated);
  const bool is_known = taken.ok() || taken.error().kind != ErrorKind::io;
  if (!taken && is_known) static_cast<void>(say(message, "back"));  // else whoever comes next does it
  if (!taken && is_known) return std::move(taken).error();
  if (!taken) return unknown(std::move(taken).error(), message.id, to.name());
  const std::string& said = taken->at(1).at(0).text;
  const std::string& more = taken->at(1).at(1).text;
  FQ_POINT("crossing.taken");
  if (said == "taken") {
    Result<void> ended = end(message, more);
    if (!ended) return unknown(std::move(ended).error(), message.id, to.name());
    return std::optional(moved_to(more));
  }
  Result<Reply> back = say(message, "back");
  if (!back) return unknown(std::move(back).error(), message.id, to.name());
  if (said == "stays") return std::optional(MoveResult{MoveResult::What::stays, {}, more});
  return std::optional<MoveResult>();
}

/// What is left to be done when it has left here is done by whoever comes next, if need be.
Result<void> RedisCrossing::end(const OnItsWay& message, const std::string& id_there) {
  if (!message.has_left) FQ_TRY(say(message, "leave", id_there));
  FQ_POINT("crossing.left");
  const Result<Reply> forgotten = say_there(message, "forget");
  if (!forgotten && !is_gone(forgotten)) return {};
  FQ_POINT("crossing.forgotten");
  static_cast<void>(say(message, "done"));
  return {};
}

Result<void> RedisCrossing::finish(const OnItsWay& message) {
  if (message.has_left) return end(message, {});
  Result<Reply> closed = say_there(message, "close");
  if (!closed && !is_gone(closed)) return std::move(closed).error();
  FQ_POINT("crossing.closed");
  const std::string id_there = closed ? closed->at(1).at(0).text : std::string();
  if (!id_there.empty()) return end(message, id_there);
  FQ_TRY(say(message, "back"));
  return {};
}

/// One that cannot be brought to its end now stays noted: whoever asks again is told of it.
Result<size_t> RedisCrossing::finish_those(std::string_view which) {
  FQ_TRY_SET(const Reply told, shard_.change("crossing", {which}, Shard::Lost::is_repeated));
  for (const Reply& each : told.at(1).items) static_cast<void>(finish(each));
  return told.at(1).items.size();
}

Result<void> RedisCrossing::finish_due() {
  FQ_TRY(finish_those("due"));
  return {};
}

Result<void> RedisCrossing::finish_all() {
  for (int tries = 0; tries < kFinishTriesMax; ++tries) {
    FQ_TRY_SET(const size_t found, finish_those("all"));
    if (found == 0) return {};
  }
  return Error{ErrorKind::later,
               "queue " + in_quotes(queue_) +
                   ": messages are on their way from it to another queue; try again when that can be reached",
               0};
}

}  // namespace fq
