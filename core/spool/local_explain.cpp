// local_explain - why a message is served when it is, or why it waits: what is found under one hold of the
// lock.
#include "core/spool/local_explainer.h"

// fq, below us.
#include "core/schedule/blockers.h"
#include "core/schedule/text_pool.h"

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

Result<std::optional<Explanation>> LocalQueue::Explainer::of_message(MessageId id) {
  Explanation found;
  bool there = false;
  FQ_TRY(queue_.locked([&]() -> Result<void> {
    found = Explanation();
    found.id = id;
    full_.clear();
    queue_.gate().fire_timers(queue_.gate().now());
    const std::optional<SlotIndex> slot = schedule().find(id);
    there = slot.has_value() || explain_end(id, found);
    if (slot) explain_slot(*slot, found);
    return {};
  }));
  if (!there) return std::optional<Explanation>();
  if (found.state == State::ready && !found.place) FQ_TRY(count_ahead(found));
  FQ_TRY(find_running({&found, 1}));
  FQ_TRY(look_at_rivals(found));
  return std::optional(std::move(found));
}

Result<std::optional<Explanation>> LocalQueue::Explainer::of_tenant(const std::string& path) {
  Explanation found;
  bool there = false;
  FQ_TRY(queue_.locked([&]() -> Result<void> {
    found = Explanation();
    found.tenant = path;
    full_.clear();
    queue_.gate().fire_timers(queue_.gate().now());
    const std::optional<TenantIndex> node = schedule().find_tenant(path);
    there = node.has_value();
    if (!node) return {};
    found.reasons = reasons_of(*node);
    add_counts(*node, found);
    return {};
  }));
  if (!there) return std::optional<Explanation>();
  FQ_TRY(find_running({&found, 1}));
  FQ_TRY(look_at_rivals(found));
  return std::optional(std::move(found));
}

Result<std::vector<Explanation>> LocalQueue::Explainer::next(const std::string& path, size_t n) {
  std::vector<Explanation> next;
  FQ_TRY(queue_.locked([&]() -> Result<void> {
    next.clear();
    queue_.gate().fire_timers(queue_.gate().now());
    const std::optional<TenantIndex> from = schedule().find_tenant(path);
    if (!from) return {};
    Preview preview(schedule(), *from);
    while (next.size() < std::min(n, kNextMax)) {
      const std::optional<SlotIndex> slot = preview.next();
      if (!slot) return {};
      const Entry& entry = schedule().entry(*slot);
      Explanation& one = next.emplace_back();
      one.id = MessageId{entry.id.get()};
      one.tenant = schedule().path_of(TenantIndex{entry.tenant.get()});
      one.place = next.size();
      one.by = served_by(preview.by());
    }
    return {};
  }));
  return next;
}

Result<void> LocalQueue::Explainer::add_blocked(const std::string& path, ExplainReply& reply) {
  FQ_TRY(in_parts([&] { return nodes_end(); },
                  [&](uint32_t from, uint32_t to) {
                    if (from == 0) reply.blocked.clear(), reply.more_blocked = 0, full_.clear();
                    const std::optional<TenantIndex> top = schedule().find_tenant(path);
                    for (uint32_t i = from; top && i < to; ++i) add_if_blocked(TenantIndex{i}, *top, reply);
                  }));
  return find_running(reply.blocked);
}

std::vector<Reason> LocalQueue::Explainer::reasons_of(TenantIndex node) {
  std::vector<Reason> reasons;
  for (const Blocker& blocker : schedule().blockers_of(node)) {
    Reason& reason = reasons.emplace_back();
    reason.kind = kind_of(blocker.kind);
    reason.node = blocker.pool == kNoIndex
                      ? schedule().path_of(blocker.node)
                      : text_of(schedule().region(), schedule().region().pool(blocker.pool).name);
    reason.running = blocker.running;
    if (blocker.limit != 0 && blocker.limit < kNoCount) reason.limit = blocker.limit;
    reason.interval_ns = blocker.interval_ns;
    if (blocker.until_ms != kNever) reason.until_wall_ms = queue_.store().wall_of(blocker.until_ms);
    if (is_full(reason)) full_.push_back({reason.node, blocker.pool != kNoIndex, {}});
  }
  return reasons;
}

void LocalQueue::Explainer::add_counts(TenantIndex node, Explanation& found) {
  const StateCounts& counts = counts_of(schedule().region(), static_cast<uint32_t>(node));
  found.ready = counts.ready;
  found.delayed = counts.delayed;
  found.leased = counts.leased;
  found.held = counts.held;
  found.dead = counts.dead;
}

