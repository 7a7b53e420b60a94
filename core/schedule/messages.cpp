// messages - see messages.h.
#include "core/schedule/messages.h"

// System.
#include <algorithm>
#include <limits>
// fq, below us.
#include "core/base/bytes.h"
// fq, this room.
#include "core/schedule/states/dependents.h"
#include "core/schedule/states/kept_steps.h"
#include "core/schedule/rings/costs.h"
#include "core/schedule/memory/begun_entry.h"
#include "core/schedule/memory/histogram.h"
#include "core/schedule/memory/id_index.h"
#include "core/schedule/order/outcomes.h"
#include "core/schedule/memory/service.h"
#include "core/schedule/states/state.h"

namespace fq {
namespace {

/// At its most a count stays: begun again it would say that there were few.
template <class Count, uint32_t kOpens>
void bump(Txn& txn, Shared<Count, kOpens>& field) {
  if (field != std::numeric_limits<Count>::max()) add_to(txn, field, 1);
}

uint32_t make_extra(Txn& txn, const Region& region, const NewEntry& from) {
  const uint32_t rank = rank_add(txn, region, from.key, from.priority);
  const auto [index, extra] = take_element(txn, region.arena, region.root.extras, region.root.extra_supply);
  empty_extra(txn, extra, rank);
  txn.fresh(extra.ttl_ms, from.ttl_ms);
  txn.fresh(extra.flags, (from.expired ? kExtraExpired : 0) | (from.from_release ? kExtraFromRelease : 0) |
                             (from.suspended ? kExtraSuspended : 0) |
                             (from.wait_failed ? kExtraWaitFailed : 0) | from.transit);
  txn.fresh(extra.due_ms, from.due_ms);
  txn.fresh(extra.key, from.key_hold ? UniqueKeys(region).take(txn, *from.key_hold) : kNoIndex);
  return index;
}

// A used slot in no state yet, in the id index, with all that is known at a push.
Message make_entry(Txn& txn, const Region& region, const NewEntry& from) {
  const uint32_t tenant_index = TenantTree(region).leaf_of(txn, from.tenant);
  Tenant& tenant = region.tenant(tenant_index);
  open_sums(txn, region.root);
  const auto [slot, entry] = take_element(txn, region.arena, region.root.entries, region.root.entry_supply);
  const uint32_t rank =
      from.extra ? make_extra(txn, region, from) : rank_add(txn, region, from.key, from.priority);
  const Opened<Entry> made = region.open(txn, entry);
  begin_entry(made, {.id = number(from.id),
                     .item_position = from.item_position,
                     .tenant = tenant_index,
                     .rank = rank,
                     .payload_bytes = from.payload_bytes,
                     .overhead_bytes = from.overhead_bytes,
                     .attempts_max = from.attempts_max,
                     .flags = (from.key.empty() ? 0 : kEntryKeyed) | (from.extra ? kEntryExtra : 0) |
                              (from.blob ? kEntryBlob : 0) | from.job_flags});
  EntryIndex(EntryIndexKind{&region}).insert(txn, slot, made, region.root.entry_supply.used);
  return {slot, entry, tenant};
}

bool is_command(const Entry& entry) { return (entry.flags & kEntryCommand) != 0; }

// Its run has ended: known once, and once more with the verdict on it.
void note_run(Txn& txn, const Region& region, const Message& message, int64_t now_ms, bool verdict,
              std::optional<uint64_t> run_us = {}) {
  auto& [slot, entry, tenant] = message;
  if (state_of(entry) != SlotState::leased) return;
  const uint64_t run = run_ms_of(region.root, entry, now_ms);
  if (verdict) histogram_note(txn, region.root.run, run);
  if (verdict) histogram_note(txn, tenant.run, run);
  const uint64_t ticks = run_us ? *run_us * kTicksPerMs / 1000 : run * kTicksPerMs;
  // Once a run: what it was charged is made good then.
  if (entry.rough_cost != 0) service_note_end(region, region.open(txn, tenant), ticks / kTicksPerMs, now_ms);
  Costs(region).note_end(txn, entry, static_cast<uint32_t>(std::min<uint64_t>(ticks, UINT32_MAX)), now_ms);
}

void note_buried(Txn& txn, const Region& region, Tenant& tenant) {
  add_to(txn, region.root.counters.buried, 1);
  bump(txn, tenant.buried);
}

void settle_key(Txn& txn, const Region& region, const Entry& entry, std::optional<bool> has_key) {
  const uint32_t key = has_extra(entry) ? region.extra(entry.rank).key.get() : kNoIndex;
  if (key == kNoIndex) return;
  const UniqueKeys keys(region);
  if (!has_key) return keys.regain(txn, key);
  *has_key ? keys.take_back(txn, key) : keys.give_up(txn, key);
}

}  // namespace

SlotIndex Messages::add(Txn& txn, const NewEntry& from) const {
  const Message message = make_entry(txn, region_, from);
  add_to(open_sums(txn, region_.root), region_.root.counters.pushed, 1);
  add_to(region_.open(txn, message.tenant), &Tenant::pushed, 1);
  const States states(region_);
  if (!from.after.empty()) {
    Dependents(region_).add(txn, SlotIndex{message.slot}, from.after, true);
    states.enter_held(txn, message, from.now_ms);
  } else if (from.due_ms > from.now_ms) {
    states.enter_delayed(txn, message, from.due_ms);
  } else {
    states.enter_ready(txn, message, from.now_ms);
  }
  return SlotIndex{message.slot};
}

SlotIndex Messages::restore(Txn& txn, const RestoredEntry& from) const {
  const Message message = make_entry(txn, region_, from.entry);
  Entry& entry = message.entry;
  put(txn, entry.event_position, from.event_position);
  put(txn, entry.serial, from.serial);
  put(txn, entry.deliveries, from.deliveries);
  put(txn, entry.attempts, from.attempts);
  if (from.attempts_max != 0) put(txn, entry.attempts_max, from.attempts_max);
  put(txn, entry.crashes, static_cast<uint8_t>(std::min<uint16_t>(from.crashes, UINT8_MAX)));
  put(txn, entry.began_ms, static_cast<uint32_t>(from.entry.now_ms));
  // When it was delivered is not known any more: it counts from now on.
  if (region_.root.run_mark_due_ms == 0) run_mark_set(txn, region_.root, 0, from.entry.now_ms);
  const States states(region_);
  switch (from.state) {
    case SlotState::delayed:
      states.enter_delayed(txn, message, from.at_ms);
      break;
    case SlotState::leased:
      states.enter_leased(txn, message, from.holder, from.at_ms);
      Dependents(region_).add(txn, SlotIndex{message.slot}, from.entry.after, false);
      Limits(region_).started(txn, entry.tenant, from.entry.now_ms);
      break;
    case SlotState::dead:
      Dependents(region_).add(txn, SlotIndex{message.slot}, from.entry.after, false);
      states.enter_dead(txn, message, from.at_ms);
      break;
    case SlotState::held:
      Dependents(region_).add(txn, SlotIndex{message.slot}, from.entry.after, true);
      states.enter_held(txn, message, from.at_ms);
      break;
    default:
      states.enter_ready(txn, message, from.at_ms);
  }
  return SlotIndex{message.slot};
}

std::optional<SlotIndex> Messages::find(MessageId id) const {
  return index_or_none<SlotIndex>(entry_find(region_, number(id)));
}

void Messages::expect(MessageId id) const {
  EntryIndex(EntryIndexKind{&region_}).fetch_chain_ahead(hash_id(number(id)));
}

void Messages::start(Txn& txn, const Message& message, const LeaseTerms& terms) const {
  const States states(region_);
  note_delivery(txn, region_, message, terms);
  states.leave(txn, message, false);
  states.enter_leased(txn, message, terms.holder, terms.until_ms);
}

void Messages::lease(Txn& txn, SlotIndex index, const LeaseTerms& terms) const {
  const Message message = region_.message(static_cast<uint32_t>(index));
  const States states(region_);
  states.leave(txn, message);  // first: what is on its way back is counted by its deliveries
  note_delivery(txn, region_, message, terms);
  states.enter_leased(txn, message, terms.holder, terms.until_ms);
  Limits(region_).started(txn, message.entry.tenant, terms.now_ms);
}

void Messages::end_run(Txn& txn, SlotIndex index, std::optional<uint64_t> run_us, int64_t now_ms) const {
  note_run(txn, region_, region_.message(static_cast<uint32_t>(index)), now_ms, false, run_us);
}

void Messages::extend(Txn& txn, SlotIndex index, int64_t until_ms) const {
  const auto slot = static_cast<uint32_t>(index);
  Entry& entry = region_.entry(slot);
  if (state_of(entry) != SlotState::leased) return;
  const DelayHeap heap(region_);
  heap.remove(txn, slot);
  put(txn, entry.at_ms, until_ms);
  if (until_ms != kNever) heap.insert(txn, slot);
}

bool Messages::requeue(Txn& txn, SlotIndex index, bool counted, bool crashed, int64_t due_ms,
                       int64_t now_ms) const {
  const Message message = region_.message(static_cast<uint32_t>(index));
  auto& [slot, entry, tenant] = message;
  const States states(region_);
  // A command that was cut off has not failed: it is run again, unless it is what ends its workers.
  const bool sleeps = is_suspended(entry);
  crashed = crashed && !sleeps;
  const bool cut_off = crashed && is_command(entry);
  counted = counted && !cut_off && !sleeps;
  note_run(txn, region_, message, now_ms, !crashed);
  states.leave(txn, message);
  if (counted) bump(txn, entry.attempts);
  if (crashed) {
    bump(txn, entry.crashes);
  } else {
    add_to(txn, counted ? region_.root.counters.retried : region_.root.counters.released, 1);
    bump(txn, counted ? tenant.retried : tenant.released);
  }
  if (sleeps) return Dependents(region_).enter_suspended(txn, message, now_ms), false;
  const bool last = counted && entry.attempts_max > 0 && entry.attempts >= entry.attempts_max;
  if (last || (cut_off && entry.crashes >= kCommandCrashesMax)) {
    note_buried(txn, region_, message.tenant);
    states.enter_dead(txn, message, now_ms);
    return true;
  }
  if (due_ms > now_ms) {
    states.enter_delayed(txn, message, due_ms);
  } else {
    states.enter_ready(txn, message, now_ms);
  }
  return false;
}

void Messages::bury(Txn& txn, SlotIndex index, int64_t now_ms) const {
  const Message message = region_.message(static_cast<uint32_t>(index));
  Entry& entry = message.entry;
  if (state_of(entry) == SlotState::dead) return;
  const States states(region_);
  note_run(txn, region_, message, now_ms, true);
  states.leave(txn, message);
  if (has_extra(entry)) {
    Extra& extra = region_.extra(entry.rank);
    put(txn, extra.flags, extra.flags & ~kExtraTransits);
  }
  note_buried(txn, region_, message.tenant);
  states.enter_dead(txn, message, now_ms);
}

void Messages::expire(Txn& txn, SlotIndex index) const {
  const Message message = region_.message(static_cast<uint32_t>(index));
  const int64_t over_ms = expires_ms(region_, message.entry);
  Extra& extra = region_.extra(message.entry.rank);
  const States states(region_);
  const bool was_idle = is_gathering(message.tenant);
  states.leave(txn, message);
  if (!was_idle) Costs(region_).note_idle(txn, message.entry.tenant, over_ms);
  put(txn, extra.flags, extra.flags | kExtraExpired);
  add_to(txn, region_.root.counters.expired, 1);
  bump(txn, message.tenant.expired);
  states.enter_dead(txn, message, over_ms);
}

void Messages::kick(Txn& txn, SlotIndex index, const Kick& kick) const {
  const Message message = region_.message(static_cast<uint32_t>(index));
  Entry& entry = message.entry;
  const bool comes_back = state_of(entry) == SlotState::dead || state_of(entry) == SlotState::delayed;
  // Whose its key is holds in any state: what made it dead a full disk may have left unwritten.
  if (comes_back || kick.has_key) settle_key(txn, region_, entry, kick.has_key);
  if (!comes_back) return;
  const States states(region_);
  // Whom it buried is held behind it again.
  if (state_of(entry) == SlotState::dead) Waits(region_).note_ended(txn, entry.id, Fate::unknown);
  states.leave(txn, message);
  put(txn, entry.attempts, 0);
  put(txn, entry.crashes, 0);
  if (has_extra(entry)) {
    Extra& extra = region_.extra(entry.rank);
    put(txn, extra.ttl_ms, kNever);
    put(txn, extra.flags, extra.flags & ~kExtraExpired);
  }
  if (!kick.hold || !has_extra(entry)) return states.enter_ready(txn, message, kick.now_ms);
  Dependents(region_).hold_again(txn, region_.extra(entry.rank));
  states.enter_held(txn, message, kick.now_ms);
}

void Messages::finish_by_parts(Txn& txn, SlotIndex index, RecordType verdict, const MessageEnd& end) const {
  const Message message = region_.message(static_cast<uint32_t>(index));
  auto& [slot, entry, tenant] = message;
  const States states(region_);
  note_run(txn, region_, message, end.now_ms, true);
  const bool was_idle = is_gathering(tenant);
  states.leave(txn, message);
  const bool acked = verdict == RecordType::acked;
  RootCounters& counters = region_.root.counters;
  if (acked) {
    add_to(open_sums(txn, region_.root), counters.acked, 1);
    add_to(region_.open(txn, tenant), &Tenant::acked, 1);
  } else if (verdict == RecordType::left) {
    add_to(txn, counters.left, 1);
  } else {
    add_to(txn, counters.cancelled, 1);
    bump(txn, tenant.cancelled);
  }
  const SlotState from = state_of(entry);
  if (has_extra(entry)) KeptSteps(region_).drop(txn, message);
  outcome_add(txn, region_, slot, region_.open(txn, entry), {verdict, end.event_position, end.at_wall_ms});
  Waits(region_).note_ended(txn, entry.id, acked ? Fate::acked : Fate::other);
  if ((entry.flags & kEntryKeyed) != 0) text_remove(txn, region_, rank_of(region_, entry));
  if (has_extra(entry)) {
    Extra& extra = region_.extra(entry.rank);
    if (extra.key != kNoIndex) UniqueKeys(region_).end(txn, extra.key, acked, end.now_ms);
    Waits(region_).drop(txn, extra);
    free_element(txn, region_.root.extra_supply, extra, entry.rank);
  }
  states.count(txn, message, from, SlotState::free);
  states.note_end(txn, message, from);
  if (from == SlotState::ready && !was_idle) Costs(region_).note_idle(txn, entry.tenant, end.now_ms);
  if (TenantTree::has_nothing(tenant)) TenantTree(region_).note_idle(txn, entry.tenant, end.now_ms);
}

void Messages::replace(Txn& txn, SlotIndex index, const Replacement& by) const {
  const Message message = region_.message(static_cast<uint32_t>(index));
  const uint32_t slot = message.slot;
  Entry& entry = message.entry;
  States(region_).set_size(txn, message, {by.payload_bytes, by.blob, overhead_code(by.overhead_bytes)});
  put(txn, entry.item_position, by.item_position);
  put(txn, entry.flags, static_cast<uint8_t>((entry.flags & ~kEntryJob) | by.job_flags));
  if (!has_extra(entry)) throw RegionDamaged{"a message without a key was replaced"};
  Extra& extra = region_.extra(entry.rank);
  put(txn, extra.flags, extra.flags | kExtraReplaced);
  if (by.due_ms == kNever || state_of(entry) != SlotState::delayed) return;
  const DelayHeap heap(region_);
  heap.remove(txn, slot);
  put(txn, entry.at_ms, by.due_ms);
  heap.insert(txn, slot);
}

void Messages::set_overhead(Txn& txn, SlotIndex index, uint64_t bytes) const {
  Entry& entry = region_.entry(static_cast<uint32_t>(index));
  const uint64_t before = journal_bytes_of(entry);
  put(txn, entry.overhead, overhead_code(bytes));
  put(txn, region_.root.journal_bytes, region_.root.journal_bytes - before + journal_bytes_of(entry));
}

void Messages::note_unwritten(Txn& txn, SlotIndex slot) const {
  Entry& entry = region_.entry(static_cast<uint32_t>(slot));
  put(txn, entry.flags, static_cast<uint8_t>(entry.flags | kEntryUnwritten));
}

void Messages::lose(Txn& txn, SlotIndex index) const {
  const Message message = region_.message(static_cast<uint32_t>(index));
  Entry& entry = message.entry;
  if (state_of(entry) != SlotState::dead) return;
  take_from(txn, region_.root.journal_bytes, journal_bytes_of(entry));
  int flags = entry.flags | kEntryBlob;
  KeptSteps(region_).drop(txn, message);
  if (has_extra(entry)) {
    Extra& extra = region_.extra(entry.rank);
    if (extra.key != kNoIndex) UniqueKeys(region_).remove(txn, extra.key);
    Waits(region_).drop(txn, extra);
    const uint32_t at = entry.rank;
    put(txn, entry.rank, extra.rank);
    free_element(txn, region_.root.extra_supply, extra, at);
    flags &= ~kEntryExtra;
  }
  put(txn, entry.flags, static_cast<uint8_t>(flags));
  add_to(txn, region_.root.journal_bytes, journal_bytes_of(entry));
}

void Messages::set_item(Txn& txn, SlotIndex slot, uint64_t item_position, uint64_t overhead) const {
  Entry& entry = region_.entry(static_cast<uint32_t>(slot));
  set_place(txn, slot, item_position);
  put(txn, entry.flags, static_cast<uint8_t>(entry.flags & ~kEntryUnwritten));
  if (has_extra(entry)) {
    Extra& extra = region_.extra(entry.rank);
    put(txn, extra.flags, extra.flags & ~kExtraReplaced);
  }
  set_overhead(txn, slot, overhead);
}

void Messages::set_holder(Txn& txn, SlotIndex index, HolderIndex holder) const {
  const Message message = region_.message(static_cast<uint32_t>(index));
  Entry& entry = message.entry;
  if (state_of(entry) != SlotState::leased) return;
  if (has_holder(entry)) HolderList(region_).remove(txn, message);
  if (holder != kHeldByTime) HolderList(region_).insert(txn, message, holder);
}

}  // namespace fq
