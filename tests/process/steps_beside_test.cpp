// steps_beside_test - the same as steps_test, of calls that are not made for every message: schedules, steps
// of jobs, edits, exports, what has ended, who works.
#include "tests/process/steps_rows.h"

#ifdef FQ_FAULT_POINTS

namespace fq::test {

namespace {

/// Pages of what `next` gives, to the end; how much that is.
template <class Next>
size_t count_pages(Next&& next) {
  size_t seen = 0;
  Cursor from;
  do {
    const size_t count = next(from);
    seen += count;
  } while (!from.text.empty());
  return seen;
}

size_t select_all(Scene& s, State state) {
  return count_pages([&](Cursor& from) {
    const IdPage page = s.door().select({.state = state}, from, 256).value();
    from = page.next;
    return page.ids.size();
  });
}
size_t ended(Scene& s, size_t most) {
  size_t left = most;
  return count_pages([&](Cursor& from) {
    const MessagePage page = s.door().ended({}, from, std::min(left, Scene::kPage)).value();
    left -= page.messages.size();
    from = left == 0 ? Cursor() : page.next;
    return page.messages.size();
  });
}

Schedules& schedules(Scene& s) { return *s.door().schedules(); }
void set_schedule(Scene& s, size_t i, const char* spec) {
  const std::string name = "s" + std::to_string(i);
  ScheduleDefinition one;
  one.name = name;
  one.spec = spec;
  one.message.payload = as_bytes("x");
  REQUIRE(schedules(s).set(one).ok());
}
/// Of n messages as many hundredths of schedules.
size_t schedules_of(const Scene& s) { return s.n / 100; }

std::vector<Group> message_groups() {
  return {
      {"ready, beside",
       [](Scene& s) {
         s.push(100);
         s.set("t1", PolicyKey::weight, 2'000);
       },
       {
           {"select", Grows::with_queue, [](Scene& s) { CHECK(select_all(s, State::ready) == s.n); }},
           {"select nobody's", Grows::with_queue, [](Scene& s) { CHECK(select_all(s, State::held) == 0); }},
           {"ended, of none", Grows::with_queue, [](Scene& s) { CHECK(ended(s, 10) == 0); }},
           {"attend", Grows::no, [](Scene& s) { REQUIRE(s.door().attend({.slots = 2}).ok()); }},
           {"attendees", Grows::no, [](Scene& s) { CHECK(s.door().attendees()->size() == 1); }},
           {"begin_call", Grows::no, [](Scene& s) { REQUIRE(s.door().begin_call("t").ok()); }},
           {"follow", Grows::no, [](Scene& s) { REQUIRE(s.door().follow(s.ids[s.n / 2], {}).ok()); }},
           {"policy_kept", Grows::no, [](Scene& s) { REQUIRE(s.door().policy_kept().ok()); }},
           {"exported", Grows::no, [](Scene& s) { CHECK(s.door().exported(s.ids[s.n / 2])->has_value()); }},
           {"import_messages", Grows::no,
            [](Scene& s) {
              const std::optional<ExportedMessage> one = s.door().exported(s.ids[s.n / 2]).value();
              REQUIRE(s.door().import_messages({&*one, 1}, "elsewhere").ok());
              REQUIRE(s.door().import_messages({&*one, 1}, "elsewhere").ok());
            }},
           {"edit", Grows::no,
            [](Scene& s) {
              CHECK(s.door().edit(s.ids[s.n / 2], {.payload = as_bytes("y")}).value() == SettleStatus::ok);
            }},
           {"check --repair", Grows::with_queue,
            [](Scene& s) { REQUIRE(s.door().check({.repair = true}).ok()); }},
       }},
      {"ended, and told of",
       [](Scene& s) {
         s.q.set_policy({.sync = SyncMode::lazy, .retention_ms = 3'600'000});
         s.push(100);
         s.lease_all();
         s.settle_all(Verdict::ack);
       },
       {
           {"ended -n 10", Grows::with_queue, [](Scene& s) { CHECK(ended(s, 10) == 10); }},
           {"ended", Grows::with_queue, [](Scene& s) { CHECK(ended(s, s.n) > 0); }},
           {"ended beside what waits", Grows::with_queue,
            [](Scene& s) {
              s.push(100);
              CHECK(ended(s, s.n) > 0);
            }},
           {"ended among the dead", Grows::with_queue,
            [](Scene& s) {
              s.lease_all();
              s.settle_all(Verdict::bury);
              CHECK(ended(s, 2 * s.n) > s.n);
            }},
           {"get one", Grows::with_queue, [](Scene& s) { CHECK(s.door().get(s.ids.back())->has_value()); }},
       }},
  };
}

std::vector<Group> schedule_groups() {
  return {
      {"with schedules",
       [](Scene& s) {
         s.push(1);
         for (size_t i = 0; i < schedules_of(s); ++i) set_schedule(s, i, "every 1h");
       },
       {
           {"list", Grows::with_queue,
            [](Scene& s) {
              const size_t seen = count_pages([&](Cursor& from) {
                const SchedulePage page = schedules(s).list(from, Scene::kPage).value();
                from = page.next;
                return page.schedules.size();
              });
              CHECK(seen == schedules_of(s));
            }},
           {"get", Grows::no, [](Scene& s) { CHECK(schedules(s).get("s7")->has_value()); }},
           {"pause", Grows::no, [](Scene& s) { CHECK(schedules(s).pause("s7", true).value()); }},
           {"resume", Grows::no, [](Scene& s) { CHECK(schedules(s).pause("s7", false).value()); }},
           {"run", Grows::no, [](Scene& s) { CHECK(schedules(s).run("s7")->has_value()); }},
           {"set", Grows::no, [](Scene& s) { set_schedule(s, 7, "every 2h"); }},
           {"remove", Grows::no, [](Scene& s) { CHECK(schedules(s).remove("s7").value()); }},
           {"what is due", Grows::with_queue,
            [](Scene& s) {
              s.q.clock.advance(3'700'000);
              CHECK(s.peek(State::ready, 10) == 10);
            },
            kLongHoldMax},
           {"the clock is set", Grows::with_queue,
            [](Scene& s) {
              s.q.clock.set_wall_ms(s.q.clock.wall_ms() - 172'800'000);
              CHECK(s.peek(State::ready, 10) == 10);
            }},
       }},
  };
}

std::vector<Group> job_groups() {
  return {
      {"leased, with steps",
       [](Scene& s) {
         s.push(100);
         s.lease_all();
       },
       {
           {"begin and keep", Grows::no,
            [](Scene& s) {
              const StepBegin begun = s.door().steps()->begin(s.receipts[0], "one", nullptr).value();
              REQUIRE(begun.turn);
              REQUIRE(s.door().steps()->keep(s.receipts[0], "one", as_bytes("out")).ok());
            }},
           {"push", Grows::no,
            [](Scene& s) {
              const NewMessage child{.tenant = "t0", .payload = as_bytes("x")};
              REQUIRE(s.door().steps()->push(s.receipts[0], "two", child).ok());
            }},
           {"list", Grows::no,
            [](Scene& s) {
              CHECK(s.door().steps()->list(MessageId{s.receipts[0].parts()->id})->has_value());
            }},
           {"wait", Grows::no,
            [](Scene& s) { REQUIRE(s.door().steps()->wait(s.receipts[0], "three", {}).ok()); }},
           {"sleep", Grows::no,
            [](Scene& s) { REQUIRE(s.door().steps()->sleep(s.receipts[1], "four", 5'000, 0).ok()); }},
       }},
  };
}

}  // namespace

TEST_CASE("what is beside messages costs no more than they do, and holds the lock for no longer", "[steps]") {
  check_steps(message_groups());
  check_steps(schedule_groups());
  check_steps(job_groups());
}

}  // namespace fq::test

#endif
