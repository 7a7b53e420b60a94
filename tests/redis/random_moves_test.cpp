// random_moves_test - moves between queues of many shards of which many stop anywhere, and go on when others
// may have finished them.
//
// FQ_SEED=n runs one again, FQ_LONG ten times as many steps.
#include "tests/redis/moves_fixture.h"

// System.
#include <cstdio>
#include <map>
#include <random>
// Tests.
#include "tests/knobs.h"

namespace fq::test {

TEST_CASE("random moves between queues of many shards, stopped and repeated, lose and double nothing") {
  const uint64_t seed = seed_of_run();
  std::printf("moves: FQ_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t n) { return random() % n; };
  Two two(16, 16);
  std::map<std::string, int> pushed;
  std::vector<MessageId> ids;
  std::vector<Stalled> all;
  const auto serve = [&](Queue& queue, size_t want) {
    for (const Delivery& each : answered(queue.lease(for_a_minute(want))).deliveries) {
      CHECK(settled(queue, each) == 1);
      ++pushed[answered(each.payload.read_all())];
    }
  };
  const uint64_t steps = is_long_form() ? 3'000 : 300;
  for (uint64_t i = 0; i < steps; ++i) {
    switch (below(8)) {
      case 0:
      case 1: {
        const std::string payload = "m" + std::to_string(i);
        pushed[payload] = 0;
        ids.push_back(push_one(*two.from, "t" + std::to_string(below(20)), payload));
        break;
      }
      case 2:
        if (!ids.empty()) answered(two.from->move({&ids[below(ids.size())], 1}, {"to", {}}));
        break;
      case 3:
      case 4: {
        if (ids.empty()) break;
        Stalled& one = all.emplace_back(two.stalled(ids[below(ids.size())], "token" + std::to_string(i)));
        if (one.send() != "sent") all.pop_back();
        break;
      }
      case 5: {
        if (all.empty()) break;
        Stalled& one = all[below(all.size())];
        const auto [said, id_there] = one.take();
        if (below(2) == 0) break;
        if (said == "taken") one.leave(id_there);
        if (said != "taken") answered(one.here().change("crossing", {"back", one.name(), one.token}));
        const uint64_t more = below(3);
        if (more > 0) one.forget();
        if (more > 1) one.done();
        // As any client that was told where it is, it takes it no second time.
        all.erase(all.begin() + (&one - all.data()));
        break;
      }
      case 6:
        serve(below(2) == 0 ? *two.from : *two.to, 1 + below(5));
        break;
      default:
        two.clock.advance(static_cast<int64_t>(below(20'000)));
    }
  }
  two.clock.advance(kPatienceMs);
  serve(*two.from, 1000);
  for (Stalled& each : all) static_cast<void>(each.take());  // too late
  two.clock.advance(kPatienceMs);
  serve(*two.from, 1000);
  serve(*two.to, 1000);
  for (const auto& [payload, count] : pushed) {
    INFO(payload);
    CHECK(count == 1);
  }
  two.is_over();
}

}  // namespace fq::test
