// job_test - what the local engine does for jobs: their terms in the journal, the descriptor that keeps a
// message for what its job left behind, news of leases and ends over a rebuild.

// System.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <utility>
// fq, below us.
#include "core/local/shared/layout.h"
// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

const JobCommand kCommand{{"convert", "", "a b\n"}, "/a dir", {"LANG=C", "EMPTY="}};

MessageId push_job(SpoolFixture& q, const std::string& payload) {
  NewMessage message{.payload = as_bytes(payload)};
  message.tags = {{"order", "7"}};
  message.command = kCommand;
  message.timeout_ms = 1'500;
  message.keep_ms = 86'400'000;
  return q.door().push({&message, 1}).value().items.at(0).id;
}

void check_job(const Delivery& delivery, const std::string& payload) {
  CHECK(text_of(delivery) == payload);
  CHECK(delivery.tags == std::vector<Tag>{{"order", "7"}});
  CHECK(delivery.command == kCommand);
  CHECK(delivery.timeout_ms == 1'500);
  CHECK(delivery.keep_ms == 86'400'000);
}

uint32_t free_holder(const SpoolFixture& q) {
  uint32_t index = 0;
  std::ifstream file(q.path("segment"), std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offsetof(SegmentHeader, free_holder)));
  file.read(reinterpret_cast<char*>(&index), sizeof index);
  return index;
}

/// What the job's descriptor holds: its own message, or all of its worker's.
enum class Keeps { own, all };

/// A process that leases the next messages by living, with a child that inherits the descriptor of a job for
/// the last of them.
class Worker {
 public:
  explicit Worker(SpoolFixture& q, Keeps keeps = Keeps::own, size_t leased = 1, size_t last = 1,
                  std::optional<int64_t> limit_ms = {})
      : keeps_(keeps), leased_(leased), last_(last), limit_ms_(limit_ms) {
    REQUIRE(::pipe(ready_) == 0);
    REQUIRE(::pipe(job_) == 0);
    pid_ = ::fork();
    if (pid_ == 0) work(q);
    char answer = 0;
    REQUIRE(::read(ready_[0], &answer, 1) == 1);
    REQUIRE(answer == 'y');
    ::close(job_[0]);
  }
  ~Worker() {
    kill();
    end_job();
    for (const int end : ready_) ::close(end);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  /// What the job left behind ends when nobody writes to it any more.
  void end_job() {
    if (job_[1] >= 0) ::close(job_[1]);
    job_[1] = -1;
  }
  /// After kill(): until the kernel has ended the job too, but for its last descriptors.
  void await_job() {
    end_job();
    ::close(std::exchange(ready_[1], -1));
    char byte = 0;
    CHECK(::read(ready_[0], &byte, 1) == 0);
  }

 private:
  [[noreturn]] void work(SpoolFixture& q) {
    ::close(job_[1]);
    OpenOptions options;
    options.clock = &q.clock;
    const auto queue = open_queue({q.path("../.."), "default"}, options);
    bool held = queue.ok();
    if (held) {
      const LeaseReply reply = (*queue)->lease({.want = leased_}).value();
      std::vector<MessageId> ids;
      for (size_t i = leased_ - last_; keeps_ == Keeps::own && i < leased_; ++i)
        ids.push_back(reply.deliveries.at(i).id);
      held = reply.deliveries.size() == leased_ && (*queue)->hold_for_job(ids, limit_ms_).value().has_value();
      // The job: it has the descriptor, and nothing else of the worker's.
      char byte = 0;
      if (held && ::fork() == 0) ::_exit(::read(job_[0], &byte, 1) == 0 ? 0 : 1);
    }
    static_cast<void>(::write(ready_[1], held ? "y" : "n", 1));
    for (;;) ::pause();
  }
  const Keeps keeps_;
  const size_t leased_;
  const size_t last_;
  const std::optional<int64_t> limit_ms_;
  int ready_[2];
  int job_[2];
  pid_t pid_ = -1;
};

}  // namespace

