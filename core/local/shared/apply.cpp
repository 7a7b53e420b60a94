#include "core/local/shared/apply.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/local/shared/pins.h"
#include "core/local/shared/policy_layers.h"

namespace fq {

namespace {

constexpr uint64_t kMessageBytes = 128;  // of a message of which nothing is said, about

/// What a message takes in the journal beside its payload: its item, and what its end takes.
uint64_t overhead_of(const MessageItem& item, size_t item_bytes) {
  return item_bytes - item.payload.size() + kClosingBytes;
}
uint64_t overhead_of(const MessageItem& item) { return overhead_of(item, pushed_item_bytes(item)); }

uint8_t job_flags_of(const MessageItem& item) {
  if (item.job.empty()) return 0;
  const JobTraits traits = traits_of_job(item.job);
  return static_cast<uint8_t>((traits.kept ? kEntryKept : 0) | (traits.command ? kEntryCommand : 0));
}

}  // namespace

NewEntry Apply::entry_of(const MessageItem& item, MessageId id, uint64_t item_position,
                         int64_t at_wall_ms) const {
  NewEntry entry;
  entry.id = id;
  entry.tenant = item.tenant;
  entry.key = item.key;
  entry.priority = item.priority;
  entry.item_position = item_position;
  entry.payload_bytes = static_cast<uint32_t>(item.payload_bytes);
  entry.overhead_bytes = overhead_of(item);
  entry.attempts_max = item.attempts_max;
  entry.blob = item.blob.has_value();
  entry.job_flags = job_flags_of(item);
  entry.now_ms = store_.boot_of(at_wall_ms);
  entry.from_release = item.due_wall_ms < 0;
  entry.due_ms = entry.from_release      ? -item.due_wall_ms
                 : item.due_wall_ms == 0 ? entry.now_ms
                                         : store_.boot_of(item.due_wall_ms);
  if (item.terms.empty()) return entry;
  const std::optional<MessageTerms> terms = decode_terms(item.terms);
  if (!terms) throw RegionDamaged{"a message's terms are none"};
  entry.extra = true;
  entry.expired = terms->expired;
  entry.suspended = terms->suspended;
  entry.wait_failed = terms->wait_failed;
  if (const std::optional<Transit>& transit = terms->transit) {
    entry.transit = kExtraTransit | (transit->then == SlotState::dead ? kExtraTransitDead : 0);
    entry.due_ms = store_.boot_of(transit->then_wall_ms);
  }
  if (terms->ttl_ms != 0) entry.ttl_ms = terms->ttl_ms;
  entry.after = terms->after;
  if (terms->key.empty()) return entry;
  uint64_t behind = 0;
  for (size_t at = 0; at + 8 <= terms->after.size(); at += 8) {
    const auto word = get_number<uint64_t>(terms->after.data() + at);
    if ((word & kAfterKey) != 0) behind = word & kMessageIdMax;
  }
  entry.key_hold = {.hash = hash_of(item.tenant, *terms),
                    .id = number(id),
                    .since_ms = store_.boot_of(item.pushed_wall_ms),
                    .for_ms = terms->key_for_ms,
                    .debounced = terms->debounced,
                    .held = !terms->key_lost,
                    .behind = behind};
  return entry;
}

KeyHash Apply::hash_of(std::string_view tenant, const MessageTerms& terms) const {
  const SegmentHeader& header = store_.header();
  return hash_key({header.key_secret[0], header.key_secret[1]}, tenant, terms.key, terms.debounced);
}

std::optional<KeyHash> Apply::key_of(const MessageItem& item) const {
  if (item.terms.empty()) return std::nullopt;
  const std::optional<MessageTerms> terms = decode_terms(item.terms);
  if (!terms || terms->key.empty()) return std::nullopt;
  return hash_of(item.tenant, *terms);
}

SlotIndex Apply::add(Txn& txn, const MessageItem& item, size_t item_bytes, MessageId id,
                     uint64_t item_position, int64_t at_wall_ms) {
  const bool is_plain = item.terms.empty() && item.key.empty() && item.priority == 0 && item.due_wall_ms == 0;
  if (is_plain) {
    const PlainEntry entry{.id = id,
                           .tenant = item.tenant,
                           .item_position = item_position,
                           .payload_bytes = static_cast<uint32_t>(item.payload_bytes),
                           .overhead_bytes = overhead_of(item, item_bytes),
                           .attempts_max = item.attempts_max,
                           .flags = static_cast<uint8_t>(job_flags_of(item) | (item.blob ? kEntryBlob : 0)),
                           .now_ms = store_.boot_of(at_wall_ms)};
    if (const auto slot = store_.schedule().plain_push().add(txn, entry)) return *slot;
  }
  return store_.schedule().messages().add(txn, entry_of(item, id, item_position, at_wall_ms));
}

SlotIndex Apply::message(Txn& txn, const MessageItem& item, MessageId id, uint64_t item_position,
                         int64_t at_wall_ms) {
  SegmentHeader& header = store_.header();
  const SlotIndex slot = add(txn, item, pushed_item_bytes(item), id, item_position, at_wall_ms);
  table_.add_live(txn, item_position);
  if (number(id) >= header.next_id) txn.set(header.next_id, number(id) + 1);
  made(txn, item, id);
  return slot;
}

void Apply::made(Txn& txn, const MessageItem& item, MessageId id) {
  if (item.terms.empty() || store_.schedule().timetable().count() == 0) return;
  const std::optional<MessageTerms> terms = decode_terms(item.terms);
  if (!terms || terms->schedule.empty()) return;
  const Timetable timetable = store_.schedule().timetable();
  const uint32_t i = timetable.find(terms->schedule);
  if (i == kNoIndex) return;
  timetable.note_made(txn, i, number(id), terms->scheduled_wall_ms, terms->next_wall_ms,
                      timer_of(terms->next_wall_ms));
}

void Apply::scheduled(Txn& txn, const ScheduledRecord& schedule, uint64_t position, uint64_t bytes) {
  store_.schedule().timetable().set(txn,
                                    {.name = schedule.name,
                                     .record = position,
                                     .record_bytes = static_cast<uint32_t>(bytes),
                                     .paused = schedule.paused,
                                     .of_file = schedule.of_file,
                                     .done_wall_ms = schedule.done_wall_ms,
                                     .next_wall_ms = schedule.next_wall_ms,
                                     .last_wall_ms = schedule.last_wall_ms,
                                     .last = schedule.last,
                                     .last_id = number(schedule.last_id),
                                     .known_id = number(schedule.known_id)},
                                    timer_of(schedule.next_wall_ms));
  note_pin(txn, store_.header().schedules, position);
}

void Apply::skipped(Txn& txn, const SkippedRecord& skipped) {
  const Timetable timetable = store_.schedule().timetable();
  const uint32_t i = timetable.find(skipped.name);
  if (i == kNoIndex) return;
  timetable.note_skipped(txn, i, skipped.why, skipped.at_wall_ms, skipped.next_wall_ms,
                         timer_of(skipped.next_wall_ms));
}

void Apply::unscheduled(Txn& txn, std::string_view name) {
  const uint32_t i = store_.schedule().timetable().find(name);
  if (i != kNoIndex) store_.schedule().timetable().remove(txn, i);
}

void Apply::stepped(Txn& txn, const SteppedRecord& step, SlotIndex slot, uint64_t position,
                    size_t body_bytes) {
  const size_t item_offset = kRecordHeaderBytes + body_bytes - pushed_item_bytes(step.output);
  const Message message = store_.schedule().region().message(static_cast<uint32_t>(slot));
  store_.schedule().steps().set(
      txn, message,
      {.name = step.name,
       .kind = step.kind,
       .record = position,
       .record_bytes = static_cast<uint32_t>(padded(kRecordHeaderBytes + body_bytes)),
       .item_offset = static_cast<uint32_t>(item_offset),
       .bytes = static_cast<uint32_t>(step.output.payload_bytes),
       .blob = step.output.blob.has_value()});
  if (!step.gives_back || step.carried) return;
  const int64_t due_ms = step.until_wall_ms == 0 ? 0 : store_.boot_of(step.until_wall_ms);
  store_.schedule().messages().suspend(txn, slot, {due_ms, step.after, step.failed});
}

// The record of a message comes before those of its steps, and so keeps their files; until it is written
// anew. A rebuild that does not know the older records meets a step before its message then, and passes it
// over. Which files these are, and whether the oldest record of the message is in one, is not looked for: all
// are.
void Apply::note_steps(Txn& txn, SlotIndex slot) {
  if (store_.schedule().steps().count(store_.schedule().messages().entry(slot)) != 0)
    note_pin(txn, store_.header().steps, 1);
}

/// What was said of a failure is carried forward with the message.
void Apply::note_failure(Txn& txn, SlotIndex slot, RecordType type, const EventDetail& detail) {
  if (detail.reason.empty() && detail.stderr_tail.empty()) return;
  const uint64_t before = store_.schedule().views().overhead_of(slot);
  const uint64_t told = event_record_bytes(type, 1, detail) + kMessageBytes;
  store_.schedule().messages().set_overhead(txn, slot, std::max(before, told));
}

bool Apply::event(Txn& txn, RecordType type, SlotIndex slot, const EventDetail& detail, Serial serial,
                  HolderIndex holder, uint64_t position, int64_t at_wall_ms) {
  SegmentHeader& header = store_.header();
  Schedule& schedule = store_.schedule();
  const int64_t now_ms = store_.boot_of(at_wall_ms);
  const Entry& entry = schedule.messages().entry(slot);
  if (ends_message(type)) return end(txn, type, slot, entry, {position, now_ms, at_wall_ms}), false;
  const int64_t due_ms = detail.due_wall_ms == 0 ? now_ms : store_.boot_of(detail.due_wall_ms);
  const int64_t until_ms = detail.until_wall_ms == 0 ? kNever : store_.boot_of(detail.until_wall_ms);
  schedule.messages().set_event(txn, slot, position);
  if (is_failure(type)) note_failure(txn, slot, type, detail);
  switch (type) {
    case RecordType::leased:
      if (fq::number(serial) >= header.next_serial) txn.set(header.next_serial, fq::number(serial) + 1);
      schedule.messages().lease(txn, slot,
                                {fq::number(serial), holder, until_ms, detail.attempts_max, now_ms});
      return false;
    case RecordType::retried:
      return schedule.messages().requeue(txn, slot, true, false, due_ms, now_ms);
    case RecordType::released:
      return schedule.messages().requeue(txn, slot, false, false, due_ms, now_ms);
    case RecordType::died:
      return schedule.messages().requeue(txn, slot, true, true, now_ms, now_ms);
    case RecordType::buried:
      schedule.messages().bury(txn, slot, now_ms);
      return true;
    case RecordType::kicked:
    case RecordType::reheld:
      schedule.messages().kick(txn, slot, {now_ms, type == RecordType::reheld, detail.has_key});
      return false;
    case RecordType::unstepped:
      schedule.steps().drop(txn, schedule.region().message(static_cast<uint32_t>(slot)));
      return false;
    case RecordType::freed:
      schedule.dependents().let_go(txn, slot, now_ms);
      return false;
    case RecordType::extended:
      // A lease that a process holds has no time of its own: it is its job that may run until then.
      if (entry.at_ms != kNever) schedule.messages().extend(txn, slot, until_ms);
      return false;
    case RecordType::acked:  // above
    case RecordType::cancelled:
    case RecordType::left:
    case RecordType::pushed:
    case RecordType::moved:
    case RecordType::low:
    case RecordType::limits:
    case RecordType::clock:
    case RecordType::opened:
    case RecordType::policy:
    case RecordType::replaced:
    case RecordType::keys:
    case RecordType::scheduled:
    case RecordType::skipped:
    case RecordType::unscheduled:
    case RecordType::edited:
    case RecordType::stepped:
    case RecordType::leaving:
    case RecordType::arrived:
      break;
  }
  FQ_ASSERT(false && "not an event");
  return false;
}

/// What was pushed in an old file and acked now must not be forgotten with that file. One that was replaced
/// has its item in a newer one, but it is its push that says which key it has: that is not before the pin.
void Apply::note_kept_key(Txn& txn, SlotIndex slot) {
  const UniqueKey* key = store_.schedule().views().key_of_message(slot);
  if (key == nullptr || (key->flags & kKeyHeld) == 0 || key->for_ms <= 0) return;
  SegmentHeader& header = store_.header();
  const bool replaced = store_.schedule().views().is_replaced(slot);
  const uint64_t told_from =
      replaced ? header.replaced.record.get() : store_.schedule().messages().entry(slot).item_position.get();
  note_pin(txn, header.kept_keys, told_from);
}

void Apply::replaced(Txn& txn, const ReplacedRecord& replaced, SlotIndex slot, uint64_t position) {
  Schedule& schedule = store_.schedule();
  const MessageItem& item = replaced.message;
  const uint64_t item_position = position + kRecordHeaderBytes + kReplacedItemOffset;
  const Entry& entry = schedule.messages().entry(slot);
  // What came before is told by its push and its events alone, until it is moved.
  if (!schedule.views().is_replaced(slot)) note_pin(txn, store_.header().replaced, entry.item_position);
  table_.remove_live(txn, entry.item_position);
  schedule.messages().replace(
      txn, slot,
      {.item_position = item_position,
       .payload_bytes = static_cast<uint32_t>(item.payload_bytes),
       .blob = item.blob.has_value(),
       .job_flags = job_flags_of(item),
       .overhead_bytes = overhead_of(item),
       .due_ms = replaced.due_wall_ms == 0 ? kNever : store_.boot_of(replaced.due_wall_ms)});
  schedule.messages().set_event(txn, slot, position);
  table_.add_live(txn, item_position);
}

void Apply::edited(Txn& txn, const EditedRecord& edited, uint64_t position, uint64_t item_position,
                   int64_t at_wall_ms) {
  const MovedRecord& now = edited.now;
  Schedule& schedule = store_.schedule();
  const std::optional<SlotIndex> slot = schedule.messages().find(now.id);
  if (!slot) return moved(txn, now, position, item_position, kHeldByTime, at_wall_ms);
  const NewEntry entry = entry_of(now.message, now.id, item_position, at_wall_ms);
  const uint64_t overhead = item_position - position + overhead_of(now.message);
  Edit edit;
  edit.key = entry.key;
  edit.priority = entry.priority;
  edit.own_attempts = entry.attempts_max != 0;
  edit.attempts_max = edit.own_attempts || now.deliveries == 0 ? entry.attempts_max : now.attempts_max;
  edit.ttl_ms = entry.ttl_ms;
  edit.state = now.state;
  edit.at_ms = store_.boot_of(now.state_wall_ms);
  edit.due_ms = entry.due_ms;
  edit.from_release = entry.from_release;
  edit.transit = entry.transit;
  edit.deliveries = now.deliveries;
  edit.attempts = now.attempts;
  edit.crashes = now.crashes;
  edit.payload_bytes = entry.payload_bytes;
  edit.blob = entry.blob;
  edit.job_flags = entry.job_flags;
  edit.overhead_bytes = overhead;
  edit.now_ms = entry.now_ms;
  table_.remove_live(txn, schedule.messages().entry(*slot).item_position);
  schedule.edits().apply(txn, *slot, edit);
  schedule.messages().set_item(txn, *slot, item_position, overhead);
  schedule.messages().set_event(txn, *slot, position);
  note_steps(txn, *slot);
  table_.add_live(txn, item_position);
}

void Apply::kept(Txn& txn, const KeptKey& key, uint64_t position) {
  store_.schedule().keys().remember(txn, {{key.hash[0], key.hash[1]}}, number(key.id),
                                    store_.boot_of(key.until_wall_ms));
  note_pin(txn, store_.header().kept_keys, position);
}

void Apply::moved(Txn& txn, const MovedRecord& moved, uint64_t position, uint64_t item_position,
                  HolderIndex holder, int64_t at_wall_ms) {
  SegmentHeader& header = store_.header();
  Schedule& schedule = store_.schedule();
  // With what was carried forward before the item: its past, its last failure.
  const uint64_t overhead_of_moved = item_position - position + overhead_of(moved.message);
  if (const std::optional<SlotIndex> known = schedule.messages().find(moved.id)) {
    table_.remove_live(txn, schedule.messages().entry(*known).item_position);
    if (moved.message.is_lost()) schedule.messages().lose(txn, *known);
    schedule.messages().set_item(txn, *known, item_position, overhead_of_moved);
    schedule.messages().set_event(txn, *known, position);
    note_steps(txn, *known);
    table_.add_live(txn, item_position);
    return;
  }
  RestoredEntry restored;
  restored.entry = entry_of(moved.message, moved.id, item_position, at_wall_ms);
  restored.entry.overhead_bytes = overhead_of_moved;
  restored.state = moved.state;
  restored.at_ms = moved.state_wall_ms == 0 ? kNever : store_.boot_of(moved.state_wall_ms);
  restored.event_position = position;
  restored.serial = fq::number(moved.serial);
  restored.holder = holder;
  restored.deliveries = moved.deliveries;
  restored.attempts = moved.attempts;
  // Before its first lease the queue's attempts do not hold for it yet, only its own, which the item tells.
  restored.attempts_max = moved.deliveries == 0 ? 0 : moved.attempts_max;
  restored.crashes = moved.crashes;
  const bool dead = moved.state == SlotState::dead || (restored.entry.transit & kExtraTransitDead) != 0;
  if (dead && restored.entry.key_hold) restored.entry.key_hold->held = false;
  schedule.messages().restore(txn, restored);
  table_.add_live(txn, item_position);
  if (number(moved.id) >= header.next_id) txn.set(header.next_id, number(moved.id) + 1);
  if (moved.message.terms.empty()) return;
  if (const std::optional<ImportToken> token = decode_terms(moved.message.terms)->imported)
    kept(txn, {{token->hash[0], token->hash[1]}, moved.id, token->until_wall_ms}, position);
}

void Apply::policy(Txn& txn, const PolicyRecord& policy, uint64_t position, int64_t at_wall_ms) {
  SegmentHeader& header = store_.header();
  if (policy.path.empty()) patch_run_time_layer(txn, header, policy.patch);
  NodePatch patch = node_patch(policy.patch.set, policy.patch.unset);
  patch.limited_until_ms = store_.boot_of(patch.limited_until_ms);
  if ((patch.set.given | patch.unset) != 0) {
    store_.schedule().policy().set(txn, policy.path, patch, store_.boot_of(at_wall_ms));
  }
  note_pin(txn, header.run_time_settings, position);
}

void Apply::limits(Txn& txn, const LimitsRecord& limits) {
  SegmentHeader& header = store_.header();
  txn.set(header.id_limit, std::max<uint64_t>(header.id_limit, limits.id_limit));
  txn.set(header.serial_limit, std::max<uint64_t>(header.serial_limit, limits.serial_limit));
}

void Apply::low(Txn& txn, const LowRecord& low) {
  // The counts stand for all that the removed files said: they are set, not added.
  store_.schedule().past().set_counts(txn, low.counts);
  limits(txn, {low.id_limit, low.serial_limit});
}

}  // namespace fq
