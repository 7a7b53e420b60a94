#include "core/local/look/tenant_survey.h"

// System.
#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>
// fq, below us.
#include "core/base/jain.h"
#include "core/schedule/memory/service.h"
// fq, this room.
#include "core/local/look/row_parts.h"

namespace fq {

namespace {

constexpr uint32_t kNodesPerLook = 256;

// Beside kBlock...: why the pool that a node is in lacks room.
constexpr uint8_t kFullConcurrency = 64;
constexpr uint8_t kFullRate = 128;
constexpr uint8_t kFull = kFullConcurrency | kFullRate;

uint8_t blocks_of(const Region& region, const Tenant& tenant) {
  const uint32_t pool = pool_of(region, tenant);
  const uint32_t full = pool == kNoIndex ? 0 : region.pool(pool).blocks.get();
  unsigned blocks = tenant.blocks;
  if ((full & kBlockConcurrency) != 0) blocks |= kFullConcurrency;
  if ((full & kBlockRate) != 0) blocks |= kFullRate;
  return static_cast<uint8_t>(blocks);
}

/// The one that lasts longest, as a rule: what somebody has to end comes first.
std::optional<Reason::Kind> reason_of(uint8_t blocks) {
  using enum Reason::Kind;
  constexpr std::pair<uint8_t, Reason::Kind> kReasons[] = {
      {kBlockPaused, paused}, {kBlockLimited, limited},  {kBlockConcurrency, concurrency},
      {kBlockRate, rate},     {kBlockGather, gathering}, {kFullConcurrency, pool_concurrency},
      {kFullRate, pool_rate},
  };
  for (const auto& [block, reason] : kReasons) {
    if ((blocks & block) != 0) return reason;
  }
  return std::nullopt;
}

double seconds(int64_t ms) { return static_cast<double>(std::max<int64_t>(0, ms)) / 1000.0; }

}  // namespace

struct TenantSurvey::Page {
  /// A node as it was.
  class TenantCopy {
   public:
    void copy(const Tenant& from) { std::memcpy(bytes_, &from, sizeof from); }
    const Tenant& get() const { return *std::launder(reinterpret_cast<const Tenant*>(bytes_)); }

