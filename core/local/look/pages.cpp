#include "core/local/look/pages.h"
#include "core/local/read/parts.h"

namespace fq {

namespace {

constexpr size_t kAhead = 8;  // chosen: 400,000 messages in pages of 100 take five walks

/// None: such messages are in no slot.
std::optional<SlotState> stored_state_of(State state) {
  switch (state) {
    case State::ready:
      return SlotState::ready;
    case State::delayed:
      return SlotState::delayed;
    case State::leased:
      return SlotState::leased;
    case State::held:
      return SlotState::held;
    case State::dead:
      return SlotState::dead;
    default:
      return std::nullopt;
  }
}

/// Puts into the heap `best` what belongs to the `room` smallest.
void keep_least(const std::vector<PagePlace>& seen, size_t room, std::vector<PagePlace>& best) {
  for (const PagePlace& place : seen) {
    if (best.size() == room && !(place < best.front())) continue;
    best.push_back(place);
    std::push_heap(best.begin(), best.end());
    if (best.size() <= room) continue;
    std::pop_heap(best.begin(), best.end());
    best.pop_back();
  }
}

}  // namespace

Result<std::vector<PagePlace>> Pages::select(const Filter& filter, Order order, const PagePlace& after,
                                             size_t n) {
  const bool is_same = found_ && found_->filter == filter && found_->order == order;
  // One that has come to its end is begun anew, and goes on only for who asks from further on again.
  const bool goes_on = is_same && (found_->is_told ? found_->begin < after : !(after < found_->begin));
  if (!goes_on) {
    found_ = Found{};
    found_->filter = filter;
    found_->order = order;
    found_->begin = after;
    FQ_TRY(fire_timers());
  }
  const auto next = std::upper_bound(found_->places.begin(), found_->places.end(), after);
  found_->next = static_cast<size_t>(next - found_->places.begin());
  found_->last = after;
  std::vector<PagePlace> page;
  while (page.size() < n) {
    if (found_->next == found_->places.size()) {
      if (found_->at_end) break;
      FQ_TRY(find_more(std::max(n - page.size(), kAhead * found_->given)));
      continue;
    }
    page.push_back(found_->places[found_->next++]);
    found_->last = page.back();
    ++found_->given;
  }
  if (page.size() < n) found_->is_told = true;
  return page;
}

/// What was due before a listing begins is told as it is then.
Result<void> Pages::fire_timers() {
  for (bool fired = true; fired;) {
    FQ_TRY(locked([&]() -> Result<void> {
      fired = gate().fire_timers(gate().now());
      return {};
    }));
  }
  return {};
}

PagePlace Pages::place_of(const Entry& entry) const {
  switch (found_->order) {
    case Order::due:
      return {entry.at_ms, entry.id};
    case Order::newest:
      return newest_place(entry.at_ms, entry.id);
    case Order::id:
      break;
  }
  return {0, entry.id};
}

/// The `room` smallest places behind the last one that was given.
Result<void> Pages::find_more(size_t room) {
  std::vector<PagePlace> best;
  FQ_TRY_SET(const bool were_few, find_among_few(room, best));
  if (!were_few) FQ_TRY(find_among_all(room, best));
  std::sort_heap(best.begin(), best.end());
  found_->at_end = best.size() < room;
  found_->begin = found_->last;
  found_->places = std::move(best);
  found_->next = 0;
  return {};
}

/// No long queue is walked through for the few in it that are in the wanted state. False: they are not few.
Result<bool> Pages::find_among_few(size_t room, std::vector<PagePlace>& best) {
  if (!found_->filter.state) return false;
  const std::optional<SlotState> state = stored_state_of(*found_->filter.state);
  if (!state) return true;
  std::vector<SlotIndex> slots(Parts::kPerLook);
  std::vector<PagePlace> seen;
  seen.reserve(slots.size());
  bool are_few = false;
  FQ_TRY(locked([&]() -> Result<void> {
    seen.clear();
    const std::optional<size_t> count = schedule().views().few(*state, slots);
    are_few = count.has_value();
    const Wanted wanted = wanted_now();
    for (size_t i = 0; i < count.value_or(0); ++i) see(slots[i], wanted, seen);
    return {};
  }));
  keep_least(seen, room, best);
  return are_few;
}

Result<void> Pages::find_among_all(size_t room, std::vector<PagePlace>& best) {
  std::vector<PagePlace> seen;  // under one hold of the lock, where nothing is allocated
  seen.reserve(Parts::kPerLook);
  Wanted wanted;
  const auto end = [&] {
    wanted = wanted_now();
    return wanted.nothing ? 0 : schedule().views().slots_end();
  };
  Parts parts(link_);
  for (bool more = true; more;) {
    bool anew = false;
    seen.clear();
    FQ_TRY_SET(more, parts.next(end, [&](uint32_t from, uint32_t to) {
      anew = from == 0;
      seen.clear();
      for (uint32_t i = from; i < to; ++i) see(SlotIndex{i}, wanted, seen);
    }));
    if (anew) best.clear();
    keep_least(seen, room, best);
  }
  return {};
}

/// Needs: the lock.
Pages::Wanted Pages::wanted_now() {
  const std::string& tenant = found_->filter.tenant;
  Wanted wanted;
  if (!tenant.empty()) wanted.below = schedule().tenants().find(tenant);
  wanted.nothing = !tenant.empty() && !wanted.below;
  return wanted;
}

/// Needs: the lock, and room in `seen`.
void Pages::see(SlotIndex slot, const Wanted& wanted, std::vector<PagePlace>& seen) {
  const Entry& entry = schedule().messages().entry(slot);
  if (wanted.nothing || !matches(link_, found_->filter, wanted.below, entry)) return;
  const PagePlace place = place_of(entry);
  if (found_->last < place) seen.push_back(place);
}

Result<std::optional<Snapshot>> Pages::look_again(const Filter& filter, const PagePlace& place) {
  std::optional<Snapshot> snapshot;
  FQ_TRY(locked([&]() -> Result<void> {
    snapshot.reset();
    const std::optional<SlotIndex> slot = schedule().messages().find(MessageId{place.id});
    if (slot && matches(link_, filter, std::nullopt, schedule().messages().entry(*slot)))
      snapshot = take_snapshot(link_, *slot);
    return {};
  }));
  if (!snapshot) return snapshot;
  FQ_TRY_SET(const bool fits, messages_.fits(*snapshot, filter));
  if (!fits) snapshot.reset();
  return snapshot;
}

}  // namespace fq
