#include "core/local/look/pages.h"
#include "core/local/read/parts.h"

namespace fq {

namespace {

constexpr size_t kAhead = 8;  // chosen: 400,000 messages in pages of 100 take five walks

/// How many there are at most.
uint32_t most_of(const CountsNow& counts, std::optional<State> state) {
  if (!state) return UINT32_MAX;
  switch (*state) {
    case State::ready:
      return counts.ready;
    case State::delayed:
      return counts.delayed;
    case State::leased:
      return counts.leased;
    case State::held:
      return counts.held;
    case State::dead:
      return counts.dead;
    default:
      return 0;
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

/// The `room` smallest places behind the last one that was given, from one walk.
Result<void> Pages::find_more(size_t room) {
  std::vector<PagePlace> best;
  std::vector<PagePlace> seen;  // under one hold of the lock, where nothing is allocated
  seen.reserve(Parts::kPerLook);
  const Filter& filter = found_->filter;
  std::optional<TenantIndex> below;
  const auto end = [&]() -> uint32_t {
    // No long queue is walked through for what is not in it.
    if (most_of(CountsNow(schedule().root().counts), filter.state) == 0) return 0;
    if (!filter.tenant.empty()) below = schedule().tenants().find(filter.tenant);
    return filter.tenant.empty() || below ? schedule().views().slots_end() : 0;
  };
  Parts parts(link_);
  for (bool more = true; more;) {
    bool anew = false;
    seen.clear();
    FQ_TRY_SET(more, parts.next(end, [&](uint32_t from, uint32_t to) {
      anew = from == 0;
      seen.clear();
      for (uint32_t i = from; i < to; ++i) {
        const Entry& entry = schedule().messages().entry(SlotIndex{i});
        if (!matches(link_, filter, below, entry)) continue;
        const PagePlace place = place_of(entry);
        if (found_->last < place) seen.push_back(place);
      }
    }));
    if (anew) best.clear();
    for (const PagePlace& place : seen) {
      if (best.size() == room && !(place < best.front())) continue;
      best.push_back(place);
      std::push_heap(best.begin(), best.end());
      if (best.size() <= room) continue;
      std::pop_heap(best.begin(), best.end());
      best.pop_back();
    }
  }
  std::sort_heap(best.begin(), best.end());
  found_->at_end = best.size() < room;
  found_->begin = found_->last;
  found_->places = std::move(best);
  found_->next = 0;
  return {};
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
