#include "core/local/read/carried.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/local/read/item_view.h"

namespace fq {

namespace {

PastEvent past_of(RecordType type, int64_t at_wall_ms, uint64_t serial, const EventDetail& detail) {
  PastEvent past;
  past.type = type;
  past.at_wall_ms = at_wall_ms;
  past.serial = serial;
  past.pid = detail.pid;
  return past;
}

std::vector<std::byte> after_of_step(const std::vector<uint64_t>& waits) {
  std::vector<std::byte> after(8 * waits.size());
  for (size_t i = 0; i < waits.size(); ++i) put_number(after.data() + 8 * i, waits[i] | kAfterAny);
  return after;
}

/// What it came after, for what of it it still waits, and what of it has failed: the records of that one may
/// be gone when these are read.
std::vector<std::byte> after_now(Bytes after, const std::vector<uint64_t>& waits,
                                 const std::vector<uint64_t>& failed) {
  const auto has = [](const std::vector<uint64_t>& ids, uint64_t id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  std::vector<std::byte> now(after.begin(), after.end());
  for (size_t at = 0; at + 8 <= now.size(); at += 8) {
    const auto word = get_number<uint64_t>(now.data() + at) & ~(kAfterClosed | kAfterFailed);
    const uint64_t id = word & kMessageIdMax;
    put_number(now.data() + at,
               word | (has(waits, id) ? 0 : kAfterClosed) | (has(failed, id) ? kAfterFailed : 0));
  }
  return now;
}

}  // namespace

void Carried::look(Link& link, SlotIndex slot) {
  std::array<uint64_t, kWaitsMax> ids;
  snapshot_ = take_snapshot(link, slot);
  item_position_ = link.schedule().messages().entry(slot).item_position;
  wall_minus_boot_ms_ = link.header().wall_minus_boot_ms;
  waits_.resize(link.schedule().dependents().waits_of(slot, ids));
  std::copy_n(ids.begin(), waits_.size(), waits_.begin());
  failed_.resize(link.schedule().dependents().failed_of(slot, ids));
  std::copy_n(ids.begin(), failed_.size(), failed_.begin());
}

bool Carried::holds(Link& link, SlotIndex slot) const {
  const Entry& entry = link.schedule().messages().entry(slot);
  std::array<uint64_t, kWaitsMax> ids;
  const std::span failed(ids.data(), link.schedule().dependents().failed_of(slot, ids));
  if (!std::equal(failed.begin(), failed.end(), failed_.begin(), failed_.end())) return false;
  return link.header().wall_minus_boot_ms == wall_minus_boot_ms_ && entry.id == snapshot_.id &&
         entry.item_position == item_position_ && entry.event_position == snapshot_.event_position &&
         entry.serial == snapshot_.serial && state_of(entry) == snapshot_.slot_state;
}

Result<bool> Carried::read(Link& link) {
  if (!snapshot_.place) return false;
  // Its events are read before it is written: what is only looked at in the cache would be something else
  // then.
  FQ_TRY_SET(const bool found, link.reader().read(*snapshot_.place, stored_, true));
  if (found) FQ_TRY(tell(link));
  return found;
}

Result<void> Carried::read_as(Link& link, const MessageItem& item) {
  stored_.item = item;
  return tell(link);
}

Result<void> Carried::tell(Link& link) {
  record_ = {};
  record_.id = MessageId{snapshot_.id};
  record_.pushed_wall_ms = stored_.item.pushed_wall_ms;
  record_.message = stored_.item;
  // What of them still holds.
  terms_.clear();
  const bool of_push = !stored_.item.terms.empty();
  std::optional<MessageTerms> terms = of_push ? decode_terms(stored_.item.terms) : MessageTerms{};
  if (terms) {
    // Until its first start that may be another time by now, and from then on it is only told.
    if (snapshot_.deliveries == 0 || !snapshot_.has_ttl) terms->ttl_ms = snapshot_.ttl_ms;
    terms->expired = snapshot_.expired;
    if (!snapshot_.has_key) terms->key = {};
    if (!snapshot_.has_key) terms->debounced = false;
    terms->key_lost = snapshot_.key_lost;
    after_ = waits_for_step(terms->after, waits_) ? after_of_step(waits_)
                                                  : after_now(terms->after, waits_, failed_);
    terms->suspended = snapshot_.suspended;
    terms->wait_failed = snapshot_.wait_failed;
    if (!snapshot_.in_transit) terms->transit.reset();
    terms->imported.reset();  // the key that it left is carried forward by itself
    terms->after = after_;
    terms_ = encode_terms(*terms);
    // How long it may be pushed back goes by the boot's clock, too.
    if (terms->debounced) record_.message.pushed_wall_ms = snapshot_.since_wall_ms;
  }
  record_.message.terms = terms_;
  if (stored_.item.due_wall_ms < 0 && !snapshot_.due_from_release) record_.message.due_wall_ms = 0;
  // One that a step holds has been served: a delay that a kick cut short does not come back. And a delay goes by
  // the boot's clock: when it ends by the wall may be another time by now.
  const bool is_later = snapshot_.wakes_wall_ms != 0 && stored_.item.due_wall_ms > 0;
  if (snapshot_.suspended || is_later) record_.message.due_wall_ms = snapshot_.wakes_wall_ms;
  record_.attempts = snapshot_.attempts;
  record_.attempts_max = snapshot_.attempts_max;
  record_.crashes = snapshot_.crashes;
  record_.deliveries = snapshot_.deliveries;
  record_.serial = Serial{snapshot_.serial};
  record_.pid = static_cast<uint32_t>(snapshot_.pid);
  record_.state_wall_ms = snapshot_.at_wall_ms;
  record_.state = snapshot_.slot_state;
  LastFailure failure(snapshot_);
  FQ_TRY(walk_events(link, snapshot_.id, snapshot_.event_position,
                     [&](RecordType type, int64_t at_wall_ms, const EventDetail& detail, uint64_t serial,
                         EventSource source) {
                       failure.look_at(type, at_wall_ms, detail);
                       const bool has_room = record_.past.size() < kPastEventsMax;
                       if (has_room && source != EventSource::carried_error)
                         record_.past.push_back(past_of(type, at_wall_ms, serial, detail));
                       return record_.past.size() < kPastEventsMax || !failure.is_known();
                     }));
  std::reverse(record_.past.begin(), record_.past.end());
  error_ = std::move(failure.error());
  if (!error_) return {};
  record_.error_wall_ms = error_->at_wall_ms;
  if (error_->exit) record_.error.exit = static_cast<int16_t>(*error_->exit);
  if (error_->signal) record_.error.signal = static_cast<int16_t>(*error_->signal);
  record_.error.reason = error_->reason;
  record_.error.stderr_tail = error_->stderr_tail;
  return {};
}

}  // namespace fq
