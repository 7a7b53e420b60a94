#include "core/local/read/snapshot.h"

// System.
#include <array>
#include <charconv>

namespace fq {

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
  Snapshot looked;
  looked.id = entry.id;
  looked.state = shown_state_of(entry).value_or(State::ready);
  looked.slot_state = static_cast<SlotState>(entry.state.get());
  looked.attempts = entry.attempts;
  looked.attempts_max =
      entry.attempts_max != 0
          ? entry.attempts_max.get()
          : static_cast<uint16_t>(attempts_of(link.header().settings, (entry.flags & kEntryCommand) != 0));
  looked.crashes = entry.crashes;
  looked.deliveries = entry.deliveries;
  looked.at_wall_ms = entry.at_ms == kNever ? 0 : link.store().wall_of(entry.at_ms);
  if (const int64_t ttl_ms = link.schedule().views().ttl_ms(slot); ttl_ms != kNever) looked.ttl_ms = ttl_ms;
  looked.expired = link.schedule().views().has_expired(slot);
  const UniqueKey* key = link.schedule().views().key_of_message(slot);
  looked.has_key = key != nullptr;
  looked.key_lost = key != nullptr && (key->flags & (kKeyHeld | kKeyBehind)) == 0;
  looked.serial = entry.serial;
  if (looked.state == State::leased && entry.at_ms == kNever) {
    const HolderSlot& holder = link.header().holders[entry.holder % kHoldersMax];
    looked.pid = static_cast<int>(holder.pid);
    looked.pid_started = holder.started;
    looked.holder_is_dead = holder.carried != 0 ? holder.orphaned_at_ms != 0 : holder.life.is_dead();
  }
  looked.event_position = entry.event_position;
  looked.place = ItemReader::find_item(link.stream(), link.header(), entry);
  return looked;
}

}  // namespace fq
