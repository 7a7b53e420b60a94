// gather_test - which messages become a batch, and when.

// System.
#include <random>
// fq, below us.
#include "core/worker/jobs/gather.h"
// Tests.
#include "tests/worker/fixture.h"

namespace fq::test {

namespace {

/// Both clocks show the same.
void add(Gather& gather, size_t source, Arrival arrival, int64_t now_ms = 0) {
  gather.add(source, std::move(arrival), now_ms, now_ms);
}

}  // namespace

TEST_CASE("a batch is ready when it has as many messages as asked for") {
  Gather gather(2, 60'000);
  add(gather, 0, arrival(1));
  CHECK(gather.take_ready(0).arrivals.empty());
  add(gather, 0, arrival(2));
  CHECK(gather.next_ms() == 0);
  const Load load = gather.take_ready(0);
  CHECK(ids_of(load) == "1 2");
  CHECK(load.many);
  CHECK(gather.held() == 0);
}

TEST_CASE("a batch is due when its oldest message was pushed so long ago, whichever came first") {
  Gather gather(9, 100);
  add(gather, 0, arrival(1, "a", 2'000), 2'010);
  CHECK(gather.next_ms() == 2'100);
  add(gather, 0, arrival(2, "a", 1'950), 2'020);
  CHECK(gather.next_ms() == 2'050);
  CHECK(gather.take_ready(2'049).arrivals.empty());
  CHECK(ids_of(gather.take_ready(2'050)) == "1 2");
  CHECK(gather.next_ms() == kNever);
}

TEST_CASE("what gathers behind a clock that was set waits no longer than it may linger") {
  Gather gather(9, 100);
  gather.add(0, arrival(1, "pushed in an hour", 3'600'000), 5'000, 1'000);
  CHECK(gather.next_ms() == 5'100);
  gather.add(0, arrival(2, "pushed an hour ago", 1'000), 5'000, 3'600'000);
  CHECK(gather.next_ms() == 5'000);
  CHECK(ids_of(gather.take_ready(5'000)) == "2");
  CHECK(ids_of(gather.take_ready(5'100)) == "1");
}

TEST_CASE("a batch of one, or without a time to linger, is ready at once") {
  Gather one(1, 60'000);
  add(one, 0, arrival(1, "a", 1'000), 1'000);
  CHECK(ids_of(one.take_ready(1'000)) == "1");
  Gather hasty(9, 0);
  add(hasty, 0, arrival(1, "a", 1'000), 1'000);
  CHECK(ids_of(hasty.take_ready(1'000)) == "1");
}

TEST_CASE("the longest linger is no overflow") {
  Gather gather(9, INT64_MAX);
  add(gather, 0, arrival(1, "a", 1'000), 1'000);
  CHECK(gather.next_ms() == kNever);
  CHECK(gather.take_ready(INT64_MAX - 1).arrivals.empty());
  CHECK(ids_of(gather.take_any()) == "1");
}

TEST_CASE("what is over a batch waits for the next one, in its order") {
  Gather gather(2, 60'000);
  for (uint64_t id = 1; id <= 5; ++id) add(gather, 0, arrival(id));
  CHECK(ids_of(gather.take_ready(0)) == "1 2");
  CHECK(ids_of(gather.take_ready(0)) == "3 4");
  CHECK(gather.take_ready(0).arrivals.empty());
  CHECK(gather.held() == 1);
}

TEST_CASE("neither tenants nor queues are mixed") {
  Gather gather(2, 60'000);
  add(gather, 0, arrival(1, "a"));
  add(gather, 0, arrival(2, "b"));
  add(gather, 1, arrival(3, "a"));
  CHECK(gather.take_ready(0).arrivals.empty());
  add(gather, 1, arrival(4, "a"));
  const Load load = gather.take_ready(0);
  CHECK(load.source == 1);
  CHECK(ids_of(load) == "3 4");
}

TEST_CASE("tenants that are ready take turns, also while one of them is always ready") {
  Gather gather(1, 60'000);
  uint64_t id = 0;
  const auto busy = [&] { add(gather, 0, arrival(++id, "a")); };
  for (const char* tenant : {"b", "c"}) {
    for (int i = 0; i < 2; ++i) add(gather, 0, arrival(++id, tenant));
  }
  busy();
  std::string order;
  for (int i = 0; i < 7; ++i) {
    order += gather.take_ready(0).arrivals.at(0).delivery.tenant;
    busy();
  }
  CHECK(order == "abcabca");
}

TEST_CASE("what has ended elsewhere is dropped, and a tenant without messages is not due") {
  Gather gather(9, 100);
  add(gather, 0, arrival(1, "a", 1'000), 1'000);
  add(gather, 0, arrival(2, "b", 2'000), 2'000);
  gather.drop({"1.1"});
  gather.drop({"7.1"});
  CHECK(gather.held() == 1);
  CHECK(gather.next_ms() == 2'100);
  CHECK(ids_of(gather.take_any()) == "2");
  CHECK(gather.take_any().arrivals.empty());
}

TEST_CASE("random gathering: what goes in comes out once, in its tenant's order") {
  const uint64_t seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  Gather gather(3, 50);
  std::map<std::string, uint64_t> last;
  size_t in = 0, out = 0;
  int64_t now = 0;
  const auto check = [&](const Load& load) {
    for (const Arrival& each : load.arrivals) {
      const std::string& tenant = each.delivery.tenant;
      REQUIRE(tenant == load.arrivals[0].delivery.tenant);
      REQUIRE(number(each.delivery.id) > last[tenant]);
      last[tenant] = number(each.delivery.id);
      ++out;
    }
    REQUIRE(load.arrivals.size() <= 3);
  };
  for (int i = 0; i < 5'000; ++i) {
    now += static_cast<int64_t>(random() % 10);
    if (random() % 3 != 0) add(gather, 0, arrival(++in, std::to_string(random() % 20), now), now);
    if (random() % 2 != 0) check(gather.take_ready(now));
    REQUIRE(gather.held() == in - out);
  }
  for (Load load = gather.take_any(); !load.arrivals.empty(); load = gather.take_any()) check(load);
  CHECK(in == out);
}

}  // namespace fq::test
