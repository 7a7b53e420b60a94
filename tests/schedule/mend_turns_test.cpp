// mend_turns_test - turns whose links are lost are put together again from what each element says.
#include "core/schedule/look/mend_turns.h"
#include "tests/schedule/fixture.h"

namespace fq::test {

namespace {

void fill(ScheduleFixture& q, Dice& dice) {
  const char* const tenants[] = {"a", "a/x", "a/y/z", "b", "c", "d/e", "f"};
  q.load_rules({{"a*", {{PolicyKey::pool, 0, 0, "p"}}}, {"c", {{PolicyKey::pool, 0, 0, "r"}}}},
               {{"p", {{PolicyKey::concurrency, 1 + dice.roll(30), 0, {}}}},
                {"r", {{PolicyKey::concurrency, 1, 0, {}}}}});
  if (dice.roll(2) == 0) q.set_terms({.scope = Scope::queue});
  q.weigh("b", 300 + dice.roll(4'000));
  for (int i = 0; i < 150; ++i) {
    NewEntry entry{.tenant = tenants[dice.roll(7)]};
    if (dice.roll(3) == 0) entry.priority = static_cast<int32_t>(dice.roll(5));
    const std::string key(1, static_cast<char>('0' + dice.roll(10)));
    if (dice.roll(4) == 0) entry.key = key;
    q.add(entry);
    if (dice.roll(3) != 0) continue;
    const uint64_t id = q.lease();
    if (id != 0 && dice.roll(2) == 0) q.ack(id);
  }
  q.park("b");
}

/// As if every element had been copied at another moment.
void lose_links(ScheduleFixture& q, Dice& dice) {
  const Schedule schedule = q.schedule();
  const Region& region = schedule.region();
  Txn txn(Txn::Private{}, q.base(), q.header().log);
  const auto any = [&] { return dice.roll(3) == 0 ? kNoIndex : uint32_t{dice.roll(1'000'000)}; };
  for (uint32_t i = 0; i < schedule.views().slots_end(); ++i) {
    Entry& entry = region.entry(i);
    if (static_cast<SlotState>(entry.state.get()) != SlotState::ready) continue;
    txn.set(entry.prev, any());
    txn.set(entry.next, any());
    txn.set(entry.height, static_cast<uint8_t>(dice.roll(200)));
    txn.set(entry.flags, static_cast<uint8_t>(entry.flags ^ (dice.roll(2) * kEntryInTree)));
  }
  for (uint32_t i = 0; i < schedule.tenants().nodes_end(); ++i) {
    Tenant& node = region.tenant(i);
    for (Shared<uint32_t>* link :
         {&node.prev, &node.next, &node.lane.head, &node.lane.tail, &node.lane.root, &node.lane.count})
      txn.set(*link, any());
    txn.set(node.flags, static_cast<uint8_t>(node.flags ^ (dice.roll(4) * kTenantInTree)));
    if (q.root().places_used == 0) continue;
    txn.set(region.place(i).first, any());
    txn.set(region.place(i).sets, uint64_t{dice.roll(64)});
  }
}

}  // namespace

TEST_CASE("turns whose links are lost are mended to what they were") {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    Dice dice(seed);
    ScheduleFixture q;
    fill(q, dice);
    const std::string before = q.preview_ids();
    lose_links(q, dice);
    Txn txn(Txn::Private{}, q.base(), q.header().log);
    const std::vector<SlotIndex> ready = mend_turns(txn, q.schedule());
    CHECK(q.preview_ids() == before);
    CHECK(ready.size() == q.root().counts.ready);
    CHECK(q.faults().empty());
  }
}

TEST_CASE("a node that does not hang in the tree gets no seat, and its messages are told all the same") {
  ScheduleFixture q;
  q.push("a", 2).push("b/c", 3).push("d", 1);
  const Schedule schedule = q.schedule();
  const uint32_t above = static_cast<uint32_t>(*schedule.tenants().find("b"));
  for (const uint32_t parent : {kNoIndex, above}) {
    Txn txn(Txn::Private{}, q.base(), q.header().log);
    txn.set(schedule.region().tenant(above).parent, parent);
    const std::vector<SlotIndex> ready = mend_turns(txn, schedule);
    CHECK(ready.size() == 6);
    CHECK(q.preview_ids() == "1 6 2");
  }
}

}  // namespace fq::test
