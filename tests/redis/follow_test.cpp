// follow_test - what jobs write lies on a server within its bounds, and leaves nothing there.
#include "core/redis/output/kept_halves.h"

// System.
#include <sys/wait.h>
#include <unistd.h>
// fq, below us.
#include "core/redis/redis_queue.h"
// Tests.
#include "tests/redis/dead_client.h"
#include "tests/redis/sharded_fixture.h"

namespace fq::test {

namespace {

using What = FollowStep::What;

constexpr uint64_t kMiB = 1 << 20;

Delivery take(Queue& queue, const LeaseRequest& request = for_a_minute()) {
  LeaseReply reply = answered(queue.lease(request));
  return std::move(reply.deliveries.at(0));
}

struct Scene {
  FakeClock clock;
  TestServer server;
  std::unique_ptr<Queue> queue = open_on(told_time_engine(), server.spool(), &clock);
  std::unique_ptr<Queue> caller = open_on(told_time_engine(), server.spool(), &clock);

  /// A job that was called for, or not, and what it writes.
  std::shared_ptr<RunOutput> begin(std::optional<CallId> call) {
    NewMessage message;
    message.tenant = "t";
    message.call = call;
    answered(queue->push({&message, 1}));
    delivery = take(*queue);
    auto run = answered(queue->run_output(delivery, {100, true}));
    REQUIRE(run->open().ok());
    return run;
  }
  void write(RunOutput& run, uint64_t bytes) {
    for (const std::string piece(64 * 1024, 'x'); bytes > 0; bytes -= piece.size())
      run.write(Channel::out, piece);
  }
  /// Keys of runs and calls that nothing takes away by and by.
  size_t keys_left() {
    size_t count = 0;
    for (const Reply& key : command(server, {"KEYS", "*"}).items) {
      const std::string name = key.text.substr(key.text.find("}:") + 2);
      const bool is_of_runs = name.starts_with("r") || name.starts_with("c");
      const std::string kind = name.substr(0, name.find(':'));
      if (is_of_runs && kind != "r" && kind != "rt" && kind != "c" && kind != "cn" && kind != "rn" &&
          command(server, {"PTTL", key.text}).number == -1)
        ++count;
    }
    return count;
  }

