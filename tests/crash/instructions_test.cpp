// instructions_test - a process killed at every instruction of an operation, and the one that repairs as
// well.
//
// For each operation of the table: its scene, put back for every kill, one process that is killed after k
// instructions, and the next one, which must find all promises kept (I1 to I9 in survivor.cpp). Then pairs:
// killed after k, the repairer killed after j, and a third process. The short form takes a sample of k and j,
// more of them inside the locks (FQ_KILLS=N of k, FQ_ALL for four times as many); FQ_LONG takes every k, and FQ_LONG=N N times as many
// pairs. The seed is printed, FQ_SEED repeats a sample. FQ_OPERATION picks one operation
// (tests/torture/instructions.sh runs as many at once as there are processors), FQ_STEP the one k that a
// violation named.

// System.
#include <climits>
#include <cstdio>
#include <random>
// Tests.
#include "tests/crash/door_operations.h"
#include "tests/crash/moment.h"
#include "tests/crash/survivor.h"
#include "tests/knobs.h"
#include "tests/left_out.h"

namespace fq::test {

namespace {

// What is seen of each moment.
enum Inside : uint32_t {
  kState = 1,
  kFlush = 2,
  kMaker = 4,
  kHalfChanged = 8,  // a transaction is open that has stored something
  kRepairing = 16,   // the state lock was taken from a dead holder, whose half-change is being undone
};

// glibc's owner of a lock that was taken from a dead holder and not yet made consistent.
constexpr int kInconsistent = INT_MAX;

struct KillFigures {
  uint64_t kills = 0;
  uint64_t elsewhere = 0;
  uint64_t recoveries = 0;
  uint64_t violations = 0;
};

uint64_t long_form() {
  const char* value = std::getenv("FQ_LONG");
  return value == nullptr ? 0 : std::max<uint64_t>(1, std::strtoull(value, nullptr, 10));
}

std::mt19937_64& random_source() {
  static std::mt19937_64 source = [] {
    const uint64_t seed = seed_of_run();
    std::printf("instructions: FQ_SEED=%llu\n", static_cast<unsigned long long>(seed));
    return std::mt19937_64(seed);
  }();
  return source;
}

/// `count` of them, spread evenly from a random start.
std::vector<size_t> spread(const std::vector<size_t>& all, size_t count) {
  if (count >= all.size()) return all;
  const double start = std::uniform_real_distribution<double>(0, 1)(random_source());
  std::vector<size_t> chosen;
  for (size_t i = 0; i < count; ++i) {
    chosen.push_back(all[static_cast<size_t>((double(i) + start) * double(all.size()) / double(count))]);
  }
  return chosen;
}

std::vector<size_t> steps_where(const Trace& trace, uint32_t any_of) {
  std::vector<size_t> steps;
  for (size_t step = 0; step <= trace.steps(); ++step) {
    if (any_of == 0 || (trace[step].seen & any_of) != 0) steps.push_back(step);
  }
  return steps;
}

/// All; but of a million steps, where no lock is held, those are left out that repeat an instruction for the
/// sixteenth time or later: loops that nobody else can see.
std::vector<size_t> steps_of_long_form(const Trace& trace) {
  constexpr size_t kMany = 250'000;
  constexpr uint32_t kPassesMax = 16;
  std::vector<size_t> steps = steps_where(trace, 0);
  if (trace.steps() < kMany) return steps;
  std::erase_if(steps,
                [&](size_t step) { return trace[step].seen == 0 && trace[step].passes >= kPassesMax; });
  return steps;
}

/// A quarter from everywhere, the rest from inside the locks.
std::vector<size_t> sample(const Trace& trace, size_t count) {
  std::vector<size_t> chosen = spread(steps_where(trace, 0), count / 4);
  for (const size_t step : spread(steps_where(trace, kState | kFlush | kMaker), count - count / 4)) {
    chosen.push_back(step);
  }
  return chosen;
}

/// One operation, its scene and what became of it.
class Trials {
 public:
  explicit Trials(const DoorOperation& operation) : operation_(operation) {
    operation.prepare(scene_);
    before_ = Moment::of(scene_.spool.path());
    first_ = [this] { operation_.act(scene_); };
    second_ = [this] { act_second(scene_); };
  }

  Trace record_first() { return record(first_, before_); }

  /// C1: one death, then a healthy process.
  void kill_first(const Trace& trace, size_t step) {
    die(first_, before_, trace, step);
    hold(std::to_string(step), trace, step);
  }

  /// C2: the first is dead after `step`, and of the repairer's way `count` deaths are tried.
  uint64_t kill_both(const Trace& trace, size_t step, size_t count) {
    die(first_, before_, trace, step);
    const bool answered = scene_.answered(kFirst);
    const Moment dead = Moment::of(scene_.spool.path());
    scene_.deeds[kSecond].adds = {"second"};
    const Trace repair = record(second_, dead);
    std::vector<size_t> second_steps = sample(repair, count / 2);
    for (const size_t each : spread(steps_where(repair, kRepairing), count - count / 2)) {
      second_steps.push_back(each);
    }
    for (const size_t second_step : second_steps) {
      die(second_, dead, repair, second_step);
      scene_.answer(kFirst, answered);
      hold(std::to_string(step) + " and " + std::to_string(second_step), repair, second_step);
    }
    scene_.deeds[kSecond].adds.clear();
    return second_steps.size();
  }

