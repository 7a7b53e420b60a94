// simulate - how fast the simulator plays a load: on one core, and with nothing read or written.
#include "tests/bench/bench.h"

// fq, below us.
#include "core/simulate/invented_load.h"
#include "core/simulate/simulation.h"

namespace fq::bench {

namespace {

constexpr int kRounds = 5;
constexpr int64_t kRunMs = 10;
constexpr uint32_t kSlots = 100;

/// Ten thousand a second from so many tenants would fill a hundred slots with runs of 10 ms.
double millions_a_second(size_t tenants, double of_capacity, int64_t for_ms) {
  std::vector<LoadSpec> specs;
  for (size_t i = 0; i < tenants; ++i) {
    specs.push_back({.tenant = "tenant-" + std::to_string(i),
                     .count = static_cast<uint64_t>(of_capacity * 1'000'000 / static_cast<double>(tenants)),
                     .span_ms = 100'000,
                     .run_ms = kRunMs});
  }
  InventedLoad load = must(InventedLoad::make(specs, for_ms));
  const int64_t from_ns = now_ns();
  const Report report = Simulation(load, Policy(), kSlots, Simulation::Starts::by_turn).run();
  return static_cast<double>(report.all.count) * 1'000 / static_cast<double>(now_ns() - from_ns);
}

void measure(const Setup& setup, std::string_view name, size_t tenants, double of_capacity) {
  const auto for_ms = static_cast<int64_t>(scaled(setup, 100'000));
  std::vector<double> rounds;
  for (int i = 0; i < kRounds; ++i) rounds.push_back(millions_a_second(tenants, of_capacity, for_ms));
  const double rate = median(rounds);
  line(name, with_unit(rate, "M messages/s"), "", verdict_of(rate, {Sense::at_least, 1}));
}

}  // namespace

void bench_simulate(const Setup& setup) {
  section("The simulator: messages pushed, taken and ended");
  measure(setup, "10 tenants, slots 90 % in use", 10, 0.9);
  measure(setup, "1000 tenants, slots 90 % in use", 1'000, 0.9);
  measure(setup, "10 tenants, half as much again as can be run", 10, 1.5);
}

}  // namespace fq::bench
