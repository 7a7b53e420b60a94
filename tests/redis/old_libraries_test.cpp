// old_libraries_test - what other builds of fq have left on servers: it stays while it is used, by whomever,
// and is told of and deleted when it is not.

// System.
#include <algorithm>
#include <set>
// fq, below us.
#include "core/redis/wire/redis_place.h"
// Tests.
#include "tests/redis/on_cluster.h"
#include "tests/redis/other_build.h"
#include "tests/redis/sharded_fixture.h"

namespace fq::test {

namespace {

constexpr int64_t kADay = 86'400'000;

template <class Where>
std::set<std::string> libraries_on(const Where& server) {
  std::set<std::string> names;
  for (const Reply& each : command(server, {"FUNCTION", "LIST"}).items) names.insert(each.at(1).text);
  return names;
}

/// Of this build, and two others, which were used once.
struct Builds {
  Builds() : queue(open_on(told_time_engine(), server.spool(), &clock)) {
    use(a);
    use(b);
  }
  void use(const OtherBuild& build, const std::string& options = {}) {
    push_one(*open_on(build.engine(), server.spool(options), &clock), "t", "x");
  }
  uint64_t compacted() { return answered(queue->compact()).libraries_gone.value(); }
  bool has(const OtherBuild& build) const { return libraries_on(server).contains(build.name()); }