  /// Of what was done since they were last taken.
  KillFigures take_figures() { return std::exchange(figures_, {}); }

 private:
  Trace record(const Body& body, const Moment& world) {
    world.put_back();
    const SegmentView seen(scene_);
    const auto look = [&seen](pid_t pid) -> uint32_t {
      uint32_t inside = 0;
      if (seen->state.holder() == pid) inside |= kState;
      if (seen->flush.holder() == pid) inside |= kFlush;
      if (seen->compaction.holder() == pid) inside |= kMaker;
      if ((inside & kState) != 0 && seen->undo.count > 0) inside |= kHalfChanged;
      if (seen->state.holder() == kInconsistent) inside |= kRepairing;
      return inside;
    };
    std::optional<Trace> trace = Trace::of(body, look);
    INFO(operation_.name);
    REQUIRE(trace);
    REQUIRE(scene_.answered(&body == &first_ ? kFirst : kSecond));
    return std::move(*trace);
  }

  void die(const Body& body, const Moment& world, const Trace& trace, size_t step) {
    world.put_back();
    scene_.forget_answers();
    const Ended ended = Stepper::kill_after(body, trace, step);
    INFO(operation_.name << " at " << step << ": " << ended.what);
    REQUIRE(ended.how != Ended::How::broken);
    ++figures_.kills;
    if (ended.how == Ended::How::elsewhere) ++figures_.elsewhere;
  }

  void hold(const std::string& where, const Trace& trace, size_t step) {
    const uint64_t recoveries_before = SegmentView(scene_)->schedule.counters.recoveries;
    const Survival survival = survive(scene_);
    if (survival.recoveries > recoveries_before) ++figures_.recoveries;
    if (survival.faults.empty()) return;
    ++figures_.violations;
    INFO(operation_.name << " killed after " << where << " instructions, at " << place_of(trace[step].address)
                         << ":\n"
                         << survival.faults);
    CHECK(false);
    REQUIRE(figures_.violations < kViolationsShown);
  }

  static constexpr uint64_t kViolationsShown = 20;

  const DoorOperation& operation_;
  Scene scene_;
  Moment before_;
  Body first_, second_;
  KillFigures figures_;
};

bool is_chosen(const DoorOperation& operation) {
  const char* only = std::getenv("FQ_OPERATION");
  if (only != nullptr) return std::string(only) == operation.name;
  return long_form() > 0 || operation.in_short_form != Short::nothing;
}

void print(const DoorOperation& operation, const char* what, uint64_t count, const KillFigures& figures) {
  std::printf(
      "instructions: %-12s %8llu %s, %7llu kills, %7llu inside the state lock, %llu elsewhere, %llu "
      "violations\n",
      operation.name, static_cast<unsigned long long>(count), what,
      static_cast<unsigned long long>(figures.kills), static_cast<unsigned long long>(figures.recoveries),
      static_cast<unsigned long long>(figures.elsewhere),
      static_cast<unsigned long long>(figures.violations));
  std::fflush(stdout);
}

/// C1
void kill_at_instructions(const DoorOperation& operation, Trials& trials, const Trace& trace) {
  const size_t kills = number_of("FQ_KILLS", is_all_tried() ? 128 : 32);
  std::vector<size_t> steps = long_form() > 0 ? steps_of_long_form(trace) : sample(trace, kills);
  if (const char* only = std::getenv("FQ_STEP")) steps = {std::strtoull(only, nullptr, 10)};
  for (const size_t step : steps) trials.kill_first(trace, step);
  print(operation, "steps", trace.steps(), trials.take_figures());
}

/// C2: so many deaths inside a transaction, and of the repairer of each.
void kill_repairers(const DoorOperation& operation, Trials& trials, const Trace& trace) {
  const bool in_short_form = operation.in_short_form == Short::kills_and_pairs;
  const size_t first_deaths = long_form() > 0 ? 10 * long_form() : in_short_form ? 1 : 0;
  const size_t second_deaths = 60;
  const std::vector<size_t> inside = spread(steps_where(trace, kHalfChanged), first_deaths);
  uint64_t pairs = 0;
  for (const size_t step : inside) pairs += trials.kill_both(trace, step, second_deaths);
  if (pairs > 0) print(operation, "pairs", pairs, trials.take_figures());
}

}  // namespace

TEST_CASE("processes killed at any instruction, and their repairers, leave every promise kept",
          "[instructions]") {
  if (!Stepper::permitted()) {
    leave_out("nobody may trace here");
    return;
  }
  Stepper::stay_on_one_processor();
  size_t chosen = 0;
  for (const DoorOperation& operation : door_operations()) {
    if (!is_chosen(operation)) continue;
    ++chosen;
    Trials trials(operation);
    const Trace trace = trials.record_first();
    kill_at_instructions(operation, trials, trace);
    kill_repairers(operation, trials, trace);
  }
  CHECK(chosen > 0);
}

}  // namespace fq::test
