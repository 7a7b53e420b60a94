// local_explain - why a message is served when it is, or why it waits.
//
// What stands in its way is told by the walk that keeps it from being served (core/schedule/blockers.h), its
// place by the preview that peek shows. Only where that is far its place is worked out: by looking at all
// messages and tenants, a part of them under each hold of the lock.
#include "core/spool/local_queue.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/schedule/blockers.h"
#include "core/schedule/message_order.h"
#include "core/schedule/rivals.h"
#include "core/schedule/text_pool.h"
// fq, this room.
#include "core/spool/local_looked.h"

namespace fq {

namespace {

constexpr uint32_t kPerLook = 4096;   // slots or nodes under one hold of the lock
constexpr size_t kExactPlaces = 512;  // as far as the preview is asked
constexpr size_t kIdsMax = 5;         // of those that run
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

class LocalQueue::Explainer {
 public:
  explicit Explainer(LocalQueue& queue) : queue_(queue) {}

  Result<std::optional<Explanation>> of_message(MessageId id) {
    Explanation found;
    bool there = false;
    FQ_TRY(queue_.locked([&]() -> Result<void> {
      found = Explanation();
      found.id = id;
      queue_.gate().fire_timers(queue_.gate().now());
      const std::optional<SlotIndex> slot = schedule().find(id);
      there = slot.has_value() || explain_end(id, found);
      if (slot) explain_slot(*slot, found);
      return {};
    }));
    if (!there) return std::optional<Explanation>();
    if (found.state == State::ready || wants_ids(found)) FQ_TRY(look_at_slots(found));
    FQ_TRY(look_at_rivals(found));
    return std::optional(std::move(found));
  }

  Result<std::optional<Explanation>> of_tenant(const std::string& path) {
    Explanation found;
    found.tenant = path;
    bool there = false;
    FQ_TRY(queue_.locked([&]() -> Result<void> {
      queue_.gate().fire_timers(queue_.gate().now());
      const std::optional<TenantIndex> node = schedule().find_tenant(path);
      there = node.has_value();
      if (!node) return {};
      node_ = *node;
      found.reasons = reasons_of(*node);
      add_counts(*node, found);
      return {};
    }));
    if (!there) return std::optional<Explanation>();
    if (wants_ids(found)) FQ_TRY(look_at_slots(found));
    FQ_TRY(look_at_rivals(found));
    return std::optional(std::move(found));
  }

  Result<std::vector<Explanation>> next(const std::string& path, size_t n) {
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

  /// Tenants below this one with something ready that cannot be served.
  Result<void> add_blocked(const std::string& path, ExplainReply& reply) {
    return in_parts([&] { return nodes_end(); },
                    [&](uint32_t from, uint32_t to) {
                      const std::optional<TenantIndex> top = schedule().find_tenant(path);
                      for (uint32_t i = from; top && i < to; ++i) add_if_blocked(TenantIndex{i}, *top, reply);
                    });
  }

 private:
  const Schedule& schedule() { return queue_.schedule(); }
  uint32_t nodes_end() {
    const ScheduleRoot& root = schedule().root();
    return std::min<uint32_t>(root.tenant_supply.high_water, root.tenants.capacity);
  }
  uint32_t slots_end() {
    const ScheduleRoot& root = schedule().root();
    return std::min<uint32_t>(root.entry_supply.high_water, root.entries.capacity);
  }

  /// Calls `look(from, to)` for all indices before `end()`, each part under a hold of the lock of its own.
  template <class End, class Look>
  Result<void> in_parts(End&& end, Look&& look) {
    uint32_t from = 0;
    for (bool more = true; more;) {
      FQ_TRY(queue_.locked([&]() -> Result<void> {
        const uint32_t to = static_cast<uint32_t>(std::min<uint64_t>(end(), uint64_t{from} + kPerLook));
        if (from < to) look(from, to);
        more = to < end();
        if (more) from = to;
        return {};
      }));
    }
    return {};
  }

  std::vector<Reason> reasons_of(TenantIndex node) {
    std::vector<Reason> reasons;
    limited_.clear();
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
      if (blocker.kind == Blocker::Kind::concurrency) limited_.push_back({blocker.node, {}});
    }
    return reasons;
  }

  void add_counts(TenantIndex node, Explanation& found) {
    const StateCounts& counts = counts_of(schedule().region(), static_cast<uint32_t>(node));
    found.ready = counts.ready;
    found.delayed = counts.delayed;
    found.leased = counts.leased;
    found.held = counts.held;
    found.dead = counts.dead;
  }

  bool explain_end(MessageId id, Explanation& found) {
    const auto outcome = schedule().outcome(id);
    if (!outcome) return false;
    found.state = outcome->verdict == RecordType::acked ? State::acked : State::cancelled;
    Reason& reason = found.reasons.emplace_back();
    reason.kind = Reason::Kind::ended;
    reason.until_wall_ms = outcome->at_wall_ms;
    return true;
  }

