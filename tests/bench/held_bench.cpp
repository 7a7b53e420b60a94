// held - how long the state lock is held under mixed durable load, and what a death inside it costs.
//
// The segment is a file, so a store into it may have to wait for the kernel to write a page back: that, and
// nothing of our own, is what the largest times show. A process that is preempted while it holds the lock
// shows up here too.
#include "tests/bench/bench.h"

// System.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
// fq, below us.
#include "core/spool/gate.h"

namespace fq::bench {

namespace {

constexpr size_t kProcesses = 4;  // two that push, two that take
constexpr int kDeaths = 200;

thread_local int64_t locked_at = 0;
std::vector<double> held_us;

void note_lock() { locked_at = now_ns(); }
void note_unlock() { held_us.push_back(static_cast<double>(now_ns() - locked_at) / 1000.0); }
void die() { ::raise(SIGKILL); }

/// Pushes or takes until `end`; the quantile of the times that it held the lock.
double load(const std::string& spool, bool pushes, int64_t end, double part) {
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
  return quantile(held_us, part);
}

void measure_held(const Setup& setup) {
  const std::string spool = fresh_spool(setup, "held");
  fill(*open(spool, Sync::always), 10'000, payload_of(64));
  const auto ns = static_cast<int64_t>(60e9 * setup.scale);
  for (const double part : {0.5, 0.999}) {
    // Half of the time for each: a process says one number.
    const int64_t end = now_ns() + ns / 2;
    const std::vector<double> us =
        in_processes(kProcesses, [&](size_t i) { return load(spool, i % 2 == 0, end, part); });
    const double push = std::max(us[0], us[2]), pop = std::max(us[1], us[3]);
    const std::string name = part == 0.5 ? "median" : "p99.9";
    const bool judged = part != 0.5;
    line("pushing, lock held, " + name, with_unit(push, "us"), "",
         judged ? verdict_of(push, {Sense::at_most, 100}) : "");
    line("lease and ack, lock held, " + name, with_unit(pop, "us"), "",
         judged ? verdict_of(pop, {Sense::at_most, 100}) : "");
  }
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
