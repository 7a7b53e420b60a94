// lost_wakeup_test - a waiter that is killed after it was woken and before it ran takes the wake-up with it.
//
// The state lock is given up and wakes the first of two waiters, whose processor is busy with something that
// may not be interrupted; a newcomer has the lock when that waiter is killed. The newcomer's unlock wakes
// nobody, and the kernel helps only where the lock is free at the moment of the death.

// System.
#include <sched.h>

#include <cstdio>
// Tests.
#include "tests/left_out.h"
#include "tests/process/real_fq.h"

namespace fq::test {

namespace {

/// The first two processors that this process may use; fewer where there are not so many.
std::vector<int> processors() {
  cpu_set_t allowed;
  std::vector<int> found;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return found;
  for (int cpu = 0; cpu < CPU_SETSIZE && found.size() < 2; ++cpu) {
    if (CPU_ISSET(static_cast<size_t>(cpu), &allowed)) found.push_back(cpu);
  }
  return found;
}

bool pin(pid_t process, int cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<size_t>(cpu), &only);
  return ::sched_setaffinity(process, sizeof only, &only) == 0;
}

/// More urgent than all that is not: itself and what it starts from now on.
bool make_urgent(pid_t process, int priority) {
  sched_param urgent{};
  urgent.sched_priority = priority;
  return ::sched_setscheduler(process, SCHED_FIFO, &urgent) == 0;
}

constexpr int kOfTheSpinner = 1, kOfTheTest = 2;

/// This process, until it goes.
class Urgent {
 public:
  Urgent() : granted_(make_urgent(0, kOfTheTest)) {}
  ~Urgent() {
    const sched_param plain{};
    static_cast<void>(::sched_setscheduler(0, SCHED_OTHER, &plain));
  }
  Urgent(const Urgent&) = delete;
  Urgent& operator=(const Urgent&) = delete;

  bool granted() const { return granted_; }

 private:
  bool granted_;
};

/// Keeps a processor from all that is not more urgent, until it goes; for 900 ms at most, since the kernel
/// gives the urgent no more of a second than 950.
class Spinner {
 public:
  explicit Spinner(int cpu) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    pid_ = ::fork();
    if (pid_ == 0) spin(cpu, ready[1]);
    ::close(ready[1]);
    char answer = 0;
    spins_ = ::read(ready[0], &answer, 1) == 1;
    ::close(ready[0]);
  }
  ~Spinner() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;

  /// Not where the system does not let us.
  bool spins() const { return spins_; }

 private:
  [[noreturn]] static void spin(int cpu, int ready) {
    if (!pin(0, cpu) || !make_urgent(0, kOfTheSpinner)) ::_exit(1);
    static_cast<void>(::write(ready, "y", 1));
    for (const auto begin = Clock_::now(); ms_since(begin) < 900;) {
    }
    ::_exit(0);
  }

  pid_t pid_ = -1;
  bool spins_ = false;
};

}  // namespace

TEST_CASE(
    "a push gets the free state lock at once, though the one whose turn it was is killed before it ran") {
  const std::vector<int> cpus = processors();
  if (cpus.size() < 2) {
    leave_out("a lost wake-up needs two processors");
    return;
  }
  Spool spool;
  spool.says({"queue", "create"});
  Child holder = spool.start_stopping_at("push.committed:1", {"push", "--lazy", "first"});
  REQUIRE(holder.stopped());
  Child woken = spool.start({"push", "--lazy", "killed"});
  REQUIRE(woken.asleep_in_futex());
  Child other = spool.start({"push", "--lazy", "other"});
  REQUIRE(other.asleep_in_futex());
  REQUIRE(pin(woken.pid(), cpus[0]));
  for (const Child* each : {&holder, &other}) REQUIRE(pin(each->pid(), cpus[1]));
  bool is_permitted = false;
  Child newcomer = [&] {
    // What else runs here has only the other processor now, and must not make us slower than the spinner
    // lasts.
    const Urgent we;
    if (!we.granted() || !make_urgent(holder.pid(), kOfTheTest)) return Child({"true"}, Start{});
    const Spinner spinner(cpus[0]);
    if (!spinner.spins()) return Child({"true"}, Start{});
    is_permitted = true;
    holder.send(SIGCONT);
    // Its next turns are a newcomer's already. Then one that stops inside.
    static_cast<void>(holder.end());
    Child inside = spool.start_stopping_at("push.committed:1", {"push", "--lazy", "newcomer"});
    static_cast<void>(inside.stopped());
    woken.send(SIGKILL);
    return inside;
  }();
  if (!is_permitted) {
    leave_out("a lost wake-up needs SCHED_FIFO, which is not allowed here");
    return;
  }
  REQUIRE(newcomer.stopped());
  CHECK(woken.end().signal == SIGKILL);
  const auto given_up = Clock_::now();
  newcomer.send(SIGCONT);
  CHECK(newcomer.end().exit == 0);
  const Outcome got = other.end();
  INFO(got.err);
  CHECK(got.exit == 0);
  CHECK(ms_since(given_up) < 4'000);  // a slice, and what a busy machine takes; else lock_timeout, 5 s
  spool.check_clean();
}

}  // namespace fq::test
