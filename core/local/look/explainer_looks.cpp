// explainer_looks - the looks at all messages or tenants that an explanation needs, taken in parts.
#include "core/local/look/explainer.h"

// System.
#include <algorithm>
#include <array>
#include <set>

namespace fq {

namespace {

constexpr size_t kIdsMax = 5;           // of those that run
constexpr size_t kFollowedMax = 1'000;  // arbitrary: messages on the ways back to one that waits

}  // namespace

/// Steps may wait for each other, and nothing ends that. The shortest way back to the message, one hold of
/// the lock for each message on the way.
Result<void> Explainer::find_cycle(Explanation& found) {
  struct Followed {
    MessageId id;
    size_t from;  // among those that were followed; kFollowedMax: from the message itself
  };
  const auto held = std::find_if(found.reasons.begin(), found.reasons.end(),
                                 [](const Reason& each) { return each.kind == Reason::Kind::held; });
  if (held == found.reasons.end()) return {};
  std::vector<Followed> followed;
  std::set<uint64_t> met;
  const auto follow = [&](MessageId id, size_t from) {
    if (met.insert(number(id)).second) followed.push_back({id, from});
  };
  for (const MessageId id : held->ids) follow(id, kFollowedMax);
  std::array<uint64_t, kWaitsMax> waits;
  for (size_t i = 0; i < followed.size() && i < kFollowedMax; ++i) {
    uint32_t count = 0;
    FQ_TRY(locked([&]() -> Result<void> {
      count = 0;
      const std::optional<SlotIndex> slot = schedule().messages().find(followed[i].id);
      const bool waiting = slot && state_of(schedule().messages().entry(*slot)) == SlotState::held;
      if (waiting) count = schedule().dependents().waits_of(*slot, waits);
      return {};
    }));
    for (const uint64_t id : std::span(waits).first(count)) {
      if (MessageId{id} != *found.id) {
        follow(MessageId{id}, i);
        continue;
      }
      std::vector<MessageId>& cycle = held->cycle;
      for (size_t at = i; at != kFollowedMax; at = followed[at].from) cycle.push_back(followed[at].id);
      cycle.push_back(*found.id);
      std::reverse(cycle.begin(), cycle.end());
      return {};
    }
  }
  return {};
}

Result<void> Explainer::count_ahead(Explanation& found) {
  return in_parts([&] { return schedule().views().slots_end(); },
                  [&](uint32_t from, uint32_t to) {
                    if (from == 0) found.ahead = 0;
                    const std::optional<SlotIndex> slot = schedule().messages().find(*found.id);
                    if (!slot) return;  // gone meanwhile
                    const Entry& own = schedule().messages().entry(*slot);
                    for (uint32_t i = from; i < to; ++i) {
                      const Entry& entry = schedule().messages().entry(SlotIndex{i});
                      const bool waits = static_cast<SlotState>(entry.state.get()) == SlotState::ready;
                      if (waits && entry.tenant == own.tenant && schedule().views().is_before(entry, own))
                        ++*found.ahead;
                    }
                  });
}

Result<void> Explainer::find_running(std::span<Explanation> explanations) {
  if (full_.empty()) return {};
  for (Full& full : full_) full.running.reserve(kIdsMax);
  FQ_TRY(in_parts([&] { return schedule().views().slots_end(); },
                  [&](uint32_t from, uint32_t to) {
                    for (Full& full : full_) {
                      if (from == 0) full.running.clear();
                    }
                    look_for_running(from, to);
                  }));
  auto full = full_.begin();
  for (Explanation& each : explanations) {
    for (Reason& reason : each.reasons) {
      if (is_full(reason)) reason.ids = std::move((full++)->running);
    }
  }
  return {};
}

void Explainer::look_for_running(uint32_t from, uint32_t to) {
  const Pools pools(schedule().region());
  size_t wanting = 0;
  for (Full& full : full_) {
    full.index = kNoIndex;
    if (full.running.size() == kIdsMax) continue;
    const std::optional<TenantIndex> node =
        full.is_pool ? std::nullopt : schedule().tenants().find(full.name);
    if (full.is_pool) full.index = pools.find(full.name);
    if (node) full.index = static_cast<uint32_t>(*node);
    if (full.index != kNoIndex) ++wanting;
  }
  for (uint32_t i = from; i < to && wanting > 0; ++i) {
    const Entry& entry = schedule().messages().entry(SlotIndex{i});
    if (static_cast<SlotState>(entry.state.get()) != SlotState::leased) continue;
    for (Full& full : full_) {
      if (full.index == kNoIndex) continue;
      const bool counts = full.is_pool ? pools.counts(entry.tenant, full.index)
                                       : schedule().tenants().is_below(TenantIndex{entry.tenant.get()},
                                                                       TenantIndex{full.index});
      if (!counts) continue;
      full.running.push_back(MessageId{entry.id.get()});
      if (full.running.size() < kIdsMax) continue;
      full.index = kNoIndex;
      --wanting;
    }
  }
}

Result<void> Explainer::scan_rivals(Explanation& found) {
  uint64_t turns = found.ahead.value_or(0) + 1;
  std::string path = found.tenant;
  bool own = among_own_;
  bool all_start = true;  // none of them uses up a limit
  for (uint32_t level = 0; level <= kDepthMax && !path.empty(); ++level) {
    std::optional<Rivals> rivals;
    NameSnapshot parent;
    FQ_TRY(in_parts([&] { return schedule().tenants().nodes_end(); },
                    [&](uint32_t from, uint32_t to) {
                      if (from == 0) {
                        rivals = rivals_of(path, own, turns);
                        if (rivals) {
                          const Starts starts(schedule().region(), gate().now().boot_ms);
                          all_start = all_start && turns <= starts.left_at(rivals->node());
                          parent.filled(
                              schedule().tenants().path_copy(TenantIndex{rivals->parent()}, parent.bytes));
                        }
                      }
                      if (rivals) rivals->look(schedule().region(), from, to);
                    }));
    // Forgotten meanwhile.
    if (!rivals) return {};
    found.bounds.push_back({path, own, rivals->between()});
    turns = rivals->turns();
    path = parent.text();
    own = false;
  }
  const bool waits = found.id && found.state == State::ready && !found.place && found.reasons.empty();
  if (!waits || !counts_turns_) return {};
  if (all_start && turns <= shared_left_) {
    found.place_max = turns;
  } else if (overtaking_) {
    found.place_max = turns + *overtaking_;
  }
  return {};
}

std::optional<Rivals> Explainer::rivals_of(std::string_view path, bool own, uint64_t turns) {
  const std::optional<TenantIndex> node = schedule().tenants().find(path);
  if (!node) return std::nullopt;
  const uint32_t i = own ? schedule().tenants().at(*node).self.get() : static_cast<uint32_t>(*node);
  if (i == kNoIndex || !is_used(schedule().tenants().at(TenantIndex{i}))) return std::nullopt;
  return Rivals(schedule().region(), i, turns);
}

}  // namespace fq
