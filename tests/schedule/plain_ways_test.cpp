// Two schedules live through the same history: in one every message comes, starts and ends the long way, in
// the other by PlainPush, PlainLease and PlainAck where these take it. They are the same, byte by byte, after
// each step.
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

/// How often the plain way was gone.
struct Gone {
  uint32_t pushes = 0, leases = 0, acks = 0;
};

class Twins {
 public:
  template <class Do>
  void both(Do&& act) {
    act(slow_);
    act(fast_);
  }
  /// These return whether the plain way was gone.
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
  bool lease(int64_t until_ms = kNever, HolderIndex holder = kHeldByTime) {
    const ScheduleFixture::Leased slow = slow_.lease_of_all(false, until_ms, holder);
    const ScheduleFixture::Leased fast = fast_.lease_of_all(true, until_ms, holder);
    REQUIRE(slow.id == fast.id);
    if (fast.id != 0) leased.push_back(fast.id);
    return fast.plain;
  }
  bool ack(uint64_t id) {
    slow_.ack_by(false, id);
    return fast_.ack_by(true, id);
  }
  bool are_alike() { return are_same(slow_, fast_); }
  ScheduleFixture& any() { return fast_; }

  std::vector<uint64_t> leased;

 private:
  ScheduleFixture slow_{2}, fast_{2};
};

/// What a message has that the plain ways do not know.
NewEntry special(Dice& dice, ScheduleFixture& queue, const std::string& tenant) {
  NewEntry entry{.tenant = tenant};
  switch (dice.roll(4)) {
    case 0:
      entry.priority = static_cast<int32_t>(dice.roll(3)) - 1;
      break;
    case 1:
      entry.due_ms = queue.now + 500;
      break;
    case 2:
      entry.key = "a key";
      break;
    default:
      entry.extra = true;
      entry.ttl_ms = 300;
  }
  return entry;
}

void end(Twins& twins, Dice& dice, Gone& gone) {
  if (twins.leased.empty()) return;
  const size_t which = dice.roll(static_cast<uint32_t>(twins.leased.size()));
  const uint64_t id = twins.leased[which];
  twins.leased.erase(twins.leased.begin() + static_cast<ptrdiff_t>(which));
  const uint32_t how = dice.roll(8);
  if (how == 0) return twins.both([&](ScheduleFixture& q) { q.give_back(id); });
  if (how == 1) return twins.both([&](ScheduleFixture& q) { q.bury(id); });
  gone.acks += twins.ack(id) ? 1u : 0u;
}

void change_terms(Twins& twins, Dice& dice) {
  Terms terms;
  terms.scope = dice.roll(3) == 0 ? Scope::queue : Scope::tenant;
  terms.linger_ms = dice.roll(3) == 0 ? 100 : 0;
  constexpr FairBy kBy[] = {FairBy::turns, FairBy::bytes, FairBy::time};
  terms.fair_by = kBy[dice.roll(3)];
  twins.both([&](ScheduleFixture& q) { q.set_terms(terms); });
}

void set_policy(Twins& twins, Dice& dice, const std::string& tenant) {
  const PolicyKey key = dice.roll(2) == 0 ? PolicyKey::concurrency : PolicyKey::weight;
  const int64_t value = key == PolicyKey::weight ? 1000 * (1 + dice.roll(3)) : 1 + dice.roll(2);
  if (dice.roll(3) == 0) return twins.both([&](ScheduleFixture& q) { q.unset(tenant, key); });
  twins.both([&](ScheduleFixture& q) { q.set(tenant, key, value); });
}

