// instructions - what a push, a lease and an ack execute, counted by valgrind's callgrind: noise does not
// move it.
//
// The door's loops run in a process of their own under callgrind, on a queue that has long been at work: all
// its tenants known, as many ends remembered as there can be. Only what count_loop() calls is counted, after
// a pass that warms up. tests/bench/profile.sh tells what the instructions are spent on.
#include "tests/bench/bench.h"

// System.
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace fq::bench {

namespace {

constexpr size_t kWarm = 1'000;
constexpr size_t kCounted = 5'000;
constexpr size_t kWaiting = 30'000;  // more than the loops take
constexpr size_t kEnded = 70'000;    // more than a queue remembers

struct Loop {
  std::string_view name, said;
  bool takes;
  size_t batch;
  double most;  // instructions a message
};

constexpr Loop kLoops[] = {
    {"push-1", "push", false, 1, 1'800},
    {"push-100", "push, 100 at once", false, 100, 800},
    {"take-1", "lease + ack", true, 1, 5'000},
    {"take-100", "lease + ack, 100 at once", true, 100, 2'800},
};

void run(Queue& queue, const Loop& loop, size_t count) {
  if (loop.takes) {
    take_and_ack(queue, count, loop.batch);
  } else {
    push_each(queue, count, loop.batch);
  }
}

/// Whose calls callgrind counts, by its name.
extern "C" [[gnu::noinline, gnu::noclone, gnu::used]] void count_loop(Queue& queue, const Loop& loop) {
  run(queue, loop, kCounted);
}

/// "Collected" of callgrind's file.
double counted_in(const std::string& file) {
  std::ifstream from(file);
  for (std::string text; std::getline(from, text);) {
    if (text.starts_with("summary: ") || text.starts_with("totals: "))
      return std::stod(text.substr(text.find(' ')));
  }
  std::fprintf(stderr, "fq_bench: nothing was counted in %s\n", file.c_str());
  std::_Exit(1);
}

}  // namespace

void prepare_counting(const Setup& setup) {
  const std::unique_ptr<Queue> queue = open(fresh_spool(setup, "counted"), Sync::lazy);
  fill(*queue, kEnded, payload_of(64));
  take_and_ack(*queue, kEnded, 100);
  fill(*queue, kWaiting, payload_of(64));
}

bool count_loop_named(const Setup& setup, std::string_view name) {
  for (const Loop& loop : kLoops) {
    if (loop.name != name) continue;
    const std::unique_ptr<Queue> queue = open(setup.place + "/counted", Sync::lazy);
    run(*queue, loop, kWarm);
    count_loop(*queue, loop);
    return true;
  }
  return false;
}

void bench_instructions(const Setup& setup) {
  section("Instructions a message: as above, and 65,536 ends remembered (valgrind --tool=callgrind)");
  if (!has_program("valgrind")) return line("not counted", "no valgrind");
  prepare_counting(setup);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  for (const Loop& loop : kLoops) {
    const std::string out = setup.place + "/callgrind." + std::string(loop.name);
    run_command({"valgrind", "--log-file=/dev/null", "--tool=callgrind", "--toggle-collect=count_loop",
                 "--callgrind-out-file=" + out, self, setup.programs, setup.place, "1", "--loop",
                 std::string(loop.name)});
    const double each = counted_in(out) / kCounted;
    line(loop.said, with_unit(each, ""), {}, verdict_of(each, {Sense::at_most, loop.most}));
  }
}

}  // namespace fq::bench
