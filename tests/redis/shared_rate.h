// shared_rate - what the tests share of how often messages of a queue of many shards may start.
#pragma once

// System.
#include <string>
#include <vector>
// Tests.
#include "tests/redis/shared_room.h"

namespace fq::test {

inline PolicyPatch rate(int64_t count, int64_t span_ms, int64_t burst = 1) {
  return {{{PolicyKey::rate, count, span_ms, {}}, {PolicyKey::burst, burst, 0, {}}}, {}};
}
inline PolicyPatch no_rate() { return {{}, {PolicyKey::rate, PolicyKey::burst}}; }

inline Policy rated_pool(int64_t count, int64_t span_ms, int64_t burst) {
  return {{}, {}, {{"p", {{PolicyKey::rate, count, span_ms, {}}, {PolicyKey::burst, burst, 0, {}}}}}};
}

/// A queue of several shards, by a time that is told.
struct Rated {
  explicit Rated(uint32_t shards = 4) : s(shards, told_time_engine(), &clock) {}

  void fill(int tenants, int each) {
    for (int i = 0; i < tenants; ++i) {
      for (int k = 0; k < each; ++k) push_one(*s.queue, tenant(i), "x");
    }
  }
  size_t started(size_t want = 20) {
    LeaseRequest request = for_a_minute(want);
    request.hold_ms = 86'400'000;
    return answered(s.queue->lease(request)).deliveries.size();
  }
  size_t started_of(const std::string& tenant, size_t want = 1) {
    LeaseRequest request = for_a_minute(want);
    request.tenant = tenant;
    return answered(s.queue->lease(request)).deliveries.size();
  }
  LeaseReply look() {
    LeaseRequest request;
    request.look = true;
    return answered(s.queue->lease(request));
  }

  FakeClock clock;
  Sharded s;
};

}  // namespace fq::test
