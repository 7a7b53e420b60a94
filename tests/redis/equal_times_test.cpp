// equal_times_test - lists of thousands whose times are equal: each page costs the server the same, wherever
// it begins.

// System.
#include <algorithm>
#include <functional>
// Tests.
#include "tests/redis/sharded_fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

constexpr size_t kAlike = 3'000;
constexpr size_t kInPage = 50;
// Of one page: the place where it begins is found by halves, in each of two lists at the most.
constexpr uint64_t kRanges = 2 * (12 + 1);

using Page = std::function<Result<MessagePage>(const Cursor& from)>;

/// Ids of all pages; between two of them the last one that was told is cancelled.
std::vector<MessageId> walk_cancelling(const TestServer& server, Queue& queue, const Page& page) {
  std::vector<MessageId> ids;
  Cursor from;
  uint64_t most = 0;
  do {
    const uint64_t before = calls_of(server, "zrange") + calls_of(server, "zrevrangebyscore");
    const MessagePage found = answered(page(from));
    most = std::max(most, calls_of(server, "zrange") + calls_of(server, "zrevrangebyscore") - before);
    for (const MessageInfo& each : found.messages) ids.push_back(each.id);
    if (!found.messages.empty()) answered(queue.mutate({&ids.back(), 1}, Action::cancel));
    from = found.next;
  } while (!from.text.empty());
  CHECK(most <= kRanges);
  return ids;
}

}  // namespace

TEST_CASE("a page of a list is as quick near its end, though all times are equal") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  NewMessage message = message_for("t");
  Filter filter;
  Page page = [&](const Cursor& from) { return queue->peek(filter, from, kInPage); };
  bool newest_first = false;
  std::vector<MessageId> all;
  SECTION("held") {
    message.after = {push_one(*queue, "p", "parent")};
    filter.state = State::held;
  }
  SECTION("delayed until the same time") {
    message.delay_ms = 3'600'000;
    filter.state = State::delayed;
  }
  SECTION("held by living") { filter.state = State::leased; }
  SECTION("dead and ended") {
    message.keep_ms = 3'600'000;
    newest_first = true;
    page = [&](const Cursor& from) { return queue->ended(filter, from, kInPage); };
  }
  const std::vector<NewMessage> batch(500, message);
  while (all.size() < kAlike) {
    for (const auto& each : answered(queue->push(batch)).items) all.push_back(each.id);
  }
  if (filter.state == State::leased) {
    while (!answered(queue->lease({.want = kAlike})).deliveries.empty()) continue;
  }
  if (newest_first) answered(queue->mutate(all, Action::cancel));
  std::vector<MessageId> told = walk_cancelling(server, *queue, page);
  if (newest_first) std::reverse(told.begin(), told.end());
  CHECK(told == all);
}

}  // namespace fq::test
