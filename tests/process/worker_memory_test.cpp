// worker_memory_test - a worker that runs for long has after its last message the memory that it had after
// its first thousands.

// Tests.
#include "tests/knobs.h"
#include "tests/left_out.h"
#include "tests/process/real_fq.h"

namespace fq::test {

namespace {

constexpr uint64_t kAhead = 2'000;  // that are queued, at most
constexpr uint64_t kMoreKibMax = 256;
constexpr double kMoreMax = 1.1;

/// Of its own, in KiB: what it maps of files is the queue's. 0: the kernel does not tell.
uint64_t memory_of(pid_t pid) {
  const std::string status = read_whole("/proc/" + std::to_string(pid) + "/status");
  const size_t at = status.find("RssAnon:");
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + 8, nullptr, 10);
}

/// Pushes until so many were, never far ahead of the worker, and waits for the last of them.
void work_through(Queue& queue, uint64_t& pushed, uint64_t until) {
  const std::string payload(300, 'p');
  const std::vector<NewMessage> batch(500, NewMessage{.payload = as_bytes(payload)});
  const auto began = Clock_::now();
  for (uint64_t acked = 0; acked < until;) {
    const auto stats = queue.stats({});
    REQUIRE(stats.ok());
    acked = stats->rows.at(0).acked;
    INFO(acked << " of " << until << " are acked");
    REQUIRE(ms_since(began) < static_cast<double>(60'000 + until));
    if (pushed < until && pushed < acked + kAhead) {
      REQUIRE(queue.push(batch, {.durability = Durability::lazy}).ok());
      pushed += batch.size();
    } else {
      ::usleep(10'000);  // it is at work
    }
  }
}

}  // namespace

TEST_CASE("a worker's memory does not grow with the messages that it has run") {
  const uint64_t first = is_long_form() ? 100'000 : 5'000;
  const uint64_t all = is_long_form() ? 2'000'000 : 25'000;
  const Spool spool;
  spool.policy("sync = \"lazy\"");
  const std::unique_ptr<Queue> queue = spool.door();
  Child worker = spool.start({"worker", "--stream", "--", "stdbuf", "-oL", "sed", "-n",
                              R"sed(s/.*"receipt":"\([^"]*\)".*/ack \1/p)sed"});
  uint64_t pushed = 0;
  work_through(*queue, pushed, first);
  const uint64_t early = memory_of(worker.pid());
  if (early == 0) return leave_out("the kernel tells no process's own memory");
  work_through(*queue, pushed, all);
  const uint64_t late = memory_of(worker.pid());
  std::printf("worker memory: %llu KiB after %llu messages, %llu KiB after %llu\n",
              static_cast<unsigned long long>(early), static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(late), static_cast<unsigned long long>(all));
  CHECK(static_cast<double>(late) <= kMoreMax * static_cast<double>(early) + kMoreKibMax);
  worker.send(SIGTERM);
  CHECK(worker.end().exit == 0);
}

}  // namespace fq::test
