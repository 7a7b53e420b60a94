// worker - `fq worker` beside what runs commands without keeping a queue: a bare loop of posix_spawn, xargs,
// GNU parallel where it is installed; and the way of one message from `fq push` to its job.
#include "tests/bench/bench.h"

// System.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace fq::bench {

namespace {

constexpr size_t kJobs = 5'000;
constexpr size_t kBatched = 50'000;  // many together end so soon that a start would be most of it
constexpr size_t kStreamed = 200'000;
constexpr int kRounds = 3;
constexpr int kWayRounds = 200;
constexpr useconds_t kPauseUs = 3'000;  // so that the worker is asleep again

/// As many as `spool` then holds, of eight tenants, pushed lazily; what ends them syncs as `sync` says.
void refill(const std::string& spool, size_t count, Sync sync) {
  const std::string payload = payload_of(64);
  const std::unique_ptr<Queue> queue = open(spool, sync);
  std::ofstream(spool + "/fq.toml") << "[queue.\"*\"]\nsync = \"" << (sync == Sync::lazy ? "lazy" : "always")
                                    << "\"\n";
  constexpr size_t kTenants = 8;
  constexpr size_t kAtOnce = 500;
  for (size_t done = 0; done < count;) {
    std::vector<NewMessage> batch(std::min(kAtOnce, count - done));
    for (NewMessage& each : batch) {
      each.tenant = tenants()[done++ % kTenants];
      each.payload = as_bytes(payload);
    }
    must(queue->push(batch, lazily()));
  }
}

/// Jobs a second of a worker that empties a queue of `count`.
double worker_rate(const Setup& setup, size_t count, Sync sync, const Words& options) {
  const std::string spool = fresh_spool(setup, "worker");
  refill(spool, count, sync);
  Words words = {setup.programs + "/fq", "worker", "--spool", spool, "-j2", "--drain"};
  words.insert(words.end(), options.begin(), options.end());
  const double rate = static_cast<double>(count) * 1e6 / run_command(words);
  const Words left = {setup.programs + "/fq", "wait", "--spool", spool, "--all", "--for=0s"};
  await(spawn(left), left);
  return rate;
}

/// Two children at a time, and nothing else.
double loop_rate(size_t count) {
  const Words job = {"/bin/true"};
  size_t started = 0;
  size_t running = 0;
  const double ns = ns_each(1, [&](size_t) {
    for (; started < count || running > 0; --running) {
      for (; running < 2 && started < count; ++running, ++started) spawn(job);
      ::waitpid(-1, nullptr, 0);
    }
  });
  return static_cast<double>(count) * 1e9 / ns;
}

double rate_of(size_t count, const Words& words, const std::string& in) {
  return static_cast<double>(count) * 1e6 / run_command(words, in);
}

void report_rates(const Setup& setup) {
  const size_t count = scaled(setup, kJobs);
  const size_t batched = scaled(setup, kBatched);
  const size_t streamed = scaled(setup, kStreamed);
  const std::string numbers = setup.place + "/numbers";
  std::ofstream file(numbers);
  for (size_t i = 0; i < count; ++i) file << i << '\n';
  file.close();
  const bool has_parallel = has_program("parallel");
  std::vector<std::function<double()>> subjects = {
      [&] { return loop_rate(count); },
      [&] {
        return rate_of(count, {"xargs", "-P2", "-n1", "/bin/true"}, numbers);
      },
      [&] {
        return worker_rate(setup, count, Sync::lazy, {"--", "/bin/true"});
      },
      [&] {
        return worker_rate(setup, count, Sync::always, {"--", "/bin/true"});
      },
      [&] {
        return worker_rate(setup, batched, Sync::lazy, {"--batch", "100", "--", "/bin/true"});
      },
      [&] {
        return worker_rate(setup, streamed, Sync::lazy, {"--stream", "--", setup.programs + "/floor_acker"});
      },
  };
  if (has_parallel) {
    subjects.push_back([&] { return rate_of(count, {"parallel", "-j2", "/bin/true"}, numbers); });
  }
  const std::vector<double> rate = interleave(kRounds, subjects);
  const double xargs = rate[1];
  const auto against_xargs = [&](std::string_view name, double of, double at_least) {
    line(name, with_unit(of, "/s"), ratio_of(of / xargs, "xargs"),
         verdict_of(of / xargs, {Sense::at_least, at_least}));
  };
  line("floor: a loop of two posix_spawn children", with_unit(rate[0], "/s"));
  line("floor: xargs -P2 -n1", with_unit(xargs, "/s"));
  line("fq worker -j2, lazy", with_unit(rate[2], "/s"), ratio_of(rate[2] / rate[0], "the loop"),
       verdict_of(rate[2] / rate[0], {Sense::at_least, 0.85}));
  against_xargs("fq worker -j2, lazy", rate[2], 1.2);
  if (has_parallel) {
    line("GNU parallel -j2", with_unit(rate[6], "/s"));
    line("fq worker -j2, lazy", with_unit(rate[2], "/s"), ratio_of(rate[2] / rate[6], "parallel"),
         verdict_of(rate[2] / rate[6], {Sense::at_least, 6}));
  } else {
    line("GNU parallel", "not installed");
  }
  against_xargs("fq worker -j2, durable", rate[3], 1);
  against_xargs("fq worker -j2 --batch 100, lazy", rate[4], 20);
  against_xargs("fq worker -j2 --stream, lazy", rate[5], 100);
}

/// What jobs write into it, each when it began.
class Stamps {
 public:
  Stamps() {
    if (::pipe(ends_) != 0) std::abort();
  }
  int in() const { return ends_[1]; }
  /// Microseconds from `from_ns` to the next job's first instruction.
  double since(int64_t from_ns) const {
    int64_t at_ns = 0;
    if (::read(ends_[0], &at_ns, sizeof at_ns) != static_cast<ssize_t>(sizeof at_ns)) std::abort();
    return static_cast<double>(at_ns - from_ns) / 1000.0;
  }

