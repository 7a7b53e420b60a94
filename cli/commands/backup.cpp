// backup - copies a spool in use into a directory, which is a spool then.

// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "cli/session/session.h"
#include "cli/terminal/signals.h"
#include "cli/words/command.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

// Not of FQ_QUEUE: a backup that lacks a queue because of a variable would be found out too late.
constexpr OptionSpec kOnlyQueue = {"General",    'q',     "queue",
                                   Takes::value, "QUEUE", "only this queue (default: all)"};

Result<Exit> run_backup(const Arguments& arguments, Session& session) {
  const auto& operands = arguments.operands();
  if (operands.size() != 1 || operands[0].empty())
    return usage_error("backup", "takes one directory; write fq backup DIR");
  BackupRequest request{operands[0], std::nullopt, &catch_signals()};
  if (arguments.has("queue")) request.queue = session.queue_name();
  const LetInterruptThrough open;
  const Result<std::vector<std::string>> made = back_up(session.spool(), request);
  if (!made && request.interrupt->raised()) die_by_caught_signal();
  if (!made) return made.error();
  for (const std::string& notice : *made) say(notice);
  return Exit::done;
}

}  // namespace

const Command backup_command = {
    "backup",
    "copy a spool while it is in use",
    "DIR",
    "Copies the spool into DIR, while it is in use.\n"
    "DIR is a spool then, in which nothing is leased.",
    {{}, &kOnlyQueue, ""},
    "fq backup /mnt/fq-$(date +%F)",
    "0 done; 1 no spool; 64 DIR is not empty; 69 DIR cannot hold a spool;\n"
    "74 a part cannot be read, or DIR not be made; 75 no room",
    run_backup,
};

}  // namespace fq::cli