  FakeClock clock;
  TestServer server;
  const OtherBuild a{'a'}, b{'b'};
  std::unique_ptr<Queue> queue;
};

}  // namespace

TEST_CASE("libraries that nobody has used for 30 days are deleted, and no others") {
  Builds s;
  s.clock.advance(29 * kADay);
  s.use(s.b);
  CHECK(s.compacted() == 0);
  s.clock.advance(2 * kADay);
  CHECK(s.compacted() == 1);
  CHECK(!s.has(s.a));
  CHECK(s.has(s.b));
  CHECK(libraries_on(s.server).contains(std::string(told_time_library().name)));
  CHECK(command(s.server, {"HEXISTS", "fq1:fq:lib", s.a.name()}).number == 0);
  s.clock.advance(27 * kADay);
  CHECK(s.compacted() == 0);
  s.clock.advance(kADay);
  CHECK(s.compacted() == 1);
  CHECK(libraries_on(s.server).size() == 1);
}

TEST_CASE("who only looks uses its library") {
  Builds s;
  const auto looking = open_on(s.a.engine(), s.server.spool(), &s.clock);
  s.clock.advance(29 * kADay);
  answered(looking->stats({}));
  s.clock.advance(2 * kADay);
  CHECK(s.compacted() == 1);
  CHECK(s.has(s.a));
}

TEST_CASE("a server that was started anew knows by what was noted, and waits for those of whom nothing was") {
  Builds s;
  s.clock.advance(20 * kADay);
  s.use(s.b);
  s.clock.advance(kADay);
  s.use(s.b, "?prefix=other");  // of which this prefix hears nothing
  command(s.server, {"SAVE"});
  s.server.kill();
  s.server.start();
  s.queue = open_on(told_time_engine(), s.server.spool(), &s.clock);
  push_one(*s.queue, "t", "x");
  s.clock.advance(11 * kADay);
  // Nobody else of it knows when they were used: they count as used when that is asked first.
  CHECK(s.compacted() == 0);
  s.clock.advance(6 * kADay);
  CHECK(s.compacted() == 0);
  s.clock.advance(kADay);
  CHECK(s.compacted() == 1);
  CHECK(!s.has(s.a));
  s.clock.advance(13 * kADay);
  CHECK(s.compacted() == 1);
  CHECK(!s.has(s.b));
}

TEST_CASE("a library stays while somebody of another prefix uses it") {
  Builds s;
  for (int i = 0; i < 10; ++i) {
    s.clock.advance(4 * kADay);
    s.use(s.a, "?prefix=other");
  }
  CHECK(s.compacted() == 1);
  CHECK(s.has(s.a));
}

TEST_CASE("a library that does not tell when it was used stays") {
  Builds s;
  const std::string strange = "fq_" + std::string(16, 'c');
  const std::string text =
      "#!lua name=" + strange + "\nredis.register_function('" + strange + "_push', function() return 1 end)";
  command(s.server, {"FUNCTION", "LOAD", text});
  command(s.server,
          {"FUNCTION", "LOAD",
           "#!lua name=fq_other\nredis.register_function('fq_other_used', function() return '1' end)"});
  s.clock.advance(100 * kADay);
  CHECK(s.compacted() == 2);
  CHECK(libraries_on(s.server).size() == 3);
}

TEST_CASE("who comes with a library that was deleted has it again, in the middle of all that it does") {
  Builds s;
  auto old = open_on(s.a.engine(), s.server.spool(), &s.clock);
  const auto gone = [&] {
    command(s.server, {"FUNCTION", "DELETE", s.a.name()});
    return 1;
  };
  NewMessage message;
  message.tenant = "t";
  gone(), answered(old->push({&message, 1}));
  LeaseRequest request;
  request.want = 2;
  request.hold = Hold::process;
  request.watch = true;
  gone();
  const LeaseReply leased = answered(old->lease(request));
  REQUIRE(leased.deliveries.size() == 2);
  gone(), answered(old->stats({}));
  gone(), answered(old->attend({.slots = 2}));
  gone();
  const auto run = answered(old->run_output(leased.deliveries[0], {100, true}));
  gone(), answered(run->open());
  const Settle ack{leased.deliveries[0].receipt, Verdict::ack};
  gone();
  const SettleReply settled = answered(old->settle({&ack, 1}, &request));
  CHECK(settled.items.at(0) == SettleStatus::ok);
  gone();
  const MessageId id = leased.deliveries[1].id;
  CHECK(answered(old->get(id)));
  gone(), answered(old->mutate({&id, 1}, Action::cancel));
  gone();
  CHECK(answered(old->check({})).findings.empty());
  gone();
  CHECK(answered(old->check({.repair = true})).findings.empty());
  gone(), answered(old->compact());
  const Location location{s.server.spool(), "default"};
  gone(), answered(s.a.engine().create(location, {}));
  s.queue.reset();
  old.reset();
  gone(), answered(s.a.engine().rename(location, "other"));
}

TEST_CASE("doctor tells how many libraries of others there are, and which are old") {
  Builds s;
  const auto row = [&] {
    for (DoctorRow& each : real_time_engine().examine(s.server.spool(), "default")) {
      if (each.about == "libraries") return each;
    }
    return DoctorRow();
  };
  // By the clock of those that were used.
  const DoctorRow old = row();
  CHECK(old.health == Health::warning);
  CHECK(old.found.find("3 libraries of other versions of fq, not used for 30 days: ") != std::string::npos);
  CHECK(old.found.find(" " + s.a.name()) != std::string::npos);
  CHECK(old.advice.find("fq compact") != std::string::npos);
  s.clock.advance(system_clock().wall_ms() - s.clock.boot_ms());
  s.use(s.a);
  s.use(s.b);
  push_one(*s.queue, "t", "x");
  CHECK(row().health == Health::ok);
  CHECK(row().found.ends_with(": 3 libraries of other versions of fq"));
}

TEST_CASE("old libraries are deleted from all servers of a cluster") {
  FakeClock clock;
  const OtherBuild old('e');
  const std::string spool = three().spool("?prefix=" + new_prefix());
  answered(old.engine().load(spool));
  answered(told_time_engine().create({spool, "default"}, {.shards = 4}));
  auto queue = open_on(told_time_engine(), spool, &clock);
  CHECK(answered(queue->compact()).libraries_gone == 0);
  clock.advance(30 * kADay);
  CHECK(answered(queue->compact()).libraries_gone == 1);
  for (size_t i = 0; i < three().size(); ++i) CHECK(!libraries_on(three().node(i)).contains(old.name()));
  queue.reset();
  answered(told_time_engine().remove({spool, "default"}));
}

}  // namespace fq::test