void step(Twins& twins, Dice& dice, Gone& gone) {
  const std::string tenant = kTenants[dice.roll(static_cast<uint32_t>(kTenants.size()))];
  switch (dice.roll(15)) {
    case 0: {
      const NewEntry entry = special(dice, twins.any(), tenant);
      return twins.both([&](ScheduleFixture& q) { q.add(entry); });
    }
    case 1:
    case 2:
    case 3:
    case 4:
    case 5: {
      const int64_t until_ms = dice.roll(2) == 0 ? kNever : twins.any().now + 10'000'000;
      const HolderIndex holder = dice.roll(2) == 0 ? kHeldByTime : HolderIndex{3};
      gone.leases += twins.lease(until_ms, holder) ? 1u : 0u;
      return;
    }
    case 6:
    case 7:
    case 8:
    case 9:
      return end(twins, dice, gone);
    case 10:
      return set_policy(twins, dice, tenant);
    case 11: {
      const int64_t by_ms = dice.roll(20) == 0 ? 3 * kIdleMs : dice.roll(400);
      return twins.both([&](ScheduleFixture& q) { q.wait_until(q.now + by_ms); });
    }
    case 12:
      if (dice.roll(6) == 0) change_terms(twins, dice);
      return;
    default: {
      constexpr uint8_t kFlags[] = {0, kEntryBlob, kEntryCommand, kEntryKept | kEntryCommand};
      const auto attempts_max = static_cast<uint16_t>(dice.roll(3));
      gone.pushes += twins.push(tenant, attempts_max, kFlags[dice.roll(4)]) ? 1u : 0u;
    }
  }
}

void put_into_a_pool(ScheduleFixture& q) {
  q.load_rules({{"*", {{PolicyKey::pool, 0, 0, "p"}}}}, {{"p", {{PolicyKey::concurrency, 100}}}});
}

void live(Twins& twins, uint64_t history, Gone& gone) {
  Dice dice(history);
  for (int i = 0; i < 300; ++i) {
    step(twins, dice, gone);
    INFO("history " << history << ", step " << i);
    REQUIRE(twins.are_alike());
  }
  CHECK(twins.any().faults() == "");
}

}  // namespace

TEST_CASE("the plain ways leave the bytes that the long way leaves") {
  Gone gone;
  for (uint64_t history = 0; history < 40; ++history) {
    Twins twins;
    live(twins, history, gone);
  }
  // Else nothing was shown.
  CHECK(gone.pushes > 500);
  CHECK(gone.leases > 500);
  CHECK(gone.acks > 500);
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

TEST_CASE("a plain lease leaves to the long way what is not as mostly") {
  Twins twins;
  CHECK(!twins.lease());  // there is nothing
  twins.both([](ScheduleFixture& q) { q.push("a", 2).push("b/x", 2); });
  CHECK(twins.lease());
  CHECK(twins.lease());
  twins.both([](ScheduleFixture& q) { q.set("a", PolicyKey::concurrency, 1); });  // it is at that
  CHECK(twins.lease());
  CHECK(!twins.lease());
  CHECK(twins.leased.size() == 3);
  twins.both([](ScheduleFixture& q) { q.add({.tenant = "c", .extra = true, .ttl_ms = 500}); });
  CHECK(!twins.lease());  // it has a time by which it must have begun
  Terms terms;
  terms.scope = Scope::queue;
  twins.both([&](ScheduleFixture& q) { q.push("d", 2).set_terms(terms); });
  CHECK(!twins.lease());
  CHECK(twins.leased.size() == 5);
  terms.scope = Scope::tenant;
  twins.both([&](ScheduleFixture& q) { q.set_terms(terms); });
  twins.both(put_into_a_pool);
  CHECK(!twins.lease());
  CHECK(twins.leased.size() == 6);
  CHECK(twins.are_alike());
}

TEST_CASE("a plain ack leaves to the long way what is not as mostly") {
  Twins twins;
  Terms terms;
  terms.fair_by = FairBy::time;
  twins.both([](ScheduleFixture& q) { q.push("a", 2); });
  CHECK(twins.lease());
  CHECK(twins.lease());
  twins.both([](ScheduleFixture& q) { q.add({.tenant = "a", .key = "k"}); });
  twins.lease();
  CHECK(twins.ack(twins.leased[0]));
  CHECK(!twins.ack(twins.leased[2]));  // it has a key
  twins.both([&](ScheduleFixture& q) { q.push("a").set_terms(terms); });
  CHECK(twins.lease());
  CHECK(twins.ack(twins.leased[1]));
  CHECK(!twins.ack(twins.leased[3]));  // its tenant pays at its end
  terms.fair_by = FairBy::turns;
  twins.both([&](ScheduleFixture& q) { q.push("a").set_terms(terms); });
  CHECK(twins.lease());
  twins.both(put_into_a_pool);
  CHECK(!twins.ack(twins.leased[4]));  // a pool counts it
  CHECK(twins.are_alike());
}

}  // namespace fq::test