   private:
    alignas(Tenant) std::byte bytes_[sizeof(Tenant)];
  };
  struct NodeSnapshot {
    TenantCopy tenant;
    int64_t oldest_ms = kNever;  // ready since
    uint32_t name_bytes = 0;
    uint8_t blocks = 0;
    bool wanted = false;  // as a row
  };
  uint32_t first = 0;  // index of looked[0]
  uint32_t count = 0;
  uint32_t tenants = 0;  // there are, about
  bool more = true;
  int64_t now_ms = 0;
  std::array<NodeSnapshot, kNodesPerLook> nodes;
  std::array<std::array<char, kTextBytesMax>, kNodesPerLook> names;
};

TenantSurvey::TenantSurvey(bool rows, std::string_view below)
    : wants_rows_(rows), below_(below), page_(std::make_unique<Page>()) {}
TenantSurvey::~TenantSurvey() = default;

void TenantSurvey::look(const Schedule& schedule, int64_t now_ms) {
  Page& page = *page_;
  const Region& region = schedule.region();
  const ScheduleRoot& root = region.root;
  const uint32_t end = std::min<uint32_t>(root.tenant_supply.high_water, root.tenants.capacity);
  page.now_ms = now_ms;
  page.tenants = root.tenants_count;
  page.count = page.first < end ? std::min(kNodesPerLook, end - page.first) : 0;
  page.more = page.first + page.count < end;
  const std::optional<TenantIndex> top = below_.empty() ? kRootTenant : schedule.tenants().find(below_);
  for (uint32_t i = 0; i < page.count; ++i) {
    const TenantIndex index{page.first + i};
    const Tenant& tenant = schedule.tenants().at(index);
    Page::NodeSnapshot& snapshot = page.nodes[i];
    snapshot.tenant.copy(tenant);
    if (!is_used(tenant)) continue;
    snapshot.blocks = blocks_of(region, tenant);
    if (is_inner(tenant)) continue;
    // Priorities may hold back another that waits longer, and those who set them mean that.
    snapshot.oldest_ms = schedule.tenants().ready_since_ms(index).value_or(kNever);
    snapshot.wanted = wants_rows_ && top && schedule.tenants().is_below(index, *top);
    if (!snapshot.wanted) continue;
    const bool self = (tenant.flags & kTenantSelf) != 0;
    const uint32_t name = self ? region.tenant(tenant.parent).name.get() : tenant.name.get();
    snapshot.name_bytes =
        name == kNoIndex ? 0 : static_cast<uint32_t>(text_copy(region, name, page.names[i]).size());
  }
}

bool TenantSurvey::digest() {
  Page& page = *page_;
  now_ms_ = page.now_ms;
  if (page.first == 0 && wants_rows_ && below_.empty()) rows_.reserve(page.tenants);
  nodes_.resize(page.first + page.count);
  for (uint32_t i = 0; i < page.count; ++i) take_in(i);
  page.first += page.count;
  if (!page.more) find_parked();
  return page.more;
}

void TenantSurvey::take_in(uint32_t i) {
  const Page& page = *page_;
  const Page::NodeSnapshot& snapshot = page.nodes[i];
  const Tenant& tenant = snapshot.tenant.get();
  if (!is_used(tenant)) return;
  Node& node = nodes_[page.first + i];
  node.parent = tenant.parent;
  node.weight_milli = tenant.weight_milli;
  node.served = service_of(tenant, page.now_ms);
  node.leaf = !is_inner(tenant);
  node.seated = is_seated(tenant);
  node.blocks = snapshot.blocks;
  if (!node.leaf) return;
  node.waits = tenant.counts.ready > 0;
  oldest_ms_ = std::min(oldest_ms_, snapshot.oldest_ms);
  if (!snapshot.wanted) return;
  indices_.push_back(page.first + i);
  StatsRow& row = rows_.emplace_back();
  row.tenant.assign(page.names[i].data(), snapshot.name_bytes);
  put_counts(row, CountsNow(tenant.counts), tenant);
  row.tenants = 1;
  row.active_tenants = node.waits ? 1 : 0;
  row.bytes = tenant.payload_bytes;
  row.wait_ms = percentiles_of(tenant.wait);
  row.run_ms = percentiles_of(tenant.run);
  row.weight = tenant.weight_milli / 1000.0;
  if (snapshot.oldest_ms != kNever) row.oldest_ready_s = seconds(page.now_ms - snapshot.oldest_ms);
}

/// Each leaf once, up to the root: what is above it may have been looked at later.
void TenantSurvey::find_parked() {
  for (Node& leaf : nodes_) {
    if (!leaf.leaf) continue;
    unsigned blocks = leaf.blocks;
    uint32_t at = leaf.parent;
    for (uint32_t level = 0; at < nodes_.size() && !nodes_[at].leaf && level < kDepthMax; ++level) {
      blocks |= nodes_[at].blocks;
      if (at == kRoot) break;
      at = nodes_[at].parent;
    }
    leaf.blocks = static_cast<uint8_t>(blocks);
    if (leaf.waits && blocks != 0) ++parked_;
  }
}

/// Sums of the weights of those who sit in each ring and can be served, each node once.
void TenantSurvey::sum_weights() {
  if (!ring_weights_.empty()) return;
  ring_weights_.resize(std::max<size_t>(nodes_.size(), 1));
  for (uint32_t leaf = 0; leaf < nodes_.size(); ++leaf) {
    if (!nodes_[leaf].leaf || (nodes_[leaf].blocks & kFull) != 0) continue;
    uint32_t at = leaf;
    for (uint32_t level = 0; at != kRoot && at < nodes_.size() && level < kDepthMax; ++level) {
      Node& node = nodes_[at];
      if (!node.seated || node.counted || node.parent >= nodes_.size()) break;
      node.counted = true;
      ring_weights_[node.parent] += node.weight_milli;
      at = node.parent;
    }
  }
}

/// The part of all turns that this tenant gets while those that are active now stay so: its weight's share
/// at each level of its path. Where the whole queue may not be served: that of those turns that come after.
double TenantSurvey::share_of(uint32_t index) const {
  if ((nodes_[index].blocks & kFull) != 0) return 0.0;
  double share = 1.0;
  uint32_t at = index;
  for (uint32_t level = 0; at != kRoot && level < kDepthMax; ++level) {
    const Node& node = nodes_[at];
    if (!node.counted) return 0.0;
    share *= node.weight_milli / static_cast<double>(ring_weights_[node.parent]);
    at = node.parent;
  }
  return at == kRoot ? share : 0.0;
}

std::optional<double> TenantSurvey::jain() {
  sum_weights();
  Jain jain;
  for (uint32_t leaf = 0; leaf < nodes_.size(); ++leaf) {
    if (!nodes_[leaf].leaf || !nodes_[leaf].counted) continue;
    if (const double share = share_of(leaf); share > 0) jain.add(nodes_[leaf].served / share);
  }
  return jain.index();
}

std::optional<double> TenantSurvey::oldest_ready_s() const {
  if (oldest_ms_ == kNever) return std::nullopt;
  return seconds(now_ms_ - oldest_ms_);
}

std::vector<StatsRow> TenantSurvey::take_rows() {
  sum_weights();
  uint64_t all_served = 0;
  for (const Node& node : nodes_) all_served += node.leaf && node.counted ? node.served : 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const Node& node = nodes_[indices_[i]];
    rows_[i].share = node.blocks == 0 ? share_of(indices_[i]) : 0.0;
    rows_[i].blocked = reason_of(node.blocks);
    rows_[i].parked_tenants = node.waits && node.blocks != 0 ? 1 : 0;
    if (node.counted && all_served != 0)
      rows_[i].served_share = node.served / static_cast<double>(all_served);
  }
  sort_rows();
  indices_.clear();
  return std::move(rows_);
}

/// Rows are large: each is moved once, to where it belongs. What is compared lies together, and nearly always
/// the front of a name is enough.
void TenantSurvey::sort_rows() {
  struct NamedRow {
    std::array<char, 28> front;
    uint32_t row;
  };
  std::vector<NamedRow> places(rows_.size());
  for (uint32_t row = 0; row < places.size(); ++row) {
    const std::string& name = rows_[row].tenant;
    places[row] = {{}, row};
    std::copy_n(name.begin(), std::min(name.size(), places[row].front.size()), places[row].front.begin());
  }
  std::stable_sort(places.begin(), places.end(), [&](const NamedRow& a, const NamedRow& b) {
    const int order = std::memcmp(a.front.data(), b.front.data(), a.front.size());
    return order != 0 ? order < 0 : rows_[a.row].tenant < rows_[b.row].tenant;
  });
  std::vector<uint32_t> from;
  from.reserve(places.size());
  for (const NamedRow& place : places) from.push_back(place.row);
  for (uint32_t begin = 0; begin < from.size(); ++begin) {
    if (from[begin] == begin) continue;
    StatsRow first = std::move(rows_[begin]);
    uint32_t to = begin;
    while (from[to] != begin) {
      rows_[to] = std::move(rows_[from[to]]);
      to = std::exchange(from[to], to);
    }
    rows_[to] = std::move(first);
    from[to] = to;
  }
}

}  // namespace fq
