// job_group_test - when nothing of a job is at work any more.

// System.
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
// fq, below us.
#include "core/worker/process/job_group.h"
// Tests.
#include "tests/catch.h"
#include "tests/left_out.h"

namespace fq::test {

namespace {

using namespace fq::worker;

/// A job that has ended and was reaped, and has left a process of its group, which is our child now.
class LeftBehind {
 public:
  LeftBehind() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    Launch launch;
    launch.argv = {"/bin/sh", "-c", "sleep 60 >/dev/null 2>&1 & exit 0"};
    launch.in = STDIN_FILENO;
    launch.out = STDOUT_FILENO;
    launch.err = STDERR_FILENO;
    process_ = worker::launch(launch).value();
    worker::reap(process_);
  }
  ~LeftBehind() {
    signal_group(process_, SIGKILL);
    while (::waitpid(-process_.pid, nullptr, 0) > 0) {
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  }
  const Process& process() const { return process_; }
  /// It has ended, and is not reaped.
  void end() {
    signal_group(process_, SIGKILL);
    siginfo_t about{};
    REQUIRE(::waitid(P_PGID, static_cast<id_t>(process_.pid), &about, WEXITED | WNOWAIT) == 0);
  }
  void reap() { REQUIRE(::waitpid(-process_.pid, nullptr, 0) > 0); }

 private:
  Process process_;
};

/// What another user makes of it, in a /proc that hides this much of those that are not his. None: it cannot
/// be tried here.
std::optional<bool> is_gone_for_nobody(const Process& process, const char* hidepid) {
  constexpr int kGone = 10, kThere = 11, kNotHere = 12;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const bool hides = ::unshare(CLONE_NEWNS) == 0 &&
                       ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       ::mount("proc", "/proc", "proc", 0, hidepid) == 0;
    if (!hides || ::setgroups(0, nullptr) != 0 || ::setegid(65534) != 0 || ::seteuid(65534) != 0)
      ::_exit(kNotHere);
    ::_exit(group_is_gone(process, 100) ? kGone : kThere);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNotHere) return std::nullopt;
  return WEXITSTATUS(status) == kGone;
}

}  // namespace

TEST_CASE("what is still at work after it was killed is waited for, but not for ever") {
  const LeftBehind left;
  CHECK_FALSE(group_is_gone(left.process(), 0));
  CHECK_FALSE(group_is_gone(left.process(), 500));
  CHECK_FALSE(group_is_gone(left.process(), 9'999));
  CHECK(group_is_gone(left.process(), 10'000));
}

TEST_CASE("what has ended and is not reaped is waited for a moment only") {
  LeftBehind left;
  left.end();
  CHECK_FALSE(group_is_gone(left.process(), 0));
  CHECK_FALSE(group_is_gone(left.process(), 99));
  CHECK(group_is_gone(left.process(), 100));
  left.reap();
  CHECK(group_is_gone(left.process(), 0));
}

TEST_CASE("what cannot be looked at may be at work") {
  LeftBehind left;
  left.end();
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const bool gone = group_is_gone(left.process(), 100);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK_FALSE(gone);
  CHECK(group_is_gone(left.process(), 100));
}

TEST_CASE("what we may not signal is there all the same") {
  if (::geteuid() != 0) {
    leave_out("only root can become another user");
    return;
  }
  const LeftBehind left;
  REQUIRE(::seteuid(65534) == 0);
  const bool gone = group_is_gone(left.process(), 0);
  REQUIRE(::seteuid(0) == 0);
  CHECK_FALSE(gone);
}

TEST_CASE("a member whose files are hidden may be at work, one that is hidden itself too") {
  LeftBehind left;
  for (const char* hidepid : {"hidepid=0", "hidepid=1", "hidepid=2"}) {
    INFO(hidepid);
    const std::optional<bool> gone = is_gone_for_nobody(left.process(), hidepid);
    if (!gone) {
      leave_out("no /proc can be mounted here");
      return;
    }
    CHECK_FALSE(*gone);
  }
  left.end();
  CHECK(is_gone_for_nobody(left.process(), "hidepid=0") == true);
}

TEST_CASE("a group is asked for often at first, and less often when it stays") {
  CHECK(next_look_ms(0) == 1);
  CHECK(next_look_ms(80) == 10);
  CHECK(next_look_ms(9'000) == 250);
}

}  // namespace fq::test
