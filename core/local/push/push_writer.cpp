#include "core/local/push/push_writer.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/fault_point.h"

namespace fq {

namespace {

static_assert(kBatchBytesMax + kRecordHeaderBytes + kFirstItemOffset <= kRecordBytesMax);
constexpr uint32_t kForgottenAtOnce = 32;  // in one transaction

}  // namespace

/// On a full disk what is remembered of the ends of messages gives way to new ones.
Result<void> PushWriter::forget_ends(const Need& need) {
  for (bool more = true; more;) {
    FQ_TRY(locked([&]() -> Result<void> {
      Txn txn = store().begin();
      more = !schedule().growth().fits(writer_.with_pending(need)) &&
             schedule().past().forget_outcomes(txn, kForgottenAtOnce) != 0;
      txn.commit();
      return {};
    }));
  }
  return {};
}

PushedMessages PushWriter::append_pushed(const Need& need, bool lazy, const Companion* companion) {
  SegmentHeader& shared = header();
  const std::span<const MessageItem> items = batch_.items();
  Change change(link_);
  Txn& txn = change.txn();
  const MessageId first_id{shared.next_id.get()};
  if (companion != nullptr) companion->append(change, first_id);
  body_.flags = lazy ? kFlagLazy : 0;
  const uint64_t position = change.append(Purpose::accept, body_, first_id);
  open_ends(txn, shared).set(shared.next_id, number(first_id) + items.size());
  PushedMessages pushed{items, need, first_id, position, change.now().wall_ms};
  if (need.keys != 0) gate().note_keys(txn, items);
  // Their times are accounted for with the record, and not only when they are linked.
  const bool has_schedules = schedule().timetable().count() != 0;
  for (size_t i = 0; has_schedules && i < items.size(); ++i)
    gate().apply().made(txn, items[i], MessageId{number(first_id) + i});
  if (lazy && shared.applied_end == position) {
    // Nothing is pending before it: it is served at once, as much of it as fits in this very transaction.
    gate().apply_pushed(txn, pushed, need);
  } else {
    gate().note_pending(txn, need, Need{});
  }
  FQ_POINT("push.appended");
  change.commit();
  FQ_POINT("push.committed");
  return pushed;
}

/// Calls `work` (Result<Obstacle>(bool may_grow)) under the lock until nothing is in its way.
template <class Work>
Result<void> PushWriter::when_there_is_room(const Need& need, Work&& work) {
  bool may_grow = true;
  for (int attempt = 0;; ++attempt) {
    Obstacle obstacle = Obstacle::none;
    FQ_TRY(locked([&]() -> Result<void> {
      FQ_TRY_SET(obstacle, work(may_grow));
      return {};
    }));
    if (obstacle == Obstacle::none) return {};
    if (attempt == kObstaclesMax) return refuse_full();
    Result<void> overcame = writer_.overcome(obstacle, need);
    const bool no_memory = !overcame.ok() && obstacle == Obstacle::memory && may_grow;
    if (!overcame.ok() && !no_memory) return overcame;
    if (no_memory) FQ_TRY(forget_ends(need));
    if (no_memory) may_grow = false;
  }
}

Result<void> PushWriter::encode(bool lazy) {
  if (encode_pushed(body_, batch_.items(), lazy)) return {};
  return Error{ErrorKind::usage,
               "batch: has more than " + std::to_string(kBatchBytesMax) + " bytes of messages; split it", 0};
}

Result<void> PushWriter::check_room(std::span<const NewMessage> messages, MessageId instead) {
  PushedBlobs blobs(link_, upkeep_);
  Need need;
  FQ_TRY(batch_.prepare(messages, {}, gate().now().wall_ms, blobs, need));
  FQ_TRY(encode(true));
  const uint64_t bytes = padded(kRecordHeaderBytes + body_.bytes.size());
  MessageItem leaving;
  std::string tenant;  // of it; "": it has ended by now
  FQ_TRY(locked([&]() -> Result<void> {
    const std::optional<SlotIndex> slot = schedule().messages().find(instead);
    if (!slot) return {};
    const Entry& entry = schedule().messages().entry(*slot);
    tenant = schedule().tenants().path_of(TenantIndex{entry.tenant.get()});
    leaving.payload_bytes = entry.payload_bytes;
    return {};
  }));
  leaving.tenant = tenant;
  const std::vector<Arrival> arrived = arrivals_of(batch_.items());
  const std::vector<Arrival> leaves = tenant.empty() ? std::vector<Arrival>() : arrivals_of({&leaving, 1});
  return when_there_is_room(need, [&](bool may_grow) -> Result<Obstacle> {
    if (std::optional<Error> refused = admission_.refuse(arrived, leaves)) return std::move(*refused);
    return writer_.room_for_push(bytes, need, messages.size(), may_grow);
  });
}

Result<Appended> PushWriter::append(std::span<const NewMessage> messages, std::span<const MessageId> behind,
                                    bool lazy, const Precondition& precondition, int64_t next_wall_ms,
                                    const Companion* companion) {
  Now read = gate().now();
  PushedBlobs blobs(link_, upkeep_);
  Need need;
  FQ_TRY(batch_.prepare(messages, behind, read.wall_ms, blobs, need, next_wall_ms));
  FQ_TRY(encode(lazy));
  uint64_t bytes = padded(kRecordHeaderBytes + body_.bytes.size());
  Need all = need;  // and what comes with them
  if (companion != nullptr) {
    bytes += companion->bytes;
    all += companion->need;
  }
  const std::vector<Arrival> arrived =
      schedule().policy().is_capped() ? arrivals_of(batch_.items()) : std::vector<Arrival>();
  Appended appended;
  FQ_TRY(when_there_is_room(all, [&](bool may_grow) -> Result<Obstacle> {
    // Repeated in another segment after damage was met: what was appended has been carried over.
    if (appended.end != 0) return Obstacle::none;
    if (const int64_t wall_ms = store().wall_of(read.boot_ms); wall_ms != read.wall_ms) {
      // The wall clock was set, while a long payload was written say.
      read.wall_ms = wall_ms;
      batch_.set_times(messages, wall_ms);
      if (Result<void> again = encode(lazy); !again.ok()) return std::move(again).error();
    }
    const Now now = gate().now_as_read(read);
    gate().fire_timers(now, 1);
    appended.refused = precondition && !precondition(now);
    if (appended.refused) return Obstacle::none;
    if (std::optional<Error> refused = admission_.refuse(arrived)) return std::move(*refused);
    const Obstacle obstacle = writer_.room_for_push(bytes, all, messages.size(), may_grow);
    if (obstacle != Obstacle::none) return obstacle;
    PushedMessages pushed = append_pushed(need, lazy, companion);
    appended.first_id = pushed.first_id;
    appended.end = header().tail;
    if (lazy) gate().apply_pending(&pushed);
    return Obstacle::none;
  }));
  if (appended.refused) return appended;
  blobs.keep();
  return appended;
}

}  // namespace fq
