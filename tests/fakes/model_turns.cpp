#include "tests/fakes/model_turns.h"

// System.
#include <algorithm>

namespace fq::test {

namespace {

constexpr uint64_t kOneTurn = 2'520'000'000;
constexpr int64_t kNsPerMs = 1'000'000;

}  // namespace

std::string ModelTurns::parent_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

ModelTurns::Node& ModelTurns::at(const std::string& path) {
  if (!path.empty()) static_cast<void>(at(parent_of(path)));
  return nodes_[path];
}

void ModelTurns::unready(const std::string& leaf) {
  at(leaf).count -= 1;
  settle(leaf);
}

/// Who has something and is not blocked sits in its parent's ring; what that changes there goes on upwards.
void ModelTurns::settle(std::string path, const Arrival* arrival) {
  for (; !path.empty(); path = parent_of(path)) {
    Node& node = at(path);
    Node& parent = at(parent_of(path));
    if (arrival != nullptr && !node.seated && node.count == 1)
      node.tag = newcomer_tag(node, parent, arrival->cost, arrival->now_ms);
    const bool wanted = node.count > 0 && !node.blocked;
    if (wanted == node.seated) return;
    node.seated = wanted;
    if (wanted) {
      node.tag = std::max(node.tag, parent.vtime);
      node.sequence = parent.joins++;
    }
    parent.count = wanted ? parent.count + 1 : parent.count - 1;
  }
}

void ModelTurns::started(const std::string& leaf, int64_t now_ms) {
  now_ms_ = now_ms;
  for (std::string path = leaf;; path = parent_of(path)) {
    Node& node = at(path);
    node.running += 1;
    if (node.rate_count > 0) {
      fill(node, now_ms);
      node.credit_ns -= interval_ns(node);
    }
    look_again(path, now_ms);
    if (path.empty()) return;
  }
}

void ModelTurns::ended(const std::string& leaf) {
  for (std::string path = leaf;; path = parent_of(path)) {
    at(path).running -= 1;
    look_again(path, now_ms_);
    if (path.empty()) return;
  }
}

int64_t ModelTurns::interval_ns(const Node& node) {
  return (node.rate_span_ms * kNsPerMs + node.rate_count - 1) / node.rate_count;
}

/// A bucket holds its burst, and at least what a millisecond brings.
int64_t ModelTurns::depth_ns(const Node& node) {
  const int64_t interval = interval_ns(node);
  return std::max(node.burst, (kNsPerMs + interval - 1) / interval) * interval;
}

void ModelTurns::fill(Node& node, int64_t now_ms) {
  node.credit_ns = std::min(depth_ns(node), node.credit_ns + (now_ms - node.credit_at_ms) * kNsPerMs);
  node.credit_at_ms = now_ms;
}

int64_t ModelTurns::token_at_ms(const Node& node) {
  if (node.rate_count == 0) return 0;
  const int64_t missing_ns = interval_ns(node) - std::min(node.credit_ns, depth_ns(node));
  return missing_ns <= 0 ? 0 : node.credit_at_ms + (missing_ns + kNsPerMs - 1) / kNsPerMs;
}

void ModelTurns::look_again(const std::string& path, int64_t now_ms) {
  Node& node = at(path);
  const bool limited = node.limited_until_ms > now_ms;
  const bool blocked =
      node.paused || limited || node.running >= node.concurrency || token_at_ms(node) > now_ms;
  if (blocked == node.blocked) return;
  node.blocked = blocked;
  settle(path);
}

void ModelTurns::set(const std::string& path, const PolicyPatch& patch, int64_t now_ms) {
  Node& node = at(path);
  now_ms_ = now_ms;
  if (node.rate_count > 0) fill(node, now_ms);
  const Node before = node;
  const Node fresh;
  const auto put = [&](PolicyKey key, const PolicyValue* value) {
    const int64_t number = value == nullptr ? 0 : value->number;
    if (key == PolicyKey::paused) node.paused = value != nullptr;
    if (key == PolicyKey::limited) node.limited_until_ms = value == nullptr ? 0 : now_ms + number;
    if (key == PolicyKey::weight) {
      node.weight_milli = value == nullptr ? fresh.weight_milli : static_cast<uint64_t>(number);
    }
    if (key == PolicyKey::concurrency) {
      node.concurrency = value == nullptr ? fresh.concurrency : static_cast<size_t>(number);
    }
    if (key == PolicyKey::burst) node.burst = value == nullptr ? fresh.burst : number;
    if (key == PolicyKey::rate) node.rate_count = number;
    if (key == PolicyKey::rate) node.rate_span_ms = value == nullptr ? 0 : value->second;
  };
  for (const PolicyKey key : patch.unset) put(key, nullptr);
  for (const PolicyValue& value : patch.set) put(value.key, &value);
  const bool other_rate =
      node.rate_count > 0 && (before.rate_count == 0 || interval_ns(before) != interval_ns(node));
  // What was taken before another rate is paid. What was missing in a bucket is missing in a larger one.
  if (other_rate) node.credit_ns = depth_ns(node), node.credit_at_ms = now_ms;
  if (!other_rate && node.rate_count > 0) node.credit_ns += depth_ns(node) - depth_ns(before);
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
  for (const std::string& path : paths) look_again(path, now_ms);
}

int64_t ModelTurns::next_timer_ms() const {
  int64_t next = kNever;
  for (const auto& [path, node] : nodes_) {
    if (node.limited_until_ms > now_ms_) next = std::min(next, node.limited_until_ms);
    if (token_at_ms(node) > now_ms_) next = std::min(next, token_at_ms(node));
  }
  return next;
}

std::string ModelTurns::next(std::string_view from) const {
  std::string path(from);
  if (!nodes_.contains(path) || is_blocked(path)) return "";
  while (path.empty() || path.back() != '/') {
    const std::pair<const std::string, Node>* first = nullptr;
    for (const auto& child : nodes_) {
      if (child.first.empty() || parent_of(child.first) != path || !child.second.seated) continue;
      const auto place = [](const Node& node) { return std::pair(node.tag, node.sequence); };
      if (first == nullptr || place(child.second) < place(first->second)) first = &child;
    }
    if (first == nullptr) return "";
    path = first->first;
  }
  return nodes_.find(path)->second.count > 0 ? path : "";
}

bool ModelTurns::is_blocked(std::string_view path) const {
  for (std::string at(path);; at = parent_of(at)) {
    const auto found = nodes_.find(at);
    if (found != nodes_.end() && found->second.blocked) return true;
    if (at.empty()) return false;
  }
}

}  // namespace fq::test
