// set_clock_test - pushes that are under way while the wall clock is set: their delays go by the time since
// boot.

// Tests.
#include "tests/process/late_clock.h"

namespace fq::test {

namespace {

constexpr int64_t kClockMinuteMs = 60'000;
constexpr int64_t kClockHourMs = 60 * kClockMinuteMs;

int64_t due_in_minutes(Queue& queue, uint64_t id, Clock& clock) {
  const Result<std::optional<MessageInfo>> found = queue.get(MessageId{id});
  REQUIRE((found.ok() && *found && (*found)->due_at_wall_ms));
  return (*(*found)->due_at_wall_ms - clock.wall_ms() + kClockMinuteMs / 2) / kClockMinuteMs;
}

/// A push that is delayed by an hour and stops at `point`, where another process sees that the clock was set.
void check_delay(const Spool& spool, std::vector<std::string> words, uint64_t id, const std::string& point,
                 std::string payload, int64_t step_ms) {
  INFO(point << ", set by " << step_ms);
  words.insert(words.begin(), "push");
  Child slow = spool.start(words, {.env = {"FQ_STOP_AT=" + point}, .input = std::move(payload)});
  REQUIRE(slow.stopped());
  LateClock clock(-step_ms);
  std::unique_ptr<Queue> queue = open_behind(spool, clock);
  slow.send(SIGCONT);
  CHECK(slow.end().exit == 0);
  CHECK(due_in_minutes(*queue, id, clock) == 60);
  // The journal tells the same.
  queue.reset();
  std::filesystem::remove(spool.queue("segment"));
  queue = open_behind(spool, clock);
  CHECK(due_in_minutes(*queue, id, clock) == 60);
}

const std::string kLongPayload(1024 * 1024, 'x');

}  // namespace

TEST_CASE("the clock is set while the payload of a delayed push is written") {
  for (const int64_t step_ms : {3 * kClockHourMs, -3 * kClockHourMs}) {
    const Spool spool;
    spool.push("first");
    check_delay(spool, {"--delay", "1h"}, 2, "blob.written:1", kLongPayload, step_ms);
  }
}

TEST_CASE("the clock is set while a delayed push waits for its sync") {
  for (const int64_t step_ms : {3 * kClockHourMs, -3 * kClockHourMs}) {
    const Spool spool;
    spool.push("first");
    check_delay(spool, {"--delay", "1h"}, 2, "flush.taken:1", "short", step_ms);
  }
}

TEST_CASE("the clock is set twice while a delayed push waits for its sync") {
  const Spool spool;
  spool.push("first");
  Child slow = spool.start_stopping_at("flush.taken:1", {"push", "--delay", "1h", "--payload=later"});
  REQUIRE(slow.stopped());
  LateClock first(-3 * kClockHourMs), second(5 * kClockHourMs);
  open_behind(spool, first).reset();
  open_behind(spool, second).reset();
  slow.send(SIGCONT);
  CHECK(slow.end().exit == 0);
  const std::unique_ptr<Queue> queue = open_behind(spool, second);
  CHECK(due_in_minutes(*queue, 2, second) == 60);
}

TEST_CASE("the clock is set while the payload of a debounced push is written") {
  for (const int64_t step_ms : {3 * kClockHourMs, -3 * kClockHourMs}) {
    const Spool spool;
    const std::vector<std::string> words = {"--debounce", "k", "--quiet", "1h"};
    spool.says({"push", "--debounce", "k", "--quiet", "1h", "--payload=first"});
    check_delay(spool, words, 1, "blob.written:1", kLongPayload, step_ms);
  }
}

}  // namespace fq::test
