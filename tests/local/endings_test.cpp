// endings_test - what is told after the end goes by itself, whoever is awake, and is told across a rebuild.

// System.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>
// fq, below us.
#include "core/local/files/ended/ended_log.h"
// Tests.
#include "tests/asleep.h"
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

constexpr int64_t kKeptHour = 3'600'000;

uint64_t push_kept(SpoolFixture& q, int64_t keep_ms) {
  NewMessage message;
  message.keep_ms = keep_ms;
  const Result<PushReply> reply = q.door().push({&message, 1});
  REQUIRE(reply.ok());
  return number(reply->items.at(0).id);
}

/// With an output too long for its record.
void ack_with_output(SpoolFixture& q) {
  const JobOutput output{std::string(50'000, 'o'), "", kKeptHour};
  REQUIRE(q.settle(q.door(), {.receipt = q.lease().receipt, .output = &output}) == SettleStatus::ok);
}

/// That of a job, in its files: of so many bytes on its standard output.
class LongOutput final : public RunOutput {
 public:
  explicit LongOutput(uint64_t bytes) : bytes_(bytes) {}
  bool is_called() const override { return false; }
  Result<void> open() override { return {}; }
  bool has_room(Channel) override { return true; }
  void write(Channel, std::string_view) override {}
  void close() override {}
  uint64_t kept_bytes(Channel channel) const override { return channel == Channel::out ? bytes_ : 0; }
  Gap gap(Channel) const override { return {}; }
  Result<void> read_kept(Channel, uint64_t, MutableBytes to) const override {
    std::fill(to.begin(), to.end(), std::byte{'x'});
    return {};
  }

 private:
  const uint64_t bytes_;
};

size_t count_files(const SpoolFixture& q, const std::string& directory) {
  const std::filesystem::directory_iterator files(q.path(directory));
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

}  // namespace

TEST_CASE("of a run of more than 49 days it is told when it began") {
  constexpr int64_t kDayMs = 86'400'000;
  SpoolFixture q;
  const uint64_t id = push_kept(q, kKeptHour);
  q.clock.advance(20 * kDayMs);
  const int64_t began = q.clock.wall_ms();
  const Delivery one = q.lease(200 * kDayMs);
  const int64_t days = GENERATE(49, 50, 120);
  q.clock.advance(days * kDayMs);
  CHECK(q.get(id).started_at_wall_ms == began);
  REQUIRE(q.ack(one) == SettleStatus::ok);
  CHECK(q.get(id).started_at_wall_ms == began);
}

TEST_CASE("what has had its time is given back by who maintains, compacts or looks, with its outputs") {
  for (int who = 1; who <= 3; ++who) {
    SpoolFixture q;
    const uint64_t id = push_kept(q, kKeptHour);
    ack_with_output(q);
    CHECK(q.get(id).ended_at_wall_ms);
    CHECK(count_files(q, "output") == 1);
    CHECK(count_files(q, "ended") == 3);
    q.clock.advance(2 * kKeptHour);
    q.reopen();
    if (who == 1) REQUIRE(q.door().maintain(1).ok());
    if (who == 2) REQUIRE(q.door().compact().ok());
    if (who == 3) CHECK_FALSE(q.get(id).ended_at_wall_ms);
    INFO("by " << who);
    CHECK(count_files(q, "output") == 0);
    CHECK(count_files(q, "ended") == 2);
  }
}

TEST_CASE("who keeps its first output looks at none that others have kept, until a day after the last look") {
  SpoolFixture q;
  const auto keep_one = [&] {
    push_kept(q, kKeptHour);
    ack_with_output(q);
  };
  keep_one();
  const std::string stray = q.path("output/7.1.new");
  std::ofstream(stray) << "of one that was killed";
  q.reopen();
  keep_one();
  CHECK(std::filesystem::exists(stray));
  q.clock.advance(24 * kKeptHour + 1);
  keep_one();
  CHECK_FALSE(std::filesystem::exists(stray));
}

TEST_CASE("a queue without anything to tell of gets no directory for it from housekeeping") {
  SpoolFixture q;
  q.push("plain");
  q.ack(q.lease());
  REQUIRE(q.door().maintain(1).ok());
  REQUIRE(q.door().compact().ok());
  CHECK_FALSE(std::filesystem::exists(q.path("ended")));
}

TEST_CASE("whether a message is to be told of outlives the loss of the segment and of its first file") {
  SpoolFixture q;
  const uint64_t kept = push_kept(q, 100 * kKeptHour);
  const Delivery held = q.lease(36'000'000);
  q.outlive_first_file();
  q.lose_segment();
  CHECK(q.get(kept).state == State::leased);
  CHECK(q.settle(q.door(), {.receipt = held.receipt, .exit = 0}) == SettleStatus::ok);
  CHECK(q.get(kept).ended_at_wall_ms);
  q.lose_segment();
  CHECK(q.get(kept).exit == 0);
  q.check_clean();
}

TEST_CASE("an output is kept of what died, and still when that is cancelled") {
  SpoolFixture q;
  const uint64_t id = push_kept(q, 10 * kKeptHour);
  const JobOutput output{"said", "", 10 * kKeptHour};
  REQUIRE(q.settle(q.door(), {.receipt = q.lease().receipt, .verdict = Verdict::bury, .output = &output}) ==
          SettleStatus::ok);
  CHECK(q.get(id).state == State::dead);
  CHECK((*q.door().output(MessageId{id}))->out == "said");
  REQUIRE(q.door().mutate(std::vector<MessageId>{MessageId{id}}, Action::cancel)->changed == 1);
  CHECK((*q.door().output(MessageId{id}))->out == "said");
  CHECK(q.get(id).state == State::cancelled);
  CHECK(q.get(id).ended_at_wall_ms);
}

TEST_CASE("why ends are not kept is said for all of them, and when they are again") {
  SpoolFixture q;
  for (int i = 0; i < 5; ++i) push_kept(q, kKeptHour);
  const auto told_of_one = [&] {
    CHECK(q.settle(q.door(), {.receipt = q.lease().receipt, .exit = 0}) == SettleStatus::ok);
    return q.door().take_notices();
  };
  const std::string in_its_place = q.path("ended");
  std::ofstream(in_its_place) << "x";
  const std::vector<std::string> first = told_of_one();
  REQUIRE(first.size() == 1);
  CHECK(first[0].starts_with("queue 'default': the end of message 1 is not kept: "));
  const std::vector<std::string> second = told_of_one();
  REQUIRE(second.size() == 1);
  CHECK(second[0].starts_with("queue 'default': the ends of later messages are not kept either: "));
  CHECK(told_of_one().empty());
  std::filesystem::remove(in_its_place);
  q.clock.advance(60'000);
  CHECK(told_of_one() == std::vector<std::string>{"queue 'default': the ends of messages are kept again"});
  CHECK(told_of_one().empty());
}

TEST_CASE("an output longer than a queue keeps is not kept, says so, and costs no other") {
  SpoolFixture q;
  const uint64_t before = push_kept(q, kKeptHour);
  ack_with_output(q);
  const uint64_t id = push_kept(q, kKeptHour);
  JobOutput output{"", "", kKeptHour};
  output.run = std::make_shared<LongOutput>(kEndedOutputBytesMax + 1024 * 1024);
  REQUIRE(q.settle(q.door(), {.receipt = q.lease().receipt, .exit = 0, .output = &output}) ==
          SettleStatus::ok);
  const std::vector<std::string> notices = q.door().take_notices();
  REQUIRE(notices.size() == 1);
  CHECK(notices[0] == "queue 'default': the output of message " + std::to_string(id) +
                          " is not kept: it has 241MiB, and 240MiB is the most that is kept of one");
  CHECK(q.get(id).exit == 0);
  CHECK_FALSE(q.door().output(MessageId{id})->has_value());
  CHECK((*q.door().output(MessageId{before}))->out.size() == 50'000);
  CHECK(count_files(q, "output") == 1);
  const uint64_t after = push_kept(q, kKeptHour);
  ack_with_output(q);
  for (const uint64_t each : {before, id, after}) CHECK(q.get(each).ended_at_wall_ms);
}

TEST_CASE("an attempt that is not the last notes nothing") {
  SpoolFixture q;
  push_kept(q, kKeptHour);
  const JobOutput output{"said", "", kKeptHour};
  REQUIRE(q.settle(q.door(), {.receipt = q.lease().receipt, .verdict = Verdict::retry, .output = &output}) ==
          SettleStatus::ok);
  CHECK_FALSE(std::filesystem::exists(q.path("ended")));
}

TEST_CASE("how one ended that is waited for is told, though it is forgotten by the last end", "[threads]") {
  SpoolFixture q;
  const MessageId first{q.push("first")}, last{q.push("last")};
  const std::vector<MessageId> ids = {last, first};
  std::vector<std::optional<State>> ends(ids.size());
  const std::unique_ptr<Queue> patient = q.open();
  std::atomic<pid_t> id = 0;
  std::thread thread([&] {
    id = ::gettid();
    id.notify_one();
    const Result<EndStatus> status = patient->await_end({.ids = ids, .ends = ends});
    if (!status.ok()) ends.clear();
  });
  id.wait(0);
  const bool waits = falls_asleep(task_of_thread(id));
  CHECK(q.ack(q.lease()) == SettleStatus::ok);
  q.forget_outcomes();
  CHECK_FALSE(q.door().get(first).value());
  CHECK(q.ack(q.lease()) == SettleStatus::ok);
  thread.join();
  CHECK(waits);
  CHECK(ends == std::vector<std::optional<State>>{State::acked, State::acked});
}

}  // namespace fq::test
