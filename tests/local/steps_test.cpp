// steps_test - where the local engine keeps what steps have come to: records that hold their journal files,
// and damage that hits one of them.

// fq, below us.
#include "core/journal/codec.h"
// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

std::string kept(SpoolFixture& q, const Delivery& job, const char* name) {
  const Result<StepBegin> begun = q.door().steps()->begin(job.receipt, name, nullptr);
  INFO((begun.ok() ? "" : begun.error().text));
  REQUIRE(begun.ok());
  return begun->output.value_or("to be run");
}

/// Damages the last record of the newest journal file, and takes the segment away, which knows better.
void hit_last_record(SpoolFixture& q) {
  q.close();
  const std::string path = q.path("journal/1.fqj");
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const size_t at = bytes.find_last_not_of('\0');
  REQUIRE(at != std::string::npos);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(bytes[at] ^ 4));
  file.close();
  std::filesystem::remove(q.path("segment"));
}

}  // namespace

TEST_CASE("what a step put out is told although the file that first told it is gone") {
  SpoolFixture q;
  q.push("m");
  const Delivery job = q.lease(3'600'000);
  for (const char* name : {"short", "long"}) {
    const std::string output(name[0] == 's' ? 9 : kInlinePayloadBytesMax + 1, 'x');
    REQUIRE(q.door().steps()->keep(job.receipt, name, as_bytes(output)).value() == SettleStatus::ok);
  }
  q.outlive_first_file();
  for (const bool rebuilt : {false, true}) {
    INFO((rebuilt ? "rebuilt" : "alive"));
    if (rebuilt) q.lose_segment();
    CHECK(kept(q, job, "short") == std::string(9, 'x'));
    CHECK(kept(q, job, "long").size() == kInlinePayloadBytesMax + 1);
    q.check_clean();
  }
}

