#include "core/local/push/crossing.h"

// System.
#include <algorithm>
#include <cerrno>
// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/files/blobs.h"
#include "core/local/read/message_reader.h"
#include "core/local/read/parts.h"
#include "core/local/write/files_stay.h"

namespace fq {

namespace {

constexpr int kSendTriesMax = 100;  // against others who change it all the time
constexpr int kLedgerTriesMax = 5;  // against others who give files back

Error too_busy(const std::string& object) {
  return Error{ErrorKind::later, object + ": others change it all the time", 0};
}

Transit transit_of(const Parcel& parcel, const OtherEnd& other, MessageId id, bool leaving) {
  return {.leaving = leaving,
          .token = other.token,
          .queue = other.queue,
          .mark = text_of(other.mark),
          .id = number(id),
          .then = parcel.then,
          .then_wall_ms = parcel.then_wall_ms};
}

/// What it came after is known in its queue only, and a debounced message that is on its way is replaced by
/// nothing any more.
std::string terms_of(const Parcel& parcel, const Transit& transit) {
  const std::string_view before = parcel.carried.record().message.terms;
  MessageTerms terms = decode_terms(before).value_or(MessageTerms{});
  terms.after = {};
  if (terms.debounced) terms.key = {};
  terms.debounced = false;
  terms.wait_failed = false;
  terms.transit = transit;
  return encode_terms(terms);
}

/// Who called for it reads what its job writes in the queue that it was pushed to.
std::string job_of(std::string_view before) {
  JobTerms job = decode_job(before).value_or(JobTerms{});
  job.call = 0;
  return encode_job(job);
}

}  // namespace

/// "": it may go. Needs: the lock.
std::string Crossing::why_it_stays(SlotIndex slot) {
  const Entry& entry = schedule().messages().entry(slot);
  if (state_of(entry) == SlotState::leased) return "is running";
  if (schedule().views().is_in_transit(slot)) return "is on its way between queues already";
  if (state_of(entry) == SlotState::held) return "is held until what it came after has ended";
  if (schedule().steps().count(entry) != 0) return "has steps, which its job finds in this queue only";
  if (schedule().dependents().is_waited_for(MessageId{entry.id.get()})) return "others wait for it";
  return "";
}

/// `pending`: what is not applied yet may wait for it.
Result<MoveResult> Crossing::look(MessageId id, Parcel& parcel, bool& pending) {
  MoveResult result;
  FQ_TRY(locked([&]() -> Result<void> {
    gate().fire_timers(gate().now());
    const std::optional<SlotIndex> slot = schedule().messages().find(id);
    result = {slot ? MoveResult::What::moved : MoveResult::What::gone, {}, {}};
    pending = header().pending_waits != 0 || (!slot && header().applied_end < header().tail);
    if (!slot) return {};
    result.why = why_it_stays(*slot);
    if (!result.why.empty()) result.what = MoveResult::What::stays;
    parcel.carried.look(link_, *slot);
    return {};
  }));
  return result;
}

Result<void> Crossing::read_payload(Parcel& parcel, MoveResult& result) {
  const MessageItem& item = parcel.carried.record().message;
  if (!item.blob) return {};
  Result<std::string> payload = read_whole_blob(disk(), item);
  if (!payload.ok() && !is_lost(payload.error())) return std::move(payload).error();
  if (!payload.ok()) {
    result = {MoveResult::What::stays, {}, lost_payload_text(payload.error())};
    return {};
  }
  parcel.long_payload = std::move(payload).value();
  return {};
}

void Crossing::fill(const Parcel& parcel, const OtherEnd& to, int64_t now_wall_ms, Draft& draft) {
  const MovedRecord& before = parcel.carried.record();
  draft.terms = terms_of(parcel, transit_of(parcel, to, before.id, true));
  draft.record.previous_event = parcel.carried.snapshot().event_position;
  draft.record.now = before;
  draft.record.now.state = SlotState::held;
  draft.record.now.state_wall_ms = now_wall_ms;
  draft.record.now.message.terms = draft.terms;
}

/// False: it is no more what it was.
Result<bool> Crossing::write_leaving(const Parcel& parcel, const Draft& draft) {
  encode_edited(body_, draft.record, RecordType::leaving);
  const uint64_t bytes = record_bytes(body_);
  const MovedRecord& record = draft.record.now;
  const Need need = Edits::need_of(record.message.key);
  bool same = false;
  bool done = false;
  FQ_TRY(writer_.write(
      [&]() -> Result<Obstacle> {
        if (done) return Obstacle::none;
        const Now now = gate().now();
        gate().fire_timers(now);
        const std::optional<SlotIndex> slot = schedule().messages().find(record.id);
        same = slot && parcel.carried.holds(link_, *slot) && header().pending_waits == 0 &&
               why_it_stays(*slot).empty() &&
               !schedule().timers().is_due(schedule().messages().entry(*slot), now.boot_ms);
        if (!same) return Obstacle::none;
        const Obstacle obstacle = writer_.room_for_push(bytes, need, 0, true);
        if (obstacle != Obstacle::none) return obstacle;
        Change change(link_);
        const uint64_t position = change.append(Purpose::accept, body_);
        const uint64_t item_position = position + kRecordHeaderBytes + moved_item_offset(body_.bytes, record);
        gate().apply().edited(change.txn(), draft.record, position, item_position, change.now().wall_ms);
        FQ_POINT("move.leaving");
        change.commit();
        upkeep_.look(header());
        done = true;
        return Obstacle::none;
      },
      need));
  return done;
}

Result<MoveResult> Crossing::send(MessageId id, const OtherEnd& to, const Objection& objection,
                                  Parcel& parcel) {
  for (int attempt = 0; attempt < kSendTriesMax; ++attempt) {
    bool pending = false;
    FQ_TRY_SET(MoveResult result, look(id, parcel, pending));
    if (pending) FQ_TRY(link_.wait_all_durable());
    if (pending) continue;
    if (result.what != MoveResult::What::moved) return result;
    FQ_TRY_SET(const bool found, parcel.carried.read(link_));
    if (!found && attempt + 1 < kSendTriesMax) {
      reader().forget();  // it may have been copied forward just then
      continue;
    }
    if (!found || parcel.carried.record().message.is_lost())
      return MoveResult{MoveResult::What::stays, {}, "its record cannot be read"};
    parcel.then = parcel.carried.record().state;
    parcel.then_wall_ms = parcel.carried.record().state_wall_ms;
    FQ_TRY(read_payload(parcel, result));
    if (result.what != MoveResult::What::moved) return result;
    FQ_TRY_SET(result.why, objection(parcel));
    if (!result.why.empty()) {
      result.what = MoveResult::What::stays;
      return result;
    }
    Draft draft;
    fill(parcel, to, gate().now().wall_ms, draft);
    FQ_TRY_SET(const bool written, write_leaving(parcel, draft));
    if (written) return result;
  }
  return too_busy(message_object(number(id)));
}

Result<void> Crossing::leave(MessageId id, std::string_view queue, MessageId id_there) {
  EventDetail detail;
  detail.queue = queue;
  detail.id_there = id_there;
  const uint64_t bytes = event_record_bytes(RecordType::left, 1, detail);
  std::vector<ItemPlace> blobs;
  bool done = false;
  FQ_TRY(writer_.write_event([&]() -> Result<Obstacle> {
    if (done) return Obstacle::none;
    const std::optional<SlotIndex> slot = schedule().messages().find(id);
    if (!slot || !schedule().views().is_in_transit(*slot)) return Obstacle::none;
    const Obstacle obstacle = writer_.room_for_event(RecordType::left, bytes);
    if (obstacle != Obstacle::none) return obstacle;
    const Entry& entry = schedule().messages().entry(*slot);
    if ((entry.flags & kEntryBlob) != 0) {
      if (const auto place = ItemReader::find_item(stream(), header(), entry)) blobs.push_back(*place);
    }
    events_.append(RecordType::left, *slot, detail);
    done = true;
    return Obstacle::none;
  }));
  if (blobs.empty()) return {};
  DoomedBlobs doomed(link_);
  doomed.find(blobs);
  FQ_TRY(link_.wait_all_durable());
  doomed.remove();
  return {};
}

Result<std::string> Crossing::objection_to(const Parcel& parcel, const std::string& tenant) {
  const MessageItem& item = parcel.carried.record().message;
  if (std::string why = receiver_.objection_to(item); !why.empty()) return why;
  const std::optional<MessageTerms> terms = decode_terms(item.terms);
  if (terms && terms->debounced) return std::string();  // it takes no key with it
  MessageItem there = item;
  if (!tenant.empty()) there.tenant = tenant;
  FQ_TRY_SET(const bool held, receiver_.key_is_in_use(there));
  return held && parcel.then != SlotState::dead ? receiver_.key_in_use(there) : std::string();
}

Result<Receiver::Received> Crossing::receive(const Parcel& parcel, const OtherEnd& from,
                                             const std::string& tenant) {
  MovedRecord record = parcel.carried.record();
  MessageItem& item = record.message;
  const std::string terms = terms_of(parcel, transit_of(parcel, from, record.id, false));
  const std::string job = job_of(item.job);
  item.terms = terms;
  item.job = job;
  if (!tenant.empty()) item.tenant = tenant;
  PushedBlobs blobs(link_, upkeep_);
  if (item.blob) {
    NewMessage message;
    message.payload = as_bytes(parcel.long_payload);
    FQ_TRY(blobs.begin({&message, 1}));
    FQ_TRY(blobs.write(message.payload, item));
  }
  record.state = SlotState::held;
  record.state_wall_ms = gate().now().wall_ms;
  FQ_TRY_SET(Receiver::Received received, receiver_.receive(record, parcel.then == SlotState::dead));
  if (received.why.empty()) blobs.keep();
  return received;
}

Result<void> Crossing::settle(MessageId id) {
  bool done = false;
  FQ_TRY(writer_.write_event([&]() -> Result<Obstacle> {
    if (done) return Obstacle::none;
    const std::optional<SlotIndex> slot = schedule().messages().find(id);
    if (!slot || !schedule().views().is_in_transit(*slot)) return Obstacle::none;
    const Obstacle obstacle =
        writer_.room_for_event(RecordType::freed, event_record_bytes(RecordType::freed, 1));
    if (obstacle != Obstacle::none) return obstacle;
    events_.append(RecordType::freed, *slot);
    done = true;
    return Obstacle::none;
  }));
  upkeep_.keep_if_due();
  return {};
}

Result<MoveLedger> Crossing::ledger() {
  FQ_TRY_SET([[maybe_unused]] const FilesStay held, FilesStay::hold(link_));
  // A file that goes all the same while it is read takes with it what is still looked for: such a look is
  // made again.
  const auto oldest = [&]() -> Result<uint32_t> {
    uint32_t file = 0;
    FQ_TRY(locked([&]() -> Result<void> { return file = header().oldest_file, Result<void>(); }));
    return file;
  };
  for (int attempt = 0; attempt < kLedgerTriesMax; ++attempt) {
    FQ_TRY_SET(const uint32_t before, oldest());
    Result<MoveLedger> ledger = MoveLedger::read(disk());
    FQ_TRY_SET(const uint32_t after, oldest());
    if (before == after && (ledger.ok() || ledger.error().sys != ENOENT)) return ledger;
  }
  return too_busy(object());
}

/// No slot that was passed gets one meanwhile: only who has the spool's MoveLock sends one, or takes one in.
Result<std::vector<uint64_t>> Crossing::ids_in_transit() {
  std::vector<uint64_t> ids;
  std::vector<uint64_t> seen;  // under one hold of the lock, where nothing is allocated
  seen.reserve(Parts::kPerLook);
  Parts parts(link_);
  for (bool more = true; more;) {
    bool anew = false;
    FQ_TRY_SET(more, parts.next([&] { return schedule().views().slots_end(); },
                                [&](uint32_t from, uint32_t to) {
                                  anew = from == 0;
                                  seen.clear();
                                  for (uint32_t i = from; i < to; ++i) {
                                    const Entry& entry = schedule().messages().entry(SlotIndex{i});
                                    if (state_of(entry) != SlotState::held) continue;
                                    if (schedule().views().is_in_transit(SlotIndex{i}))
                                      seen.push_back(entry.id);
                                  }
                                }));
    if (anew) ids.clear();
    ids.insert(ids.end(), seen.begin(), seen.end());
    seen.clear();
  }
  return ids;
}

Result<std::vector<InTransit>> Crossing::all() {
  FQ_TRY_SET(const std::vector<uint64_t> ids, ids_in_transit());
  FQ_POINT("move.looked");
  std::vector<InTransit> all;
  // Looked up one by one: one that is copied forward meanwhile is not to be missed, since the other end would
  // be told that it is not on its way.
  MessageReader messages(link_);
  for (const uint64_t id : ids) {
    FoundMessage message{id, std::nullopt};
    FQ_TRY_SET(const bool readable, messages.read(message));
    const auto terms = readable ? decode_terms(messages.item().terms) : std::nullopt;
    if (!terms || !terms->transit) continue;  // check tells of it
    const Transit& transit = *terms->transit;
    InTransit& one = all.emplace_back();
    one = {MessageId{id},
           transit.leaving,
           {transit.token, std::string(transit.queue), {}},
           MessageId{transit.id}};
    transit.mark.copy(one.other.mark.data(), one.other.mark.size());
  }
  return all;
}

}  // namespace fq
