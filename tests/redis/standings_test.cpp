// standings_test - what is made of how a server tells that tenants stand, whatever it tells.

// System.
#include <initializer_list>
#include <limits>
// fq, below us.
#include "core/redis/views/standings.h"
// Tests.
#include "tests/catch.h"

namespace fq::test {

namespace {

Reply text(std::string value) {
  Reply reply;
  reply.kind = Reply::Kind::text;
  reply.text = std::move(value);
  return reply;
}
Reply list(std::vector<Reply> items) {
  Reply reply;
  reply.kind = Reply::Kind::list;
  reply.items = std::move(items);
  return reply;
}
/// Of one that nothing keeps from its turn.
Reply stands(std::initializer_list<int64_t> weights, const std::string& served, const std::string& since_ms,
             std::vector<Reply> reasons = {}) {
  std::vector<Reply> told;
  for (const int64_t weight : weights) {
    told.emplace_back().kind = Reply::Kind::number;
    told.back().number = weight;
  }
  return list({list(std::move(reasons)), list(std::move(told)), text(served), text(since_ms)});
}
StatsRow row(std::string tenant) {
  StatsRow row;
  row.tenant = std::move(tenant);
  return row;
}

}  // namespace

TEST_CASE("tenants of one account that tell of it at different moments have shares all the same") {
  // The account left its seat between two pages, and took it again.
  for (const bool is_first : {true, false}) {
    Standings standings;
    if (is_first) standings.add(row("p/a/x"), stands({1000, 1000, 0}, "256", "5"), 10);
    standings.add(row("p/a/y"), stands({1000, 1000, 1000}, "256", "5"), 10);
    if (!is_first) standings.add(row("p/a/x"), stands({1000, 1000, 0}, "256", "5"), 10);
    const std::vector<StatsRow> rows = standings.take_rows();
    CHECK(rows.at(0).share.value() == 0);
    CHECK(rows.at(1).share.value() == 0.5);
  }
}

TEST_CASE("of several reasons that a server tells the first is told, and what nobody knows is passed over") {
  Standings standings;
  standings.add(row("t"), stands({1000}, "0", "5", {text("pool_rate"), text("what is new"), text("rate")}),
                10);
  standings.add(row("u"), stands({1000}, "0", "5", {text("what is new")}), 10);
  const std::vector<StatsRow> rows = standings.take_rows();
  CHECK(rows.at(0).blocked == Reason::Kind::rate);
  CHECK_FALSE(rows.at(1).blocked.has_value());
}

TEST_CASE("what a server tells of tenants that cannot be is no reason to fall") {
  const std::string huge = std::to_string(std::numeric_limits<uint64_t>::max());
  const Reply odd[] = {Reply(),
                       list({}),
                       stands({}, "", ""),
                       stands({-5, 0, 7}, "-1", "-1"),
                       stands({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, huge, huge),
                       stands({std::numeric_limits<int64_t>::min()}, "x", "0"),
                       list({text("paused"), text("1000"), list({}), list({})})};
  for (const int64_t now_ms : {int64_t{-1}, int64_t{0}, std::numeric_limits<int64_t>::max()}) {
    Standings standings;
    for (const Reply& each : odd) {
      for (const char* tenant : {"", "/", "a", "a/b", "a//b"}) standings.add(row(tenant), each, now_ms);
    }
    StatsRow queue;
    standings.tell(queue);
    for (const StatsRow& each : standings.take_rows()) {
      CHECK(each.share.value() >= 0);
      CHECK(each.share.value() <= 1);
      CHECK(each.oldest_ready_s.value_or(0) >= 0);
    }
  }
}

}  // namespace fq::test
