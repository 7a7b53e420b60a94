// fault_points_test - every operation killed at every fault point that it passes, as a loop.
//
// After each death: the next command answers within a second and needs no repair, what was accepted is
// there, what was not is not, what was acked stays acked, and fq check finds the segment equal to a rebuild
// from the journal, whether it comes first and finds all as the dead left it, or behind a push that has
// tidied up. The list of points is held against the sources, the table of operations against the
// list: a new point without an operation that passes it fails the test. One point every operation passes,
// and often: before and after each store of a transaction.
//
// Each run tries all points, each by a random third of the operations that pass it, and the stores of a third
// of all operations. FQ_SEED repeats a choice, FQ_ALL tries all by all.

// System.
#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <regex>
// Tests.
#include "tests/crash/operations.h"
#include "tests/knobs.h"
#include "tests/left_out.h"

namespace fq::test {

namespace {

constexpr const char* kStore = "txn.store";  // passed by all that make any

constexpr const char* kPoints[] = {
    "attach.shared",
    "blob.written",
    "check.copied",
    "check.copying",
    "change.committed",
    "clock.schedules_moved",
    "compaction.left",
    "compaction.low",
    "compaction.low_durable",
    "compaction.moved",
    "compaction.removed",
    "ended.appended",
    "ended.file_dropped",
    "ended.file_started",
    "ended.moved",
    "ended.noted",
    "ended.outputs_dropped",
    "ended.written",
    "edit.appended",
    "edit.committed",
    "edit.durable",
    "event.appended",
    "event.committed",
    "file.set_aside",
    "flush.applied",
    "flush.servable",
    "flush.synced",
    "flush.syncing",
    "flush.taken",
    "flush.unlocked",
    "flush.written",
    "grow.allocated",
    "header.written",
    "held.committed",
    "held.decided",
    "holder.begun",
    "keys.begun",
    "keys.carried",
    "lease.appended",
    "lease.committed",
    "log.block",
    "orphan.found",
    "orphan.gone",
    "output.kept",
    "output.made",
    "pending.applied",
    "policy.appended",
    "policy.applied",
    "policy.carried",
    "policy.kept",
    "policy.pools_added",
    "policy.pools_applied",
    "policy.rules_added",
    "policy.switched",
    "push.appended",
    "push.committed",
    "push.durable",
    "reap.freed",
    "reap.returned",
    "rebuild.begin",
    "rebuild.made",
    "rebuild.renamed",
    "rebuild.replayed",
    "rebuild.retired",
    "repair.begin",
    "repair.blob_kept",
    "repair.counted",
    "repair.stepped",
    "repair.undone",
    "replace.appended",
    "replace.committed",
    "salvage.ready",
    "salvage.written",
    "schedule.appended",
    "schedule.cancelled",
    "schedule.due",
    "schedule.removed",
    "schedule.skipped",
    "schedules.carried",
    "secret.made",
    "settle.durable",
    "smaller.begin",
    "smaller.made",
    "smaller.renamed",
    "supply.made",
    "timers.fired",
    "wake.counted",
};

/// Points of what is tried by scripts, which kill at each of them: its outcome is more than messages that are
/// there or not (a copy of a spool, what a caller was given).
struct ScriptPoints {
  const char* script;
  std::vector<const char*> points;
};
const ScriptPoints kPointsOfScripts[] = {
    {"tests/cli/backup_test.sh",
     {"backup.begun", "backup.ended", "backup.file", "backup.freed", "backup.journal", "backup.payloads",
      "backup.place", "backup.renamed", "backup.whole"}},
    {"tests/cli/calls_killed_test.sh",
     {"follow.run_read", "run.closed", "run.left", "run.made", "run.piece"}},
    {"tests/cli/export_test.sh", {"import.arrived", "import.durable", "import.step_added", "import.stepped"}},
    {"tests/cli/step_test.sh",
     {"step.appended", "step.begun", "step.committed", "step.durable", "step.pushed", "step.pushing",
      "steps.carried"}},
    {"tests/cli/move_test.sh",
     {"move.arrived", "move.finished", "move.leaving", "move.left", "move.looked", "move.received",
      "move.sent", "move.settled"}},
    {"tests/cli/queue_rename_test.sh", {"rename.renamed"}},
    {"tests/cli/redis_move_test.sh",
     {"crossing.closed", "crossing.forgotten", "crossing.left", "crossing.sent", "crossing.taken"}},
    {"tests/cli/redis_rename_test.sh",
     {"retitle.begun", "retitle.dropped", "retitle.listed", "retitle.made", "retitle.unlisted"}},
};

/// Kills at it by its name, or in a loop over the points of one object.
bool kills_at(const std::string& script, const std::string& point) {
  const size_t dot = point.find('.');
  const bool in_loop = script.find(point.substr(0, dot) + ".$point") != std::string::npos;
  const std::regex loop("for point in [^;]*\\b" + point.substr(dot + 1) + "\\b");
  if (in_loop && std::regex_search(script, loop)) return true;
  return script.find(point + ":") != std::string::npos;
}

std::set<std::string> points_of_sources() {
  std::set<std::string> found;
  const std::regex point("FQ_POINT\\(\"([a-z_.]+)\"\\)");
  for (const char* room :
       {"core/local", "core/redis", "core/journal", "core/schedule", "core/shm", "core/base"}) {
    const std::filesystem::path place = std::filesystem::path(FQ_SOURCE) / room;
    for (const auto& item : std::filesystem::recursive_directory_iterator(place)) {
      if (!item.is_regular_file()) continue;
      const std::string text = read_whole(item.path().string());
      for (std::sregex_iterator at(text.begin(), text.end(), point), end; at != end; ++at)
        found.insert((*at)[1]);
    }
  }
  return found;
}

Outcome run_killed(const Trial& t, const std::string& point) {
  std::vector<std::string> command = t.wrapper;
  command.push_back(fq_binary());
  command.insert(command.end(), t.words.begin(), t.words.end());
  Start how = t.spool.with(t.how);
  how.env.push_back("FQ_KILL_AT=" + point);
  return run(command, how);
}

/// A pop that died may have acked what it had written, and nothing else.
void check_written_or_there(const Trial& t, const Outcome& died, const std::set<std::string>& there) {
  if (t.words[0] != "pop") return;
  const std::vector<std::string> written = lines_of(died.out);
  for (const std::string& each : t.may) {
    if (each == "orphan" || there.count(each) != 0) continue;
    INFO("message " << each << " is gone and was not written");
    CHECK(std::find(written.begin(), written.end(), each) != written.end());
  }
}

/// What comes first after a death.
enum class First { push, check };

void check_after(const Trial& t, const Outcome& died, First first) {
  const bool whole = !t.damaged && t.words.back() != "--repair";
  if (first == First::check && whole) t.spool.check_clean();
  const Outcome next = t.spool.fq({"push", "-t", "probe", "probe"});
  INFO("the next command: exit " << next.exit << " signal " << next.signal << ": " << next.err);
  CHECK(next.exit == 0);
  CHECK(next.ms < 1000);
  // A repair that died is simply begun again.
  if (t.words.back() == "--repair") CHECK(t.spool.fq(t.words).exit == 0);
  if (t.damaged) CHECK(t.spool.fq({"check", "--repair"}).exit == 0);
  t.spool.check_clean();
  std::set<std::string> there = t.spool.payloads();
  CHECK(there.erase("probe") == 1);
  check_written_or_there(t, died, there);
  for (const std::string& each : t.must) {
    INFO("accepted and lost: " << each.substr(0, 20));
    CHECK(there.erase(each) == 1);
  }
  size_t unanswered = 0;
  for (const std::string& each : t.may) unanswered += there.erase(each);
  if (t.all_or_none) CHECK((unanswered == 0 || unanswered == t.may.size()));
  for (const std::string& each : there) {
    INFO("a phantom: " << each.substr(0, 20));
    CHECK(false);
  }
}

bool have_strace() { return run({"/bin/sh", "-c", "command -v strace"}).exit == 0; }

enum class End { killed, done, no_strace };

/// The operation, on a queue of its own, killed at one pass of the point, and what is left looked at.
End kill_at_pass(const Operation& operation, const char* point, int pass, First first) {
  Trial trial;
  operation.prepare(trial);
  if (!trial.wrapper.empty() && !have_strace()) return End::no_strace;
  const std::string at = std::string(point) + ":" + std::to_string(pass);
  INFO(operation.name << " killed at " << at);
  const Outcome died = run_killed(trial, at);
  CHECK_FALSE(died.hung);
  if (died.signal != SIGKILL) {
    INFO("exit " << died.exit << " signal " << died.signal << ": " << died.err);
    CHECK(died.exit == 0);
    return End::done;
  }
  check_after(trial, died, first);
  return End::killed;
}

/// Kills the operation at its first, second and third pass of the point. Returns how often it was killed.
int kill_at_each_pass(const Operation& operation, const char* point) {
  for (int pass = 1; pass <= 3; ++pass) {
    const End end = kill_at_pass(operation, point, pass, pass == 1 ? First::push : First::check);
    if (end == End::no_strace) return -1;
    if (end == End::done) return pass - 1;
  }
  return 3;
}

/// A random third of the operations, one at least.
std::vector<const Operation*> third_of(std::vector<const Operation*> operations, std::mt19937_64& random) {
  if (is_all_tried()) return operations;
  std::shuffle(operations.begin(), operations.end(), random);
  operations.resize((operations.size() + 2) / 3);
  return operations;
}

}  // namespace

TEST_CASE("the list of fault points is that of the sources") {
  std::set<std::string> listed(std::begin(kPoints), std::end(kPoints));
  listed.insert(kStore);
  for (const ScriptPoints& each : kPointsOfScripts) listed.insert(each.points.begin(), each.points.end());
  CHECK(listed == points_of_sources());
}

TEST_CASE("the storm kills at fault points that there are") {
  const std::string storm = read_whole(std::string(FQ_SOURCE) + "/tests/crash/storm_test.cpp");
  const std::regex name("\"([a-z]+\\.[a-z_]+)\"");
  const std::set<std::string> points = points_of_sources();
  size_t named = 0;
  for (std::sregex_iterator at(storm.begin(), storm.end(), name), end; at != end; ++at, ++named) {
    INFO((*at)[1]);
    CHECK(points.count((*at)[1]) == 1);
  }
  CHECK(named > 0);
}

TEST_CASE("scripts kill at the fault points that they are listed with") {
  for (const ScriptPoints& each : kPointsOfScripts) {
    const std::string script = read_whole(std::string(FQ_SOURCE) + "/" + each.script);
    for (const char* point : each.points) {
      INFO(each.script << ": " << point);
      CHECK(kills_at(script, point));
    }
  }
}

TEST_CASE("every fault point is passed by an operation of the table") {
  std::set<std::string> listed(std::begin(kPoints), std::end(kPoints));
  for (const Operation& operation : operations()) {
    for (const char* point : operation.points) listed.erase(point);
  }
  for (const std::string& point : listed) {
    INFO("no operation passes " << point);
    CHECK(false);
  }
}

TEST_CASE("an operation killed at any fault point loses nothing, repeats nothing and leaves no mess") {
  const uint64_t seed = seed_of_run();
  INFO("FQ_SEED=" << seed);
  std::mt19937_64 random(seed);
  std::map<std::string, std::vector<const Operation*>> passing;
  for (const Operation& operation : operations()) {
    for (const char* point : operation.points) passing[point].push_back(&operation);
  }
  size_t tried = 0, possible = 0;
  for (const auto& [point, all] : passing) {
    const std::vector<const Operation*> chosen = third_of(all, random);
    possible += all.size();
    tried += chosen.size();
    for (const Operation* operation : chosen) {
      const int killed = kill_at_each_pass(*operation, point.c_str());
      if (killed < 0) leave_out(std::string("strace is not installed: ") + operation->name);
      INFO(operation->name << " does not pass " << point << " any more");
      CHECK(killed != 0);
    }
  }
  std::printf("fault points: FQ_SEED=%llu, %zu of %zu pairs of operation and point\n",
              static_cast<unsigned long long>(seed), tried, possible);
}

TEST_CASE("an operation killed before or after any store of a transaction is undone or whole") {
  const uint64_t seed = seed_of_run();
  INFO("FQ_SEED=" << seed);
  std::mt19937_64 random(seed);
  std::vector<const Operation*> all;
  for (const Operation& operation : operations()) all.push_back(&operation);
  int kills = 0;
  for (const Operation* operation : third_of(all, random)) {
    int pass = 1;
    while (kill_at_pass(*operation, kStore, pass, kills % 2 == 0 ? First::push : First::check) ==
           End::killed) {
      ++kills;
      // A rebuild makes thousands: all of the first hundred, then every hundredth part; or a doubling.
      pass += is_long_form() ? 1 + pass / 100 : pass;
    }
    const bool skipped = pass == 1 && !have_strace();
    INFO(operation->name << " makes stores or none, unlike its row");
    CHECK(((pass > 1) == (operation->stores == Stores::some) || skipped));
  }
  std::printf("stores: FQ_SEED=%llu, %d kills\n", static_cast<unsigned long long>(seed), kills);
}

TEST_CASE("the long form: every operation is tried with every point, listed or not") {
  if (!is_long_form()) return;
  for (const Operation& operation : operations()) {
    std::string passed;
    for (const char* point : kPoints) {
      if (kill_at_each_pass(operation, point) >= 1) passed += std::string("\"") + point + "\", ";
    }
    WARN(operation.name << ": " << passed);
  }
}

}  // namespace fq::test
