// steps_beside_test - the same as steps_test, of calls that are not made for every message: schedules, steps
// and output of jobs, edits, exports, what has ended, who works; and of a queue as a whole.
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
void load_schedules(Scene& s, size_t count) {
  std::vector<ScheduleDefinition> all(count);
  for (size_t i = 0; i < count; ++i) {
    all[i].name = "f" + std::to_string(i);
    all[i].spec = "every 1h";
    all[i].message.payload = as_bytes("x");
  }
  REQUIRE(schedules(s).load(all).ok());
}

/// A run of one more message, which is followed to its end.
void run_and_follow(Scene& s) {
  const std::string text = "what it says";
  s.q.push("y", Durability::lazy, "run");
  const LeaseReply leased = s.q.lease_from(s.door(), {.hold = Hold::duration, .tenant = "run"});
  const Delivery& job = leased.deliveries.at(0);
  const std::shared_ptr<RunOutput> run = s.door().run_output(job, {1'000}).value();
  REQUIRE(run->open().ok());
  run->write(Channel::out, text);
  run->close();
  const std::unique_ptr<OutputFollower> follower = s.door().follow(job.id, {}).value();
  JobOutput output;
  output.keep_ms = 60'000;
  output.run = run;
  CHECK(s.q.settle(s.door(), {.receipt = job.receipt, .output = &output}) == SettleStatus::ok);
  std::string seen;
  for (FollowStep step = follower->next({}).value(); step.what != FollowStep::What::ended;
       step = follower->next({}).value())
    seen += step.bytes;
  CHECK(seen == text);
}

std::vector<ExportedMessage> export_all(Scene& s) {
  std::vector<ExportedMessage> all;
  for (const MessageId id : s.ids) all.push_back(s.door().exported(id).value().value());
  return all;
}
/// How many of them are new here.
uint64_t import_all(Scene& s, const std::vector<ExportedMessage>& all) {
  uint64_t taken = 0;
  for (size_t from = 0; from < all.size(); from += 64) {
    const auto some = std::span(all).subspan(from, std::min<size_t>(64, all.size() - from));
    const ImportReply reply = s.door().import_messages(some, "elsewhere").value();
    for (const ImportResult& each : reply.items) taken += each.what == ImportResult::What::imported ? 1 : 0;
  }
  return taken;
}

PushStatus push_one(Scene& s, NewMessage message) {
  message.payload = as_bytes("x");
  const auto pushed = s.door().push({&message, 1}, {.durability = Durability::lazy});
  REQUIRE(pushed.ok());
  return pushed->items.at(0).status;
}

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
           {"origin", Grows::no, [](Scene& s) { CHECK_FALSE(s.door().origin()->empty()); }},
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
           {"push --debounce", Grows::no,
            [](Scene& s) {
              const NewMessage message{.tenant = "t7", .debounce = "d", .quiet_ms = 60'000};
              CHECK(push_one(s, message) == PushStatus::accepted);
              CHECK(push_one(s, message) == PushStatus::debounced);
            }},
           {"push --after", Grows::no,
            [](Scene& s) {
              CHECK(push_one(s, {.tenant = "t7", .after = {s.ids[s.n / 2]}}) == PushStatus::accepted);
            }},
           {"run_output, follow", Grows::no, run_and_follow},
           {"pop --grouped", Grows::with_queue, [](Scene& s) { s.lease_groups(1); }},
           {"check --repair", Grows::with_queue,
            [](Scene& s) { REQUIRE(s.door().check({.repair = true}).ok()); }},
           {"backup", Grows::with_queue, [](Scene& s) { s.back_up(); }},
           {"queue rename", Grows::no, [](Scene& s) { s.rename(); }},
           {"queue remove", Grows::no, [](Scene& s) { s.remove(); }},
       }},
  };
}

std::vector<Group> exchange_groups() {
  return {
      {"to and from another",
       [](Scene& s) { s.push(100, [](NewMessage& m, size_t i) { m.priority = int(i % 9); }); },
       {
           {"exported, all", Grows::with_queue, [](Scene& s) { CHECK(export_all(s).size() == s.n); }},
           {"import_messages, all", Grows::with_queue,
            [](Scene& s) { CHECK(import_all(s, export_all(s)) == s.n); }},
           {"import_messages, all again", Grows::with_queue,
            [](Scene& s) { CHECK(import_all(s, export_all(s)) == 0); }},
           {"move, all", Grows::with_queue, [](Scene& s) { CHECK(s.move(s.ids) == s.n); }},
       }},
  };
}

std::vector<Group> told_groups() {
  return {
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
           {"schedule list", Grows::with_queue,
            [](Scene& s) {
              const size_t seen = count_pages([&](Cursor& from) {
                const SchedulePage page = schedules(s).list(from, Scene::kPage).value();
                from = page.next;
                return page.schedules.size();
              });
              CHECK(seen == schedules_of(s));
            }},
           {"schedule show", Grows::no, [](Scene& s) { CHECK(schedules(s).get("s7")->has_value()); }},
           {"schedule pause", Grows::no, [](Scene& s) { CHECK(schedules(s).pause("s7", true).value()); }},
           {"schedule resume", Grows::no, [](Scene& s) { CHECK(schedules(s).pause("s7", false).value()); }},
           {"schedule run", Grows::no, [](Scene& s) { CHECK(schedules(s).run("s7")->has_value()); }},
           {"schedule set", Grows::no, [](Scene& s) { set_schedule(s, 7, "every 2h"); }},
           {"schedule remove", Grows::no, [](Scene& s) { CHECK(schedules(s).remove("s7").value()); }},
           {"schedules of the file", Grows::with_queue, [](Scene& s) { load_schedules(s, schedules_of(s)); }},
           {"none of the file", Grows::with_queue, [](Scene& s) { load_schedules(s, 0); }},
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
           {"step", Grows::no,
            [](Scene& s) {
              const StepBegin begun = s.door().steps()->begin(s.receipts[0], "one", nullptr).value();
              REQUIRE(begun.turn);
              REQUIRE(s.door().steps()->keep(s.receipts[0], "one", as_bytes("out")).ok());
            }},
           {"step --push", Grows::no,
            [](Scene& s) {
              const NewMessage child{.tenant = "t0", .payload = as_bytes("x")};
              REQUIRE(s.door().steps()->push(s.receipts[0], "two", child).ok());
            }},
           {"step --list", Grows::no,
            [](Scene& s) {
              CHECK(s.door().steps()->list(MessageId{s.receipts[0].parts()->id})->has_value());
            }},
           {"step --wait", Grows::no,
            [](Scene& s) { REQUIRE(s.door().steps()->wait(s.receipts[0], "three", {}).ok()); }},
           {"step --sleep", Grows::no,
            [](Scene& s) { REQUIRE(s.door().steps()->sleep(s.receipts[1], "four", 5'000, 0).ok()); }},
       }},
  };
}

}  // namespace

std::vector<Group> groups_beside() {
  std::vector<Group> all;
  for (const auto& some :
       {message_groups(), exchange_groups(), told_groups(), schedule_groups(), job_groups()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

TEST_CASE("what is beside messages costs no more than they do, and holds the lock for no longer", "[steps]") {
  check_steps(groups_beside());
}

}  // namespace fq::test

#endif