TEST_CASE("steps that are carried forward while the ring goes on are all kept") {
  SpoolFixture q;
  q.sync_lazily();
  q.push("m", Durability::lazy);
  const Delivery job = q.lease(3'600'000);
  Steps& steps = *q.door().steps();
  REQUIRE(steps.keep(job.receipt, "first", as_bytes("1")).ok());
  std::vector<std::string> names;
  const std::string output(45'000, 'x');
  q.carry_behind([&] {
    for (int i = 0; i < 10; ++i) {
      names.push_back("s" + std::to_string(i));
      REQUIRE(steps.keep(job.receipt, names.back(), as_bytes(output)).ok());
    }
  });
  CHECK(q.door().take_notices().empty());
  CHECK(kept(q, job, "first") == "1");
  for (const std::string& name : names) CHECK((kept(q, job, name.c_str()) == output));
  q.check_clean();
}

TEST_CASE("of messages in many files each is copied forward with its own steps, once") {
  SpoolFixture q;
  q.sync_lazily();
  const std::string large(60'000, 'x');
  std::vector<Delivery> jobs;
  std::vector<Settle> others;
  for (int i = 0; i < 12; ++i) {
    q.push("m", Durability::lazy);
    jobs.push_back(q.lease(3'600'000));
    for (const char* name : {"a", "b", "c", "d", "e", "f"})
      REQUIRE(q.door().steps()->keep(jobs.back().receipt, name, as_bytes(large)).ok());
    for (int other = 0; other < 17; ++other) q.push(large, Durability::lazy);
    for (const Delivery& each : q.lease_from(q.door(), {.want = 17}).deliveries)
      others.push_back({.receipt = each.receipt});
  }
  const int before = q.journal_files().rbegin()->first;
  for (const Settle& each : others) REQUIRE(q.settle(q.door(), each) == SettleStatus::ok);
  REQUIRE(q.door().maintain(0).ok());
  // Of some MB each; what lives takes five.
  CHECK(q.journal_files().rbegin()->first - before <= 8);
  for (const Delivery& job : jobs) CHECK((kept(q, job, "a") == large));
  q.check_clean();
  q.lose_segment();
  for (const Delivery& job : jobs) CHECK((kept(q, job, "f") == large));
}

TEST_CASE("a thousand messages that sleep take a timer each, and little of the segment") {
  SpoolFixture q;
  constexpr int kMany = 1000;
  q.sync_lazily();
  for (int i = 0; i < kMany; ++i) q.push("m", Durability::lazy);
  const LeaseReply jobs =
      q.lease_from(q.door(), {.want = kMany, .hold = Hold::duration, .hold_ms = 3'600'000});
  REQUIRE(jobs.deliveries.size() == kMany);
  const uint64_t before = q.stats().segment_bytes.value();
  for (const Delivery& job : jobs.deliveries)
    REQUIRE_FALSE(q.door().steps()->sleep(job.receipt, "nap", 60'000, 0).value().over);
  CHECK(q.stats().segment_bytes.value() - before <= kMany * 256);
  CHECK(q.stats().delayed == kMany);
  q.clock.advance(59'999);
  CHECK(q.stats().ready == 0);
  q.clock.advance(1);
  CHECK(q.stats().ready == kMany);
}

TEST_CASE("the step that is one too many, and its limit, are named") {
  SpoolFixture q;
  q.sync_lazily();
  q.push("m");
  const Delivery job = q.lease(3'600'000);
  Steps& steps = *q.door().steps();
  for (uint32_t i = 0; i < kStepsPerMessageMax; ++i)
    REQUIRE(steps.keep(job.receipt, "s" + std::to_string(i), {}).ok());
  const std::string limit = "step 'more' of message 1: the message has 1000 steps, which is the limit";
  const MessageId other{q.push("other")};
  CHECK(steps.begin(job.receipt, "more", nullptr).error().text == limit);
  CHECK(steps.push(job.receipt, "more", NewMessage{}).error().text == limit);
  CHECK(steps.sleep(job.receipt, "more", 1'000, 0).error().text == limit);
  CHECK(steps.wait(job.receipt, "more", std::span(&other, 1)).error().text == limit);
}

TEST_CASE("a step of the wall clock moves no sleep") {
  SpoolFixture q;
  const uint64_t id = q.push("m");
  const Delivery job = q.lease();
  const int64_t step_ms = GENERATE(3'600'000, -3'600'000);
  q.clock.set_wall_ms(q.clock.wall_ms() + step_ms);
  REQUIRE_FALSE(q.door().steps()->sleep(job.receipt, "nap", 5'000, 0).value().over);
  q.clock.advance(4'000);
  CHECK(q.get(id).state == State::delayed);
  q.clock.advance(1'000);
  CHECK(q.get(id).state == State::ready);
}

TEST_CASE("a sleep whose release is damaged costs no attempt: the lease ends, and the message sleeps on") {
  SpoolFixture q;
  const uint64_t id = q.push("m");
  const Delivery job = q.lease(1'000);
  REQUIRE_FALSE(q.door().steps()->sleep(job.receipt, "nap", 5'000, 0).value().over);
  CHECK(q.get(id).state == State::delayed);
  hit_last_record(q);
  q.reopen();
  CHECK(q.history(id) == "pushed leased");
  q.clock.advance(2'000);
  CHECK(q.get(id).state == State::delayed);
  CHECK(q.get(id).attempts == 0);
  CHECK(q.get(id).crashes == 0);
  q.clock.advance(3'000);
  CHECK(q.door().steps()->sleep(q.lease().receipt, "nap", 5'000, 0).value().over);
}

TEST_CASE("how one has ended that is waited for is known when its outcome is forgotten") {
  SpoolFixture q;
  const bool acked = GENERATE(true, false);
  q.push("parent", Durability::always, "p");
  const MessageId child{q.push("child", Durability::always, "c")};
  const Delivery first = q.lease();
  REQUIRE_FALSE(q.door().steps()->wait(first.receipt, "child", std::span(&child, 1)).value().over);
  if (acked) CHECK(q.ack(q.lease()) == SettleStatus::ok);
  if (!acked) CHECK(q.door().mutate({&child, 1}, Action::cancel)->changed == 1);
  const Delivery job = q.lease(3'600'000);  // it has waited, and has not asked yet
  q.forget_outcomes();
  CHECK_FALSE(q.door().get(child).value());
  const StepPause over = q.door().steps()->wait(job.receipt, "child", std::span(&child, 1)).value();
  CHECK(over.over);
  CHECK(over.all_acked == acked);
}

}  // namespace fq::test
