// Which message of a tenant goes first, and what comes back to its old place.
#include "tests/schedule/fixture.h"

// System.
#include <map>

namespace fq::test {

TEST_CASE("plain messages are served as they were accepted, without a tree") {
  ScheduleFixture q;
  q.push("a", 6);
  CHECK(q.tenant("a").lane.root == kNoIndex);
  CHECK(q.serve_ids() == "1 2 3 4 5 6");
}

TEST_CASE("keyed messages go before others, then higher priority, then older") {
  ScheduleFixture q;
  q.add({.tenant = "a"});
  q.add({.tenant = "a", .priority = 5});
  q.add({.tenant = "a", .priority = -1});
  q.add({.tenant = "a", .priority = 9});
  q.add({.tenant = "a", .key = "b"});
  q.add({.tenant = "a", .key = "ab"});
  q.add({.tenant = "a", .key = "a"});
  q.add({.tenant = "a", .key = "ab", .priority = 3});
  q.add({.tenant = "a", .priority = 5});
  CHECK(q.faults().empty());
  CHECK(q.preview_ids() == "7 8 6 5 4 2 9 1 3");
  CHECK(q.serve_ids() == "7 8 6 5 4 2 9 1 3");
}

TEST_CASE("a prioritised message does not push plain ones out of the list") {
  ScheduleFixture q;
  q.push("a", 3).add({.tenant = "a", .priority = 1});
  q.push("a", 3);
  q.add({.tenant = "a", .priority = -4});
  q.push("a", 3);
  CHECK(q.entry(4).flags == kEntryInTree);
  for (const uint64_t plain : {1u, 3u, 5u, 7u, 9u, 10u, 11u})
    CHECK((q.entry(plain).flags & kEntryInTree) == 0);
  CHECK(q.serve_ids() == "4 1 2 3 5 6 7 9 10 11 8");
}

TEST_CASE("long keys are compared over all their bytes") {
  ScheduleFixture q;
  const std::string common(60, 'k');
  const std::string keys[] = {common + "b", common + "a", common, common + "a" + '\0',
                              std::string("\xff", 1)};
  for (const auto& key : keys) q.add({.tenant = "a", .key = key, .priority = -7});
  CHECK(q.schedule().views().key_of(q.slot(4)) == keys[3]);
  CHECK(q.schedule().views().priority_of(q.slot(4)) == -7);
  CHECK(q.serve_ids() == "3 2 4 1 5");
  CHECK(q.root().text_supply.used == text_cells(1));
}

TEST_CASE("what is given back, kicked or due takes its old place") {
  ScheduleFixture q;
  q.push("a", 5);
  CHECK(q.lease() == 1);
  CHECK(q.lease() == 2);
  CHECK(q.lease() == 3);
  q.give_back(2);
  q.give_back(1, true, 2000);
  q.bury(3);
  CHECK(q.preview_ids() == "2 4 5");
  q.wait_until(2000);
  q.kick(3);
  CHECK(q.faults().empty());
  CHECK(q.serve_ids() == "1 2 3 4 5");
}

TEST_CASE("the last attempt that counts makes a message dead") {
  ScheduleFixture q;
  q.add({.tenant = "a", .attempts_max = 3});
  CHECK(q.lease("", kNever, 9) == 1);
  CHECK_FALSE(q.give_back(1, true));
  CHECK(q.lease("", kNever, 9) == 1);
  CHECK_FALSE(q.give_back(1, false));
  CHECK(q.lease("", kNever, 9) == 1);
  CHECK_FALSE(q.give_back(1, true));
  CHECK(q.lease("", kNever, 9) == 1);
  CHECK(q.give_back(1, true));
  CHECK(state_of(q.entry(1)) == SlotState::dead);
  CHECK(q.root().counts.dead == 1);
  q.kick(1);
  CHECK(q.entry(1).attempts == 0);
  CHECK(q.faults().empty());
}

TEST_CASE("the queue's attempts hold for messages without their own") {
  ScheduleFixture q;
  q.push("a");
  CHECK(q.lease("", kNever, 1) == 1);
  CHECK(q.give_back(1, true));
}

TEST_CASE("counts of a message and of a tenant that have reached their most stay there") {
  ScheduleFixture q;
  q.push("a");
  const auto set_to_most = [&](const Shared<uint32_t>& count) {
    q.change([&](Schedule&, Txn& txn) { txn.set(const_cast<Shared<uint32_t>&>(count), UINT32_MAX); });
  };
  set_to_most(q.entry(1).deliveries);
  const Tenant& tenant = q.tenant("a");
  for (const Shared<uint32_t>* each :
       {&tenant.retried, &tenant.released, &tenant.buried, &tenant.expired, &tenant.cancelled})
    set_to_most(*each);
  q.lease();
  q.give_back(1, true);
  q.lease();
  q.give_back(1, false);
  q.lease();
  q.bury(1);
  CHECK(q.entry(1).deliveries == UINT32_MAX);
  q.change([&](Schedule& s, Txn& txn) {
    s.messages().finish(txn, q.slot(1), RecordType::cancelled, {9, q.now, 77});
  });
  q.add({.tenant = "a", .extra = true, .ttl_ms = 5});
  CHECK(q.wait_until(q.now + 5) == 1);
  for (const uint32_t each : {tenant.retried.get(), tenant.released.get(), tenant.buried.get(),
                              tenant.expired.get(), tenant.cancelled.get()})
    CHECK(each == UINT32_MAX);
  CHECK(q.faults().empty());
}

TEST_CASE("counts say what happened") {
  ScheduleFixture q;
  q.push("a", 4);
  for (int i = 0; i < 4; ++i) q.lease();
  q.give_back(1, true);
  q.give_back(2, false);
  q.bury(3);
  q.ack(4);
  q.change([&](Schedule& s, Txn& txn) {
    s.messages().finish(txn, q.slot(3), RecordType::cancelled, {9, q.now, 77});
  });
  const RootCounters& counters = q.root().counters;
  CHECK(counters.pushed == 4);
  CHECK(counters.popped == 4);
  CHECK(counters.retried == 1);
  CHECK(counters.released == 1);
  CHECK(counters.buried == 1);
  CHECK(counters.acked == 1);
  CHECK(counters.cancelled == 1);
  CHECK(q.tenant("a").cancelled == 1);
  Counts later = q.schedule().past().counts();
  ++later.recoveries;
  q.change([&](Schedule& s, Txn& txn) { s.past().set_counts(txn, later); });
  CHECK(q.schedule().past().counts() == later);
  CHECK(q.schedule().past().outcome(MessageId{3})->verdict == RecordType::cancelled);
  CHECK(q.schedule().past().outcome(MessageId{3})->at_wall_ms == 77);
  CHECK_FALSE(q.schedule().past().outcome(MessageId{1}).has_value());
}

TEST_CASE("waiting and running times are noted once a delivery and an end") {
  ScheduleFixture q;
  q.push("a");
  q.now += 100;
  q.lease();
  q.now += 9;
  q.ack(1);
  CHECK(histogram_percentile_ms(q.root().wait, 0.5) == 100);
  CHECK(histogram_percentile_ms(q.root().run, 0.5) == 9);
  CHECK(histogram_percentile_ms(q.tenant("a").wait, 0.99) == 100);
}

TEST_CASE("a preview is what is then served, with everything mixed") {
  const uint32_t seed = GENERATE(range(1u, 16u));
  Dice dice(seed);
  ScheduleFixture q;
  const std::string names[] = {"a", "b", "c/x", "c/y", "c", "d/e/f", "d/e", "d/e/g", "e"};
  for (int i = 0; i < 300; ++i) {
    const std::string key(dice.roll(4) == 0 ? std::string(1, static_cast<char>('a' + dice.roll(3))) : "");
    q.add({.tenant = names[dice.roll(9)], .key = key, .priority = static_cast<int32_t>(dice.roll(3)) - 1});
    if (dice.roll(3) == 0) q.lease();
    if (dice.roll(30) == 0) q.weigh(q.tenant_of(q.last_id), 100 + dice.roll(4000));
  }
  INFO("seed " << seed);
  CHECK(q.faults().empty());
  const std::string top(dice.roll(2) == 0 ? "" : "d");
  if (!q.schedule().tenants().find(top)) return;
  const std::string foreseen = q.preview_ids(top);
  CHECK(foreseen == q.preview_ids(top));
  CHECK(foreseen == q.serve_ids(top));
  CHECK(q.faults().empty());
}

}  // namespace fq::test
