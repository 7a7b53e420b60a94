#include "cli/session/run.h"

// System.
#include <cerrno>
// fq, this room.
#include "cli/words/arguments.h"
#include "cli/words/command.h"
#include "cli/session/help.h"
#include "cli/session/session.h"
#include "cli/terminal/signals.h"
#include "cli/words/away_words.h"

#ifndef FQ_VERSION
#define FQ_VERSION "unknown"
#endif

namespace fq::cli {

namespace {

Result<Exit> print(Session& session, const std::string& text) {
  FQ_TRY(session.out().write(text));
  FQ_TRY(session.out().flush());
  return Exit::done;
}

bool among(const std::vector<std::string>& words, std::string_view wanted) {
  for (const std::string& word : words) {
    if (word == wanted) return true;
  }
  return false;
}

/// What is missing in what was shown, and so in the status. What was taken is that, whatever else there is.
Result<Exit> tell_away(Session& session, Exit exit, const Command& command) {
  const AwayList away = session.take_away();
  if (away.is_empty()) return exit;
  if (session.format() == Format::json) {
    std::string line;
    JsonWriter json(line);
    json.begin_object();
    write_away(json, away);
    json.end_object();
    FQ_TRY(print(session, line + "\n"));
  }
  for (const std::string& text : away.texts()) say(text + std::string(kWithoutThem));
  if (&command == &pop_command && exit == Exit::done) return exit;
  return exit == Exit::done || exit == Exit::nothing ? Exit::later : exit;
}

Result<Exit> run_line(int argc, char** argv, Session& session) {
  CommandLine line = split_command_line(argc, argv);
  if (!line.command) {
    if (among(line.words, "--version")) return print(session, "fq " FQ_VERSION "\n");
    if ((among(line.words, "--help") || among(line.words, "-h"))) return print(session, overview());
    if (line.words.empty()) return Error{ErrorKind::usage, "which command? see fq help", 0};
    // Unknown options are refused by the parser, known ones lack their command.
    FQ_TRY(parse_arguments(no_command, line.words));
    return Error{ErrorKind::usage, "which command? see fq help", 0};
  }
  const Command* command = find_command(*line.command);
  if (command == nullptr) return unknown_command(line);
  const bool helps = command == &help_command;  // needs no spool, wherever -q points
  FQ_TRY_SET(const Arguments arguments,
             parse_arguments(helps ? no_command : *command, std::move(line.words)));
  if (arguments.has("help")) return print(session, help_of(*command));
  if (helps && arguments.has("version")) return print(session, "fq " FQ_VERSION "\n");
  if (helps) return command->run(arguments, session);
  FQ_TRY(session.resolve(arguments));
  if (own_parts.before != nullptr) own_parts.before(*command);
  FQ_TRY_SET(const Exit exit, command->run(arguments, session));
  return tell_away(session, exit, *command);
}

/// The kernel says no more than that it refuses.
std::string text_of(const Error& error) {
  if (error.sys != EACCES || !error.text.starts_with("spool '")) return error.text;
  const bool is_made = error.text.find(": mkdir: ") != std::string::npos;  // by nobody yet
  return error.text + "; " + std::string(is_made ? kOneOfYourOwn : kOfOneUser);
}

}  // namespace

Exit run(int argc, char** argv) {
  Session session(argv);
  const Result<Exit> result = run_line(argc, argv, session);
  if (result) return *result;
  const Error& error = result.error();
  if (Output::interrupted(error)) die_by_caught_signal();
  if (Output::reader_left(error)) {
    die_by_sigpipe();  // where that is ignored, as quietly
  } else {
    say(text_of(error));
  }
  return exit_of(error.kind);
}

}  // namespace fq::cli
