// fixture - recordings told in a few words, and loads played to the scheduler.
#pragma once

// System.
#include <string>
// fq, below us.
#include "core/simulate/invented_load.h"
#include "core/simulate/recording.h"
#include "core/simulate/simulation.h"
#include "tests/catch.h"

namespace fq::test {

inline constexpr int64_t kNoon = 1'800'000'000'000;

/// What happened, in the order in which it is told; times are milliseconds after noon.
class Story {
 public:
  Story& push(uint64_t id, std::string_view tenant, int64_t at_ms, int64_t due_ms = 0) {
    Event event = about("pushed", id, tenant, at_ms);
    event.bytes = 1;
    if (due_ms != 0) event.due_wall_ms = kNoon + due_ms;
    return add(event);
  }
  Story& start(uint64_t id, std::string_view tenant, int64_t at_ms) {
    return add(about("leased", id, tenant, at_ms));
  }
  Story& end(std::string_view word, uint64_t id, std::string_view tenant, int64_t at_ms, int64_t due_ms = 0) {
    Event event = about(word, id, tenant, at_ms);
    if (due_ms != 0) event.due_wall_ms = kNoon + due_ms;
    return add(event);
  }
  /// A whole run that is acked.
  Story& run(uint64_t id, std::string_view tenant, int64_t from_ms, int64_t to_ms) {
    return start(id, tenant, from_ms).end("acked", id, tenant, to_ms);
  }
  Story& set(std::string_view tenant, PolicyKey key, int64_t number, int64_t at_ms) {
    const PolicyPatch patch{{{key, number, 0, {}}}, {}};
    Event event = about("set", 0, tenant, at_ms);
    event.set = &patch;
    return add(event);
  }
  Story& add(const Event& event) {
    recording.add(event);
    return *this;
  }
  static Event about(std::string_view word, uint64_t id, std::string_view tenant, int64_t at_ms) {
    Event event;
    event.event = word;
    event.at_wall_ms = kNoon + at_ms;
    event.id = MessageId{id};
    event.tenant = tenant;
    return event;
  }

  Report as_it_was(const Policy& policy = {}) {
    return Simulation(recording, policy, 1, Simulation::Starts::as_recorded).run();
  }
  Report by_turn(uint32_t slots = 1, const Policy& policy = {}) {
    return Simulation(recording, policy, slots, Simulation::Starts::by_turn).run();
  }
  Story& finish() {
    recording.finish();
    return *this;
  }

  Recording recording;
};

/// Of a tenant: "3 0/2/2", how many messages, and p50, p99 and longest wait; "0" without one.
inline std::string waits(const Report& report, const std::string& tenant) {
  for (const TenantFigures& each : report.tenants) {
    if (each.tenant != tenant) continue;
    if (!each.wait) return std::to_string(each.count);
    return std::to_string(each.count) + " " + std::to_string(each.wait->p50_ms) + "/" +
           std::to_string(each.wait->p99_ms) + "/" + std::to_string(each.wait->max_ms);
  }
  return "nobody";
}

inline const TenantFigures& figures_of(const Report& report, const std::string& tenant) {
  for (const TenantFigures& each : report.tenants)
    if (each.tenant == tenant) return each;
  FAIL("no tenant " << tenant);
  return report.all;
}

inline Policy weight(const std::string& tenant, int64_t milli) {
  return {{}, {{tenant, {{PolicyKey::weight, milli, 0, {}}}}}, {}};
}

inline Report simulated(const std::vector<LoadSpec>& specs, uint32_t slots = 1, const Policy& policy = {},
                        int64_t for_ms = 3'600'000) {
  Result<InventedLoad> load = InventedLoad::make(specs, for_ms);
  REQUIRE(load.ok());
  return Simulation(*load, policy, slots, Simulation::Starts::by_turn).run();
}

}  // namespace fq::test