 private:
  int ends_[2] = {-1, -1};
};

double rested(const std::function<double()>& measure) {
  ::usleep(kPauseUs);  // the worker is to be asleep: what is timed begins with its wake-up
  return measure();
}

void report_way(const Setup& setup) {
  const Stamps stamps;
  const std::string fq = setup.programs + "/fq";
  const Words job = {setup.programs + "/floor_stamp"};
  const std::string spool = fresh_spool(setup, "way");
  const Words worker = {fq, "worker", "--spool", spool, "--", job[0]};
  const Words push = {fq, "push", "--spool", spool, "--lazy", payload_of(64)};
  Words beside = push;  // into a queue that nobody waits for
  beside.insert(beside.end(), {"-q", "beside"});
  run_command(beside);
  const pid_t running = spawn(worker, {"/dev/null", stamps.in()});
  run_command(push);
  stamps.since(0);
  const auto to_stamp = [&](const Words& words, const Streams& streams) {
    const int64_t from_ns = now_ns();
    const pid_t child = spawn(words, streams);
    const double us = stamps.since(from_ns);
    await(child, words);
    return us;
  };
  const std::function<double()> subjects[] = {
      [&] { return rested([&] { return run_command(beside); }); },
      [&] { return rested([&] {
              return to_stamp(job, {"/dev/null", stamps.in()});
            }); },
      [&] { return rested([&] { return to_stamp(push, {}); }); },
  };
  const std::vector<double> us = interleave(static_cast<int>(scaled(setup, kWayRounds)), subjects);
  ::kill(running, SIGTERM);
  await(running, worker);
  const double over_us = us[2] - us[0] - us[1];
  line("floor: fq push --lazy, from its start to its end", with_unit(us[0], "us"));
  line("floor: posix_spawn to the first instruction", with_unit(us[1], "us"));
  line("from the start of fq push to the job in a worker", with_unit(us[2], "us"));
  line("over the two", with_unit(over_us, "us"), "", verdict_of(over_us, {Sense::at_most, 1000}));
}

}  // namespace

void bench_worker(const Setup& setup) {
  section("Worker: commands a second, two at a time, a process each but in batches and streams");
  report_rates(setup);
  section("Worker: from a push to the first instruction of its job (medians)");
  report_way(setup);
}

}  // namespace fq::bench