  Delivery delivery;
};

struct Read {
  uint64_t bytes = 0, missing = 0;
  std::string ends;  // what else was told
};
Read read_all(OutputFollower& follower) {
  Read read;
  for (;;) {
    const FollowStep step = answered(follower.next({0, false, nullptr}));
    if (step.what == What::timed_out) return read;
    if (step.what == What::bytes) read.bytes += step.bytes.size();
    if (step.what == What::missing) read.missing += step.count;
    if (step.what == What::broken_off) read.ends += "broken off ";
    if (step.what == What::ended) return read.ends += "ended", read;
  }
}

}  // namespace

TEST_CASE("a job that nobody called for leaves its first and its last bytes to who is slow") {
  Scene s;
  const auto run = s.begin({});
  const auto follower = answered(s.queue->follow(s.delivery.id, {}));
  s.write(*run, 4 * kMiB);
  const Read read = read_all(*follower);
  CHECK(read.bytes == (256 + 512) * 1024);
  CHECK(read.missing == 4 * kMiB - read.bytes);
  s.write(*run, 64 * 1024);
  CHECK(read_all(*follower).bytes == 64 * 1024);
}

TEST_CASE("what a caller has not read has an end, and what is beyond it is counted") {
  Scene s;
  const CallId call = answered(s.caller->begin_call("t"));
  auto run = s.begin(call);
  s.write(*run, 8 * kMiB);
  s.write(*run, 2 * kMiB);
  const auto follower = answered(s.caller->follow(s.delivery.id, call));
  run.reset();
  CHECK(answered(s.queue->mutate(std::vector{s.delivery.id}, Action::cancel)).changed == 1);
  const Read read = read_all(*follower);
  CHECK(read.bytes == 8 * kMiB);
  CHECK(read.missing == 2 * kMiB);
  CHECK(read.ends == "ended");
  CHECK(s.keys_left() <= 2);  // the call, which goes on
}

TEST_CASE("a run and a call leave nothing on the server, whoever ends first") {
  Scene s;
  const bool caller_first = GENERATE(true, false);
  const CallId call = answered(s.caller->begin_call("t"));
  auto run = s.begin(call);
  s.write(*run, kMiB);
  auto follower = answered(s.caller->follow(s.delivery.id, call));
  read_all(*follower);
  if (caller_first) follower.reset();
  run.reset();
  if (!caller_first) follower.reset();
  s.caller.reset();
  CHECK(s.keys_left() == 0);
}

TEST_CASE("of a worker that died its caller reads what is there, and is told") {
  Scene s;
  const CallId call = answered(s.caller->begin_call("t"));
  NewMessage message;
  message.tenant = "t";
  message.call = call;
  const MessageId id = answered(s.queue->push({&message, 1})).items.at(0).id;
  const pid_t child = ::fork();
  if (child == 0) {
    const auto worker = open_on(told_time_engine(), s.server.spool(), &s.clock);
    const Delivery delivery = take(*worker, {});
    const auto run = worker->run_output(delivery, {100, true}).value();
    if (!run->open().ok()) ::_exit(1);
    run->write(Channel::out, "begun");
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  const auto follower = answered(s.caller->follow(id, call));
  CHECK(read_all(*follower).bytes == 5);
  time_goes_by(s.server, s.clock, 15'000);
  CHECK(read_all(*follower).ends == "broken off ");
  CHECK(answered(s.queue->get(id))->state == State::ready);
}

TEST_CASE("a caller that died is not waited for when its time is over") {
  Scene s;
  const pid_t child = ::fork();
  if (child == 0) {
    const auto caller = open_on(told_time_engine(), s.server.spool(), &s.clock);
    NewMessage message;
    message.tenant = "t";
    message.call = caller->begin_call("t").value();
    ::_exit(caller->push({&message, 1}).ok() ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  s.delivery = take(*s.queue);
  auto run = answered(s.queue->run_output(s.delivery, {100, true}));
  REQUIRE(run->open().ok());
  s.write(*run, 2 * kMiB);
  CHECK_FALSE(run->has_room(Channel::out));
  time_goes_by(s.server, s.clock, 15'000);
  CHECK(run->has_room(Channel::out));
  run.reset();
  s.queue.reset();
  s.caller.reset();
  CHECK(s.keys_left() == 0);
}

TEST_CASE(
    "what is written behind the end of its session, or of its reading, is taken no more and leaves nothing") {
  Scene s;
  auto run = s.begin({});
  s.write(*run, kMiB);
  SECTION("its session is over") {
    time_goes_by(s.server, s.clock, 15'000);
    somebody_calls(s.server, s.clock);
  }
  SECTION("its caller has read enough") {
    auto& shard = dynamic_cast<RedisQueue&>(*s.queue).shard();
    REQUIRE(shard.change("change", {"run_drop", std::to_string(number(s.delivery.id)), "1"}).ok());
  }
  CHECK(s.keys_left() == 0);
  s.write(*run, 2 * kMiB);
  CHECK(s.keys_left() == 0);
}

TEST_CASE("a server that hangs holds up who leaves it with many runs no longer than with one") {
  constexpr size_t kRuns = 32;
  constexpr int64_t kLimitMs = 1'000;  // of a call, and of a connection
  Sharded s(GENERATE(1U, 4U));
  const auto queue =
      answered(real_time_engine().open({s.server.spool("?timeout=1s&connect=1s"), "default"}, {}));
  for (size_t i = 0; i < kRuns; ++i) push_one(*queue, "t" + std::to_string(i), "x");
  LeaseRequest request;
  request.want = kRuns;
  const LeaseReply leased = answered(queue->lease(request));
  REQUIRE(leased.deliveries.size() == kRuns);
  std::vector<std::shared_ptr<RunOutput>> runs;
  for (const Delivery& each : leased.deliveries) {
    runs.push_back(answered(queue->run_output(each, {100, false})));
    REQUIRE(runs.back()->open().ok());
  }
  s.server.stop();
  const int64_t begin_ms = system_clock().boot_ms();
  runs.clear();
  const int64_t took_ms = system_clock().boot_ms() - begin_ms;
  s.server.go_on();
  CHECK(took_ms < 4 * kLimitMs);  // each of them says twice that it is over
}

TEST_CASE("a server that takes no more is told as a loss, and what is kept is whole") {
  Scene s;
  auto run = s.begin({});
  run->write(Channel::out, "first");
  command(s.server, {"CONFIG", "SET", "maxmemory", "1"});
  run->write(Channel::out, std::string(200, 'y'));
  command(s.server, {"CONFIG", "SET", "maxmemory", "256mb"});
  run->write(Channel::out, "last");
  const auto follower = answered(s.queue->follow(s.delivery.id, {}));
  CHECK(read_all(*follower).bytes == 5);
  run->close();
  CHECK(read_all(*follower).missing == 204);
  CHECK(run->kept_bytes(Channel::out) == 100);
  CHECK(run->gap(Channel::out) == Gap{50, 109});
}

TEST_CASE("of what is written the two halves that are kept are exact, however it comes") {
  for (const uint64_t max : {0U, 1U, 2U, 7U, 1'000U}) {
    for (const size_t total : {0U, 1U, 6U, 7U, 8U, 999U, 1'001U, 1'000'000U}) {
      for (const size_t piece : {1U, 13U, 5'000U}) {
        if (total / piece > 100'000) continue;
        std::string text;
        while (text.size() < total) text += std::to_string(text.size()) + ",";
        text.resize(total);
        KeptHalves kept(max);
        for (size_t at = 0; at < total; at += piece) kept.write(std::string_view(text).substr(at, piece));
        const size_t cut = total > max ? total - max : 0, head = max - max / 2;
        CHECK(kept.text() == (cut == 0 ? text : text.substr(0, head) + text.substr(total - max / 2)));
        CHECK(kept.gap() == (cut == 0 ? Gap{} : Gap{head, cut}));
      }
    }
  }
}

}  // namespace fq::test
