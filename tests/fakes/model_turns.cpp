#include "tests/fakes/model_turns.h"

// System.
#include <algorithm>
#include <utility>

namespace fq::test {

namespace {

constexpr int64_t kNsPerMs = 1'000'000;

}  // namespace

std::string ModelTurns::parent_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

std::vector<const ModelTurns::Entry*> ModelTurns::children_of(std::string_view path) const {
  const std::string begin = path.empty() ? "" : std::string(path) + '/';
  const size_t slash = path.empty() ? std::string::npos : path.size();  // the last one of a child
  std::vector<const Entry*> children;
  for (auto at = nodes_.lower_bound(begin); at != nodes_.end() && at->first.starts_with(begin); ++at)
    if (!at->first.empty() && at->first.rfind('/') == slash) children.push_back(&*at);
  return children;
}

ModelTurns::Node& ModelTurns::at(const std::string& path) {
  if (!path.empty()) static_cast<void>(at(parent_of(path)));
  return nodes_[path];
}

void ModelTurns::unready(const std::string& leaf, int64_t now_ms) {
  Node& node = at(leaf);
  const bool was_idle = node.gathers;
  node.count -= 1;
  if (node.count == 0) node.gathers = node.blocked = false;
  settle(leaf);
  if (!was_idle) note_idle(leaf, 0, now_ms);
}

bool ModelTurns::has_gathered(const Node& node, int64_t now_ms) const {
  return node.count == 0 || node.count >= batch_max_ || node.since_ms + linger_ms_ <= now_ms;
}

void ModelTurns::gather(const std::string& leaf, int64_t since_ms, int64_t now_ms) {
  Node& node = at(leaf);
  node.since_ms = since_ms;
  const bool was_idle = std::exchange(node.gathers, !has_gathered(node, now_ms));
  look_again(leaf, now_ms);
  if (node.gathers && !was_idle) note_idle(leaf, 0, now_ms);
}

std::optional<int64_t> ModelTurns::gathers_since(const std::string& leaf) const {
  const auto node = nodes_.find(leaf);
  if (node == nodes_.end() || !node->second.gathers) return std::nullopt;
  return node->second.since_ms;
}

/// Who has something and is not blocked sits in its parent's ring; what that changes there goes on upwards.
void ModelTurns::settle(std::string path, const Arrival* arrival) {
  for (; !path.empty(); path = parent_of(path)) {
    Node& node = at(path);
    Node& parent = at(parent_of(path));
    const bool first = node.count == 1 || (arrival != nullptr && arrival->group && path.ends_with('/'));
    if (arrival != nullptr && !node.seated && first) {
      node.tag = newcomer_tag(node, parent, arrival->cost, arrival->now_ms), node.turns = 0, stamp(node);
      let_stand(node, node.tag - parent.vtime - arrival->cost / node.weight_milli);
    }
    const bool wanted = node.count > 0 && !node.blocked;
    if (wanted == node.seated) return;
    node.seated = wanted;
    if (wanted) {
      node.tag = std::max(node.tag, parent.vtime);
      let_stand(node, node.tag - parent.vtime);
      node.sequence = parent.joins++;
      node.refund = 0;
      if (!node.stamped) stamp(node);
    }
    parent.count = wanted ? parent.count + 1 : parent.count - 1;
  }
}

void ModelTurns::started(const std::string& leaf, int64_t now_ms) {
  now_ms_ = now_ms;
  for (std::string path = leaf;; path = parent_of(path)) {
    Node& node = at(path);
    node.running += 1;
    take_token(node, now_ms);
    look_again(path, now_ms);
    if (path.empty()) break;
  }
  for (const std::string& pool : pools_of(leaf)) take_token(pools_[pool], now_ms);
}

void ModelTurns::take_token(Limit& limit, int64_t now_ms) {
  if (limit.rate_count == 0) return;
  fill(limit, now_ms);
  limit.credit_ns -= interval_ns(limit);
}

void ModelTurns::ended(const std::string& leaf) {
  for (std::string path = leaf;; path = parent_of(path)) {
    at(path).running -= 1;
    look_again(path, now_ms_);
    if (path.empty()) return;
  }
}

int64_t ModelTurns::interval_ns(const Limit& limit) {
  return (limit.rate_span_ms * kNsPerMs + limit.rate_count - 1) / limit.rate_count;
}

/// A bucket holds its burst, and at least what a millisecond brings.
int64_t ModelTurns::depth_ns(const Limit& limit) {
  const int64_t interval = interval_ns(limit);
  return std::max(limit.burst, (kNsPerMs + interval - 1) / interval) * interval;
}

void ModelTurns::fill(Limit& limit, int64_t now_ms) {
  limit.credit_ns = std::min(depth_ns(limit), limit.credit_ns + (now_ms - limit.credit_at_ms) * kNsPerMs);
  limit.credit_at_ms = now_ms;
}

int64_t ModelTurns::token_at_ms(const Limit& limit) {
  if (limit.rate_count == 0) return 0;
  const int64_t missing_ns = interval_ns(limit) - std::min(limit.credit_ns, depth_ns(limit));
  return missing_ns <= 0 ? 0 : limit.credit_at_ms + (missing_ns + kNsPerMs - 1) / kNsPerMs;
}

bool ModelTurns::is_paused(std::string path) const {
  for (;; path = parent_of(path)) {
    const auto found = nodes_.find(path);
    if (found != nodes_.end() && found->second.paused) return true;
    if (path.empty()) return false;
  }
}

void ModelTurns::look_again(const std::string& path, int64_t now_ms) {
  Node& node = at(path);
  const bool limited = node.limited_until_ms > now_ms;
  const bool blocked = node.gathers || node.paused || limited || node.running >= node.concurrency ||
                       token_at_ms(node) > now_ms;
  if (blocked == node.blocked) return;
  node.blocked = blocked;
  if (blocked || !path.ends_with('/')) return settle(path);
  const Arrival group{usual_cost(node, kOneTurn, now_ms), now_ms, true};
  settle(path, &group);
}

void ModelTurns::put(Limit& limit, PolicyKey key, const PolicyValue* value) {
  const int64_t number = value == nullptr ? 0 : value->number;
  if (key == PolicyKey::concurrency)
    limit.concurrency = value == nullptr ? SIZE_MAX : static_cast<size_t>(number);
  if (key == PolicyKey::burst) limit.burst = value == nullptr ? 1 : number;
  if (key == PolicyKey::rate) limit.rate_count = number == kUnlimited ? 0 : number;
  if (key == PolicyKey::rate) limit.rate_span_ms = value == nullptr ? 0 : value->second;
}

void ModelTurns::change_rate(Limit& limit, const Limit& before, int64_t now_ms) {
  if (limit.rate_count == 0) return;
  const bool other_rate = before.rate_count == 0 || interval_ns(before) != interval_ns(limit);
  // What was taken before another rate is paid. What was missing in a bucket is missing in a larger one.
  if (other_rate) limit.credit_ns = depth_ns(limit), limit.credit_at_ms = now_ms;
  if (!other_rate) limit.credit_ns += depth_ns(limit) - depth_ns(before);
}

void ModelTurns::set_pools(const std::vector<PoolRule>& pools, int64_t now_ms) {
  now_ms_ = now_ms;
  std::map<std::string, Limit> before;
  before.swap(pools_);
  for (const PoolRule& rule : pools) {
    Limit old = before[rule.name];
    if (old.rate_count > 0) fill(old, now_ms);
    Limit& limit = pools_[rule.name];
    limit.credit_ns = old.credit_ns, limit.credit_at_ms = old.credit_at_ms;
    for (const PolicyValue& value : rule.values) put(limit, value.key, &value);
    change_rate(limit, old, now_ms);
  }
}

std::set<std::string> ModelTurns::pools_of(std::string_view path) const {
  std::set<std::string> pools;
  for (std::string at(path); !at.empty(); at = parent_of(at)) {
    const auto found = nodes_.find(at);
    if (found != nodes_.end() && pools_.contains(found->second.pool)) pools.insert(found->second.pool);
  }
  return pools;
}

bool ModelTurns::has_room(const std::string& pool) const {
  const Limit& limit = pools_.find(pool)->second;
  size_t running = 0;
  for (const auto& [path, node] : nodes_)
    if (!path.empty() && path.back() == '/' && pools_of(path).contains(pool)) running += node.running;
  return running < limit.concurrency && token_at_ms(limit) <= now_ms_;
}

void ModelTurns::set(const std::string& path, const PolicyPatch& patch, int64_t now_ms) {
  Node& node = at(path);
  now_ms_ = now_ms;
  if (node.rate_count > 0) fill(node, now_ms);
  const Node before = node;
  const auto put_all = [&](PolicyKey key, const PolicyValue* value) {
    put(node, key, value);
    const int64_t number = value == nullptr ? 0 : value->number;
    if (key == PolicyKey::paused) node.paused = value != nullptr;
    if (key == PolicyKey::limited) node.limited_until_ms = value == nullptr ? 0 : now_ms + number;
    if (key == PolicyKey::weight) node.weight_milli = value == nullptr ? 1000 : static_cast<uint64_t>(number);
    if (key == PolicyKey::pool) node.pool = value == nullptr ? "" : value->text;
  };
  for (const PolicyKey key : patch.unset) put_all(key, nullptr);
  for (const PolicyValue& value : patch.set) put_all(value.key, &value);
  change_rate(node, before, now_ms);
  if (!path.empty() && node.weight_milli != before.weight_milli) {
    Node& parent = at(parent_of(path));
    const uint64_t ahead = node.tag > parent.vtime ? node.tag - parent.vtime : 0;
    // Whole and rest apart: ahead * weight may be more than 64 bits hold.
    const uint64_t owed = ahead / node.weight_milli * before.weight_milli +
                          ahead % node.weight_milli * before.weight_milli / node.weight_milli;
    const uint64_t turn = kOneTurn / node.weight_milli;
    const uint64_t tag =
        ahead == 0 ? node.tag : parent.vtime + (fair_by_ == FairBy::turns ? std::min(ahead, turn) : owed);
    if (tag != node.tag && node.seated) node.sequence = parent.joins++;
    node.tag = tag;
  }
  look_again(path, now_ms);
}

void ModelTurns::fire(int64_t now_ms) {
  now_ms_ = now_ms;
  std::vector<std::string> paths;
  for (const auto& [path, node] : nodes_) {
    if (node.blocked) paths.push_back(path);
  }
  for (const std::string& path : paths) {
    Node& node = at(path);
    if (node.gathers && has_gathered(node, now_ms)) node.gathers = false;
    look_again(path, now_ms);
  }
}

int64_t ModelTurns::next_timer_ms() const {
  int64_t next = kNever;
  for (const auto& [path, node] : nodes_) {
    if (node.gathers) next = std::min(next, node.since_ms + linger_ms_);
    if (node.limited_until_ms > now_ms_) next = std::min(next, node.limited_until_ms);
    if (token_at_ms(node) > now_ms_) next = std::min(next, token_at_ms(node));
  }
  for (const auto& [name, pool] : pools_)
    if (token_at_ms(pool) > now_ms_) next = std::min(next, token_at_ms(pool));
  return next;
}

std::string ModelTurns::first_below(std::string_view path) const {
  const Entry* first = nullptr;
  for (const Entry* child : children_of(path)) {
    if (!can_be_served(child->first)) continue;
    const auto place = [](const Node& node) { return std::pair(node.tag, node.sequence); };
    if (first == nullptr || place(child->second) < place(first->second)) first = child;
  }
  return first == nullptr ? std::string() : first->first;
}

bool ModelTurns::is_blocked(std::string_view path) const {
  for (const std::string& pool : pools_of(path))
    if (!has_room(pool)) return true;
  for (std::string at(path);; at = parent_of(at)) {
    const auto found = nodes_.find(at);
    if (found != nodes_.end() && found->second.blocked) return true;
    if (at.empty()) return false;
  }
}

}  // namespace fq::test
