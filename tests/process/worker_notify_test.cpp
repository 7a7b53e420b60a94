// worker_notify_test - what a worker that systemd has started tells it.

// System.
#include <sys/stat.h>
// Tests.
#include "tests/knobs.h"
#include "tests/process/real_fq.h"
#include "tests/worker/listener.h"

namespace fq::test {

namespace {

/// The next line that begins so. Fails after 20 s without any.
std::string next(const Listener& systemd, const std::string& start) {
  for (std::string line; !(line = systemd.heard(20'000)).empty();) {
    if (line.starts_with(start)) return line;
  }
  FAIL("in vain for 20 s: " << start);
  return {};
}

}  // namespace

TEST_CASE("a worker tells when it is ready, that it lives, what it does, and at once that it stops") {
  Spool spool;
  const Listener systemd("@fq-worker-" + std::to_string(::getpid()));
  const std::string gate = spool.directory() + "/gate";
  REQUIRE(::mkfifo(gate.c_str(), 0600) == 0);
  const int go = ::open(gate.c_str(), O_RDWR | O_CLOEXEC);
  // 20 ms: short, so that it is heard often.
  const Start how = {.env = {"NOTIFY_SOCKET=" + systemd.name(), "WATCHDOG_USEC=20000"}, .input = {}};
  Child worker =
      spool.start({"worker", "-j3", "--", "/bin/sh", "-c", "env >\"$0.env\"; read -r x <\"$0\"", gate}, how);
  CHECK(systemd.heard(20'000) == "READY=1");
  for (int i = 0; i < 3; ++i) next(systemd, "WATCHDOG=1");  // idle, and heard all the same
  spool.push("only");
  CHECK(next(systemd, "STATUS=1 of") == "STATUS=1 of 3 jobs running, 1 messages taken");
  worker.send(SIGTERM);
  next(systemd, "STOPPING=1");
  CHECK(worker.runs());
  CHECK(next(systemd, "STATUS=") == "STATUS=1 of 3 jobs running, 1 messages taken, stopping");
  next(systemd, "WATCHDOG=1");
  REQUIRE(::write(go, "\n", 1) == 1);
  CHECK(worker.end().exit == 0);
  ::close(go);
  const std::string env = read_whole(gate + ".env");
  CHECK(contains(env, "FQ_ID=1\n"));
  CHECK_FALSE(contains(env, "NOTIFY_SOCKET"));
  CHECK_FALSE(contains(env, "WATCHDOG"));
}

TEST_CASE("a worker grows while there is a backlog, and gives its slots up again one by one") {
  Spool spool;
  const Listener systemd("@fq-worker-" + std::to_string(::getpid()));
  const std::string gate = spool.directory() + "/gate";
  REQUIRE(::mkfifo(gate.c_str(), 0600) == 0);
  const int go = ::open(gate.c_str(), O_RDWR | O_CLOEXEC);
  const Start how = {.env = {"NOTIFY_SOCKET=" + systemd.name()}, .input = {}};
  Child worker = spool.start({"worker", "--max", "3", "--", "/bin/sh", "-c", "read -r x <\"$0\"", gate}, how);
  CHECK(next(systemd, "STATUS=") == "STATUS=0 of 1 jobs running, 0 messages taken");
  for (int i = 0; i < 4; ++i) spool.push("one");
  next(systemd, "STATUS=3 of 3 jobs running, 3 messages taken");
  REQUIRE(::write(go, "\n\n\n\n", 4) == 4);
  next(systemd, "STATUS=0 of 3 jobs running, 4 messages taken");
  if (is_long_form()) {  // ten seconds without work for each
    const auto idle = Clock_::now();
    CHECK(next(systemd, "STATUS=") == "STATUS=0 of 2 jobs running, 4 messages taken");
    CHECK(ms_since(idle) > 8'000);
    CHECK(next(systemd, "STATUS=") == "STATUS=0 of 1 jobs running, 4 messages taken");
    CHECK(ms_since(idle) > 18'000);
  }
  worker.send(SIGTERM);
  CHECK(worker.end().exit == 0);
  ::close(go);
}

TEST_CASE("a worker that nobody stops tells its end too") {
  Spool spool;
  spool.says({"queue", "create"});
  const Listener systemd("@fq-worker-" + std::to_string(::getpid()));
  const Start how = {.env = {"NOTIFY_SOCKET=" + systemd.name()}, .input = {}};
  CHECK(spool.fq({"worker", "--drain", "--", "true"}, how).exit == 0);
  CHECK(systemd.heard() == "READY=1");
  next(systemd, "STOPPING=1");
  CHECK(systemd.heard() == "");
}

}  // namespace fq::test