TEST_CASE("what a push said of its job is there after the loss of the segment, with a large payload too") {
  SpoolFixture q;
  const std::string large(200'000, 'x');
  const MessageId id = push_job(q, "small");
  push_job(q, large);
  q.lose_segment();
  CHECK(q.get(number(id)).command == kCommand);
  check_job(q.lease(), "small");
  check_job(q.lease(), large);
  q.check_clean();
}

TEST_CASE("a dead worker's message waits for what its job left behind, and comes back when that ends") {
  const Keeps keeps = GENERATE(Keeps::own, Keeps::all);
  INFO("all: " << (keeps == Keeps::all));
  SpoolFixture q;
  q.push("m");
  Worker worker(q, keeps);
  worker.kill();
  for (int i = 0; i < 3; ++i) {
    q.clock.advance(10'000);
    CHECK(q.lease_from(q.door(), {}).deliveries.empty());
  }
  worker.end_job();
  LeaseReply reply;
  for (int i = 0; i < 10'000 && reply.deliveries.empty(); ++i) {
    ::usleep(200);  // between two looks: nobody tells when the kernel has ended the job
    q.clock.advance(100);
    reply = q.lease_from(q.door(), {});
  }
  REQUIRE(reply.deliveries.size() == 1);
  CHECK(reply.deliveries[0].attempt == 2);
  CHECK(reply.deliveries[0].crashes == 1);
  q.check_clean();
}

TEST_CASE("a dead worker's message waits for what its job left behind in a segment that was made anew, too") {
  SpoolFixture q;
  q.push("m");
  Worker worker(q);
  worker.kill();
  q.poison();
  for (int i = 0; i < 3; ++i) {
    q.clock.advance(10'000);
    CHECK(q.lease_from(q.door(), {}).deliveries.empty());
  }
  CHECK(q.stats().leased == 1);
}

TEST_CASE("who makes a damaged segment anew alone keeps what it holds") {
  SpoolFixture q;
  const uint64_t id = q.push("m");
  const LeaseReply leased = q.lease_from(q.door(), {});
  REQUIRE(leased.deliveries.size() == 1);
  q.poison();
  q.push("other");
  q.clock.advance(10'000);
  CHECK(q.lease_from(q.door(), {.tenant = "nobody"}).deliveries.empty());  // a look at those that are dead
  CHECK(q.get(id).state == State::leased);
  CHECK(q.get(id).crashes == 0);
  CHECK(q.ack(leased.deliveries[0]) == SettleStatus::ok);
  q.check_clean();
}

TEST_CASE("what a survivor keeps hides nothing else of its dead worker, however much it is") {
  const size_t kept = GENERATE(1u, 63u, 64u, 65u, 200u);
  INFO("kept: " << kept);
  SpoolFixture q;
  for (size_t i = 0; i < 100 + kept; ++i) q.push("m" + std::to_string(i), Durability::lazy);
  Worker worker(q, Keeps::own, 100 + kept, kept);
  worker.kill();
  const LeaseReply back = q.lease_from(q.door(), {.want = 1000});
  CHECK(back.deliveries.size() == 100);
  CHECK(back.deliveries.at(99).payload.read_all().value() == "m99");
  CHECK(q.stats().leased == 100 + kept);
  worker.end_job();
  size_t more = 0;
  for (int i = 0; i < 10'000 && more < kept; ++i) {
    ::usleep(200);  // between two looks: nobody tells when the kernel has ended the job
    q.clock.advance(100);
    more += q.lease_from(q.door(), {.want = 1000}).deliveries.size();
  }
  CHECK(more == kept);
}

TEST_CASE("survivors of overdue jobs lose all that they kept") {
  SpoolFixture q;
  for (int i = 0; i < 150; ++i) q.push("m", Durability::lazy);
  Worker worker(q, Keeps::own, 150, 150, 5'000);
  worker.kill();
  CHECK(q.lease_from(q.door(), {.want = 1000}).deliveries.empty());
  q.clock.advance(5'000);
  CHECK(q.lease_from(q.door(), {.want = 1000}).deliveries.empty());
  q.clock.advance(11);
  CHECK(q.lease_from(q.door(), {.want = 1000}).deliveries.size() == 150);
}

TEST_CASE("what comes back does not put off the next question for what is kept") {
  SpoolFixture q;
  for (int i = 0; i < 200; ++i) q.push("m", Durability::lazy);
  Worker worker(q, Keeps::own, 200, 1);
  worker.kill();
  q.clock.takes(5);
  CHECK(q.stats().leased == 1);
  q.clock.takes(0);
  worker.await_job();
  size_t leased = 1;
  for (int i = 0; i < 1'000 && leased == 1; ++i) {
    ::usleep(200);  // between two looks: nobody tells when the kernel has ended the job
    leased = q.open()->stats({}).value().rows.at(0).leased;
  }
  CHECK(leased == 0);
}

TEST_CASE("a dead worker's place is free again though a command of its lives on that has nothing") {
  SpoolFixture q;
  q.push("m");
  Worker worker(q, Keeps::all);
  const std::vector<MessageInfo> held = q.door().peek({.state = State::leased}, {}, 9).value().messages;
  REQUIRE(held.size() == 1);
  REQUIRE(q.door().mutate(std::vector{held[0].id}, Action::cancel).ok());
  worker.kill();
  q.clock.advance(20);
  CHECK(q.stats().leased == 0);  // looks who lives
  CHECK(free_holder(q) == 0);
}

TEST_CASE("many consumers together ask a dead worker's survivors for a twentieth of the time at most") {
  SpoolFixture q;
  for (int i = 0; i < 100; ++i) q.push("m", Durability::lazy);
  Worker worker(q, Keeps::own, 100, 100);
  worker.kill();
  q.clock.takes(5);
  CHECK(q.lease_from(q.door(), {}).deliveries.empty());
  q.clock.takes(0);
  worker.await_job();
  // The first look took some time, so nobody asks again at once.
  for (int i = 0; i < 5; ++i) CHECK(q.lease_from(*q.open(), {}).deliveries.empty());
  q.clock.advance(10'000);
  size_t back = 0;
  for (int i = 0; i < 10'000 && back == 0; ++i) {
    ::usleep(200);  // between two looks: nobody tells when the kernel has ended the job
    q.clock.advance(100);
    back = q.lease_from(*q.open(), {}).deliveries.size();
  }
  CHECK(back == 1);
}

TEST_CASE("a job that ended before its worker died holds nothing") {
  SpoolFixture q;
  q.push("m");
  Worker worker(q);
  worker.end_job();
  worker.kill();
  LeaseReply reply;
  for (int i = 0; i < 10'000 && reply.deliveries.empty(); ++i) {
    ::usleep(200);  // between two looks: nobody tells when the kernel has ended the job
    q.clock.advance(100);
    reply = q.lease_from(q.door(), {});
  }
  CHECK(reply.deliveries.size() == 1);
}

TEST_CASE("news of a watched lease comes through although the segment was made anew") {
  SpoolFixture q;
  q.push("cancelled");
  q.push("extended");
  LeaseReply leased = q.lease_from(q.door(), {.want = 2, .watch = true});
  REQUIRE(leased.deliveries.size() == 2);
  const std::unique_ptr<Queue> other = q.open();
  q.poison();
  REQUIRE(other->mutate(std::vector{leased.deliveries[0].id}, Action::cancel).ok());
  q.clock.advance(20);  // busy consumers look around every 10 ms
  LeaseReply news = q.lease_from(q.door(), {.want = 0, .watch = true});
  REQUIRE(news.changes.size() == 1);
  CHECK(news.changes[0].receipt == leased.deliveries[0].receipt);
  CHECK(q.lease_from(q.door(), {.want = 1, .watch = true}).changes.empty());
  const Receipt receipt = leased.deliveries[1].receipt;
  const ExtendResult extended = other->extend({&receipt, 1}, 5'000).value().at(0);
  CHECK(extended.status == SettleStatus::ok);
  news = q.lease_from(q.door(), {.want = 0, .watch = true});
  REQUIRE(news.changes.size() == 1);
  CHECK(news.changes[0].left_ms == 5'000);
  CHECK(q.ack(leased.deliveries[1]) == SettleStatus::ok);
  q.check_clean();
}

TEST_CASE("who held a message in a segment that is gone can be closed, and the process goes on") {
  SpoolFixture q;
  q.push("m");
  {
    const std::unique_ptr<Queue> holder = q.open();
    CHECK(q.lease_from(*holder, {}).deliveries.size() == 1);
    q.poison();
    CHECK(q.stats().leased == 1);
    CHECK(holder->stats({}).ok());  // goes over
  }
  q.push("next");
  CHECK(q.drain() == "next");  // the other one is held by this process, as far as anybody knows
  q.check_clean();
}

TEST_CASE("who waits for an end looks on in a segment that was made anew") {
  SpoolFixture q;
  const MessageId id{q.push("m")};
  const std::unique_ptr<Queue> other = q.open();
  q.poison();
  EndRequest request;
  request.ids = {&id, 1};
  request.wait_ms = 0;
  CHECK(q.door().await_end(request).value() == EndStatus::timed_out);
  q.poison();
  REQUIRE(other->mutate(std::vector{id}, Action::cancel).ok());
  CHECK(q.door().await_end(request).value() == EndStatus::ended);
}

}  // namespace fq::test
