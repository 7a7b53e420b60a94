// model_costs - what turns cost: one, bytes, or run time.

// System.
#include <algorithm>
#include <utility>
// Tests.
#include "tests/fakes/model_turns.h"

namespace fq::test {

namespace {

constexpr uint64_t kPieceCost = kOneTurn / 64;   // of 64 bytes: 4 KiB are a turn
constexpr uint64_t kTickCost = kOneTurn / 1000;  // of 10 us: 10 ms are a turn
constexpr uint64_t kTicksMin = 50;
constexpr int64_t kForgottenMs = 60'000;

/// What is charged keeps four bits of what is expected.
uint64_t four_bits_of(uint64_t ticks) {
  int shifts = 0;
  for (; ticks >= 16; ++shifts) ticks /= 2;
  return ticks << shifts;
}

/// Eight to each doubling, from the first eight on.
uint64_t logarithm_of(uint64_t ticks) {
  uint64_t octaves = 0;
  for (; ticks >= 16; ++octaves) ticks /= 2;
  return 8 * octaves + ticks;
}
uint64_t ticks_of_logarithm(uint64_t logarithm) {
  uint64_t doublings = logarithm < 16 ? 0 : logarithm / 8 - 1;
  uint64_t ticks = logarithm - 8 * doublings;
  for (; doublings > 0; --doublings) ticks *= 2;
  return ticks;
}

/// Moves a part of the way to the last one, and by one tick at least.
uint64_t average(uint64_t so_far, uint64_t ticks, uint64_t parts) {
  if (so_far == 0) return ticks;
  if (ticks >= so_far) return so_far + (ticks - so_far + parts - 1) / parts;
  return so_far - (so_far - ticks + parts - 1) / parts;
}

}  // namespace

uint64_t ModelTurns::usual_ticks() const { return ticks_of_logarithm(usual_run_ / 256); }

uint64_t ModelTurns::turn_of(const Node& node, uint64_t ticks) {
  const uint64_t whole = ticks / node.weight_milli;
  return whole * kTickCost + (ticks - whole * node.weight_milli) * kTickCost / node.weight_milli;
}

/// Those of its nodes that have nothing to do, but for so many that are about to end.
void ModelTurns::note_idle(const std::string& leaf, size_t running, int64_t now_ms) {
  for (std::string path = leaf; !path.empty(); path = parent_of(path)) {
    Node& node = at(path);
    if ((node.count == 0 || node.gathers) && node.running <= running) node.idle_since_ms = now_ms;
  }
}

ModelTurns::Start ModelTurns::start_of(const Node& leaf, uint64_t bytes) const {
  if (fair_by_ == FairBy::turns) return {kOneTurn, 0, {}};
  if (fair_by_ == FairBy::bytes) return {std::max<uint64_t>(1, (bytes + 63) / 64) * kPieceCost, 0, {}};
  const uint64_t expected = leaf.run_ticks != 0 ? leaf.run_ticks : usual_ticks();
  const uint64_t ticks = four_bits_of(std::max(expected, kTicksMin));
  return {ticks * kTickCost, ticks, {}};
}

/// One start behind the clock, or one that is usual. What it has used before it owes, less what time
/// forgives.
uint64_t ModelTurns::newcomer_tag(const Node& node, const Node& parent, uint64_t cost, int64_t now_ms) const {
  const uint64_t level = parent.vtime + cost / node.weight_milli;
  const bool idle = node.running == 0;
  const auto idle_ms = static_cast<uint64_t>(idle ? std::max<int64_t>(0, now_ms - node.idle_since_ms) : 0);
  const uint64_t forgiven = idle_ms * 100 * kTickCost / node.weight_milli;
  return std::max(level, node.tag > forgiven ? node.tag - forgiven : 0);
}

void ModelTurns::ready(const std::string& leaf, uint64_t bytes, int64_t now_ms) {
  Node& node = at(leaf);
  node.count += 1;
  if (linger_ms_ > 0 && node.count == 1) node.gathers = node.blocked = true, node.since_ms = now_ms;
  node.since_ms = std::min(node.since_ms, now_ms);
  if (node.gathers && node.count < batch_max_) return;
  const bool opens = node.gathers && node.count > 1;
  node.gathers = node.blocked = false;
  if (!opens && node.count > 1) return;
  const uint64_t cost = opens ? kOneTurn : start_of(node, bytes).cost;
  const Arrival arrival{usual_cost(node, cost, now_ms), now_ms, opens};
  settle(leaf, &arrival);
}

/// Of the first, where there was nothing.
uint64_t ModelTurns::usual_cost(Node& leaf, uint64_t cost, int64_t now_ms) const {
  if (fair_by_ != FairBy::time) return std::min(cost, kOneTurn);
  if (leaf.running == 0 && leaf.idle_since_ms + kForgottenMs <= now_ms) leaf.run_ticks = 0;
  return std::min(start_of(leaf, 0).cost, std::max(usual_ticks(), kTicksMin) * kTickCost);
}

ModelTurns::Start ModelTurns::charge(const std::string& leaf, std::string_view top, uint64_t bytes,
                                     bool more) {
  Start start = start_of(at(leaf), bytes);
  start.top = top;
  // Where nobody else is before it, it is its turn again.
  std::set<std::string> its_turn;
  for (std::string at = leaf; at != top; at = parent_of(at)) {
    if (!more || first_below(parent_of(at)) == at) its_turn.insert(at);
  }
  at(leaf).count -= 1;
  std::string path = leaf;
  for (; path != top; path = parent_of(path)) {
    Node& node = at(path);
    Node& parent = at(parent_of(path));
    const uint64_t begin = begin_of_turn(node, parent), cost = start.cost / node.weight_milli;
    if (its_turn.contains(path)) {
      if (begin != node.tag) let_stand(node, 0);
      const uint64_t tag = std::exchange(node.tag, begin);
      // The clock shows what was used, not what is only expected.
      parent.vtime = std::max(parent.vtime, tag - std::min(tag, turn_of(node, node.expected_ticks)));
    }
    node.tag += cost;
    note_refund(node, parent, begin + cost);
    node.expected_ticks += start.ticks;
    node.seated = node.count > 0 && !node.blocked;
    if (node.seated) node.sequence = parent.joins++;
    if (node.seated && !more && is_turn_by_age(top)) stamp(node);
    if (!node.seated) parent.count -= 1;
  }
  settle(path);
  if (!more) at(path).turns = is_turn_by_age(top) ? 0 : at(path).turns + 1;
  return start;
}

/// Who was passed over makes up nothing; but by time, a tag in the past may be one that was charged too much.
uint64_t ModelTurns::begin_of_turn(const Node& node, const Node& parent) const {
  return std::max(node.tag, parent.vtime - (ranked_ ? 0 : std::min(parent.vtime, node.refund)));
}
void ModelTurns::note_refund(Node& node, const Node& parent, uint64_t begin) {
  node.refund = begin >= parent.vtime ? 0 : parent.vtime - begin;
}

/// It has been made level, or so far ahead of that: what its runs were charged beyond is not taken back.
void ModelTurns::let_stand(Node& node, uint64_t ahead) {
  if (turn_of(node, node.expected_ticks) <= ahead) return;
  const uint64_t whole = ahead / kTickCost;
  node.expected_ticks = whole * node.weight_milli + (ahead - whole * kTickCost) * node.weight_milli / kTickCost;
}

void ModelTurns::ran(const std::string& leaf, const Start& start, uint64_t ticks, int64_t now_ms) {
  const uint64_t took = std::max(ticks, kTicksMin);
  bool charged = start.ticks != 0 && fair_by_ == FairBy::time;
  if (charged) {
    at(leaf).run_ticks = average(at(leaf).run_ticks, took, 8);
    usual_run_ = average(usual_run_, logarithm_of(took) * 256, 64);
  }
  for (std::string path = leaf; !path.empty(); path = parent_of(path)) {
    Node& node = at(path);
    charged = charged && path != start.top;
    if (charged) {
      const uint64_t stands = std::min(node.expected_ticks, start.ticks);
      node.expected_ticks -= stands;
      const uint64_t paid = turn_of(node, start.ticks), used = turn_of(node, took);
      const uint64_t back = used < paid ? std::min({paid - used, turn_of(node, stands), node.tag}) : 0;
      const uint64_t tag = used < paid ? node.tag - back : node.tag + used - paid;
      const Node& parent = at(parent_of(path));
      if (begin_of_turn(node, parent) == node.tag) note_refund(node, parent, tag);
      node.tag = tag;
    }
  }
  note_idle(leaf, 1, now_ms);
}

void ModelTurns::set_fair_by(FairBy fair_by) {
  if (fair_by == fair_by_) return;
  fair_by_ = fair_by;
  for (auto& [path, node] : nodes_) {
    if (path.empty()) continue;
    const uint64_t vtime = at(parent_of(path)).vtime;
    node.tag = std::clamp(node.tag, vtime, vtime + kOneTurn / node.weight_milli);
    node.expected_ticks = node.refund = 0;
  }
}

}  // namespace fq::test
