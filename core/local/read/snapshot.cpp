#include "core/local/read/snapshot.h"

// System.
#include <array>
#include <charconv>

namespace fq {

State state_of_end(RecordType verdict) {
  if (verdict == RecordType::left) return State::moved;
  return verdict == RecordType::acked ? State::acked : State::cancelled;
}

std::optional<State> shown_state_of(const Entry& entry) {
  switch (static_cast<SlotState>(entry.state.get())) {
    case SlotState::ready:
      return State::ready;
    case SlotState::delayed:
      return State::delayed;
    case SlotState::leased:
      return State::leased;
    case SlotState::dead:
      return State::dead;
    case SlotState::held:
      return State::held;
    case SlotState::free:
      break;
  }
  return std::nullopt;
}

bool matches(Link& link, const Filter& filter, std::optional<TenantIndex> below, const Entry& entry) {
  const std::optional<State> state = shown_state_of(entry);
  if (!state || (filter.state && *filter.state != *state)) return false;
  if (!below) return true;
  return link.schedule().tenants().is_below(TenantIndex{entry.tenant.get()}, *below);
}

Snapshot take_snapshot(Link& link, SlotIndex slot) {
  const Entry& entry = link.schedule().messages().entry(slot);
  Snapshot snapshot;
  snapshot.id = entry.id;
  snapshot.state = shown_state_of(entry).value_or(State::ready);
  snapshot.slot_state = static_cast<SlotState>(entry.state.get());
  snapshot.attempts = entry.attempts;
  snapshot.attempts_max =
      entry.attempts_max != 0
          ? entry.attempts_max.get()
          : static_cast<uint16_t>(attempts_of(link.header().settings, (entry.flags & kEntryCommand) != 0));
  snapshot.crashes = entry.crashes;
  snapshot.deliveries = entry.deliveries;
  snapshot.at_wall_ms = entry.at_ms == kNever ? 0 : link.store().wall_of(entry.at_ms);
  if (const int64_t ttl_ms = link.schedule().views().ttl_ms(slot); ttl_ms != kNever) snapshot.ttl_ms = ttl_ms;
  snapshot.has_ttl = link.schedule().views().has_ttl(slot);
  snapshot.expired = link.schedule().views().has_expired(slot);
  snapshot.due_from_release = link.schedule().views().is_due_from_release(slot);
  snapshot.suspended = link.schedule().messages().is_suspended(entry);
  snapshot.wait_failed = link.schedule().messages().has_failed_wait(entry);
  snapshot.in_transit = link.schedule().views().is_in_transit(slot);
  const bool held = snapshot.slot_state == SlotState::held && !snapshot.in_transit && has_extra(entry);
  if (snapshot.suspended || (held && !snapshot.due_from_release))
    snapshot.wakes_wall_ms = link.store().wall_of(link.schedule().region().extra(entry.rank).due_ms);
  const UniqueKey* key = link.schedule().views().key_of_message(slot);
  snapshot.has_key = key != nullptr;
  snapshot.key_lost = key != nullptr && (key->flags & (kKeyHeld | kKeyBehind)) == 0;
  if (key != nullptr) snapshot.since_wall_ms = link.store().wall_of(key->since_ms);
  snapshot.serial = entry.serial;
  if (snapshot.state == State::leased && entry.at_ms == kNever) {
    const HolderSlot& holder = link.header().holders[entry.holder % kHoldersMax];
    snapshot.pid = static_cast<int>(holder.pid);
    snapshot.pid_started = holder.started;
    snapshot.holder_is_dead = holder.carried != 0 ? holder.orphaned_at_ms != 0 : holder.life.is_dead();
  }
  snapshot.event_position = entry.event_position;
  snapshot.place = ItemReader::find_item(link.stream(), link.header(), entry);
  return snapshot;
}

}  // namespace fq
