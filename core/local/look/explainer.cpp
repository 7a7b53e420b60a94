// explainer - the reason why a message is served when it is, or why it waits: the part found under one hold
// of the lock.
#include "core/local/look/explainer.h"

// System.
#include <unordered_set>
// fq, below us.
#include "core/base/host_name.h"
#include "core/schedule/look/preview.h"

namespace fq {

namespace {

constexpr size_t kExactPlaces = 512;  // as far as the preview is asked
constexpr size_t kBlockedMax = 20;    // tenants that are listed
constexpr size_t kNextMax = 512;

Reason::Kind kind_of(Blocker::Kind kind) {
  switch (kind) {
    case Blocker::Kind::paused:
      return Reason::Kind::paused;
    case Blocker::Kind::limited:
      return Reason::Kind::limited;
    case Blocker::Kind::concurrency:
      return Reason::Kind::concurrency;
    case Blocker::Kind::rate:
      return Reason::Kind::rate;
    case Blocker::Kind::gathering:
      return Reason::Kind::gathering;
    case Blocker::Kind::pool_concurrency:
      return Reason::Kind::pool_concurrency;
    case Blocker::Kind::pool_rate:
      return Reason::Kind::pool_rate;
  }
  return Reason::Kind::paused;
}

ServedBy served_by(Preview::By by) {
  if (by == Preview::By::age) return ServedBy::age;
  return by == Preview::By::rank ? ServedBy::rank : ServedBy::turn;
}

}  // namespace

Result<std::optional<Explanation>> Explainer::of_message(MessageId id) {
  Explanation found;
  NodeSnapshot seen;
  std::optional<Snapshot> snapshot;
  std::optional<Outcome> outcome;
  std::array<uint64_t, kWaitsMax> waits;
  uint32_t waits_count = 0;
  FQ_TRY(locked([&]() -> Result<void> {
    found = Explanation();
    snapshot.reset();
    outcome.reset();
    waits_count = 0;
    gate().fire_timers(gate().now());
    const std::optional<SlotIndex> slot = schedule().messages().find(id);
    if (!slot) return outcome = schedule().past().outcome(id), Result<void>();
    snapshot = take_snapshot(link_, *slot);
    if (snapshot->state == State::held) waits_count = schedule().dependents().waits_of(*slot, waits);
    const TenantIndex node{schedule().messages().entry(*slot).tenant.get()};
    among_own_ = (schedule().tenants().at(node).flags & kTenantSelf) != 0;
    const bool started = snapshot->state == State::leased || snapshot->state == State::dead;
    see(node, !started, seen);
    const SharedTerms& terms = schedule().root().terms;
    counts_turns_ = terms.fair_by == FairBy::turns && terms.scope == Scope::tenant;
    if (snapshot->state == State::ready && seen.reason_count == 0) find_place(*slot, found);
    return {};
  }));
  if (!snapshot && !outcome) return std::optional<Explanation>();
  found.id = id;
  if (!snapshot) {
    found.state = state_of_end(outcome->verdict);
    Reason& reason = found.reasons.emplace_back();
    reason.kind = Reason::Kind::ended;
    reason.until_wall_ms = outcome->at_wall_ms;
    return std::optional(std::move(found));
  }
  found.state = snapshot->state;
  emit_state(*snapshot, std::span(waits).first(waits_count), found);
  tell(seen, found);
  if (found.state == State::ready && !found.place) {
    FQ_TRY(count_ahead(found));
    found.limited = found.limited || (found.reasons.empty() && found.ahead >= starts_left_);
  }
  if (found.state == State::held) FQ_TRY(find_cycle(found));
  FQ_TRY(find_running({&found, 1}));
  FQ_TRY(scan_rivals(found));
  return std::optional(std::move(found));
}

Result<std::optional<Explanation>> Explainer::of_tenant(const std::string& path) {
  Explanation found;
  NodeSnapshot seen;
  bool there = false;
  FQ_TRY(locked([&]() -> Result<void> {
    gate().fire_timers(gate().now());
    const std::optional<TenantIndex> node = schedule().tenants().find(path);
    there = node.has_value();
    if (node) see(*node, true, seen);
    return {};
  }));
  if (!there) return std::optional<Explanation>();
  tell(seen, found);
  emit_counts(seen, found);
  FQ_TRY(find_running({&found, 1}));
  FQ_TRY(scan_rivals(found));
  return std::optional(std::move(found));
}

Result<std::vector<Explanation>> Explainer::next(const std::string& path, size_t n) {
  std::vector<NextSnapshot> seen(std::min(n, kNextMax));
  size_t count = 0;
  FQ_TRY(locked([&]() -> Result<void> {
    count = 0;
    gate().fire_timers(gate().now());
    const std::optional<TenantIndex> from = schedule().tenants().find(path);
    if (!from) return {};
    Starts starts(schedule().region(), gate().now().boot_ms);
    in_order(*from, seen.size(), starts, [&](SlotIndex slot, bool starts_now, ServedBy by) {
      const Entry& entry = schedule().messages().entry(slot);
      NextSnapshot& one = seen[count++];
      one.id = MessageId{entry.id.get()};
      one.limited = !starts_now;
      one.by = by;
      one.tenant.filled(schedule().tenants().path_copy(TenantIndex{entry.tenant.get()}, one.tenant.bytes));
      return false;
    });
    return {};
  }));
  std::vector<Explanation> next(count);
  for (size_t i = 0; i < count; ++i) {
    next[i].id = seen[i].id;
    next[i].tenant = seen[i].tenant.text();
    next[i].place = i + 1;
    next[i].limited = seen[i].limited;
    next[i].by = seen[i].by;
  }
  return next;
}

Result<void> Explainer::add_blocked(const std::string& path, ExplainReply& reply) {
  std::vector<NodeSnapshot> seen(kBlockedMax);
  uint64_t blocked = 0;
  FQ_TRY(in_parts([&] { return schedule().tenants().nodes_end(); },
                  [&](uint32_t from, uint32_t to) {
                    if (from == 0) blocked = 0;
                    const std::optional<TenantIndex> top = schedule().tenants().find(path);
                    for (uint32_t i = from; top && i < to; ++i)
                      see_if_blocked(TenantIndex{i}, *top, seen, blocked);
                  }));
  full_.clear();
  for (size_t i = 0; i < std::min<uint64_t>(blocked, seen.size()); ++i) {
    Explanation& one = reply.blocked.emplace_back();
    tell(seen[i], one);
    emit_counts(seen[i], one);
  }
  reply.more_blocked = blocked - reply.blocked.size();
  return find_running(reply.blocked);
}

void Explainer::see(TenantIndex node, bool with_reasons, NodeSnapshot& seen) {
  const Region& region = schedule().region();
  seen.tenant.filled(schedule().tenants().path_copy(node, seen.tenant.bytes));
  const CountsNow counts = counts_of(region, static_cast<uint32_t>(node));
  seen.counts = {counts.ready, counts.delayed, counts.leased, counts.held, counts.dead};
  seen.reason_count = 0;
  if (!with_reasons) return;
  Blockers(region).each(static_cast<uint32_t>(node), [&](const Blocker& blocker) {
    if (seen.reason_count == seen.reasons.size()) return;
    ReasonSnapshot& reason = seen.reasons[seen.reason_count++];
    reason.blocker = blocker;
    reason.until_wall_ms.reset();
    if (blocker.until_ms != kNever) reason.until_wall_ms = store().wall_of(blocker.until_ms);
    reason.name.filled(blocker.pool == kNoIndex
                           ? schedule().tenants().path_copy(blocker.node, reason.name.bytes)
                           : text_copy(region, region.pool(blocker.pool).name, reason.name.bytes));
  });
}

void Explainer::tell(const NodeSnapshot& seen, Explanation& found) {
  found.tenant = seen.tenant.text();
  for (const ReasonSnapshot& each : std::span(seen.reasons).first(seen.reason_count)) {
    const Blocker& blocker = each.blocker;
    Reason& reason = found.reasons.emplace_back();
    reason.kind = kind_of(blocker.kind);
    reason.node = each.name.text();
    reason.running = blocker.running;
    if (blocker.limit != 0 && blocker.limit < kNoCount) reason.limit = blocker.limit;
    reason.interval_ns = blocker.interval_ns;
    reason.until_wall_ms = each.until_wall_ms;
    if (is_full(reason)) full_.push_back({reason.node, blocker.pool != kNoIndex, {}});
  }
}

void Explainer::emit_counts(const NodeSnapshot& seen, Explanation& found) {
  const auto& [ready, delayed, leased, held, dead] = seen.counts;
  found.ready = ready;
  found.delayed = delayed;
  found.leased = leased;
  found.held = held;
  found.dead = dead;
}

void Explainer::emit_state(const Snapshot& snapshot, std::span<const uint64_t> waits, Explanation& found) {
  Reason reason;
  if (snapshot.at_wall_ms != 0) reason.until_wall_ms = snapshot.at_wall_ms;
  switch (snapshot.state) {
    case State::delayed:
      reason.kind = Reason::Kind::delayed;
      break;
    case State::leased:
      reason.kind = Reason::Kind::leased;
      reason.pid = reaper_.keeper_of(snapshot);
      if (reason.pid) reason.host = host_name();
      break;
    case State::held:
      reason.kind = Reason::Kind::held;
      reason.until_wall_ms.reset();
      for (const uint64_t id : waits) reason.ids.push_back(MessageId{id});
      break;
    case State::dead:
      reason.kind = snapshot.expired ? Reason::Kind::expired : Reason::Kind::dead;
      break;
    default:
      return;
  }
  found.reasons.push_back(std::move(reason));
}

/// First comes all that starts now, as far as that uses up no limit; then, in turns, what a limit keeps by
/// then, as if there was none. The turns of these are asked for once more, and those that have had one are
/// passed over. Returns how many start now that had none then; none: that is not known, since there are more
/// than `most`, or `visit` has said that it is enough.
template <class Visit>
std::optional<uint64_t> Explainer::in_order(TenantIndex from, size_t most, Starts& starts, Visit&& visit) {
  std::unordered_set<uint32_t> started;
  size_t count = 0;
  Preview now(schedule(), from, &starts);
  while (count < most) {
    const std::optional<SlotIndex> slot = now.next();
    if (!slot) break;
    ++count;
    started.insert(static_cast<uint32_t>(*slot));
    if (visit(*slot, true, served_by(now.by()))) return std::nullopt;
  }
  if (count == most) return std::nullopt;
  Preview later(schedule(), from);
  while (count < most) {
    const std::optional<SlotIndex> slot = later.next();
    if (!slot) break;
    if (started.erase(static_cast<uint32_t>(*slot)) != 0) continue;
    ++count;
    if (visit(*slot, false, served_by(later.by()))) return std::nullopt;
  }
  return started.size();
}

void Explainer::find_place(SlotIndex slot, Explanation& found) {
  const uint32_t leaf = schedule().messages().entry(slot).tenant;
  Starts starts(schedule().region(), gate().now().boot_ms);
  starts_left_ = starts.left(leaf);
  shared_left_ = starts.left_shared(leaf);
  uint64_t ahead = 0, place = 0;
  overtaking_ =
      in_order(kRootTenant, kExactPlaces, starts, [&](SlotIndex served, bool starts_now, ServedBy by) {
        ++place;
        if (served != slot) {
          if (schedule().messages().entry(served).tenant == leaf) ++ahead;
          return false;
        }
        found.limited = !starts_now;
        found.place = place;
        found.ahead = ahead;
        found.by = by;
        return true;
      });
  if (!found.place) found.limited = starts.left(leaf) == 0;
}

/// Counted in any case, and copied while there is room.
void Explainer::see_if_blocked(TenantIndex leaf, TenantIndex top, std::span<NodeSnapshot> room,
                               uint64_t& blocked) {
  const Tenant& tenant = schedule().tenants().at(leaf);
  if (!is_used(tenant) || is_inner(tenant) || tenant.lane.count == 0) return;
  if (!schedule().tenants().is_below(leaf, top) || !schedule().tenants().is_blocked(leaf)) return;
  if (blocked < room.size()) see(leaf, true, room[blocked]);
  ++blocked;
}

}  // namespace fq
