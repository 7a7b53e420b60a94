// steps_commands_test - every command of fq help has its rows in steps_test and steps_beside_test: the calls
// that it makes, or a reason why it makes none.

// System.
#include <map>
#include <set>
// Tests.
#include "tests/process/real_fq.h"
#include "tests/process/steps_rows.h"

#ifdef FQ_FAULT_POINTS

namespace fq::test {

namespace {

/// Rows by name; a command without any: see kWithoutRows.
const std::map<std::string, std::vector<const char*>> kRowsOf = {
    {"push", {"push", "push --unique", "push --debounce", "push --after"}},
    {"pop", {"lease", "pop --grouped", "ack"}},
    {"ack", {"ack"}},
    {"retry", {"retry"}},
    {"release", {"release"}},
    {"bury", {"bury"}},
    {"extend", {"extend"}},
    {"kick", {"kick", "kick --state delayed"}},
    {"cancel", {"cancel ids", "cancel -t", "cancel all"}},
    {"edit", {"get", "edit"}},
    {"move", {"select", "move"}},
    {"jobs", {"peek", "ended"}},
    {"peek",
     {"peek", "peek --state delayed", "peek --state leased", "peek --state held", "peek --state dead"}},
    {"show", {"get", "history", "step --list"}},
    {"explain", {"explain", "explain -t", "explain ID"}},
    {"log", {"events"}},
    {"stats", {"stats", "stats --tenants", "stats -t"}},
    {"top", {"stats --tenants", "explain", "peek -n 10", "attendees"}},
    {"report", {"stats --tenants", "events"}},
    {"simulate", {"events", "settings", "policy_overrides"}},
    {"wait", {"await_end, ids", "await_end, idle"}},
    {"result", {"output", "run_output, follow"}},
    {"worker",
     {"attend", "lease all", "hold_for_job", "run_output, follow", "find changes of leases", "ack", "retry"}},
    {"workers", {"attendees"}},
    {"queue", {"settings", "queue pause", "queue rename", "queue remove", "cancel all"}},
    {"schedule",
     {"schedule set", "schedule list", "schedule show", "schedule pause", "schedule resume", "schedule run",
      "schedule remove"}},
    {"step", {"step", "step --push", "step --list", "step --wait", "step --sleep"}},
    {"tenant", {"tenant set", "pause one", "policy_overrides"}},
    {"config", {"settings", "policy_overrides", "policy_kept", "load rules", "schedules of the file"}},
    {"check", {"check", "check --repair"}},
    {"compact", {"compact"}},
    {"backup", {"backup"}},
    {"export", {"queue pause", "origin", "select", "exported", "policy_overrides"}},
    {"import", {"import_messages", "tenant set", "schedule set"}},
};

const std::map<std::string, const char*> kWithoutRows = {
    {"doctor", "it looks at files and at the machine, and opens no queue"},
    {"help", "it opens no queue"},
};

std::set<std::string> commands_of_help() {
  std::set<std::string> names;
  const Spool spool;
  for (const std::string& line : lines_of(spool.says({"help"}))) {
    if (line.starts_with("  ")) names.insert(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

}  // namespace

TEST_CASE("every command has rows in the tables of steps, or a reason why not") {
  const std::set<std::string> commands = commands_of_help();
  CHECK(commands.size() > 30);
  for (const std::string& command : commands) {
    INFO("fq " << command);
    CHECK(kRowsOf.contains(command) != kWithoutRows.contains(command));
  }
  std::set<std::string> calls;
  for (const auto& some : {groups(), groups_beside()}) {
    for (const Group& group : some) {
      for (const Row& row : group.rows) calls.insert(row.call);
    }
  }
  for (const auto& [command, rows] : kRowsOf) {
    INFO("fq " << command);
    CHECK(commands.contains(command));
    for (const char* row : rows) {
      INFO(row);
      CHECK(calls.contains(row));
    }
  }
}

}  // namespace fq::test

#endif
