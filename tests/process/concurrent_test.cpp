// concurrent_test - several pushers and poppers at once, and what happens when one of them is gone.
//
// The classic order, each message exactly once, first in first out within a tenant, equal turns between
// tenants; a killed consumer's messages at once with another; stopped processes named, not waited for.

// Tests.
#include "tests/process/notice_of_death.h"

namespace fq::test {

namespace {

std::vector<std::string> popped(const std::vector<Outcome>& ends) {
  std::vector<std::string> all;
  for (const Outcome& end : ends) {
    for (const std::string& line : lines_of(end.out)) all.push_back(line);
  }
  return all;
}

/// What the one that waits is given of the one that is killed, and how long after the kill.
std::string inherits(Child& holder, Child& waiter, std::vector<double>& took_ms) {
  const auto killed = Clock_::now();
  holder.killed();
  const Outcome got = waiter.end();
  took_ms.push_back(ms_since(killed));
  CHECK(got.exit == 0);
  return got.out;
}

}  // namespace

TEST_CASE("six pops give one message of each tenant in turn") {
  Spool spool;
  for (const char* payload : {"测试111", "测试111222", "测试111333"}) spool.push(payload, "client_1");
  for (const char* payload : {"测试222", "测试222333"}) spool.push(payload, "client_2");
  spool.push("测试333", "client_3");
  std::string order;
  for (int i = 0; i < 6; ++i) order += spool.says({"pop"}) + " ";
  CHECK(order == "测试111 测试222 测试333 测试111222 测试222333 测试111333 ");
}

TEST_CASE(
    "four pushers and four poppers at once hand over every message exactly once, each tenant's in order") {
  Spool spool;
  spool.says({"queue", "create"});
  constexpr int kEach = 300;
  std::vector<Child> children;
  for (int i = 0; i < 4; ++i) {
    const std::string tenant = "t" + std::to_string(i);
    Start how;
    for (int k = 0; k < kEach; ++k) how.input += tenant + " " + std::to_string(k) + "\n";
    children.push_back(spool.start({"push", "--lines", "-t", tenant}, how));
  }
  for (int i = 0; i < 4; ++i) {
    children.push_back(spool.start({"pop", "--wait=200ms", "-n", std::to_string(kEach)}));
  }
  std::vector<Outcome> ends;
  for (Child& child : children) ends.push_back(child.end());
  for (int i = 0; i < 4; ++i) CHECK(ends[size_t(i)].exit == 0);
  ends.erase(ends.begin(), ends.begin() + 4);  // ids
  const Outcome rest = spool.fq({"pop", "-n", "10000"});
  ends.push_back(rest);
  std::multiset<std::string> seen;
  for (const std::string& line : popped(ends)) seen.insert(line);
  CHECK(seen.size() == 4 * kEach);
  CHECK(std::set<std::string>(seen.begin(), seen.end()).size() == 4 * kEach);
  for (const Outcome& end : ends) {
    std::map<std::string, int> last;
    for (const std::string& line : lines_of(end.out)) {
      const std::string tenant = line.substr(0, line.find(' '));
      const int number = std::stoi(line.substr(line.find(' ') + 1));
      // Each popper sees a tenant's messages in the order in which they were pushed.
      if (last.count(tenant) != 0) CHECK(last[tenant] < number);
      last[tenant] = number;
    }
  }
  spool.check_clean();
}

TEST_CASE("while a flood of one tenant is pushed, another's single message is served second") {
  Spool spool;
  Start flood;
  for (int i = 0; i < 1000; ++i) flood.input += "A" + std::to_string(i) + "\n";
  spool.says({"push", "--lines", "-t", "A"}, flood);
  spool.push("B", "B");
  spool.push("C", "C");
  CHECK(spool.says({"pop", "-n", "4"}) == "A0\nB\nC\nA1");
}

TEST_CASE("a consumer killed with messages in its hands gives them to a waiting one within 50 ms") {
  std::vector<double> took_ms;
  std::vector<double> notice_ms;
  for (int round = 0; round < 5; ++round) {
    Spool spool;
    spool.push("precious");
    Child holder = spool.start_stopping_at("lease.committed:1", {"pop"});
    // Killed inside the lock while stopped: the waiter meets the state lock and the lease of the dead.
    REQUIRE(holder.stopped());
    Child waiter = spool.start({"pop", "--wait", "--lease", "1h"});
    REQUIRE(waiter.asleep_in_futex());
    CHECK(contains(inherits(holder, waiter, took_ms), "precious"));
    CHECK(spool.live().at("precious").attempts >= 1);  // the death counted
    notice_ms.push_back(notice_of_death_ms());
  }
  CHECK(median(took_ms) < 50 + 2 * median(notice_ms));
}

TEST_CASE("a consumer killed outside of every lock gives its messages back as fast") {
  std::vector<double> took_ms;
  std::vector<double> notice_ms;
  for (int round = 0; round < 5; ++round) {
    Spool spool;
    spool.push("precious");
    const std::string fifo = spool.directory() + "/out";
    REQUIRE(spool.shell("mkfifo " + fifo).exit == 0);
    // It holds the message and cannot write it: nobody reads yet more than the pipe takes.
    spool.says({"push", "--payload=" + std::string(120'000, 'x')});
    Child holder({"/bin/bash", "-c", "exec \"$0\" pop -n 2 >" + fifo, fq_binary()}, spool.with());
    const int reader = ::open(fifo.c_str(), O_RDONLY | O_CLOEXEC);
    char first = 0;
    REQUIRE(::read(reader, &first, 1) == 1);
    Child waiter = spool.start({"pop", "--wait", "-n", "1", "--lease", "1h"});
    REQUIRE(waiter.asleep_in_futex());
    inherits(holder, waiter, took_ms);
    ::close(reader);
    notice_ms.push_back(notice_of_death_ms());
  }
  CHECK(median(took_ms) < 50 + 2 * median(notice_ms));
}

TEST_CASE("SIGINT and SIGTERM end a waiting pop promptly") {
  for (const int signal : {SIGINT, SIGTERM}) {
    std::vector<double> took_ms;
    for (int round = 0; round < 3; ++round) {
      Spool spool;
      spool.says({"queue", "create"});
      Child waiter = spool.start({"pop", "--wait"});
      REQUIRE(waiter.asleep_in_futex());
      const auto sent = Clock_::now();
      waiter.send(signal);
      const Outcome end = waiter.end();
      took_ms.push_back(ms_since(sent));
      CHECK_FALSE(end.hung);
      CHECK((end.signal == signal || end.exit == 128 + signal));
    }
    CHECK(median(took_ms) < 500);  // and not at its next look, a second after the last
  }
}

TEST_CASE("240 waiters killed in their sleep do not keep a push from waking the last one") {
  Spool spool;
  spool.says({"queue", "create"});
  std::vector<double> took_ms;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20; ++i) {
      std::vector<Child> doomed;
      for (int k = 0; k < 4; ++k) doomed.push_back(spool.start({"pop", "--wait"}));
      REQUIRE(doomed.back().asleep_in_futex());
      for (Child& child : doomed) child.killed();
    }
    Child waiter = spool.start({"pop", "--wait"});
    REQUIRE(waiter.asleep_in_futex());
    const auto begin = Clock_::now();
    spool.push("here");
    CHECK(waiter.end().out == "here\n");
    took_ms.push_back(ms_since(begin));
  }
  CHECK(median(took_ms) < 500);  // woken, not by the cap of a second
}

TEST_CASE("a stopped holder of the state lock is named after lock_timeout and may go on afterwards") {
  Spool spool;
  spool.policy("lock_timeout = \"300ms\"");
  spool.push("before");
  for (const char* point : {"push.appended:1", "push.committed:1", "flush.servable:1"}) {
    INFO("stopped at " << point);
    Child stopped = spool.start_stopping_at(point, {"push", std::string("p-") + point});
    REQUIRE(stopped.stopped());
    const Outcome other = spool.fq({"pop", "--lease", "1h"});
    CHECK(other.exit == 75);
    CHECK(contains(other.err, std::to_string(stopped.pid())));
    CHECK(other.ms >= 290);
    CHECK(other.ms < 4'500);  // and not after the 5 s that are usual
    stopped.send(SIGCONT);
    CHECK(stopped.end().exit == 0);
    CHECK(spool.fq({"pop", "--lease", "1h"}).exit == 0);
  }
  spool.check_clean();
}

TEST_CASE("a stopped leader of the flush is named by a push whose outcome is unknown") {
  Spool spool;
  spool.policy("lock_timeout = \"300ms\"");
  spool.push("before");
  Child stopped = spool.start_stopping_at("flush.written:1", {"push", "first"});
  REQUIRE(stopped.stopped());
  const Outcome other = spool.fq({"push", "second"});
  CHECK(other.exit == 74);
  CHECK(contains(other.err, std::to_string(stopped.pid())));
  CHECK(contains(other.err, "unknown"));
  stopped.send(SIGCONT);
  CHECK(stopped.end().exit == 0);
  CHECK(spool.fq({"push", "third"}).exit == 0);
  const std::set<std::string> there = spool.payloads();
  CHECK(there.count("first") == 1);
  CHECK(there.count("third") == 1);
  spool.check_clean();
}

TEST_CASE("a stopped maker of the queue's secret is named by the next push that has a key") {
  Spool spool;
  spool.policy("lock_timeout = \"300ms\"");
  spool.push("before");
  Child stopped = spool.start_stopping_at("secret.made:1", {"push", "first", "--unique", "a"});
  REQUIRE(stopped.stopped());
  const Outcome other = spool.fq({"push", "second", "--unique", "b"});
  CHECK(other.exit == 75);
  CHECK(contains(other.err, "its secret is being made by process " + std::to_string(stopped.pid())));
  CHECK(contains(other.err, ", which is stopped; continue or end it"));
  spool.push("third");
  stopped.send(SIGCONT);
  CHECK(stopped.end().exit == 0);
  CHECK(spool.fq({"push", "fourth", "--unique", "b"}).exit == 0);
  CHECK(spool.payloads() == std::set<std::string>{"before", "first", "third", "fourth"});
  spool.check_clean();
}

TEST_CASE("a queue in use is not removed, and who uses it is named") {
  Spool spool;
  spool.push("kept");
  Child waiter = spool.start({"pop", "--wait", "-t", "nobody"});
  REQUIRE(waiter.asleep_in_futex());
  const Outcome refused = spool.fq({"queue", "remove", "default", "--yes"});
  CHECK(refused.exit == 75);
  CHECK(contains(refused.err, std::to_string(waiter.pid())));
  CHECK(spool.payloads() == std::set<std::string>{"kept"});
  waiter.killed();
  CHECK(spool.fq({"queue", "remove", "default", "--yes"}).exit == 0);
}

TEST_CASE("fq check finds nothing wrong while a push is not durable yet and an ack behind it is done") {
  Spool spool;
  spool.push("acked");
  spool.fq_killed_at("push.committed:1", {"push", "not yet durable"});
  spool.policy("sync = \"lazy\"");  // or the ack would make it durable
  CHECK(spool.says({"pop"}) == "acked");
  spool.check_clean();
  CHECK(spool.payloads() == std::set<std::string>{"not yet durable"});
}

}  // namespace fq::test
