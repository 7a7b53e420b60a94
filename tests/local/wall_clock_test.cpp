// wall_clock_test - the wall clock is set while journal files of the clock before still lie in the ring: what
// is read from them after a rebuild comes when it was to.

// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

constexpr int64_t kHourMs = 3'600'000;

uint64_t push_delayed(SpoolFixture& q, const std::string& payload, int64_t delay_ms) {
  NewMessage message{.tenant = "late", .payload = as_bytes(payload)};
  message.delay_ms = delay_ms;
  const Result<PushReply> reply = q.door().push({&message, 1}, {.durability = Durability::lazy});
  REQUIRE(reply.ok());
  return number(reply->items.at(0).id);
}

int64_t due_in_ms(SpoolFixture& q, uint64_t id) {
  const MessageInfo message = q.get(id);
  REQUIRE(message.due_at_wall_ms);
  return *message.due_at_wall_ms - q.clock.wall_ms();
}

void set_clock(SpoolFixture& q, int64_t step_ms) {
  q.clock.set_wall_ms(q.clock.wall_ms() + step_ms);
  q.reopen();
}

}  // namespace

TEST_CASE("a delay in a file that was begun before the wall clock was set holds in a segment made anew") {
  const std::vector<int64_t> steps = GENERATE(std::vector<int64_t>{6 * kHourMs}, std::vector<int64_t>{-6 * kHourMs},
                                              std::vector<int64_t>{6 * kHourMs, -2 * kHourMs});
  SpoolFixture q;
  q.sync_lazily();
  for (int i = 0; i < 8; ++i) q.push(std::string(60 * 1024, 'f'), Durability::lazy, "first");
  const uint64_t late = push_delayed(q, std::string(45 * 1024, 'l'), 7 * kHourMs);
  REQUIRE(q.journal_files().count(2) == 1);
  for (const int64_t step_ms : steps) set_clock(q, step_ms);
  CHECK(due_in_ms(q, late) == 7 * kHourMs);

  // The files are written again, and the first one goes: no other tells the clock now.
  q.drain();
  q.outlive_first_file();
  CHECK(due_in_ms(q, late) == 7 * kHourMs);

  q.lose_segment();
  CHECK(due_in_ms(q, late) == 7 * kHourMs);
  const uint64_t soon = push_delayed(q, "soon", 2'000);
  CHECK(q.get(soon).state == State::delayed);
  q.clock.advance(2'000);
  CHECK(q.get(soon).state == State::ready);
  CHECK(q.get(late).state == State::delayed);
  q.check_clean();
}

TEST_CASE("a delay behind a journal file that is lost holds, though the wall clock was set in that file") {
  const int64_t step_ms = GENERATE(6 * kHourMs, -6 * kHourMs);
  SpoolFixture q;
  const auto fill_until = [&](int file) {
    while (q.journal_files().count(file + 1) == 0) q.push(std::string(60 * 1024, 'f'));
  };
  fill_until(2);
  set_clock(q, step_ms);
  q.push("in the second");
  fill_until(3);
  for (int i = 0; i < 3; ++i) q.push(std::string(60 * 1024, 'f'));
  const uint64_t late = push_delayed(q, "late", 7 * kHourMs);
  q.close();
  REQUIRE(q.journal_files().count(4) == 1);
  std::filesystem::remove(q.path("journal/2.fqj"));
  q.lose_segment();
  CHECK(due_in_ms(q, late) == 7 * kHourMs);
}

}  // namespace fq::test
