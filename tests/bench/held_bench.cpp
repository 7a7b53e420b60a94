// held - how long the state lock is held under mixed durable load, and what a death inside it costs.
//
// The segment is a file, so a store into it may have to wait for the kernel to write a page back. What that
// costs is shown by a second run, in which another process has the pages written all the time. A process
// that is preempted while it holds the lock shows up here too.
#include "tests/bench/bench.h"

// System.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
// fq, below us.
#include "core/local/shared/gate.h"

namespace fq::bench {

namespace {

constexpr size_t kProcesses = 4;  // two that push, two that take
constexpr int kDeaths = 200;

thread_local int64_t locked_at = 0;
std::vector<double> held_us;

void note_lock() { locked_at = now_ns(); }
void note_unlock() { held_us.push_back(static_cast<double>(now_ns() - locked_at) / 1000.0); }
void die() { ::raise(SIGKILL); }

enum Figure : size_t { kMedian, kP999, kLongest, kFigures };

/// Pushes or takes until `end`; the times that it held the lock.
std::vector<double> load(const std::string& spool, bool pushes, int64_t end) {
  const std::unique_ptr<Queue> queue = must(open_queue({spool, "default"}));
  held_us.reserve(4'000'000);
  Gate::after_lock = note_lock;
  Gate::before_unlock = note_unlock;
  const std::string payload = payload_of(64);
  LeaseRequest request;
  request.wait = true;
  request.wait_ms = 10;
  for (size_t i = 0; now_ns() < end; ++i) {
    if (pushes) {
      must(queue->push(messages(i, 1, payload)));
      continue;
    }
    LeaseReply reply = must(queue->lease(request));
    if (reply.deliveries.empty()) continue;
    Settle ack;
    ack.receipt = std::move(reply.deliveries[0].receipt);
    must(queue->settle({&ack, 1}));
  }
  return {quantile(held_us, 0.5), quantile(held_us, 0.999), quantile(held_us, 1)};
}

/// Has the segment's pages written to the disk until `end`, again and again.
std::vector<double> write_back(const std::string& spool, int64_t end) {
  const int segment = ::open((spool + "/queues/default/segment").c_str(), O_RDWR | O_CLOEXEC);
  while (now_ns() < end) {
    if (::fsync(segment) != 0) std::abort();
  }
  return std::vector<double>(kFigures, 0);
}

struct Held {
  std::vector<double> push, pop;  // by Figure; the worse process of two
};

Held held_under_load(const std::string& spool, int64_t ns, bool written_back) {
  const int64_t end = now_ns() + ns;
  const auto figures = in_processes(kProcesses + (written_back ? 1 : 0), kFigures, [&](size_t i) {
    return i == kProcesses ? write_back(spool, end) : load(spool, i % 2 == 0, end);
  });
  Held held{figures[0], figures[1]};
  for (size_t each = 0; each < kFigures; ++each) {
    held.push[each] = std::max(held.push[each], figures[2][each]);
    held.pop[each] = std::max(held.pop[each], figures[3][each]);
  }
  return held;
}

void measure_held(const Setup& setup) {
  const std::string spool = fresh_spool(setup, "held");
  fill(*open(spool, Sync::always), 10'000, payload_of(64));
  const auto minute = static_cast<int64_t>(60e9 * setup.scale);
  const auto show = [](const std::string& who, const std::vector<double>& us) {
    line(who + ", lock held, median", with_unit(us[kMedian], "us"));
    line(who + ", lock held, p99.9", with_unit(us[kP999], "us"), "",
         verdict_of(us[kP999], {Sense::at_most, 100}));
    line(who + ", lock held, longest", with_unit(us[kLongest], "us"));
  };
  const Held held = held_under_load(spool, minute, false);
  show("pushing", held.push);
  show("lease and ack", held.pop);
  // What the kernel does each half a minute, all the time.
  const Held slowed = held_under_load(spool, minute / 4, true);
  const auto compare = [](const std::string& who, const std::vector<double>& us, double before) {
    line(who + ", p99.9 under constant write-back", with_unit(us[kP999], "us"),
         ratio_of(us[kP999] / before, "without"));
    line(who + ", longest under constant write-back", with_unit(us[kLongest], "us"));
  };
  compare("pushing", slowed.push, held.push[kP999]);
  compare("lease and ack", slowed.pop, held.pop[kP999]);
}

/// A lazy push after a process died inside the lock, and one after an orderly end.
void measure_repair(const Setup& setup) {
  const std::string spool = fresh_spool(setup, "repair");
  const std::unique_ptr<Queue> queue = open(spool, Sync::lazy);
  const std::string payload = payload_of(64);
  const auto after_child = [&](bool dies) {
    const pid_t child = ::fork();
    if (child == 0) {
      const std::unique_ptr<Queue> own = must(open_queue({spool, "default"}));
      if (dies) Gate::before_unlock = die;
      must(own->push(messages(0, 1, payload), lazily()));
      std::_Exit(0);
    }
    ::waitpid(child, nullptr, 0);
    const int64_t from = now_ns();
    must(queue->push(messages(0, 1, payload), lazily()));
    return static_cast<double>(now_ns() - from) / 1000.0;
  };
  const std::function<double()> subjects[] = {[&] { return after_child(false); },
                                              [&] { return after_child(true); }};
  const uint64_t before = must(queue->stats({})).rows.at(0).recoveries;
  const std::vector<double> us = interleave(kDeaths, subjects);
  const uint64_t repairs = must(queue->stats({})).rows.at(0).recoveries - before;
  line("a push after a death inside the lock, extra", with_unit(us[1] - us[0], "us"),
       std::to_string(repairs) + " repairs", verdict_of(us[1] - us[0], {Sense::at_most, 1000}));
}

}  // namespace

void bench_held(const Setup& setup) {
  section("The state lock over a minute of mixed durable load of four processes; repair");
  measure_held(setup);
  measure_repair(setup);
}

}  // namespace fq::bench
