// command - a subcommand: its words, its option table and the function that runs it.
#pragma once

// System.
#include <span>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/result.h"
// fq, this room.
#include "cli/words/exit_code.h"
#include "cli/words/option.h"

namespace fq::cli {

class Arguments;
class Session;

struct Command {
  std::string_view name;
  std::string_view summary;   // in the overview; "": it is not listed there
  std::string_view usage;     // behind "fq NAME", one or more lines
  std::string_view sentence;  // what it does
  OptionTable options;
  std::string_view example;
  std::string_view exits;  // the codes that it can end with, apart from those of every command
  Result<Exit> (*run)(const Arguments&, Session&);
  unsigned keys_of = 0;  // the PolicyNode whose keys stand in KEY=VALUE; 0: it takes none
};

/// The options that are taken where no command stands, and by help.
extern const Command no_command;

/// What one program has beside the others, which says so before main begins: see cli/redis_commands.cpp.
struct OwnParts {
  std::span<const Command* const> commands;
  std::string_view program;                          // as it is called
  void (*before)(const Command& command) = nullptr;  // it runs
};
inline OwnParts own_parts;

/// All subcommands, in the order of the overview.
std::span<const Command* const> all_commands();
/// Null when there is none of that name.
const Command* find_command(std::string_view name);

/// Every option that the command takes, common ones included, in the order of --help.
std::vector<const OptionSpec*> options_of(const Command& command);

extern const Command push_command, pop_command, ack_command, retry_command, release_command, bury_command,
    extend_command, kick_command, cancel_command, edit_command, move_command, jobs_command, peek_command,
    show_command, explain_command, stats_command, top_command, report_command, simulate_command, wait_command,
    result_command, worker_command, workers_command, schedule_command, step_command, queue_command,
    tenant_command, config_command, log_command, check_command, compact_command, backup_command,
    export_command, import_command, doctor_command, help_command;

}  // namespace fq::cli
