// guard_test - what a worker tells its guard is read as it was meant, and what nobody could mean is nothing.
#include "core/redis/guard/guard.h"

// System.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>
// fq, below us.
#include "core/base/clock.h"
#include "core/redis/guard/packet.h"
#include "core/redis/guard/worker_guard.h"
// Tests.
#include "tests/redis/sharded_fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

struct Ends {
  Ends() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    workers = Descriptor(ends[0]);
    guards = Descriptor(ends[1]);
  }
  void say(std::string_view packet) const { answered(send_packet(workers, packet, -1)); }
  /// With a descriptor, which stays open here too.
  void say(std::string_view packet, const Descriptor& descriptor) const {
    answered(send_packet(workers, packet, descriptor.get()));
  }
  Descriptor workers, guards;
};

/// What a job has, and what its guard has of that.
struct JobPipe {
  JobPipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    its = Descriptor(ends[0]);
    jobs = Descriptor(ends[1]);
  }
  Descriptor its, jobs;
};

/// A message that was leased by a worker, which speaks to a guard.
struct GuardedLease {
  GuardedLease() {
    push_one(*s.queue, "t", "x");
    guard =
        std::async(std::launch::async, [this] { return real_time_engine().guard(std::move(ends.guards)); });
    const std::string tag = tag_of(s.server, 0);
    REQUIRE(answered(s.queue->lease({})).deliveries.size() == 1);
    const std::string nonce = command(s.server, {"ZRANGE", tag + "s", "0", "0"}).items.at(0).text;
    ends.say(packet_of(GuardedWorker{s.server.spool(), "", nonce, {tag}, ::getpid()}));
  }
  /// How long after the worker's death the guard goes on.
  int64_t outlives_ms() {
    const int64_t died_ms = system_clock().boot_ms();
    ends.workers.close();
    CHECK(guard.get().ok());
    return system_clock().boot_ms() - died_ms;
  }
  uint64_t leased() { return answered(s.queue->stats({})).rows.at(0).leased; }

  Sharded s{1};
  Ends ends;
  std::future<Result<void>> guard;
};

/// That reads nothing, and says which process it is.
struct DeafGuard {
  DeafGuard() {
    std::ofstream(program) << "#!/bin/sh\necho $$ >" << told << ".new; mv " << told << ".new " << told
                           << "; exec sleep 1000\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }
  ~DeafGuard() { std::filesystem::remove(program); }
  DeafGuard(const DeafGuard&) = delete;
  DeafGuard& operator=(const DeafGuard&) = delete;
  void kill() const {
    pid_t pid = 0;
    wait_until([&] { return static_cast<bool>(std::ifstream(told) >> pid); });
    ::kill(pid, SIGKILL);
    REQUIRE(::waitpid(pid, nullptr, 0) == pid);
    std::filesystem::remove(told);
  }
  const std::string program = "/tmp/fq-deaf-guard." + std::to_string(::getpid()), told = program + ".pid";
};

}  // namespace

TEST_CASE("a guard that died costs one job its guard, whatever it had not read") {
  const DeafGuard deaf;
  ServerAccess access;
  access.guard_program = deaf.program.c_str();
  WorkerGuard guard(access, "nonce", {});
  const std::array<MessageId, 1> ids = {MessageId{1}};
  const auto hold = [&] {
    const Result<std::optional<int>> held = guard.hold_for_job(ids, {});
    if (held && *held) ::close(**held);
    return held.ok();
  };
  REQUIRE(hold());
  deaf.kill();
  CHECK(!hold());
  REQUIRE(hold());
  deaf.kill();
}

TEST_CASE("a worker is read as it was told, and not when a byte of it is missing") {
  const GuardedWorker told{"redis://h/?prefix=p", "secret", "abcdef", {"fq1:fq:{default:0:0}:"}, 1234};
  const std::string packet = packet_of(told);
  CHECK(word_of(packet) == GuardWord::worker);
  const auto read = worker_in(packet);
  REQUIRE(read.has_value());
  CHECK(read->spool == told.spool);
  CHECK(read->password == told.password);
  CHECK(read->nonce == told.nonce);
  CHECK(read->tags == told.tags);
  CHECK(read->pid == told.pid);
  const size_t tags_at = packet.size() - 4 - told.tags[0].size();
  for (size_t bytes = 1; bytes < packet.size(); ++bytes) {
    INFO(bytes);
    CHECK(worker_in(packet.substr(0, bytes)).has_value() == (bytes == tags_at));
  }
}

