// stats_table_test - what fits on a screen of so many lines, and what is said of the rest.

// System.
#include <algorithm>
// fq, below us.
#include "cli/views/stats/stats_view.h"
#include "cli/terminal/shown.h"
#include "tests/catch.h"

using namespace fq;
using namespace fq::cli;

namespace {

QueueStats queue_with(const std::string& queue, size_t tenants) {
  QueueStats stats{queue, {}};
  for (size_t i = 0; i < tenants; ++i) {
    StatsRow& row = stats.stats.rows.emplace_back();
    row.tenant = "t" + std::to_string(i);
    row.ready = 1;
  }
  return stats;
}

std::vector<std::string> lines_of(const std::vector<QueueStats>& queues, bool tenants, size_t lines,
                                  size_t columns = 80) {
  const std::string text = stats_table(queues, tenants, {.columns = columns}, lines);
  std::vector<std::string> all;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    all.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

}  // namespace

TEST_CASE("tenants that have no line are summed up, however few lines there are") {
  const std::vector<QueueStats> one = {queue_with("q", 51)};
  CHECK(lines_of(one, true, SIZE_MAX).back() == "and 31 more: 31 ready, 0 leased, 0 dead");
  CHECK(lines_of(one, true, 22).back() == "and 31 more: 31 ready, 0 leased, 0 dead");
  const std::vector<std::string> few = lines_of(one, true, 11);
  CHECK(few.size() == 11);
  CHECK(few.back() == "and 42 more: 42 ready, 0 leased, 0 dead");
  CHECK(lines_of({queue_with("q", 10)}, true, 11).back().find("more") == std::string::npos);
  CHECK(lines_of(one, true, 1).back() == "and 50 more: 50 ready, 0 leased, 0 dead");
}

TEST_CASE("on the narrowest screen a count gives way to the names of the queues") {
  const std::vector<std::string> all =
      lines_of({queue_with("long-name-1", 1), queue_with("long-name-2", 1)}, false, SIZE_MAX, 20);
  REQUIRE(all.size() == 3);
  CHECK(all[1].starts_with("long-name-1 "));
  CHECK(all[2].starts_with("long-name-2 "));
}

TEST_CASE("several queues share the lines, and those that get none are summed up too") {
  std::vector<QueueStats> queues;
  for (const char* name : {"p", "q", "r", "s"}) queues.push_back(queue_with(name, 10));
  for (size_t lines = 4; lines < 60; ++lines) {
    const std::vector<std::string> all = lines_of(queues, true, lines);
    INFO(lines);
    CHECK(all.size() <= lines);
    uint64_t told = 0;
    for (const std::string& line : all) {
      if (line.starts_with("and ")) told += std::stoull(line.substr(4));
      if (line.size() > 1 && line[1] == ' ') ++told;
    }
    CHECK(told == 40);
  }
  CHECK(lines_of(queues, true, 8).back() == "and 20 more of other queues: 20 ready, 0 leased, 0 dead");
}

TEST_CASE("what is only delayed or held is in the sum too") {
  QueueStats queue = queue_with("q", 3);
  queue.stats.rows[1] = queue.stats.rows[2] = StatsRow();
  queue.stats.rows[1].held = 2;
  queue.stats.rows[2].delayed = 3;
  CHECK(lines_of({queue}, true, 3).back() == "and 2 more: 0 ready, 0 leased, 0 dead, 3 delayed, 2 held");
}

TEST_CASE("queues without tenants take no line") {
  CHECK(lines_of({queue_with("p", 0), queue_with("q", 1), queue_with("r", 0)}, true, 2).size() == 2);
  CHECK(lines_of({queue_with("p", 0)}, true, 2).empty());
  CHECK(lines_of({}, true, 2).empty());
  CHECK(lines_of({}, false, 2).empty());
}

TEST_CASE("a line for the rest is no wider than the screen") {
  const std::vector<QueueStats> one = {queue_with("q", 51)};
  for (size_t columns = 16; columns < 60; ++columns) {
    for (const std::string& line : lines_of(one, true, 9, columns)) CHECK(columns_of(line) <= columns);
  }
}

TEST_CASE("of queues that all fit none is left out, one line less and the rest is told") {
  std::vector<QueueStats> queues;
  for (int i = 0; i < 5; ++i) queues.push_back(queue_with("q" + std::to_string(i), 1));
  CHECK(lines_of(queues, false, 6).size() == 6);
  CHECK(lines_of(queues, false, 6).back().starts_with("q4 "));
  CHECK(lines_of(queues, false, 5).size() == 5);
  CHECK(lines_of(queues, false, 5).back() == "and 2 more queues: 2 ready, 0 leased, 0 dead");
}