  void explain_slot(SlotIndex slot, Explanation& found) {
    const Entry& entry = schedule().entry(slot);
    const Looked looked = queue_.look_at(slot);
    slot_ = slot;
    node_ = TenantIndex{entry.tenant.get()};
    found.tenant = schedule().path_of(*node_);
    found.state = looked.state;
    add_state_reason(slot, looked, found);
    const bool will_start = found.state == State::ready || found.state == State::delayed;
    if (will_start) {
      for (Reason& reason : reasons_of(*node_)) found.reasons.push_back(std::move(reason));
    }
    const SharedTerms& terms = schedule().root().terms;
    counts_turns_ = terms.fair_by == FairBy::turns && terms.scope == Scope::tenant;
    if (found.state == State::ready && found.reasons.empty()) find_place(slot, found);
  }

  void add_state_reason(SlotIndex slot, const Looked& looked, Explanation& found) {
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
        reason.kind = Reason::Kind::dead;
        break;
      default:
        return;
    }
    found.reasons.push_back(std::move(reason));
  }

  void find_place(SlotIndex slot, Explanation& found) {
    Preview preview(schedule(), kRootTenant);
    uint64_t ahead = 0;
    for (size_t place = 1; place <= kExactPlaces; ++place) {
      const std::optional<SlotIndex> served = preview.next();
      if (!served) return;
      if (*served == slot) {
        found.place = place;
        found.by = served_by(preview.by());
        return;
      }
      if (schedule().entry(*served).tenant == schedule().entry(slot).tenant) found.ahead = ++ahead;
    }
    found.ahead.reset();
  }

  static bool wants_ids(const Explanation& found) {
    return std::any_of(found.reasons.begin(), found.reasons.end(),
                       [](const Reason& reason) { return reason.kind == Reason::Kind::concurrency; });
  }

  /// Counts those of its tenant that go before it, and finds some that hold its slots.
  Result<void> look_at_slots(Explanation& found) {
    if (found.place) {
      found.ahead = found.ahead.value_or(0);
      return {};
    }
    uint64_t ahead = 0;
    FQ_TRY(in_parts([&] { return slots_end(); },
                    [&](uint32_t from, uint32_t to) { look_at_part(found, from, to, ahead); }));
    if (found.id && found.state == State::ready) found.ahead = ahead;
    size_t next = 0;  // in the same order
    for (Reason& reason : found.reasons) {
      if (reason.kind == Reason::Kind::concurrency) reason.ids = limited_.at(next++).running;
    }
    return {};
  }

  void look_at_part(const Explanation& found, uint32_t from, uint32_t to, uint64_t& ahead) {
    const MessageKind order{&schedule().region()};
    const Entry* own = slot_ ? &schedule().entry(*slot_) : nullptr;
    // Gone meanwhile, as the slot may be of another.
    if (own != nullptr && (MessageId{own->id.get()} != found.id || found.state != State::ready))
      own = nullptr;
    for (uint32_t i = from; i < to; ++i) {
      const Entry& entry = schedule().entry(SlotIndex{i});
      const auto state = static_cast<SlotState>(entry.state.get());
      if (own != nullptr && state == SlotState::ready && entry.tenant == own->tenant &&
          order.less(entry, *own))
        ++ahead;
      for (Limited& limited : limited_) {
        const bool counts = state == SlotState::leased && limited.running.size() < kIdsMax;
        if (counts && schedule().is_below(TenantIndex{entry.tenant.get()}, limited.node))
          limited.running.push_back(MessageId{entry.id.get()});
      }
    }
  }

  /// From its tenant up: what each other gets between two turns, and of a message how many turns there are
  /// before its own.
  Result<void> look_at_rivals(Explanation& found) {
    if (!node_) return {};
    uint64_t turns = found.ahead.value_or(0) + 1;
    auto node = static_cast<uint32_t>(*node_);
    for (uint32_t level = 0; level <= kDepthMax && node != static_cast<uint32_t>(kRootTenant); ++level) {
      std::optional<Rivals> rivals;
      FairnessBound bound;
      FQ_TRY(in_parts([&] { return nodes_end(); },
                      [&](uint32_t from, uint32_t to) {
                        if (from == 0) rivals = rivals_of(node, turns, bound);
                        if (rivals) rivals->look(schedule().region(), from, to);
                      }));
      // Forgotten meanwhile.
      if (!rivals) return {};
      bound.turns = rivals->between();
      turns = rivals->turns();
      node = rivals->parent();
      found.bounds.push_back(std::move(bound));
    }
    const bool waits = found.id && found.state == State::ready && !found.place && found.reasons.empty();
    if (waits && counts_turns_) found.place_max = turns;
    return {};
  }

  std::optional<Rivals> rivals_of(uint32_t node, uint64_t turns, FairnessBound& bound) {
    const Tenant& tenant = schedule().tenant(TenantIndex{node});
    if (!is_used(tenant)) return std::nullopt;
    bound.node = schedule().path_of(TenantIndex{node});
    bound.own = (tenant.flags & kTenantSelf) != 0;
    return Rivals(schedule().region(), node, turns);
  }

  void add_if_blocked(TenantIndex leaf, TenantIndex top, ExplainReply& reply) {
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

  LocalQueue& queue_;
  std::optional<SlotIndex> slot_;
  std::optional<TenantIndex> node_;  // of the message, or the tenant itself
  bool counts_turns_ = false;        // each message costs one of its tenant's turns
  /// Whose concurrency is reached, and some of what runs there.
  struct Limited {
    TenantIndex node;
    std::vector<MessageId> running;
  };
  std::vector<Limited> limited_;
};

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
