// flight_test - calls that are on their way at the same time: what one server does is no matter of the
// others.
#include "tests/redis/relay.h"

// System.
#include <array>
// fq, below us.
#include "core/base/clock.h"
#include "core/redis/wire/flight.h"

namespace fq::test {

namespace {

using Echo = std::array<std::string_view, 2>;

std::shared_ptr<Server> connected(const std::string& spool) {
  return answered(Server::open(answered(parse_redis_place(spool)), ""));
}

}  // namespace

TEST_CASE("answers of a flight are those of its calls, whatever of another server is lost") {
  const TestServer one, two;
  const Relay relay(one, [](const std::string& asked) {
    return asked.find("ECHO") == std::string::npos ? std::string() : "nonsense\r\n";
  });
  const auto broken = connected(relay.spool()), whole = connected(two.spool());
  Flight flight;
  for (const std::string_view word : {"a", "b", "c"}) {
    flight.add(broken, Echo{"ECHO", word});
    flight.add(whole, Echo{"ECHO", word});
  }
  flight.exchange();
  flight.ask_for_copies(true);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(!flight.reply(2 * i).ok());
    REQUIRE(flight.reply(2 * i + 1).ok());
    CHECK(flight.reply(2 * i + 1)->text == std::string(1, static_cast<char>('a' + i)));
    CHECK(flight.has_copy(2 * i + 1));
  }
  CHECK(flight.lost() == std::vector{broken});
}

TEST_CASE("servers that hang cost a flight the time of one, whatever was asked of each") {
  constexpr int64_t kCallMs = 2'000;
  TestServer one, two, three;
  const auto hung = connected(one.spool("?timeout=2s")), other = connected(two.spool("?timeout=2s"));
  const auto whole = connected(three.spool("?timeout=2s"));
  one.stop();
  two.stop();
  Flight flight;
  for (const auto& server : {hung, other, hung, other, whole}) flight.add(server, Echo{"ECHO", "x"});
  const int64_t began_ms = system_clock().boot_ms();
  flight.exchange();
  const int64_t took_ms = system_clock().boot_ms() - began_ms;
  CHECK((took_ms >= kCallMs - 10 && took_ms < 2 * kCallMs));
  CHECK(flight.reply(4).ok());
  CHECK(flight.lost() == std::vector{hung, other});
}

}  // namespace fq::test
