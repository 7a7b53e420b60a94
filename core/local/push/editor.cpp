#include "core/local/push/editor.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/engine/message_checks.h"
#include "core/engine/patched.h"
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/read/item_view.h"
#include "core/local/shared/loose_blobs.h"

namespace fq {

namespace {

constexpr int kEditTriesMax = 100;  // against others who change it all the time

bool changes_time(const MessagePatch& patch) { return patch.delay_ms || patch.at_wall_ms; }

}  // namespace

Result<SettleStatus> Editor::look(MessageId id, Draft& draft) {
  SettleStatus status = SettleStatus::gone;
  bool in_transit = false;
  FQ_TRY(locked_when_fired([&](const Now& now) {
    const std::optional<SlotIndex> slot = schedule().messages().find(id);
    status = slot ? SettleStatus::ok : SettleStatus::gone;
    if (!slot) return false;
    draft.before.look(link_, *slot);
    if (draft.before.snapshot().slot_state == SlotState::leased) status = SettleStatus::stale;
    in_transit = draft.before.snapshot().in_transit;
    return schedule().timers().is_due(schedule().messages().entry(*slot), now.boot_ms);
  }));
  if (in_transit) return refuse_in_transit(id);
  return status;
}

/// When it is due, and the state that this gives it.
void Editor::set_time(const MessagePatch& patch, int64_t now_wall_ms, Draft& draft) {
  MovedRecord& now = draft.record.now;
  MessageItem& item = now.message;
  const int64_t due_wall_ms = draft.batch.items()[0].due_wall_ms;
  if (!changes_time(patch)) return;
  item.due_wall_ms = due_wall_ms;
  if (now.state == SlotState::held) {
    if (patch.delay_ms) item.due_wall_ms = -std::min(*patch.delay_ms, kLatestMs);
    return;
  }
  if (due_wall_ms != 0) {
    now.state = SlotState::delayed;
    now.state_wall_ms = due_wall_ms;
  } else if (now.state == SlotState::delayed) {
    now.state = SlotState::ready;
    now.state_wall_ms = now_wall_ms;
  }
}

/// How long it may wait, beside what it came after and its key, which stay.
void Editor::set_terms(const MessagePatch& patch, Draft& draft) {
  MovedRecord& now = draft.record.now;
  const std::string_view before = draft.before.record().message.terms;
  MessageTerms terms = decode_terms(before).value_or(MessageTerms{});
  if (patch.ttl_ms) terms.ttl_ms = std::min(patch.ttl_ms->value_or(0), kLatestMs);
  // A debounced one that is not delayed any more can be replaced no more.
  if (terms.debounced && now.state != SlotState::delayed) {
    terms.debounced = false;
    terms.key = {};
  }
  draft.terms = encode_terms(terms);
  now.message.terms = draft.terms;
}

Result<void> Editor::fill(const MessagePatch& patch, Draft& draft) {
  const MovedRecord& before = draft.before.record();
  if (before.message.is_lost())
    return Error{ErrorKind::bad_data, message_object(number(before.id)) + ": what it was is lost", 0};
  if (before.state == SlotState::dead && changes_time(patch))
    return Error{ErrorKind::usage,
                 message_object(number(before.id)) + ": is dead, so it is due at no time; kick it", 0};
  NewMessage values;
  copy_values(before.message, values);
  NewMessage message = patched(std::move(values), patch);
  FQ_TRY(check_message(message, header().settings.payload_bytes_max.peek()));
  if (!patch.payload) message.payload = before.message.payload;
  const Now now = gate().now();
  Need unused;
  FQ_TRY(draft.batch.prepare({&message, 1}, {}, now.wall_ms, draft.blobs, unused));
  draft.record.previous_event = draft.before.snapshot().event_position;
  draft.record.now = before;
  MessageItem& item = draft.record.now.message;
  item = draft.batch.items()[0];
  item.pushed_wall_ms = before.message.pushed_wall_ms;
  item.due_wall_ms = before.message.due_wall_ms;
  if (!patch.payload && before.message.blob) {
    item.blob = before.message.blob;
    item.blob_crc = before.message.blob_crc;
    item.payload_bytes = before.message.payload_bytes;
  }
  if (patch.payload && before.message.blob)
    draft.doomed.add({*before.message.blob, before.message.payload_bytes});
  draft.record.now.attempts_max =
      item.attempts_max != 0
          ? item.attempts_max
          : static_cast<uint16_t>(attempts_of(header().settings, message.command.has_value()));
  set_time(patch, now.wall_ms, draft);
  set_terms(patch, draft);
  return {};
}

Result<Editor::Written> Editor::write(Draft& draft) {
  const MessageItem& item = draft.record.now.message;
  std::vector<Arrival> growth = arrivals_of({&item, 1});
  encode_edited(body_, draft.record);
  const uint64_t bytes = record_bytes(body_);
  const Need need = Edits::need_of(item.key);
  bool same = false;
  bool done = false;
  std::optional<Error> refused;
  FQ_TRY(writer_.write(
      [&]() -> Result<Obstacle> {
        if (done) return Obstacle::none;
        const Now now = gate().now();
        gate().fire_timers(now);
        const std::optional<SlotIndex> slot = schedule().messages().find(draft.record.now.id);
        same = slot && draft.before.holds(link_, *slot);
        if (!same) return Obstacle::none;
        const Entry& entry = schedule().messages().entry(*slot);
        same = !schedule().timers().is_due(entry, now.boot_ms);
        if (!same) return Obstacle::none;
        const uint64_t more =
            item.payload_bytes - std::min<uint64_t>(item.payload_bytes, entry.payload_bytes);
        for (Arrival& arrival : growth) arrival.messages = 0, arrival.bytes = more;
        const bool counts = more != 0 && state_of(entry) != SlotState::dead;
        refused = counts ? admission_.over_limit(growth) : std::nullopt;
        if (refused) return Obstacle::none;
        const Obstacle obstacle = writer_.room_for_push(bytes, need, 0, true);
        if (obstacle != Obstacle::none) return obstacle;
        append(draft, *slot);
        done = true;
        return Obstacle::none;
      },
      need));
  if (refused) return std::move(*refused);
  return same ? Written::yes : Written::changed;
}

void Editor::append(const Draft& draft, SlotIndex slot) {
  Change change(link_);
  const uint64_t position = change.append(Purpose::accept, body_);
  if (!draft.doomed.empty())
    LooseBlobs(header()).add(change.txn(), schedule().messages().entry(slot).payload_bytes);
  const uint64_t item_position =
      position + kRecordHeaderBytes + moved_item_offset(body_.bytes, draft.record.now);
  gate().apply().edited(change.txn(), draft.record, position, item_position, change.now().wall_ms);
  FQ_POINT("edit.appended");
  change.commit();
  FQ_POINT("edit.committed");
  end_ = header().tail;
  upkeep_.look(header());
  gate().mark_servable();  // it may be due earlier than before, or go before others
}

Result<SettleStatus> Editor::edit(MessageId id, const MessagePatch& patch) {
  for (int attempt = 0; attempt < kEditTriesMax; ++attempt) {
    Draft draft(link_, upkeep_);
    FQ_TRY_SET(const SettleStatus status, look(id, draft));
    if (status != SettleStatus::ok || is_empty(patch)) return status;
    FQ_TRY_SET(const bool found, draft.before.read(link_));
    if (!found && attempt + 1 < kEditTriesMax) {
      reader().forget();  // it may have been moved just then
      continue;
    }
    if (!found)
      return Error{ErrorKind::bad_data, message_object(number(id)) + ": its record cannot be read", 0};
    FQ_TRY(fill(patch, draft));
    FQ_TRY_SET(const Written written, write(draft));
    if (written == Written::changed) continue;
    draft.blobs.keep();
    // The old payload goes only after the new one can no longer be lost.
    if (!syncs_lazily() || !draft.doomed.empty()) FQ_TRY(flusher().wait_durable(end_));
    FQ_POINT("edit.durable");
    draft.doomed.remove();
    upkeep_.keep_if_due();
    return SettleStatus::ok;
  }
  return Error{ErrorKind::later, message_object(number(id)) + ": others change it all the time", 0};
}

}  // namespace fq
