// The schedule against a model of maps and lists, over random histories with equal weights.
#include "tests/schedule/history.h"

// System.
#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <tuple>

namespace fq::test {
namespace {

/// Plain, slow and obviously right: each node has a ring of the names below it that have something.
class Model {
 public:
  struct Message {
    std::string tenant;
    std::tuple<bool, std::string, int, uint64_t> place;  // keyless, key, priority downwards, id
    bool operator<(const Message& other) const { return place < other.place; }
  };

  void add(const Message& message) {
    nodes[message.tenant].own.insert(message);
    join(message.tenant, message.tenant + "/");
    for (std::string at = message.tenant; !at.empty(); at = above(at)) join(above(at), at);
  }
  uint64_t next() {
    if (nodes[""].ring.empty()) return 0;
    return take("");
  }
  bool remove(const Message& message) {
    if (nodes[message.tenant].own.erase(message) == 0) return false;
    for (std::string at = message.tenant;; at = above(at)) {
      auto& ring = nodes[at].ring;
      if (nodes[at].own.empty()) std::erase(ring, at + "/");
      std::erase_if(
          ring, [&](const std::string& child) { return child.back() != '/' && nodes[child].ring.empty(); });
      if (at.empty()) return true;
    }
  }

 private:
  struct Node {
    std::set<Message> own;
    std::deque<std::string> ring;
  };
  static std::string above(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
  }
  void join(const std::string& node, const std::string& child) {
    auto& ring = nodes[node].ring;
    if (std::find(ring.begin(), ring.end(), child) == ring.end()) ring.push_back(child);
  }
  uint64_t take(const std::string& path) {
    auto& node = nodes[path];
    const std::string child = node.ring.front();
    node.ring.pop_front();
    if (child.back() != '/') {
      const uint64_t id = take(child);
      if (!nodes[child].ring.empty()) node.ring.push_back(child);
      return id;
    }
    const uint64_t id = std::get<3>(node.own.begin()->place);
    node.own.erase(node.own.begin());
    if (!node.own.empty()) node.ring.push_back(child);
    return id;
  }
  std::map<std::string, Node> nodes;
};

}  // namespace

TEST_CASE("over random histories the schedule serves as the model does") {
  const uint32_t seed = GENERATE(range(1u, 40u));
  INFO("seed " << seed);
  Dice dice(seed);
  ScheduleFixture q;
  Model model;
  std::map<uint64_t, Model::Message> all;
  std::set<uint64_t> leased;
  for (int i = 0; i < 1200; ++i) {
    const uint32_t what = dice.roll(10);
    if (what < 4) {
      const std::string tenant = kPaths[dice.roll(10)];
      const std::string key(dice.roll(6) == 0 ? 1 + dice.roll(3) : 0, 'k');
      const int priority = dice.roll(5) == 0 ? static_cast<int>(dice.roll(3)) - 1 : 0;
      const uint64_t id = q.add({.tenant = tenant, .key = key, .priority = priority});
      all[id] = {tenant, {key.empty(), key, -priority, id}};
      model.add(all[id]);
    } else if (what < 7) {
      const uint64_t id = q.lease();
      REQUIRE(id == model.next());
      if (id != 0) leased.insert(id);
    } else if (what < 9 && !leased.empty()) {
      const uint64_t id = *std::next(leased.begin(), dice.roll(static_cast<uint32_t>(leased.size())));
      leased.erase(id);
      if (dice.roll(2) == 0) {
        q.ack(id);
        all.erase(id);
      } else {
        q.give_back(id);
        model.add(all[id]);
      }
    } else if (!all.empty()) {
      const auto it = std::next(all.begin(), dice.roll(static_cast<uint32_t>(all.size())));
      if (leased.contains(it->first)) continue;
      REQUIRE(model.remove(it->second));
      q.ack(it->first);
      all.erase(it);
    }
  }
  CHECK(q.root().entry_supply.used == all.size() + q.root().outcome_count);
  CHECK(q.faults().empty());
}

TEST_CASE("a schedule differs from itself in nothing and from another in what differs") {
  ScheduleFixture q, other;
  for (auto* each : {&q, &other}) {
    each->push("a", 3).push("b", 2);
    each->add({.tenant = "a", .due_ms = 5000});
    each->lease();
  }
  CHECK(schedule_differences(q.schedule(), other.schedule(), 0).empty());
  other.ack(5);
  other.give_back(1, true);
  other.change([&](Schedule& s, Txn& txn) { s.messages().kick(txn, other.slot(6), {other.now}); });
  CHECK(schedule_differences(q.schedule(), other.schedule(), 0).count >= 4);
}

TEST_CASE("over random histories the few in a state are those that a look at every slot finds") {
  const uint32_t seed = GENERATE(range(1u, 40u));
  INFO("seed " << seed);
  Dice dice(seed);
  ScheduleFixture q;
  std::array<SlotIndex, 12> slots;
  uint32_t found = 0;
  for (int i = 0; i < 600; ++i) {
    q.now += dice.roll(20);
    q.make_room(kRoomOfChange);
    q.change([&](Schedule& s, Txn& txn) { random_change(s, txn, dice, q.last_id, q.now); });
    const Schedule schedule = q.schedule();
    const Views views = schedule.views();
    for (const SlotState state : {SlotState::delayed, SlotState::leased, SlotState::dead}) {
      std::set<SlotIndex> all;
      for (auto slot = views.next_slot(SlotIndex{0}); slot;
           slot = views.next_slot(SlotIndex{static_cast<uint32_t>(*slot) + 1}))
        if (state_of(q.schedule().messages().entry(*slot)) == state) all.insert(*slot);
      const std::optional<size_t> few = views.few(state, slots);
      if (!few) continue;
      const std::span told = std::span(slots).first(*few);
      REQUIRE(std::set(told.begin(), told.end()) == all);
      REQUIRE(all.size() == *few);
      found += all.empty() ? 0u : 1u;
    }
  }
  CHECK(found > 100);
}

TEST_CASE("what was changed in memory only may be rebuilt as it was, and everything else must be there") {
  ScheduleFixture live, rebuilt;
  for (auto* each : {&live, &rebuilt}) each->push("a", 4);
  const auto change_unwritten = [&](uint64_t id) {
    live.change([&](Schedule& s, Txn& txn) { s.messages().note_unwritten(txn, live.slot(id)); });
  };
  const auto differences = [&] { return schedule_differences(live.schedule(), rebuilt.schedule(), 0).lines; };
  CHECK(live.lease() == 1);
  CHECK_FALSE(differences().empty());
  change_unwritten(1);
  CHECK(differences().empty());
  live.give_back(1, true);
  CHECK(differences().empty());
  // No excuse for another message,
  CHECK(live.lease() == 1);
  CHECK(live.lease() == 2);
  CHECK_FALSE(differences().empty());
  change_unwritten(2);
  CHECK(differences().empty());
  // nor for more than was ever done to this one,
  for (int i = 0; i < 3; ++i) rebuilt.give_back(rebuilt.lease());
  CHECK_FALSE(differences().empty());
  live.give_back(1);
  CHECK(live.lease() == 1);
  CHECK(differences().empty());
  // nor for its absence.
  rebuilt.ack(rebuilt.lease());
  CHECK(differences().size() == 1);
}

TEST_CASE("a restored message is what it was") {
  ScheduleFixture q;
  q.push("x");
  const auto restore = [&](uint64_t id, SlotState state, int64_t at_ms, HolderIndex holder) {
    q.make_room(Growth::need_of("a", ""));
    q.change([&](Schedule& s, Txn& txn) {
      s.messages().restore(txn, {.entry = {.id = MessageId{id}, .tenant = "a", .now_ms = q.now},
                                 .state = state,
                                 .at_ms = at_ms,
                                 .serial = 4,
                                 .holder = holder,
                                 .deliveries = 3,
                                 .attempts = 2,
                                 .attempts_max = 5,
                                 .crashes = 1});
    });
  };
  restore(10, SlotState::ready, 900, kHeldByTime);
  restore(11, SlotState::delayed, 9000, kHeldByTime);
  restore(12, SlotState::leased, 8000, kHeldByTime);
  restore(13, SlotState::leased, kNever, HolderIndex{2});
  restore(14, SlotState::dead, 800, kHeldByTime);
  CHECK(q.root().counts.leased == 2);
  CHECK(q.entry(13).attempts_max == 5);
  CHECK(q.schedule().views().first_held(HolderIndex{2}) == q.slot(13));
  CHECK(q.faults().empty());
  CHECK(q.wait_until(9000) == 2);
  CHECK(q.serve_ids() == "1 10 11 12");
}

}  // namespace fq::test
