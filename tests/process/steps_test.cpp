// steps_test - what a call costs grows with what it does, and no hold of the state lock grows with the queue.
//
// Counted is what is looked at (core/base/step_count.h), so the tests know no clock. Each row is a call, or
// the calls that a command makes, on a queue of n messages; a new call of the door is a new row, which
// tests/tidy_test.sh asks for, and steps_commands_test has the rows of each command.
#include "tests/process/steps_rows.h"

// System.
#include <unistd.h>
// fq, below us.
#include "core/base/sort_key.h"

#ifdef FQ_FAULT_POINTS

namespace fq::test {

namespace {

/// The queue as one page after another shows it.
void peek_all(Scene& s, State state) { CHECK(s.peek(state, s.n) == s.n); }

std::vector<Row> looks() {
  return {
      {"peek -n 10", Grows::no, [](Scene& s) { s.peek(State::ready, 10); }},
      {"get", Grows::no, [](Scene& s) { CHECK(s.door().get(s.ids[s.n / 2])->has_value()); }},
      {"history", Grows::no, [](Scene& s) { REQUIRE(s.door().history(s.ids[s.n / 2], {}, 100).ok()); }},
      {"output", Grows::no, [](Scene& s) { REQUIRE(s.door().output(s.ids[s.n / 2]).ok()); }},
      {"settings", Grows::no, [](Scene& s) { REQUIRE(s.door().settings().ok()); }},
      {"policy_is_current", Grows::no, [](Scene& s) { REQUIRE(s.door().policy_is_current({}).ok()); }},
      {"maintain", Grows::no, [](Scene& s) { REQUIRE(s.door().maintain(0).ok()); }},
      {"await_end, idle", Grows::no,
       [](Scene& s) { REQUIRE(s.door().await_end({.until_idle = true, .wait_ms = 0}).ok()); }},
      {"await_end, ids", Grows::with_queue,
       [](Scene& s) { REQUIRE(s.door().await_end({.ids = s.ids, .wait_ms = 0}).ok()); }},
      {"stats", Grows::with_queue, [](Scene& s) { REQUIRE(s.door().stats({}).ok()); }},
      {"stats --tenants", Grows::with_queue,
       [](Scene& s) { REQUIRE(s.door().stats({.tenants = true}).ok()); }},
      {"stats -t", Grows::with_queue, [](Scene& s) { REQUIRE(s.door().stats({.tenant = "t0"}).ok()); }},
      {"explain", Grows::with_queue, [](Scene& s) { REQUIRE(s.door().explain({}).ok()); }},
      {"explain -t", Grows::with_queue, [](Scene& s) { REQUIRE(s.door().explain({.tenant = "t0"}).ok()); }},
      {"explain ID", Grows::with_queue,
       [](Scene& s) { REQUIRE(s.door().explain({.id = s.ids[s.n / 2]}).ok()); }},
      {"events", Grows::with_queue, [](Scene& s) { CHECK(s.walk_events() >= s.n); }},
      {"peek --state held of nobody", Grows::with_queue, [](Scene& s) { s.peek(State::held, 1, "nobody"); }},
      {"policy_overrides", Grows::with_queue, [](Scene& s) { s.walk_overrides(); }},
      {"compact", Grows::with_queue, [](Scene& s) { REQUIRE(s.door().compact().ok()); }},
      {"check", Grows::with_queue, [](Scene& s) { REQUIRE(s.door().check().ok()); }},
  };
}

std::vector<Row> with_looks(std::vector<Row> rows) {
  std::vector<Row> all = looks();
  for (Row& row : rows) all.push_back(std::move(row));
  return all;
}

std::vector<Group> ready_groups() {
  return {
      {"ready, of one tenant", [](Scene& s) { s.push(1); },
       with_looks({
           {"peek", Grows::with_queue, [](Scene& s) { peek_all(s, State::ready); }},
           {"push", Grows::no, [](Scene& s) { s.q.push("y", Durability::lazy); }},
           {"lease", Grows::no, [](Scene& s) { s.receipts.push_back(s.q.lease().receipt); }},
           {"release", Grows::no, [](Scene& s) { s.settle_all(Verdict::release); }},
           {"move", Grows::with_queue,
            [](Scene& s) {
              CHECK(s.move({&s.ids.back(), 1}) == 1);
            }},
           {"cancel -t", Grows::with_queue, [](Scene& s) { s.change(State::ready, Action::cancel, "t0"); }},
           {"peek what has ended", Grows::with_queue, [](Scene& s) { s.peek(State::dead, s.n); }},
       })},
  };
}

std::vector<Group> tenant_groups() {
  return {
      {"ready, of many tenants", [](Scene& s) { s.push(s.n); },
       with_looks({
           {"peek", Grows::with_queue, [](Scene& s) { peek_all(s, State::ready); }},
           {"tenant set", Grows::no, [](Scene& s) { s.set("t1", PolicyKey::weight, 2'000); }},
           {"queue pause", Grows::no, [](Scene& s) { s.set("", PolicyKey::paused, 1); }},
           {"peek while paused", Grows::with_queue, [](Scene& s) { peek_all(s, State::ready); }},
           {"explain while paused", Grows::with_queue, [](Scene& s) { REQUIRE(s.door().explain({}).ok()); }},
           {"is idle while paused", Grows::no,
            [](Scene& s) { REQUIRE(s.door().await_end({.until_idle = true, .wait_ms = 0}).ok()); }},
           {"cancel -t of one", Grows::with_queue,
            [](Scene& s) { s.change(State::ready, Action::cancel, "t7"); }},
           {"cancel ids", Grows::with_queue, [](Scene& s) { s.change_ids(Action::cancel); }},
       })},
  };
}

std::vector<Group> timed_groups() {
  return {
      {"delayed",
       [](Scene& s) {
         s.push(100, [](NewMessage& m, size_t i) { m.delay_ms = 3'600'000 - int64_t(i % 977); });
       },
       with_looks({
           {"peek --state delayed", Grows::with_queue, [](Scene& s) { peek_all(s, State::delayed); }},
           {"kick --state delayed", Grows::with_queue,
            [](Scene& s) { CHECK(s.change(State::delayed, Action::kick) == s.n); }},
       })},
      {"delayed and due",
       [](Scene& s) { s.push(100, [](NewMessage& m, size_t) { m.delay_ms = 1'000; }); },
       {
           {"what is due", Grows::with_queue,
            [](Scene& s) {
              s.q.clock.advance(2'000);
              CHECK(s.peek(State::ready, 10) == 10);
              REQUIRE(s.door().maintain(0).ok());
            },
            kLongHoldMax},
       }},
  };
}

std::vector<Group> leased_groups() {
  return {
      {"leased", [](Scene& s) { s.push(100), s.lease_all(); },
       with_looks({
           {"peek --state leased", Grows::with_queue, [](Scene& s) { peek_all(s, State::leased); }},
           {"extend", Grows::with_queue,
            [](Scene& s) { REQUIRE(s.door().extend(s.receipts, 900'000).ok()); }},
           {"retry", Grows::with_queue, [](Scene& s) { s.settle_all(Verdict::retry); }},
           {"lease all", Grows::with_queue, [](Scene& s) { s.lease_all(); }},
           {"bury", Grows::with_queue, [](Scene& s) { s.settle_all(Verdict::bury); }},
           {"peek --state dead", Grows::with_queue, [](Scene& s) { peek_all(s, State::dead); }},
           {"kick", Grows::with_queue, [](Scene& s) { CHECK(s.change(State::dead, Action::kick) == s.n); }},
           {"lease all again", Grows::with_queue, [](Scene& s) { s.lease_all(); }},
           {"ack", Grows::with_queue, [](Scene& s) { s.settle_all(Verdict::ack); }},
       })},
      {"leased and watched",
       [](Scene& s) {
         s.push(100);
         LeaseRequest request{.want = 512, .wait = true, .wait_ms = 0, .watch = true};
         while (!s.q.lease_from(s.door(), request).deliveries.empty()) {
         }
       },
       {
           {"hold_for_job", Grows::with_queue,
            [](Scene& s) { ::close(s.door().hold_for_job(s.ids, std::nullopt).value().value()); }},
           {"cancel by another", Grows::with_queue,
            [](Scene& s) {
              const std::unique_ptr<Queue> other = s.q.open();
              for (size_t from = 0; from < s.n; from += 100)
                REQUIRE(other->mutate(std::span(s.ids).subspan(from, 100), Action::cancel).ok());
            }},
           {"find changes of leases", Grows::with_queue,
            [](Scene& s) {
              const LeaseReply reply =
                  s.q.lease_from(s.door(), {.want = 0, .wait = true, .wait_ms = 0, .watch = true});
              CHECK(reply.changes.size() == s.n);
            }},
           {"history of what has ended", Grows::with_queue,
            [](Scene& s) { REQUIRE(s.door().history(s.ids[s.n / 2], {}, 100).ok()); }},
       }},
      {"leased by living",
       [](Scene& s) {
         s.push(100);
         s.lease_all(Hold::process);
       },
       {
           {"find changes of leases", Grows::with_queue,
            [](Scene& s) {
              REQUIRE(s.door().lease({.want = 0, .wait = true, .wait_ms = 0, .watch = true}).ok());
            }},
           {"release", Grows::with_queue, [](Scene& s) { s.settle_all(Verdict::release); }},
       }},
  };
}

std::vector<Group> ended_groups() {
  return {
      {"held after one",
       [](Scene& s) {
         const uint64_t first = s.q.push("first", Durability::lazy, "first");
         s.push(100, [&](NewMessage& m, size_t) { m.after = {MessageId{first}}; });
       },
       with_looks({
           {"peek --state held", Grows::with_queue, [](Scene& s) { peek_all(s, State::held); }},
           {"cancel -t of what others come after", Grows::with_queue,
            [](Scene& s) { CHECK(s.change(State::ready, Action::cancel, "first") == 1); }},
           {"peek what was buried for it", Grows::with_queue, [](Scene& s) { peek_all(s, State::dead); }},
       })},
      {"dead, kept for a time",
       [](Scene& s) {
         s.push(100);
         s.lease_all();
         s.settle_all(Verdict::bury);
         s.q.set_policy({.sync = SyncMode::lazy, .dead_retention_ms = 1'000});
       },
       {
           {"drop what is dead too long", Grows::with_queue,
            [](Scene& s) {
              s.q.clock.advance(10'000);
              CHECK(s.peek(State::dead, 10) == 0);
            }},
       }},
  };
}

std::vector<Group> ordered_groups() {
  return {
      {"with keys",
       [](Scene& s) {
         std::vector<std::string> keys(s.n);
         for (size_t i = 0; i < s.n; ++i) keys[i] = std::to_string(i);
         s.push(100, [&](NewMessage& m, size_t i) { m.unique = keys[i]; });
       },
       with_looks({
           {"push --unique", Grows::no,
            [](Scene& s) {
              const NewMessage again{.tenant = "t7", .payload = as_bytes("z"), .unique = "7"};
              CHECK(s.door().push({&again, 1})->items[0].status == PushStatus::duplicate);
            }},
       })},
      {"with sort keys and priorities",
       [](Scene& s) {
         std::vector<std::string> keys(s.n);
         for (size_t i = 0; i < s.n; ++i) keys[i] = encode_sort_key(std::to_string(i * 7919 % s.n)).bytes;
         s.push(10, [&](NewMessage& m, size_t i) {
           i % 2 ? void(m.key = keys[i]) : void(m.priority = int(i % 9));
         });
       },
       with_looks({
           {"peek", Grows::with_queue, [](Scene& s) { peek_all(s, State::ready); }},
           {"cancel all", Grows::with_queue,
            [](Scene& s) { CHECK(s.change(State::ready, Action::cancel) == s.n); }},
       })},
      {"in the queue's order",
       [](Scene& s) {
         s.q.set_policy({.scope = Scope::queue, .sync = SyncMode::lazy});
         s.push(s.n, [](NewMessage& m, size_t i) { m.priority = int(i % 9); });
       },
       {
           {"peek", Grows::with_queue, [](Scene& s) { peek_all(s, State::ready); }, kLongHoldMax},
           {"explain ID", Grows::with_queue,
            [](Scene& s) { REQUIRE(s.door().explain({.id = s.ids[s.n / 2]}).ok()); }, kLongHoldMax},
       }},
  };
}

std::vector<Group> policy_groups() {
  return {
      {"one of many set",
       [](Scene& s) {
         s.push(s.n);
         s.set(s.tenant(s.n - 1), PolicyKey::weight, 2'000);
       },
       {{"policy_overrides", Grows::with_queue, [](Scene& s) { CHECK(s.walk_overrides() == 1); }}}},
      {"by a policy file",
       [](Scene& s) { s.push(100); },
       {
           {"load rules", Grows::with_queue, [](Scene& s) { s.load_rules(1); }},
           {"load others", Grows::with_queue, [](Scene& s) { s.load_rules(2); }},
           {"load pools", Grows::with_queue, [](Scene& s) { s.load_pools(3); }},
           {"load pools again", Grows::with_queue, [](Scene& s) { s.load_pools(4); }},
           {"load none", Grows::with_queue, [](Scene& s) { s.load({}, 5); }},
       }},
      {"set by tenant",
       [](Scene& s) {
         s.push(s.n);
         for (size_t i = 0; i < s.n; ++i) s.set(s.tenant(i), PolicyKey::pool, 0, "p");
       },
       with_looks({
           {"pause one", Grows::no, [](Scene& s) { s.set("t1", PolicyKey::paused, 1); }},
           {"await_end, idle, while one is paused", Grows::with_queue,
            [](Scene& s) { REQUIRE(s.door().await_end({.until_idle = true, .wait_ms = 0}).ok()); }},
           {"lease until idle while one is paused", Grows::with_queue,
            [](Scene& s) {
              REQUIRE(s.door().lease({.want = 0, .wait = true, .wait_ms = 0, .until_idle = true}).ok());
            }},
           {"load a pool of many members", Grows::with_queue,
            [](Scene& s) {
              s.load({values_of({.sync = SyncMode::lazy}), {}, {{"p", {{PolicyKey::concurrency, 1, 0, {}}}}}},
                     7);
              s.q.lease();
            }},
           {"explain behind a full pool", Grows::with_queue,
            [](Scene& s) { REQUIRE(s.door().explain({}).ok()); }},
           {"peek behind a full pool", Grows::with_queue, [](Scene& s) { s.peek(State::ready, s.n); }},
       })},
      {"members of a pool below one node",
       [](Scene& s) {
         std::vector<std::string> names(s.n);
         for (size_t i = 0; i < s.n; ++i) names[i] = "top/" + s.tenant(i);
         s.push(1, [&](NewMessage& m, size_t i) { m.tenant = names[i]; });
         for (const std::string& each : names) s.set(each, PolicyKey::pool, 0, "p");
         s.load(
             {values_of({.sync = SyncMode::lazy}), {}, {{"p", {{PolicyKey::concurrency, 1'000'000, 0, {}}}}}},
             7);
         s.lease_all();
       },
       {
           {"the node joins their pool", Grows::no, [](Scene& s) { s.set("top", PolicyKey::pool, 0, "p"); }},
           {"and leaves it", Grows::no, [](Scene& s) { s.set("top", PolicyKey::pool, 0, "q"); }},
           {"settle", Grows::with_queue, [](Scene& s) { s.settle_all(Verdict::ack); }},
       }},
  };
}

}  // namespace

std::vector<Group> groups() {
  std::vector<Group> all;
  for (const auto& some : {ready_groups(), tenant_groups(), timed_groups(), leased_groups(), ended_groups(),
                           ordered_groups(), policy_groups()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

TEST_CASE("no call looks at more than n log n, nor under one hold of the lock at more in a longer queue",
          "[steps]") {
  check_steps(groups());
}

TEST_CASE("what is on its way between queues is looked for in parts", "[steps]") {
  Scene scene;
  scene.n = 100'000;
  scene.q.set_policy({.sync = SyncMode::lazy});
  scene.push(1);
  // With the segment it is lost that nothing is: the next to open the queue looks.
  const Row row{"open", Grows::with_queue, [](Scene& s) { s.q.lose_segment(); }};
  const auto [steps, shared, held] = measure(scene, row);
  CHECK(steps >= scene.n);
  CHECK(held > 0);
  CHECK(held <= kHoldMax);
}

}  // namespace fq::test

#endif
