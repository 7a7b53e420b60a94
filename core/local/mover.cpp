#include "core/local/mover.h"

// System.
#include <algorithm>
#include <deque>
#include <map>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/engine/move_checks.h"
// fq, this room.
#include "core/local/files/queue_directory.h"

namespace fq {

namespace {

// Between two syncs; chosen: what a killed process leaves to be finished, and what is in memory meanwhile.
constexpr size_t kMovesAtOnce = 64;
constexpr uint64_t kMovedBytesAtOnce = 16 * 1024 * 1024;  // of long payloads; the last one may exceed it

}  // namespace

/// Some that are on their way, and what the other queue is told of where they come from.
struct Mover::SentOne {
  MessageId id{};
  size_t place = 0;  // in the reply
  Parcel parcel;
  MessageId id_there{};  // 0: it was not taken
};

struct Mover::Sent {
  OtherEnd from;
  std::deque<SentOne> all;  // a parcel stays where it is
};

Result<MoveReply> Mover::move(std::span<const MessageId> ids, const MoveRequest& request,
                              int64_t timeout_ms) {
  MoveReply reply;
  const std::string& spool = from_.location().spool;
  FQ_TRY(check_move(request, from_.location().queue));
  FQ_TRY_SET(const std::unique_ptr<MovingQueue> to, open_(request.to));
  FQ_TRY_SET(const std::optional<MoveLock> lock, MoveLock::take(spool, timeout_ms));
  if (!lock) return MoveLock::taken(spool);
  FQ_TRY(finish(*lock));
  FQ_TRY(Mover(*to, open_).finish(*lock));
  from_.crossing().note_some();
  to->crossing().note_some();
  while (reply.items.size() < ids.size() && !reply.error)
    FQ_TRY(move_some(ids.subspan(reply.items.size()), request, *to, reply));
  from_.crossing().note_nothing_moves();
  to->crossing().note_nothing_moves();
  return reply;
}

/// The first of them, as many as go at once.
Result<void> Mover::move_some(std::span<const MessageId> ids, const MoveRequest& request, MovingQueue& to,
                              MoveReply& reply) {
  OtherEnd there{0, request.to, to.crossing().own_mark()};
  fill_random(&there.token, sizeof there.token);
  const auto objection = [&](const Parcel& parcel) {
    return to.crossing().objection_to(parcel, request.tenant);
  };
  Sent sent;
  sent.from = {there.token, from_.location().queue, from_.crossing().own_mark()};
  uint64_t bytes = 0;
  for (const MessageId id : ids) {
    if (sent.all.size() == kMovesAtOnce || bytes >= kMovedBytesAtOnce) break;
    SentOne& one = sent.all.emplace_back();
    one.id = id;
    one.place = reply.items.size();
    FQ_TRY_SET(MoveResult result, from_.crossing().send(id, there, objection, one.parcel));
    if (result.what == MoveResult::What::moved)
      bytes += one.parcel.long_payload.size();
    else
      sent.all.pop_back();
    reply.items.push_back(std::move(result));
  }
  if (sent.all.empty()) return {};
  FQ_TRY(from_.crossing().wait_durable());
  FQ_POINT("move.sent");
  for (SentOne& one : sent.all) FQ_TRY(receive(sent, one, request, to, reply));
  FQ_TRY(to.crossing().wait_durable());
  FQ_POINT("move.received");
  return end(sent, request, to);
}

/// Where it is not taken it is to stay; for want of room, those behind it too.
Result<void> Mover::receive(const Sent& sent, SentOne& one, const MoveRequest& request, MovingQueue& to,
                            MoveReply& reply) {
  MoveResult& result = reply.items[one.place];
  result.what = MoveResult::What::stays;
  if (reply.error) return {};
  Result<Receiver::Received> received = to.crossing().receive(one.parcel, sent.from, request.tenant);
  if (!received.ok() && received.error().kind == ErrorKind::later) {
    reply.error = std::move(received).error();
    return {};
  }
  if (!received.ok()) return std::move(received).error();
  one.id_there = received->id;
  result.why = std::move(received->why);
  if (number(one.id_there) != 0) result = {MoveResult::What::moved, one.id_there, {}};
  return {};
}

/// What was taken has left here before it is served there; what was not is served here again.
Result<void> Mover::end(const Sent& sent, const MoveRequest& request, MovingQueue& to) {
  for (const SentOne& one : sent.all) {
    const bool moved = number(one.id_there) != 0;
    FQ_TRY(moved ? from_.crossing().leave(one.id, request.to, one.id_there)
                 : from_.crossing().settle(one.id));
  }
  FQ_TRY(from_.crossing().wait_durable());
  FQ_POINT("move.left");
  for (const SentOne& one : sent.all) {
    if (number(one.id_there) != 0) FQ_TRY(to.crossing().settle(one.id_there));
  }
  FQ_POINT("move.settled");
  return {};
}

Result<void> Mover::finish() {
  if (!from_.crossing().may_have_some()) return {};
  FQ_TRY_SET(const std::optional<MoveLock> lock, MoveLock::take(from_.location().spool, 0));
  return lock ? finish(*lock) : Result<void>();
}

Result<void> Mover::finish(const MoveLock&) {
  if (!from_.crossing().may_have_some()) return {};
  FQ_TRY_SET(const std::vector<InTransit> all, from_.crossing().all());
  for (const InTransit& message : all) FQ_TRY(finish_one(message));
  from_.crossing().note_nothing_moves();
  return {};
}

/// What has left `queue`, as its journal tells. Where it tells of nothing it is not read again: that is noted
/// where nobody else moves anything.
Result<std::vector<MoveLedger::Departure>> Mover::departures_of(MovingQueue& queue) {
  if (!queue.crossing().may_have_departures()) return std::vector<MoveLedger::Departure>();
  FQ_TRY_SET(const std::optional<MoveLock> lock, MoveLock::take(queue.location().spool, 0));
  FQ_TRY_SET(const MoveLedger ledger, queue.crossing().ledger());
  if (lock && ledger.departures().empty()) queue.crossing().note_nothing_left();
  return ledger.departures();
}

Result<void> Mover::find_lost(CheckReport& report) {
  FQ_TRY_SET(const std::vector<MoveLedger::Departure> own, departures_of(from_));
  std::map<std::string, std::vector<MoveLedger::Departure>> by_mark;
  for (const MoveLedger::Departure& one : own) by_mark[one.mark].push_back(one);
  for (const auto& [mark, departures] : by_mark) {
    FQ_TRY_SET(const std::string name, find_queue_marked(from_.location().spool, mark));
    if (name.empty()) continue;  // removed since, with all that was in it
    Result<std::unique_ptr<MovingQueue>> there = open_(name);
    if (!there.ok()) continue;  // its own check says why
    FQ_TRY_SET(const MoveLedger other, (*there)->crossing().ledger());
    for (const MoveLedger::Departure& one : departures) {
      if (!other.lacks(one.id_there)) continue;
      report.findings.add("damage: message " + std::to_string(number(one.id)) + " was moved to queue '" +
                          name + "' as message " + std::to_string(number(one.id_there)) +
                          ", of which nothing is left there");
    }
  }
  return {};
}

Result<void> Mover::find_lost_here(CheckReport& report) {
  FQ_TRY_SET(const std::vector<std::string> names, list_queue_directories(from_.location().spool));
  std::optional<MoveLedger> own;
  for (const std::string& name : names) {
    if (name == from_.location().queue) continue;
    const Result<std::unique_ptr<MovingQueue>> there = open_(name);
    if (!there.ok()) continue;  // its own check says why
    FQ_TRY_SET(const std::vector<MoveLedger::Departure> departures, departures_of(**there));
    for (const MoveLedger::Departure& one : departures) {
      if (one.mark != text_of(from_.crossing().own_mark())) continue;
      if (!own) {
        FQ_TRY_SET(own, from_.crossing().ledger());
      }
      if (!own->lacks(one.id_there)) continue;
      report.findings.add("damage: message " + std::to_string(number(one.id)) + " of queue '" + name +
                          "' was moved here as message " + std::to_string(number(one.id_there)) +
                          ", of which nothing is left");
    }
  }
  return {};
}

/// The queue at the other end: its mark tells it from another of its name, its name in a copy of the spool,
/// where every mark is new. "": there is none.
Result<std::string> Mover::other_name(const InTransit& message) const {
  const std::string& spool = from_.location().spool;
  FQ_TRY_SET(std::string name, find_queue_marked(spool, text_of(message.other.mark)));
  if (!name.empty()) return name;
  FQ_TRY_SET(const std::vector<std::string> names, list_queue_directories(spool));
  const bool there = std::find(names.begin(), names.end(), message.other.queue) != names.end();
  return there ? message.other.queue : std::string();
}

Result<void> Mover::finish_one(const InTransit& message) {
  FQ_TRY_SET(const std::string name, other_name(message));
  if (name.empty()) return from_.crossing().settle(message.id);
  FQ_TRY_SET(const std::unique_ptr<MovingQueue> other, open_(name));
  FQ_TRY_SET(const std::vector<InTransit> there, other->crossing().all());
  const auto same = std::find_if(there.begin(), there.end(), [&](const InTransit& each) {
    const bool is_twin = message.leaving ? each.id_there == message.id : message.id_there == each.id;
    return each.leaving != message.leaving && each.other.token == message.other.token && is_twin;
  });
  if (same == there.end()) return from_.crossing().settle(message.id);
  // In this order: as long as it has not left, it is not served where it has arrived.
  MovingQueue& source = message.leaving ? from_ : *other;
  MovingQueue& target = message.leaving ? *other : from_;
  const MessageId id = message.leaving ? message.id : same->id;
  const MessageId id_there = message.leaving ? same->id : message.id;
  FQ_TRY(source.crossing().leave(id, target.location().queue, id_there));
  FQ_TRY(source.crossing().wait_durable());
  FQ_POINT("move.finished");
  return target.crossing().settle(id_there);
}

}  // namespace fq
