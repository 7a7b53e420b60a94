#include "core/local/push/keyed_push.h"

// System.
#include <algorithm>
#include <map>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/engine/message_checks.h"
// fq, this room.
#include "core/local/files/blobs.h"
#include "core/local/shared/loose_blobs.h"

namespace fq {

namespace {

constexpr int kTriesMax =
    1000;  // each one waits for what others did; who meets so many is told to come later

/// What a replaced message gets of the push that replaces it.
void give_content(const NewMessage& from, NewMessage& to) {
  to.payload = from.payload;
  to.tags = from.tags;
  to.command = from.command;
  to.timeout_ms = from.timeout_ms;
  to.keep_ms = from.keep_ms;
  to.call = from.call;
  to.quiet_ms = from.quiet_ms;
  to.max_wait_ms = from.max_wait_ms;
}

bool waits(const Entry& entry) {
  const SlotState state = state_of(entry);
  return state == SlotState::ready || state == SlotState::delayed || state == SlotState::held;
}

}  // namespace

bool KeyedPush::replaces(const NewMessage& message, const Plan& there) {
  if (!message.debounce.empty() || message.unique_mode == UniqueMode::replace) return true;
  return message.unique_mode == UniqueMode::after && there.fate == Fate::behind;
}

PushStatus KeyedPush::replaced_status(const NewMessage& message) {
  return message.debounce.empty() ? PushStatus::replaced : PushStatus::debounced;
}

/// What it is to come after must be known: then it was given before, so nothing ever waits in a ring.
KeyedPush::Plan KeyedPush::judge_waits(const NewMessage& message, Plan plan) {
  for (const std::vector<MessageId>* ids : {&message.after, &message.after_any}) {
    for (const MessageId id : *ids) {
      const std::optional<SlotIndex> slot = schedule().messages().find(id);
      const bool goes = slot && schedule().views().is_in_transit(*slot);
      const auto outcome = slot ? std::nullopt : schedule().past().outcome(id);
      if (goes || (outcome && outcome->verdict == RecordType::left)) return {.fate = Fate::missing, .id = id};
      if (slot || outcome) continue;
      // Perhaps it was pushed a moment ago.
      const bool pending =
          number(id) != 0 && number(id) < header().next_id && header().applied_end < header().tail;
      return {.fate = pending ? Fate::unknown : Fate::missing, .id = id};
    }
  }
  return plan;
}

/// What is to become of a message as things stand. Needs: the lock; timers were fired.
KeyedPush::Plan KeyedPush::judge(const NewMessage& message, const KeyHash& hash, const Now& now) {
  Plan plan;
  if (comes_after(message)) plan = judge_waits(message, plan);
  if (!is_keyed(message) || plan.fate != Fate::fresh) return plan;
  plan.fate = Fate::unknown;
  if (header().may_be_pending(hash)) return plan;
  plan.fate = Fate::fresh;
  const Region& region = schedule().region();
  const uint32_t holder = schedule().keys().find(hash);
  if (holder == kNoIndex) return plan;
  const UniqueKey& key = region.key(holder);
  plan.id = MessageId{key.id.get()};
  plan.since_ms = key.since_ms;
  const bool keeps = message.debounce.empty() && message.unique_mode == UniqueMode::keep;
  if (key.until_ms != kNever) {
    if (keeps && key.until_ms > now.boot_ms) plan.fate = Fate::duplicate;
    return plan;
  }
  const bool second = !keeps && key.behind != kNoIndex;
  if (second) plan.id = MessageId{region.key(key.behind).id.get()};
  const std::optional<SlotIndex> slot = schedule().messages().find(plan.id);
  if (!slot) throw RegionDamaged{"a key is held by no message"};
  const Entry& entry = schedule().messages().entry(*slot);
  plan.fate = Fate::due;
  if (schedule().timers().is_due(entry, now.boot_ms)) return plan;
  plan.item_position = entry.item_position;
  plan.event_position = entry.event_position;
  plan.fate = Fate::replace;
  if (keeps) plan.fate = Fate::duplicate;
  if (!keeps && schedule().views().is_in_transit(*slot)) plan.fate = Fate::moving;
  if (plan.fate == Fate::moving || keeps || second || !message.debounce.empty()) return plan;
  if (state_of(entry) == SlotState::leased)
    plan.fate = Fate::behind;
  else if (message.unique_mode == UniqueMode::after)
    plan.fate = Fate::duplicate;
  return plan;
}

/// The same for all of a batch. False: something is not known yet.
bool KeyedPush::judge_all(std::span<const NewMessage> messages, const KeyedBatch& batch, const Now& now,
                          std::vector<Plan>& plans) {
  bool known = true;
  for (size_t i = 0; i < messages.size(); ++i) {
    plans[i] = judge(messages[i], batch.hashes[i], now);
    known &= is_known(plans[i]);
    const size_t first = batch.first[i];
    // The first with a key notes which one of the batch is the message that has it.
    size_t& placed = plans[first].same_as;
    if (first == i) placed = i;
    // Behind what runs another is held: who keeps what there is, keeps the one that runs.
    const bool keeps = messages[i].debounce.empty() && messages[i].unique_mode == UniqueMode::keep;
    const Fate there = plans[placed].fate;
    const bool before = there == Fate::fresh || (there == Fate::behind && !keeps);
    if (placed == i || plans[i].fate == Fate::missing) continue;
    if (before) {
      plans[i] = {.fate = Fate::same, .same_as = placed};
    } else if (plans[i].fate == Fate::fresh || plans[i].fate == Fate::behind) {
      placed = i;
    }
  }
  return known;
}

KeyedPush::KeyedBatch KeyedPush::key_batch(std::span<const NewMessage> messages) {
  KeyedBatch batch;
  std::map<std::pair<uint64_t, uint64_t>, size_t> seen;
  const uint64_t secret[2] = {header().key_secret[0].peek(), header().key_secret[1].peek()};
  for (size_t i = 0; i < messages.size(); ++i) {
    const NewMessage& message = messages[i];
    const bool debounced = !message.debounce.empty();
    const KeyHash hash =
        hash_key(secret, message.tenant, debounced ? message.debounce : message.unique, debounced);
    batch.hashes.push_back(hash);
    const auto known =
        is_keyed(message) ? seen.try_emplace({hash.half[0], hash.half[1]}, i).first->second : i;
    batch.first.push_back(known);
  }
  return batch;
}

Result<PushReply> KeyedPush::push(std::span<const NewMessage> messages, bool lazy) {
  FQ_TRY(secret_.ensure());
  const KeyedBatch batch = key_batch(messages);
  std::vector<Plan> plans(messages.size());
  Appended appended;
  std::vector<NewMessage> fresh;
  std::vector<MessageId> behind;
  for (int attempt = 0;; ++attempt) {
    if (attempt == kTriesMax) return refuse_busy();
    bool known = false;
    uint64_t tail = 0;
    FQ_TRY(locked_when_fired([&](const Now& now) {
      known = judge_all(messages, batch, now, plans);
      tail = header().tail;
      return std::any_of(plans.begin(), plans.end(), [](const Plan& plan) { return plan.fate == Fate::due; });
    }));
    appended.end = tail;
    if (!known) FQ_TRY(flusher().wait_durable(tail));
    if (!known) continue;
    fresh.clear();
    behind.clear();
    for (size_t i = 0; i < messages.size(); ++i) {
      const Plan& plan = plans[i];
      if (plan.fate == Fate::missing) return at_item(unknown_before(plan.id), i);
      if (plan.fate == Fate::moving) return at_item(refuse_in_transit(plan.id), i);
      if (plan.fate == Fate::fresh || plan.fate == Fate::behind) {
        plans[i].place = fresh.size();
        fresh.push_back(messages[i]);
        behind.push_back(plan.fate == Fate::behind ? plan.id : MessageId{});
      }
      // The last payload wins, also in a batch.
      if (plan.fate == Fate::same && replaces(messages[i], plans[plan.same_as]))
        give_content(messages[i], fresh[plans[plan.same_as].place]);
    }
    if (fresh.empty()) break;
    std::vector<Plan> again(plans.size());
    const auto unchanged = [&](const Now& now) {
      const auto same = [](const Plan& a, const Plan& b) { return a.fate == b.fate && a.id == b.id; };
      return judge_all(messages, batch, now, again) &&
             std::equal(plans.begin(), plans.end(), again.begin(), same);
    };
    Result<Appended> done = pushes_.append(fresh, behind, lazy, unchanged);
    if (!done.ok()) return std::move(done).error();
    appended = *done;
    if (!appended.refused) break;
  }
  return reply_of(messages, batch, plans, appended, lazy);
}

Result<PushReply> KeyedPush::reply_of(std::span<const NewMessage> messages, const KeyedBatch& batch,
                                      const std::vector<Plan>& plans, const Appended& appended, bool lazy) {
  PushReply reply;
  uint64_t end = appended.end;
  const auto id_of = [&](const Plan& plan) { return MessageId{number(appended.first_id) + plan.place}; };
  for (size_t i = 0; i < messages.size(); ++i) {
    const Plan& plan = plans[i];
    switch (plan.fate) {
      case Fate::unknown:
      case Fate::due:
      case Fate::missing:
      case Fate::moving:
      case Fate::fresh:
      case Fate::behind:
        reply.items.push_back({PushStatus::accepted, id_of(plan)});
        break;
      case Fate::same:
        reply.items.push_back({replaces(messages[i], plans[plan.same_as]) ? replaced_status(messages[i])
                                                                          : PushStatus::duplicate,
                               id_of(plans[plan.same_as])});
        break;
      case Fate::duplicate:
        reply.items.push_back({PushStatus::duplicate, plan.id});
        break;
      case Fate::replace: {
        Result<PushResult> replaced = replace_or_push(messages[i], batch.hashes[i], lazy, end);
        if (!replaced.ok() && messages.size() == 1) return std::move(replaced).error();
        if (!replaced.ok()) reply.error = at_item(replaced.error(), i);
        reply.items.push_back(replaced.ok() ? *replaced : PushResult{PushStatus::unknown, plan.id});
      }
    }
  }
  // Also of a duplicate: it rests on what made it one.
  Result<void> durable = lazy ? Result<void>() : flusher().wait_durable(end);
  FQ_POINT("push.durable");
  // What it came after may have ended already.
  if (durable.ok()) durable = resolver_.resolve();
  if (durable.ok()) return reply;
  for (PushResult& item : reply.items) item.status = PushStatus::unknown;
  reply.error = std::move(durable).error();
  return reply;
}

Error KeyedPush::refuse_busy() {
  return Error{ErrorKind::later, object() + ": others push with the same key all the time", 0};
}

/// One message whose key is held by one that may wait. `end` grows to where all that the answer rests on
/// ends.
Result<PushResult> KeyedPush::replace_or_push(const NewMessage& message, const KeyHash& hash, bool lazy,
                                              uint64_t& end) {
  for (int attempt = 0; attempt < kTriesMax; ++attempt) {
    Plan plan;
    uint64_t tail = 0;
    FQ_TRY(locked_when_fired([&](const Now& now) {
      plan = judge(message, hash, now);
      tail = header().tail;
      return plan.fate == Fate::due;
    }));
    end = std::max(end, tail);
    if (!is_known(plan)) FQ_TRY(flusher().wait_durable(tail));
    if (plan.fate == Fate::duplicate) return PushResult{PushStatus::duplicate, plan.id};
    if (plan.fate == Fate::replace) {
      FQ_TRY_SET(const bool replaced, replace(message, plan, lazy, end));
      if (replaced) return PushResult{replaced_status(message), plan.id};
    }
    if (plan.fate == Fate::missing) return unknown_before(plan.id);
    if (plan.fate == Fate::moving) return refuse_in_transit(plan.id);
    if (plan.fate == Fate::fresh || plan.fate == Fate::behind) {
      const auto unchanged = [&](const Now& now) {
        const Plan again = judge(message, hash, now);
        return again.fate == plan.fate && again.id == plan.id;
      };
      const MessageId behind[] = {plan.fate == Fate::behind ? plan.id : MessageId{}};
      Result<Appended> done = pushes_.append({&message, 1}, behind, lazy, unchanged);
      if (!done.ok()) return std::move(done).error();
      const Appended appended = *done;
      end = std::max(end, appended.end);
      if (!appended.refused) return PushResult{PushStatus::accepted, appended.first_id};
    }
  }
  return refuse_busy();
}

/// What a message that waits is to be: the new payload in the old place.
Result<bool> KeyedPush::merge(const NewMessage& message, const Plan& plan, Replacement& merged) {
  std::optional<ItemPlace> place;
  FQ_TRY(locked([&]() -> Result<void> {
    const std::optional<SlotIndex> slot = schedule().messages().find(plan.id);
    place.reset();
    if (slot) place = ItemReader::find_item(stream(), header(), schedule().messages().entry(*slot));
    return {};
  }));
  if (!place) return false;
  FQ_TRY_SET(const bool found, messages_.read(*place));
  if (!found) return false;
  const MessageItem& old = messages_.item();
  merged.key = old.key;
  merged.terms = old.terms;
  if (old.blob) merged.doomed.add({*old.blob, old.payload_bytes});
  const Now now = merged.now = gate().now();
  MessageItem kept = old;
  Need unused;  // it takes the place of another
  FQ_TRY(merged.batch.prepare({&message, 1}, {}, now.wall_ms, merged.blobs, unused));
  MessageItem& item = merged.record.message;
  item = merged.batch.items()[0];
  item.key = merged.key;
  item.terms = merged.terms;
  item.priority = kept.priority;
  item.attempts_max = kept.attempts_max;
  item.pushed_wall_ms = kept.pushed_wall_ms;
  item.due_wall_ms = kept.due_wall_ms;
  merged.record.event = {plan.id, plan.event_position};
  if (!message.debounce.empty()) {
    // Since the first push by the boot's clock, as all that waits: the wall's may have been set.
    const int64_t latest_ms =
        later(now.wall_ms - (now.boot_ms - plan.since_ms), message.max_wait_ms.value_or(kLatestMs));
    merged.record.due_wall_ms = item.due_wall_ms =
        std::max<int64_t>(1, std::min(later(now.wall_ms, message.quiet_ms), latest_ms));
  }
  return true;
}

/// False: it is no more what it was when it was judged.
Result<bool> KeyedPush::replace(const NewMessage& message, const Plan& plan, bool lazy, uint64_t& end) {
  Replacement merged(link_, upkeep_);
  FQ_TRY_SET(const bool known, merge(message, plan, merged));
  if (!known) return false;
  std::vector<Arrival> growth = arrivals_of(merged.batch.items());
  encode_replaced(body_, merged.record);
  const uint64_t bytes = padded(kRecordHeaderBytes + body_.bytes.size());
  bool same = false;
  std::optional<Error> refused;
  FQ_TRY(writer_.write([&]() -> Result<Obstacle> {
    refused.reset();
    same = false;
    const Now now = gate().now();
    gate().fire_timers(now);
    const std::optional<SlotIndex> slot = schedule().messages().find(plan.id);
    if (!slot) return Obstacle::none;
    const Entry& entry = schedule().messages().entry(*slot);
    same = store().wall_of(merged.now.boot_ms) == merged.now.wall_ms &&
           entry.item_position == plan.item_position && entry.event_position == plan.event_position &&
           waits(entry) && (message.debounce.empty() || state_of(entry) == SlotState::delayed);
    const bool due = schedule().timers().is_due(entry, now.boot_ms);
    if (!same || due) return same = false, Obstacle::none;
    const uint64_t larger = std::max<uint64_t>(merged.record.message.payload_bytes, entry.payload_bytes);
    for (Arrival& arrival : growth) arrival.messages = 0, arrival.bytes = larger - entry.payload_bytes;
    refused = admission_.refuse(growth);
    if (refused) return Obstacle::none;
    const Obstacle obstacle = writer_.room_for_push(bytes, Need{}, 0, false);
    if (obstacle != Obstacle::none) return obstacle;
    append_replaced(merged.record, *slot);
    end = std::max<uint64_t>(end, header().tail);
    return Obstacle::none;
  }));
  if (!same) return false;
  if (refused) return std::move(*refused);
  merged.blobs.keep();
  // The old payload goes only after the new one can no longer be lost.
  if (!lazy || !merged.doomed.empty()) FQ_TRY(flusher().wait_durable(end));
  merged.doomed.remove();
  return true;
}

void KeyedPush::append_replaced(const ReplacedRecord& record, SlotIndex slot) {
  Change change(link_);
  Txn& txn = change.txn();
  const uint64_t position = change.append(Purpose::accept, body_);
  const Entry& entry = schedule().messages().entry(slot);
  if ((entry.flags & kEntryBlob) != 0) LooseBlobs(header()).add(txn, entry.payload_bytes);
  gate().apply().replaced(txn, record, slot, position);
  FQ_POINT("replace.appended");
  change.commit();
  FQ_POINT("replace.committed");
  gate().mark_servable();  // a timer may be earlier than before
}

}  // namespace fq
