// ends_test - those who wait for a message's end while others take, settle, cancel and die: fq wait, fq
// result and fq push --wait. The consumer is the test itself, where a job's status and output are needed.

// System.
#include <sys/stat.h>
// Tests.
#include "tests/process/notice_of_death.h"
#include "tests/process/poisoned.h"

namespace fq::test {

namespace {

/// How a job left its message.
struct Left {
  Verdict verdict = Verdict::ack;
  std::optional<int> exit = {};
  std::optional<int> signal = {};
  std::optional<JobOutput> output = {};
};

/// Waits for the next message, as a worker would, and ends it.
Delivery serve_one(Queue& queue, const Left& left) {
  LeaseRequest request;
  request.wait = true;
  request.wait_ms = 20'000;
  LeaseReply reply = queue.lease(request).value();
  REQUIRE(reply.deliveries.size() == 1);
  Settle item;
  item.receipt = reply.deliveries[0].receipt;
  item.verdict = left.verdict;
  item.exit = left.exit;
  item.signal = left.signal;
  if (left.output) item.output = &*left.output;
  REQUIRE(queue.settle({&item, 1}).value().items.at(0) == SettleStatus::ok);
  return std::move(reply.deliveries[0]);
}

}  // namespace

TEST_CASE("a wait ends with a pop, a bury and a cancel of another process") {
  const std::pair<std::string, int> ends[] = {
      {"$FQ pop", 0}, {"$FQ bury $($FQ pop --lease 1m | cut -f1)", 1}, {"$FQ cancel 1", 1}};
  for (const auto& [end, exit] : ends) {
    INFO(end);
    Spool spool;
    const std::string id = spool.push("only");
    Child waiter = spool.start({"wait", id});
    REQUIRE(waiter.asleep_in_futex());
    REQUIRE(spool.shell(end).exit == 0);
    const Outcome waited = waiter.end();
    CHECK(waited.exit == exit);
    CHECK(waited.out + waited.err == "");
  }
}

TEST_CASE("a waiter is woken by the end, and not by its cap of a second") {
  std::vector<double> took_ms;
  for (int i = 0; i < 7; ++i) {
    Spool spool;
    const std::string id = spool.push("only");
    Child waiter = spool.start({"wait", id});
    REQUIRE(waiter.asleep_in_futex());
    const auto start = Clock_::now();
    spool.says({"pop"});
    REQUIRE(waiter.end().exit == 0);
    took_ms.push_back(ms_since(start));
  }
  INFO("from the start of fq pop to the end of fq wait: median " << median(took_ms) << " ms");
  CHECK(median(took_ms) < 500);  // a process start and a sync; the cap would make it 500 on average
}

TEST_CASE("who waits until a queue is idle is woken by a pause of what is left") {
  std::vector<double> took_ms;
  for (int i = 0; i < 7; ++i) {
    Spool spool;
    spool.push("left", "a");
    Child waiter = spool.start({"wait", "--all"});
    REQUIRE(waiter.asleep_in_futex());
    const auto start = Clock_::now();
    spool.says({"tenant", "pause", "a"});
    REQUIRE(waiter.end().exit == 0);
    took_ms.push_back(ms_since(start));
  }
  CHECK(median(took_ms) < 500);  // as above
}

TEST_CASE("a wait ends when the holder of the last attempt is killed") {
  Spool spool;
  const std::string id = spool.says({"push", "--attempts", "1"}, {.input = std::string(200'000, 'x')});
  const std::string fifo = spool.directory() + "/unread";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const int unread = ::open(fifo.c_str(), O_RDWR | O_CLOEXEC);
  Child holder({"/bin/sh", "-c", "exec \"$FQ\" pop >" + fifo}, spool.with());
  Child waiter = spool.start({"wait", id});
  const std::unique_ptr<Queue> queue = spool.door();
  const auto is_leased = [&] { return queue->get(MessageId{1}).value()->state == State::leased; };
  const auto begin = Clock_::now();
  while (!is_leased() && ms_since(begin) < 20'000) ::usleep(200);  // nothing tells that the pop has it
  REQUIRE(is_leased());
  REQUIRE(waiter.asleep_in_futex());
  CHECK(waiter.runs());
  holder.killed();
  const auto killed = Clock_::now();
  CHECK(waiter.end().exit == 1);
  CHECK(ms_since(killed) <
        10'000);  // the cap of a second, and a machine with other work; nothing else ends it
  CHECK(queue->get(MessageId{1}).value()->state == State::dead);
  ::close(unread);
}

TEST_CASE("fq wait and fq push --wait leave as the job did") {
  const std::pair<Left, int> ends[] = {
      {{Verdict::ack}, 0},
      {{Verdict::ack, 0}, 0},
      {{Verdict::bury, 3}, 3},
      {{Verdict::bury, 255}, 255},
      {{Verdict::bury, {}, SIGKILL}, 128 + SIGKILL},
      {{Verdict::bury, 0}, 1},  // what was buried has not gone well, whatever its job says
      {{Verdict::bury}, 1},
  };
  Spool spool;
  spool.says({"queue", "create"});
  const std::unique_ptr<Queue> consumer = spool.door();
  for (const auto& [left, exit] : ends) {
    INFO("expected: " << exit);
    Child caller = spool.start({"push", "x", "--wait", "--", "job"});
    const Delivery delivery = serve_one(*consumer, left);
    const Outcome called = caller.end();
    CHECK(called.exit == exit);
    CHECK(called.out == "");
    const std::string id = std::to_string(number(delivery.id));
    CHECK(called.err == (left.verdict == Verdict::ack ? "" : "fq: message " + id + ": was buried\n"));
    const Outcome waited = spool.fq({"wait", id});
    CHECK(waited.exit == exit);
    CHECK(waited.out + waited.err == "");
  }
}

TEST_CASE("a call through the queue gives back both outputs byte for byte, and fq result gives them again") {
  Spool spool;
  spool.says({"queue", "create"});
  const std::unique_ptr<Queue> consumer = spool.door();
  Child caller = spool.start({"push", "--wait", "in", "--", "job"});
  std::string out("\0\xff\n\x1b[2J", 7);
  out += std::string(200'000, 'o');
  const std::string err = "said\n" + std::string(100'000, 'e');
  const Delivery delivery = serve_one(*consumer, {.exit = 0, .output = JobOutput{out, err, 3'600'000}});
  CHECK(delivery.keep_ms == 604'800'000);  // a week, as of every command
  const Outcome called = caller.end();
  CHECK(called.exit == 0);
  CHECK(called.out == out);
  CHECK(called.err == err);
  const Outcome again = spool.fq({"result", std::to_string(number(delivery.id))});
  CHECK(again.exit == 0);
  CHECK(again.out == out);
  CHECK(again.err == err);
}

TEST_CASE("the output of a call is kept as --keep says, else as retention does") {
  Spool spool;
  spool.policy("retention = \"2h\"");
  spool.says({"queue", "create"});
  const std::unique_ptr<Queue> consumer = spool.door();
  Child by_policy = spool.start({"push", "a", "--wait"});
  CHECK(serve_one(*consumer, {}).keep_ms == 7'200'000);
  CHECK(by_policy.end().exit == 0);
  Child by_option = spool.start({"push", "a", "--wait", "--keep", "5m"});
  CHECK(serve_one(*consumer, {}).keep_ms == 300'000);
  CHECK(by_option.end().exit == 0);
  spool.push("plain");
  CHECK_FALSE(serve_one(*consumer, {}).keep_ms);
}

TEST_CASE("who waits and is interrupted dies by the signal, and the message stays") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGKILL}) {
    INFO("signal " << signal);
    Spool spool;
    spool.says({"queue", "create"});
    Child caller = spool.start({"push", "called", "--wait"});
    REQUIRE(caller.asleep_in_futex());
    Child waiter = spool.start({"wait", "1"});
    REQUIRE(waiter.asleep_in_futex());
    const std::string goes_on =
        "fq: message 1: is still queued or running; the call was interrupted; fq result -f 1 follows it, fq "
        "cancel 1 "
        "cancels it\n";
    for (Child* each : {&caller, &waiter}) {
      each->send(signal);
      const Outcome ended = each->end();
      CHECK(ended.signal == signal);
      CHECK(ended.out == "");
      CHECK(ended.err == (each == &caller && signal != SIGKILL ? goes_on : ""));
    }
    CHECK(spool.says({"pop"}) == "called");
    spool.check_clean();
  }
}

TEST_CASE("a result whose reader has left ends by SIGPIPE, and a full disk is 74") {
  Spool spool;
  const std::string id = spool.push("only");
  serve_one(*spool.door(), {.output = JobOutput{std::string(200'000, 'o'), "err", 3'600'000}});
  CHECK(spool.shell("$FQ result " + id + " >/dev/full").exit == 74);
  CHECK(spool.shell("$FQ result " + id + " 2>/dev/full >/dev/null").exit == 74);
  // The write end of a pipe that nobody can read from.
  const std::string unread = "mkfifo $FQ_SPOOL/p; exec 3<>$FQ_SPOOL/p 4>$FQ_SPOOL/p 3<&-; ";
  CHECK(spool.shell(unread + "env --default-signal=PIPE $FQ result " + id + " >&4; exit $?").exit == 141);
}

TEST_CASE("a wait goes on over the loss of the segment") {
  Spool spool;
  const std::string id = spool.push("only");
  Child waiter = spool.start({"wait", id});
  REQUIRE(waiter.asleep_in_futex());
  // Rebuilt while it sleeps: the segment that it sleeps on is left behind.
  poison(spool);
  CHECK(spool.fq({"stats"}).exit == 0);
  spool.says({"pop"});
  CHECK(waiter.end().exit == 0);
  spool.check_clean();
}

}  // namespace fq::test
