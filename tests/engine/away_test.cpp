// away_test - what is told of parts of queues that are away: of each queue by itself, of each kind by itself.
#include "core/api/away.h"

// System.
#include <string>
#include <vector>
// Tests.
#include "tests/catch.h"

namespace fq {

TEST_CASE("parts of several queues that are away are told by queue, and what is lost apart from what is away") {
  AwayList away;
  CHECK(away.is_empty());
  CHECK(away.text().empty());
  away.note("b", 7, {"h:2", "it does not answer"}, 16);
  away.note("a", 7, {"h:1", "it does not answer"}, 4);
  away.note("b", 3, {"h:3", "h:3 has lost it", true}, 16);
  away.note("b", 3, {"h:3", "h:3 has lost it", true}, 16);
  away.note("b", 9, {"h:4", "it is busy"}, 16);
  REQUIRE(away.texts() == std::vector<std::string>{
                              "queue 'a': 1 of 4 shards cannot be reached (h:1: it does not answer)",
                              "queue 'b': 2 of 16 shards cannot be reached (h:2: it does not answer), and "
                              "1 of 16 shards cannot be served (h:3 has lost it)"});
  CHECK(away.text() == away.texts()[0] + "; " + away.texts()[1]);
}

TEST_CASE("one lost part of any queue is known to be lost, and none is when all are forgotten") {
  AwayList away;
  away.note("a", 0, {"h:1", "it does not answer"}, 4);
  CHECK(!away.is_any_lost());
  away.note("b", 0, {"", "h:1 has lost it", true}, 4);
  CHECK(away.is_any_lost());
  REQUIRE(away.texts().size() == 2);
  CHECK(away.texts()[1] == "queue 'b': 1 of 4 shards cannot be served (h:1 has lost it)");
  away.clear();
  CHECK(away.is_empty());
  CHECK(!away.is_any_lost());
}

}  // namespace fq
