// Two schedules live through the same history: to one every message comes by Messages::add, to the other by
// PlainPush where that takes it. They are the same, byte by byte, after each step.
#include "tests/schedule/fixture.h"

// System.
#include <cstring>

namespace fq::test {

namespace {

const std::vector<std::string> kTenants = {"a", "b", "b/x", "b/y/z", "c", "a/q"};

/// What is counted apart: an undo log says how something came about.
bool are_same(ScheduleFixture& one, ScheduleFixture& other) {
  const size_t arrays = size_t{ScheduleFixture::kFirstPage} * kPageBytes;
  return std::memcmp(&one.root(), &other.root(), sizeof(ScheduleRoot)) == 0 &&
         std::memcmp(one.base() + arrays, other.base() + arrays, one.bytes() - arrays) == 0;
}

class Twins {
 public:
  template <class Do>
  void both(Do&& act) {
    act(slow_);
    act(fast_);
  }
  /// Returns whether PlainPush took it.
  bool push(const std::string& tenant, uint16_t attempts_max = 0, uint8_t flags = 0) {
    slow_.add({.tenant = tenant,
               .payload_bytes = 70,
               .overhead_bytes = 90,
               .attempts_max = attempts_max,
               .blob = (flags & kEntryBlob) != 0,
               .job_flags = static_cast<uint8_t>(flags & kEntryJob)});
    return fast_.add_plain({.tenant = tenant,
                            .payload_bytes = 70,
                            .overhead_bytes = 90,
                            .attempts_max = attempts_max,
                            .flags = flags});
  }
  bool are_alike() { return are_same(slow_, fast_); }
  ScheduleFixture& any() { return fast_; }

 private:
  ScheduleFixture slow_{2}, fast_{2};
};

void step(Twins& twins, Dice& dice, std::vector<uint64_t>& leased, uint32_t& plain) {
  const std::string tenant = kTenants[dice.roll(static_cast<uint32_t>(kTenants.size()))];
  switch (dice.roll(14)) {
    case 0: {
      const auto priority = static_cast<int32_t>(dice.roll(3)) - 1;
      twins.both([&](ScheduleFixture& q) { q.add({.tenant = tenant, .priority = priority}); });
      break;
    }
    case 1:
      twins.both([&](ScheduleFixture& q) { q.add({.tenant = tenant, .due_ms = q.now + 500}); });
      break;
    case 2:
    case 3:
    case 4: {
      uint64_t id = 0;
      twins.both([&](ScheduleFixture& q) { id = q.lease(); });
      if (id != 0) leased.push_back(id);
      break;
    }
    case 5:
    case 6:
    case 7: {
      if (leased.empty()) break;
      const uint64_t id = leased.back();
      leased.pop_back();
      const bool ends = dice.roll(4) != 0;
      twins.both([&](ScheduleFixture& q) { ends ? q.ack(id) : static_cast<void>(q.give_back(id)); });
      break;
    }
    case 8: {
      const PolicyKey key = dice.roll(2) == 0 ? PolicyKey::concurrency : PolicyKey::weight;
      const int64_t value = key == PolicyKey::weight ? 1000 * (1 + dice.roll(3)) : 1 + dice.roll(2);
      twins.both([&](ScheduleFixture& q) { q.set(tenant, key, value); });
      break;
    }
    case 9: {
      const int64_t by_ms = dice.roll(20) == 0 ? 3 * kIdleMs : dice.roll(400);
      twins.both([&](ScheduleFixture& q) { q.wait_until(q.now + by_ms); });
      break;
    }
    case 10: {
      if (dice.roll(6) != 0) break;
      Terms terms;
      terms.scope = dice.roll(3) == 0 ? Scope::queue : Scope::tenant;
      terms.linger_ms = dice.roll(3) == 0 ? 100 : 0;
      terms.fair_by = dice.roll(2) == 0 ? FairBy::time : FairBy::turns;
      twins.both([&](ScheduleFixture& q) { q.set_terms(terms); });
      break;
    }
    default: {
      constexpr uint8_t kFlags[] = {0, kEntryBlob, kEntryCommand, kEntryKept | kEntryCommand};
      plain += twins.push(tenant, static_cast<uint16_t>(dice.roll(3)), kFlags[dice.roll(4)]) ? 1u : 0u;
    }
  }
}

}  // namespace

TEST_CASE("a plain push leaves the bytes that the long way leaves") {
  uint32_t plain = 0;
  for (uint64_t history = 0; history < 30; ++history) {
    Twins twins;
    Dice dice(history);
    std::vector<uint64_t> leased;
    for (int i = 0; i < 300; ++i) {
      step(twins, dice, leased, plain);
      INFO("history " << history << ", step " << i);
      REQUIRE(twins.are_alike());
    }
    CHECK(twins.any().faults() == "");
  }
  CHECK(plain > 500);  // else nothing was shown
}

TEST_CASE("a plain push leaves to the long way what is not as mostly") {
  Twins twins;
  CHECK(!twins.push("a"));  // its tenant is made
  CHECK(twins.push("a"));
  CHECK(!twins.push("b/x"));
  CHECK(!twins.push("b"));  // an inner node's own messages lie in another
  Terms terms;
  terms.linger_ms = 100;
  twins.both([&](ScheduleFixture& q) { q.set_terms(terms); });
  CHECK(!twins.push("a"));
  terms.linger_ms = 0;
  terms.scope = Scope::queue;
  twins.both([&](ScheduleFixture& q) { q.set_terms(terms); });
  CHECK(!twins.push("a"));
  CHECK(twins.are_alike());
}

}  // namespace fq::test