bool LocalQueue::Explainer::explain_end(MessageId id, Explanation& found) {
  const auto outcome = schedule().outcome(id);
  if (!outcome) return false;
  found.state = outcome->verdict == RecordType::acked ? State::acked : State::cancelled;
  Reason& reason = found.reasons.emplace_back();
  reason.kind = Reason::Kind::ended;
  reason.until_wall_ms = outcome->at_wall_ms;
  return true;
}

void LocalQueue::Explainer::explain_slot(SlotIndex slot, Explanation& found) {
  const Entry& entry = schedule().entry(slot);
  const Looked looked = queue_.look_at(slot);
  const TenantIndex node{entry.tenant.get()};
  found.tenant = schedule().path_of(node);
  among_own_ = (schedule().tenant(node).flags & kTenantSelf) != 0;
  found.state = looked.state;
  add_state_reason(slot, looked, found);
  const bool will_start = found.state == State::ready || found.state == State::delayed;
  if (will_start) {
    for (Reason& reason : reasons_of(node)) found.reasons.push_back(std::move(reason));
  }
  const SharedTerms& terms = schedule().root().terms;
  counts_turns_ = terms.fair_by == FairBy::turns && terms.scope == Scope::tenant;
  if (found.state == State::ready && found.reasons.empty()) find_place(slot, found);
}

void LocalQueue::Explainer::add_state_reason(SlotIndex slot, const Looked& looked, Explanation& found) {
  Reason reason;
  if (looked.at_wall_ms != 0) reason.until_wall_ms = looked.at_wall_ms;
  switch (looked.state) {
    case State::delayed:
      reason.kind = Reason::Kind::delayed;
      break;
    case State::leased:
      reason.kind = Reason::Kind::leased;
      if (looked.pid != 0) reason.pid = looked.pid;
      break;
    case State::held: {
      reason.kind = Reason::Kind::held;
      reason.until_wall_ms.reset();
      uint64_t ids[kWaitsMax];
      const uint32_t count = schedule().waits_of(slot, ids);
      for (uint32_t i = 0; i < count; ++i) reason.ids.push_back(MessageId{ids[i]});
      break;
    }
    case State::dead:
      reason.kind = looked.expired ? Reason::Kind::expired : Reason::Kind::dead;
      break;
    default:
      return;
  }
  found.reasons.push_back(std::move(reason));
}

void LocalQueue::Explainer::find_place(SlotIndex slot, Explanation& found) {
  Preview preview(schedule(), kRootTenant);
  uint64_t ahead = 0;
  for (size_t place = 1; place <= kExactPlaces; ++place) {
    const std::optional<SlotIndex> served = preview.next();
    if (!served) return;
    if (*served == slot) {
      found.place = place;
      found.ahead = ahead;
      found.by = served_by(preview.by());
      return;
    }
    if (schedule().entry(*served).tenant == schedule().entry(slot).tenant) ++ahead;
  }
}

void LocalQueue::Explainer::add_if_blocked(TenantIndex leaf, TenantIndex top, ExplainReply& reply) {
  const Tenant& tenant = schedule().tenant(leaf);
  if (!is_used(tenant) || is_inner(tenant) || tenant.lane.count == 0) return;
  if (!schedule().is_below(leaf, top) || !schedule().is_blocked(leaf)) return;
  if (reply.blocked.size() == kBlockedMax) {
    ++reply.more_blocked;
    return;
  }
  Explanation& one = reply.blocked.emplace_back();
  one.tenant = schedule().path_of(leaf);
  one.reasons = reasons_of(leaf);
  add_counts(leaf, one);
}

Result<ExplainReply> LocalQueue::explain(const ExplainRequest& request) {
  FQ_TRY(settle_held());
  FQ_TRY(drop_old_dead());
  ExplainReply reply;
  Explainer explainer(*this);
  if (request.id) {
    FQ_TRY_SET(reply.subject, explainer.of_message(*request.id));
    return reply;
  }
  if (!request.tenant.empty()) {
    FQ_TRY_SET(reply.subject, explainer.of_tenant(request.tenant));
    if (!reply.subject) return reply;
  }
  FQ_TRY_SET(reply.next, explainer.next(request.tenant, request.next));
  FQ_TRY(explainer.add_blocked(request.tenant, reply));
  return reply;
}

}  // namespace fq