TEST_CASE("a job is read as it was told, with a limit or without, of some messages or of all") {
  const std::array<MessageId, 2> ids = {MessageId{7}, MessageId{kMessageIdMax}};
  const auto some = job_in(packet_of(ids, 1'500));
  REQUIRE(some.has_value());
  CHECK(some->ids == std::vector(ids.begin(), ids.end()));
  CHECK(some->limit_ms == 1'500);
  const auto all = job_in(packet_of({}, {}));
  REQUIRE(all.has_value());
  CHECK(all->ids.empty());
  CHECK(!all->limit_ms);
  CHECK(!job_in(packet_of(ids, 1'500).substr(0, 20)));
  CHECK(word_of(packet_of_end()) == GuardWord::end);
  for (const std::string_view packet : {"", "x", "\377"}) CHECK(word_of(packet) == GuardWord::unknown);
}

TEST_CASE("a guard is for workers alone") {
  const Ends ends;
  SECTION("who speaks otherwise is none") { ends.say("GET / HTTP/1.1\r\n"); }
  SECTION("nor who has no server") { ends.say(packet_of({})); }
  SECTION("nor who tells half of it") {
    ends.say(packet_of(GuardedWorker{"redis://h", "", "n", {}, 1}).substr(0, 9));
  }
  SECTION("nor who is gone") { CHECK(::shutdown(ends.workers.get(), SHUT_RDWR) == 0); }
  const Result<void> guarded = real_time_engine().guard(Descriptor(::dup(ends.guards.get())));
  REQUIRE(!guarded.ok());
}

TEST_CASE("what a guard cannot read, and a job without a descriptor, change nothing") {
  GuardedLease g;
  const std::array<MessageId, 1> ids = {MessageId{1}};
  g.ends.say(packet_of(ids, {}));
  g.ends.say("?");
  g.ends.say(packet_of(ids, {}).substr(0, 11));
  CHECK(g.leased() == 1);
  SECTION("the worker ends, and the guard says nothing for it") {
    g.ends.say(packet_of_end());
    CHECK(g.guard.get().ok());
    CHECK(g.leased() == 1);
  }
  SECTION("the worker dies, and none of these keeps its message") {
    g.ends.workers.close();
    CHECK(g.guard.get().ok());
    CHECK(g.leased() == 0);
    CHECK(command(g.s.server, {"EXISTS", tag_of(g.s.server, 0) + "s"}).number == 0);
  }
}

TEST_CASE("what a job has left is left its time from its worker's death on, however long it ran before") {
  constexpr int64_t kLimitMs = 500;
  GuardedLease g;
  const JobPipe pipe;
  const std::array<MessageId, 1> ids = {MessageId{1}};
  SECTION("a job of one message") { g.ends.say(packet_of(ids, kLimitMs), pipe.its); }
  SECTION("a command that has all of them") { g.ends.say(packet_of({}, kLimitMs), pipe.its); }
  std::this_thread::sleep_for(std::chrono::milliseconds(kLimitMs + 100));
  CHECK(g.outlives_ms() >= kLimitMs);
  CHECK(g.leased() == 0);
}

TEST_CASE("a command that has all messages keeps each as long as the one that may take longest") {
  constexpr int64_t kLimitMs = 700;
  GuardedLease g;
  const JobPipe first;
  g.ends.say(packet_of({}, 1), first.its);
  // The process that runs has the first alone; this one is its worker's, and goes with that.
  g.ends.say(packet_of({}, kLimitMs), JobPipe().its);
  CHECK(g.outlives_ms() >= kLimitMs);
  CHECK(g.leased() == 0);
}

}  // namespace fq::test
