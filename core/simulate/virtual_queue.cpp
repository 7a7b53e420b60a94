#include "core/simulate/virtual_queue.h"

// System.
#include <algorithm>

namespace fq {

namespace {

/// How a recorded message ended is told by its runs, and not by how many of them it may have.
constexpr uint16_t kAnyAttempts = UINT16_MAX;

void patch_values(PolicyValues& values, const PolicyPatch& patch) {
  const auto drop = [&](PolicyKey key) {
    std::erase_if(values, [key](const PolicyValue& value) { return value.key == key; });
  };
  for (const PolicyValue& value : patch.set) drop(value.key);
  for (const PolicyKey key : patch.unset) drop(key);
  values.insert(values.end(), patch.set.begin(), patch.set.end());
}

Bytes bytes_of(std::span<const uint64_t> words) {
  return {reinterpret_cast<const std::byte*>(words.data()), words.size_bytes()};
}

}  // namespace

VirtualQueue::VirtualQueue(const Policy& policy, int64_t now_ms, bool remembers)
    : now_ms_(now_ms), remembers_(remembers), of_file_(policy.queue) {
  load(policy);
  put_together();
}

/// Nothing is there yet that would have to follow.
void VirtualQueue::load(const Policy& policy) {
  std::vector<TenantRule> rules = policy.tenants;
  rules.insert(rules.begin(), {"", policy.queue});
  const uint32_t generation = ground_.schedule().policy().new_rules(RuleSummary());
  for (const PoolRule& pool : policy.pools) {
    ground_.change(Growth::need_of_pool(pool.name), [&](Schedule& schedule, Txn& txn) {
      schedule.policy().add_pool(txn, generation, pool.name, node_patch(pool.values, {}));
    });
  }
  for (uint32_t rank = 0; rank < rules.size(); ++rank) {
    const NodePatch patch = node_patch(rules[rank].values, {});
    ground_.change(Growth::need_of_rule(rules[rank].pattern, patch), [&](Schedule& schedule, Txn& txn) {
      schedule.policy().add_rule(txn, generation, rank, rules[rank].pattern, patch);
    });
  }
  RuleSummary summary;
  ground_.schedule().policy().sum_up_rules(0, ground_.schedule().policy().rules_end(), summary);
  ground_.change({.controls = 1}, [&](Schedule& schedule, Txn& txn) {
    schedule.policy().make_rules_hold(txn, generation, summary);
  });
  for (std::optional<uint32_t> next = 0; next;) {
    ground_.change([&](Schedule& schedule, Txn& txn) {
      next = schedule.policy().bring_pools_up_to_date(txn, *next, now_ms_);
    });
  }
  for (std::optional<TenantIndex> next = kRootTenant; next;) {
    ground_.change([&](Schedule& schedule, Txn& txn) {
      next = schedule.policy().bring_up_to_date(txn, *next, now_ms_);
    });
  }
}

/// The queue's own layers: what holds, and what the schedule takes of it.
void VirtualQueue::put_together() {
  settings_ = Settings();
  take_over(settings_, of_file_);
  take_over(settings_, of_run_time_);
  // With fifo there is no order that could reach across tenants.
  const Scope scope = settings_.order == Order::fifo ? Scope::tenant : settings_.scope;
  ground_.change([&](Schedule& schedule, Txn& txn) {
    schedule.policy().set_terms(txn, {scope, settings_.order == Order::priority, settings_.fair_by,
                                      settings_.linger_ms, settings_.batch_max});
  });
  ground_.make_room({});
  wait_until(now_ms_);  // for the nodes to follow
}

void VirtualQueue::set(const std::string& path, const PolicyPatch& patch) {
  const NodePatch of_node = node_patch(patch.set, patch.unset);
  if ((of_node.set.given | of_node.unset) != 0) {
    ground_.change(Growth::need_of_setting(path, of_node),
                   [&](Schedule& schedule, Txn& txn) { schedule.policy().set(txn, path, of_node, now_ms_); });
  }
  if (!path.empty()) return;
  patch_values(of_run_time_, patch);
  put_together();
}

void VirtualQueue::wait_until(int64_t at_ms) {
  now_ms_ = at_ms;
  for (uint32_t fired = 1; fired > 0 && next_timer_ms() <= now_ms_;) {
    ground_.change([&](Schedule& schedule, Txn& txn) { fired = schedule.timers().fire(txn, now_ms_); });
  }
}

bool VirtualQueue::is_over_limit(std::string_view tenant, uint64_t bytes) const {
  const NodePolicy policy = ground_.schedule().policy();
  if (!policy.is_capped()) return false;
  for (std::string_view path = tenant;;) {
    const NodePolicy::Holding holding = policy.holding_of(path);
    if (holding.messages >= holding.messages_max) return true;
    if (holding.bytes_max != UINT64_MAX && holding.bytes + bytes > holding.bytes_max) return true;
    if (path.empty()) return false;
    const size_t slash = path.rfind('/');
    path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
}

bool VirtualQueue::push(uint64_t id, const std::string& tenant, const Incoming& arrival) {
  if (is_over_limit(tenant, arrival.bytes)) return false;
  NewEntry entry;
  entry.id = MessageId{id};
  entry.tenant = tenant;
  // What the order does not look at is nothing to it, as a push would not even be taken.
  if (settings_.order == Order::key) entry.key = arrival.key;
  if (settings_.order == Order::priority) entry.priority = arrival.priority;
  entry.payload_bytes = arrival.bytes;
  entry.attempts_max = kAnyAttempts;
  entry.ttl_ms = arrival.ttl_ms;
  entry.after = bytes_of(arrival.after);
  entry.extra = arrival.ttl_ms != kNever || !arrival.after.empty();
  entry.due_ms = std::max(arrival.due_ms, now_ms_);
  entry.now_ms = now_ms_;
  Need need = Growth::need_of(entry.tenant, entry.key);
  need.extras = entry.extra ? 1 : 0;
  need.waits = static_cast<uint32_t>(arrival.after.size());
  ground_.change(need, [&](Schedule& schedule, Txn& txn) { schedule.messages().add(txn, entry); });
  if (!arrival.after.empty()) resolve();  // some may have ended
  return true;
}

bool VirtualQueue::is_in(uint64_t id, SlotState state) const {
  const auto slot = find(id);
  return slot && state_of(ground_.schedule().messages().entry(*slot)) == state;
}

bool VirtualQueue::has_waiting() const {
  const CountsNow counts(ground_.schedule().root().counts);
  return (counts.ready | counts.delayed) != 0;
}

void VirtualQueue::cancel(uint64_t id) {
  const auto slot = find(id);
  if (!slot || is_in(id, SlotState::leased)) return;
  ground_.change([&](Schedule& schedule, Txn& txn) {
    schedule.messages().finish(txn, *slot, RecordType::cancelled, {0, now_ms_, now_ms_});
  });
  resolve();
}

void VirtualQueue::make_due(uint64_t id) {
  if (!is_in(id, SlotState::delayed)) return;
  ground_.change([&](Schedule& schedule, Txn& txn) { schedule.messages().kick(txn, *find(id), {now_ms_}); });
}

std::optional<VirtualQueue::Started> VirtualQueue::start_next() {
  std::optional<SlotIndex> slot;
  ground_.change([&](Schedule& schedule, Txn& txn) {
    slot = schedule.turns().take(txn, kRootTenant,
                                 {.serial = ++last_serial_, .attempts_max = kAnyAttempts, .now_ms = now_ms_});
  });
  if (!slot) return std::nullopt;
  const Messages messages = ground_.schedule().messages();
  const Entry& entry = messages.entry(*slot);
  messages.expect(MessageId{entry.id.get()});
  return Started{entry.id, entry.deliveries - 1U, *slot};
}

std::optional<VirtualQueue::Started> VirtualQueue::start(uint64_t id) {
  const auto slot = find(id);
  if (!slot || is_in(id, SlotState::leased) || is_in(id, SlotState::dead)) return std::nullopt;
  ground_.change([&](Schedule& schedule, Txn& txn) {
    schedule.messages().lease(txn, *slot,
                              {.serial = ++last_serial_, .attempts_max = kAnyAttempts, .now_ms = now_ms_});
  });
  return Started{id, ground_.schedule().messages().entry(*slot).deliveries - 1U, *slot};
}

void VirtualQueue::end(const Started& started, const Run& run) {
  const int64_t due_ms = now_ms_ + run.back_ms;
  ground_.change([&](Schedule& schedule, Txn& txn) {
    const Messages messages = schedule.messages();
    FQ_ASSERT(messages.entry(started.slot).id == started.id);
    FQ_ASSERT(state_of(messages.entry(started.slot)) == SlotState::leased);
    switch (run.ending) {
      case RunEnding::acked:
        messages.finish(txn, started.slot, RecordType::acked, {0, now_ms_, now_ms_});
        break;
      case RunEnding::cancelled:
        messages.finish(txn, started.slot, RecordType::cancelled, {0, now_ms_, now_ms_});
        break;
      case RunEnding::buried:
        return messages.bury(txn, started.slot, now_ms_);
      case RunEnding::retried:
      case RunEnding::released:
      case RunEnding::died:
        messages.requeue(txn, started.slot, run.ending == RunEnding::retried, run.ending == RunEnding::died,
                         due_ms, now_ms_);
        return;
    }
    // Nobody asks how it has ended: its slot is free, and still in the processor's cache, for the next one.
    if (!remembers_) schedule.past().forget_outcomes(txn, 1);
  });
  resolve();
}

/// What became of those that waited for a message that has ended now.
void VirtualQueue::resolve() {
  while (const auto dependency = ground_.schedule().dependents().first_ended()) {
    for (bool more = true; more;) {
      ground_.change([&](Schedule& schedule, Txn& txn) {
        const auto decision = schedule.dependents().decide(txn, *dependency);
        more = decision.has_value();
        if (!more) return;
        if (decision->bury) return schedule.messages().bury(txn, decision->slot, now_ms_);
        if (decision->again) return schedule.messages().kick(txn, decision->slot, {now_ms_, true});
        freed_.push_back(schedule.messages().entry(decision->slot).id);
        schedule.dependents().let_go(txn, decision->slot, now_ms_);
      });
    }
  }
}

uint32_t VirtualQueue::weight_of(std::string_view path) const {
  const auto node = ground_.schedule().tenants().find(path);
  return node ? ground_.schedule().tenants().at(*node).weight_milli.get() : kWeightDefault;
}

}  // namespace fq
