#include "core/local/look/turn_pages.h"

// System.
#include <cstring>
// fq, below us.
#include "core/base/step_count.h"
#include "core/schedule/look/mend_turns.h"
#include "core/schedule/look/preview.h"

namespace fq {

namespace {

constexpr size_t kTurnsPerLook = 256;         // previewed under one hold of the lock
constexpr uint64_t kPieceBytes = 256 * 1024;  // chosen: as long as a look at 4,096 slots

}  // namespace

class TurnPages::TurnCopy {
 public:
  TurnCopy(std::unique_ptr<SegmentMemory> memory, std::string tenant)
      : store_(std::move(memory)), tenant_(std::move(tenant)) {
    store_.set_private(true);
  }

  Result<void> take(Link& link);
  /// First those that have turns; behind them those of other tenants, by tenant.
  std::optional<MessageId> next();

 private:
  void begin();
  void order_rest();
  std::optional<SlotIndex> next_turn();
  template <class Look>
  auto unless_torn(Look&& look) const -> decltype(look());

  Store store_;
  std::string tenant_;
  std::optional<TenantIndex> from_;
  std::vector<SlotIndex> ready_;  // by tenant; in the end what is left of them
  std::vector<bool> told_;        // by slot
  std::optional<Preview> preview_;
  size_t next_ = 0;
};

/// Elements of different moments may contradict each other: what cannot be told then is nothing.
template <class Look>
auto TurnPages::TurnCopy::unless_torn(Look&& look) const -> decltype(look()) try {
  return look();
} catch (const RegionDamaged&) {
  return {};
}

Result<void> TurnPages::TurnCopy::take(Link& link) {
  uint64_t bytes = 0;
  FQ_TRY(link.locked([&]() -> Result<void> { return bytes = link.header().segment_bytes, Result<void>(); }));
  link.store().memory().populate(bytes, false);
  store_.memory().populate(bytes, true);
  uint64_t segment = link.segments_seen();
  uint64_t from = kFirstChunkOffset;
  for (bool more = true; more;) {
    FQ_TRY(link.locked([&]() -> Result<void> {
      if (std::exchange(segment, link.segments_seen()) != link.segments_seen()) from = kFirstChunkOffset;
      const uint64_t end = link.header().segment_bytes;
      const uint64_t to = std::min(end, from + kPieceBytes);
      std::memcpy(store_.memory().base() + from, link.store().memory().base() + from, to - from);
      FQ_STEPS((to - from) / sizeof(Entry));
      more = to < end;
      // Last, since it says how much of the others there is.
      if (!more) std::memcpy(store_.memory().base(), link.store().memory().base(), sizeof(SegmentHeader));
      from = to;
      return {};
    }));
  }
  begin();
  return {};
}

void TurnPages::TurnCopy::begin() {
  const Schedule& schedule = store_.schedule();
  told_.resize(schedule.views().slots_end());
  ready_ = unless_torn([&] {
    Txn txn = store_.begin();
    return mend_turns(txn, schedule);
  });
  from_ = unless_torn([&] { return schedule.tenants().find(tenant_); });
  const bool has_turns = from_ && unless_torn([&] { return !schedule.tenants().is_blocked(*from_); });
  if (has_turns) unless_torn([&] { return preview_.emplace(schedule, *from_), true; });
  if (!preview_) order_rest();
}

std::optional<SlotIndex> TurnPages::TurnCopy::next_turn() {
  if (!preview_) return std::nullopt;
  const std::optional<SlotIndex> slot = unless_torn([&] { return preview_->next(); });
  if (slot) return slot;
  preview_.reset();
  order_rest();
  return std::nullopt;
}

/// By the paths of their tenants, each in its own order.
void TurnPages::TurnCopy::order_rest() {
  struct Rest {
    std::string path;
    std::vector<SlotIndex> slots;
  };
  const Schedule& schedule = store_.schedule();
  std::vector<Rest> rests;
  uint32_t last = kNoIndex;
  for (const SlotIndex slot : ready_) {
    if (told_[static_cast<uint32_t>(slot)]) continue;
    const uint32_t leaf = schedule.messages().entry(slot).tenant;
    if (std::exchange(last, leaf) != leaf)
      rests.push_back({unless_torn([&] { return schedule.tenants().path_of(TenantIndex{leaf}); }), {}});
    rests.back().slots.push_back(slot);
  }
  std::stable_sort(rests.begin(), rests.end(), [](const Rest& a, const Rest& b) { return a.path < b.path; });
  ready_.clear();
  for (const Rest& rest : rests) ready_.insert(ready_.end(), rest.slots.begin(), rest.slots.end());
}

std::optional<MessageId> TurnPages::TurnCopy::next() {
  std::optional<SlotIndex> slot = next_turn();
  if (slot) told_[static_cast<uint32_t>(*slot)] = true;
  if (!slot && next_ < ready_.size()) slot = ready_[next_++];
  if (!slot) return std::nullopt;
  return MessageId{store_.schedule().messages().entry(*slot).id.get()};
}

TurnPages::TurnPages(Link& link) : Linked(link) {}
TurnPages::~TurnPages() = default;

Result<std::vector<Snapshot>> TurnPages::turns(const Filter& filter, size_t given, size_t n) {
  const bool goes_on = turns_ && turns_->tenant == filter.tenant && turns_->given == given && given > 0;
  if (!goes_on) {
    turns_ = Turns{};
    turns_->tenant = filter.tenant;
    turns_->given = turns_->to_pass = given;
  }
  std::vector<Snapshot> snapshot;
  snapshot.reserve(n);
  bool more = true;
  if (!turns_->copy && n <= kTurnsPerLook && given <= kTurnsPerLook - n) {
    FQ_TRY_SET(more, scan_next(n, snapshot));
  }
  if (more && snapshot.size() < n) FQ_TRY(scan_copy(filter, n, snapshot));
  turns_->given += snapshot.size();
  if (snapshot.size() < n) turns_.reset();
  return snapshot;
}

/// Those whose turns are next. Returns whether there may be others, which have none now.
Result<bool> TurnPages::scan_next(size_t n, std::vector<Snapshot>& snapshot) {
  std::vector<uint64_t> passed;
  passed.reserve(turns_->to_pass);
  bool more = false;
  FQ_TRY(locked([&]() -> Result<void> {
    snapshot.clear();
    passed.clear();
    more = false;
    const Schedule& schedule = link_.schedule();
    const std::optional<TenantIndex> from = schedule.tenants().find(turns_->tenant);
    if (!from) return {};
    gate().fire_timers(gate().now(), 1);
    std::optional<Preview> preview;
    if (!schedule.tenants().is_blocked(*from)) preview.emplace(schedule, *from);
    while (preview && snapshot.size() < n) {
      const std::optional<SlotIndex> slot = preview->next();
      if (!slot) break;
      const uint64_t id = schedule.messages().entry(*slot).id;
      if (turns_->shown.contains(id)) continue;
      passed.size() < turns_->to_pass ? passed.push_back(id)
                                      : snapshot.push_back(take_snapshot(link_, *slot));
    }
    more = schedule.root().parked_count != 0 || schedule.root().closed_sets != 0;
    return {};
  }));
  turns_->to_pass -= passed.size();
  turns_->shown.insert(passed.begin(), passed.end());
  for (const Snapshot& one : snapshot) turns_->shown.insert(one.id);
  return more;
}

Result<void> TurnPages::scan_copy(const Filter& filter, size_t n, std::vector<Snapshot>& snapshot) {
  if (!turns_->copy) {
    FQ_TRY_SET(std::unique_ptr<SegmentMemory> memory, private_segment());
    turns_->copy = std::make_unique<TurnCopy>(std::move(memory), filter.tenant);
    FQ_TRY(turns_->copy->take(link_));
  }
  while (snapshot.size() < n) {
    const std::optional<MessageId> id = turns_->copy->next();
    if (!id) return {};
    if (turns_->shown.contains(number(*id))) continue;
    if (turns_->to_pass > 0) {
      --turns_->to_pass;
      continue;
    }
    std::optional<Snapshot> one;
    FQ_TRY(locked([&]() -> Result<void> {
      one.reset();
      const std::optional<TenantIndex> below = schedule().tenants().find(filter.tenant);
      const std::optional<SlotIndex> slot = schedule().messages().find(*id);
      if (below && slot && matches(link_, filter, below, schedule().messages().entry(*slot)))
        one = take_snapshot(link_, *slot);
      return {};
    }));
    if (one) snapshot.push_back(std::move(*one));
  }
  return {};
}

}  // namespace fq
