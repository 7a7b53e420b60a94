// The simulator: what it reads, that it does what it says, and the example files.
#include "tests/schedule/simulation.h"

// System.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace fq::test {
namespace {

std::string fault_of(const std::string& text) {
  try {
    parse_scenario(text);
    return "none";
  } catch (const std::runtime_error& fault) {
    return fault.what();
  }
}

}  // namespace

TEST_CASE("a scenario is what its lines say, and its text says the same again") {
  const std::string text =
      "slots 4\nseed 9\nfair_by bytes\nstop 1m\nrule a*/b weight 2.500 rate 10/1s\n"
      "at 1s push x{} 3 run 5ms..20ms bytes 1..9 delay 1s fails 2 every 10s times 3 tenants 2\n"
      "at 0s set a concurrency 2 burst 5\nat 2s set - paused yes\nat 3s unset - paused\n";
  CHECK(to_text(parse_scenario("# a comment\n\n" + text)) == text);
}

TEST_CASE("a line that is wrong is named, with what is wrong") {
  CHECK(fault_of("slots 1\nslot 2") == "line 2: 'slot' is not known");
  CHECK(fault_of("slots") == "line 1: a count is missing");
  CHECK(fault_of("slots -1") == "line 1: '-1' is not a count");
  CHECK(fault_of("slots 1 2") == "line 1: '2' is too much");
  CHECK(fault_of("at 5 push a 1") == "line 1: '5' is not a duration");
  CHECK(fault_of("at 0s pull a 1") == "line 1: 'pull' is neither push nor set nor unset");
  CHECK(fault_of("at 0s push a 1 run 5ms..1ms") == "line 1: '5ms..1ms' runs backwards");
  CHECK(fault_of("at 0s push a 1 walk 5ms") == "line 1: 'walk' is not known");
  CHECK(fault_of("at 0s set a") == "line 1: nothing is set");
  CHECK(fault_of("at 0s set a weight") == "line 1: the value of weight is missing");
  CHECK(fault_of("at 0s set a weight 0.05") == "line 1: '0.05' is not a weight");
  CHECK(fault_of("at 0s set a rate 5") == "line 1: '' is not a duration");
  CHECK(fault_of("at 0s set a colour 5") == "line 1: 'colour' cannot be set");
}

TEST_CASE("time jumps to what happens next, and figures are of virtual time") {
  Simulation simulation = simulated(
      "at 0s push a 2 run 30m\n"
      "at 0s push b 1 run 10m\n"
      "at 1h push b 1 run 1m delay 1h\n");
  // a to 0:30, b to 0:40, a to 1:10; b again from 2:00.
  CHECK(simulation.queue().now - simulation.started_at_ms() == 121 * 60'000);
  CHECK(simulation.tenants()[0].waits_ms == std::vector<int64_t>{0, 40 * 60'000});
  CHECK(simulation.tenants()[1].waits_ms == std::vector<int64_t>{30 * 60'000, 0});
  CHECK(simulation.turns().find("a")->run_ms == 60u * 60'000);
  CHECK(simulation.turns().nodes()[0].turns == 4);
}

TEST_CASE("the same scenario runs the same each time") {
  const std::string text = "slots 3\nseed 5\nat 0s push a 50 run 1ms..50ms\nat 0s push b 50 run 1ms..50ms\n";
  CHECK(simulated(text).report() == simulated(text).report());
}

TEST_CASE("each example of a scenario runs to its end in seconds, the bound kept and nothing damaged") {
  const auto folder = std::filesystem::path(FQ_SOURCE) / "tests/schedule/simulations";
  size_t files = 0;
  for (const auto& each : std::filesystem::directory_iterator(folder)) {
    ++files;
    INFO(each.path().filename().string());
    std::ifstream in(each.path());
    std::ostringstream text;
    text << in.rdbuf();
    Simulation simulation = simulated(text.str());
    CHECK(simulation.turns().breaches().empty());
    CHECK(simulation.turns().windows() > 100);
    CHECK(simulation.queue().faults().empty());
  }
  CHECK(files >= 4);
}

}  // namespace fq::test
