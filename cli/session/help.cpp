// help - the help command, and the texts of every --help.

#include "cli/session/help.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/escape.h"
#include "core/base/text/suggestion.h"
#include "core/policy/policy_key.h"
// fq, this room.
#include "cli/words/arguments.h"
#include "cli/session/session.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr size_t kHelpColumn = 26;
constexpr size_t kWidth = 80;
constexpr std::ptrdiff_t kScreenLines = 40;

bool is_shared(const OptionSpec& option) { return option.group == "Output" || option.group == "General"; }

/// "  -t, --tenant PATH".
std::string left_side(const OptionSpec& option) {
  std::string left = option.short_name == 0 ? "      " : std::string("  -") + option.short_name + ", ";
  left.append("--").append(option.long_name);
  switch (option.takes) {
    case Takes::nothing:
      break;
    case Takes::value:
      left.append(" ").append(option.value_name);
      break;
    case Takes::optional:
      left.append(" [").append(option.value_name).append("]");
      break;
    case Takes::attached:
      left.append("[=").append(option.value_name).append("]");
      break;
  }
  return left;
}

void append_option(std::string& text, const OptionSpec& option, std::string_view formats) {
  std::string line = left_side(option);
  line.resize(std::max(kHelpColumn, line.size() + 2), ' ');
  std::string help(option.help);
  if (&option == &kFormatOption) help = std::string(formats) + " (default: human)";
  for (size_t at = help.find('\n'); at != std::string::npos; at = help.find('\n', at + 1)) {
    help.insert(at + 1, kHelpColumn, ' ');
  }
  text.append(line).append(help).append("\n");
}

/// Words of other queues, and of those who run jobs with them, for what we call otherwise.
constexpr Synonym kCommandSynonyms[] = {
    {"put", "push"},
    {"add", "push"},
    {"enqueue", "push"},
    {"send", "push"},
    {"submit", "push"},
    {"batch", "push -- CMD, or worker --batch"},
    {"at", "push --at TIME -- CMD"},
    {"call", "push --wait -- CMD"},
    {"exec", "push --wait -- CMD"},
    {"run", "push -- CMD, or worker"},
    {"reserve", "pop"},
    {"get", "pop"},
    {"take", "pop"},
    {"receive", "pop"},
    {"dequeue", "pop"},
    {"next", "pop, or explain"},
    {"delete", "cancel ID, or ack RECEIPT of a leased one"},
    {"done", "ack"},
    {"complete", "ack"},
    {"touch", "extend"},
    {"init", "queue create"},
    {"why", "explain"},
    {"renew", "extend"},
    {"nack", "retry"},
    {"reject", "bury"},
    {"fail", "bury"},
    {"requeue", "release"},
    {"change", "edit"},
    {"update", "edit"},
    {"modify", "edit"},
    {"transfer", "move"},
    {"mv", "move"},
    {"switch", "edit -p"},
    {"priority", "edit -p"},
    {"urgent", "edit -p"},
    {"reprioritize", "edit -p"},
    {"restart", "kick"},
    {"rerun", "kick"},
    {"stash", "edit --delay, or queue pause"},
    {"list", "jobs"},
    {"ls", "jobs"},
    {"status", "jobs"},
    {"ps", "jobs"},
    {"atq", "jobs"},
    {"squeue", "jobs"},
    {"watch", "jobs --watch, or top"},
    {"count", "stats"},
    {"size", "stats"},
    {"length", "stats"},
    {"info", "stats"},
    {"stat", "stats"},
    {"remove", "cancel"},
    {"rm", "cancel"},
    {"atrm", "cancel"},
    {"abort", "cancel"},
    {"drop", "cancel"},
    {"kill", "cancel"},
    {"clear", "cancel --all, or queue purge"},
    {"clean", "cancel --state dead --all; what else has ended goes by itself"},
    {"inspect", "show"},
    {"fsck", "check"},
    {"queues", "queue"},
    {"purge", "queue purge"},
    {"create", "queue create"},
    {"rename", "queue rename"},
    {"await", "wait"},
    {"join", "wait"},
    {"output", "result"},
    {"logs", "log, or result ID for what a job wrote"},
    {"follow", "result -f ID, or log -f"},
    {"tail", "result -f ID, or log -f"},
    {"history", "log, or show ID"},
    {"events", "log"},
    {"pause", "queue pause, or tenant pause"},
    {"resume", "queue resume, or tenant resume"},
    {"suspend", "queue pause, or tenant pause"},
    {"stop", "queue pause, or cancel ID"},
    {"start", "worker, or queue resume"},
    {"drain", "queue drain"},
    {"dump", "export, or backup DIR"},
    {"load", "import, or push --ndjson"},
    {"copy", "backup DIR, or export"},
    {"cron", "schedule"},
    {"crontab", "schedule"},
    {"reset", "queue purge"},
    {"version", "--version"},
    {"dead", "jobs --state failed"},
    {"failed", "jobs --state failed"},
    {"set", "queue set, or tenant set"},
    {"tenants", "tenant list"},
    {"limit", "tenant limit"},
    {"throttle", "tenant limit"},
    {"policy", "config"},
    {"settings", "config"},
};

constexpr OptionSpec kHelpOptions[] = {
    {"General", 0, "version", Takes::nothing, "", "the version of fq"},
};

Result<Exit> run_help(const Arguments& arguments, Session& session) {
  const auto& operands = arguments.operands();
  if (operands.size() > 1) return usage_error("help", "takes one command");
  std::string text = overview();
  if (!operands.empty()) {
    const Command* command = find_command(operands[0]);
    if (command == nullptr) return unknown_command(operands[0]);
    text = help_of(*command);
  }
  FQ_TRY(session.out().write(text));
  FQ_TRY(session.out().flush());
  return Exit::done;
}

/// What all commands share, in one line.
std::string shared_options(const std::vector<const OptionSpec*>& options, std::string_view formats) {
  std::string line;
  for (const OptionSpec* option : options) {
    if (!is_shared(*option)) continue;
    line.append(line.empty() ? "Also: --" : ", --").append(option->long_name);
    if (option == &kFormatOption) {
      line.append(" ").append(formats);
    } else if (option->takes == Takes::value) {
      line.append(" ").append(option->value_name);
    }
  }
  return line + "\n";
}

/// The completions offer what stands here.
std::string keys_text(unsigned nodes) {
  std::string text = "\nKeys:\n";
  std::string line = " ";
  for (const std::string_view name : policy_key_names(nodes)) {
    if (line.size() + 1 + name.size() > kWidth) {
      text.append(line).append("\n");
      line = " ";
    }
    line.append(" ").append(name);
  }
  return text.append(line).append("\n");
}

/// `tight`: for a command with many options.
std::string help_text(const Command& command, bool tight) {
  const auto& own = own_parts.commands;
  const bool is_own = std::find(own.begin(), own.end(), &command) != own.end();
  std::string text =
      "usage: " + std::string(is_own ? own_parts.program : "fq") + " " + std::string(command.name);
  if (!command.usage.empty()) text.append(" ").append(command.usage);
  text.append("\n\n").append(command.sentence).append("\n");
  std::vector<std::string_view> groups;
  const std::vector<const OptionSpec*> options = options_of(command);
  for (const OptionSpec* option : options) {
    const bool known = std::find(groups.begin(), groups.end(), option->group) != groups.end();
    if (!known && !(tight && is_shared(*option))) groups.push_back(option->group);
  }
  if (tight) text.append("\n");
  for (const std::string_view group : groups) {
    if (!tight) text.append("\n");
    text.append(group).append(":\n");
    for (const OptionSpec* option : options) {
      if (option->group == group) append_option(text, *option, command.options.formats);
    }
  }
  if (tight) text.append(shared_options(options, command.options.formats));
  if (command.keys_of != 0) text.append(keys_text(command.keys_of));
  text.append("\nexample:  ").append(command.example);
  text.append("\nexit:     ");
  for (const char each : command.exits) text.append(each == '\n' ? "\n          " : std::string(1, each));
  text.append("\n");
  return text;
}

}  // namespace

std::string help_of(const Command& command) {
  std::string text = help_text(command, false);
  const bool fits = std::count(text.begin(), text.end(), '\n') <= kScreenLines;
  return fits ? text : help_text(command, true);
}

std::string overview() {
  std::string text =
      "usage: fq [--spool DIR] [-q QUEUE] COMMAND ...\n\nA fair queue for the shell: tenants take turns.\n\n";
  const auto list = [&text](std::span<const Command* const> commands) {
    for (const Command* command : commands) {
      if (command->summary.empty()) continue;
      std::string line = "  " + std::string(command->name);
      line.resize(11, ' ');
      text.append(line).append(command->summary).append("\n");
    }
  };
  list(all_commands());
  if (!own_parts.commands.empty()) text.append("\nOf ").append(own_parts.program).append(" alone:\n");
  list(own_parts.commands);
  text += "\nfq help COMMAND tells all of one; fq --version tells the version.\n";
  text += "example:  fq push -t acme hello && fq pop\n";
  return text;
}

namespace {

/// "fq push -t acme ..." of "fq -t acme push x"; "": no command stands behind, or a word is not for a line of
/// text.
std::string in_order(const CommandLine& line) {
  const auto rest = line.words.begin() + static_cast<std::ptrdiff_t>(line.before);
  const auto command = std::find_if(rest, line.words.end(),
                                    [](const std::string& word) { return find_command(word) != nullptr; });
  if (!line.misplaced_option || command == line.words.end()) return "";
  std::string text = "fq " + *command;
  const auto add = [&text](const std::string& word) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./@:=-";
    const bool plain = !word.empty() && word.find_first_not_of(kPlain) == std::string::npos;
    text.append(" ").append(plain ? word : quote_shell(word));
  };
  for (auto word = line.words.begin(); word != rest; ++word) add(*word);
  add(*line.command);
  for (auto word = rest; word != command; ++word) add(*word);
  return command + 1 == line.words.end() ? text : text + " ...";
}

Error unknown(std::string_view word, std::string_view hint) {
  return Error{ErrorKind::usage, ("unknown command " + in_quotes(word) + "; ").append(hint), 0};
}

/// "": nothing.
std::string meant_by(std::string_view word) {
  constexpr std::string_view kVersion = "version";  // which many have as a command
  std::vector<std::string_view> names{kVersion};
  for (const Command* command : all_commands()) names.push_back(command->name);
  const auto synonym_of = [](std::string_view theirs) {
    std::string_view ours;
    for (const Synonym& synonym : kCommandSynonyms) {
      if (synonym.theirs == theirs) ours = synonym.ours;
    }
    return ours;
  };
  std::string_view near = synonym_of(word);
  if (near.empty()) near = suggest(word, names);
  if (near == kVersion) near = synonym_of(near);
  return near.empty() ? "" : "did you mean " + std::string(near) + "?";
}

}  // namespace

Error unknown_command(std::string_view word) {
  const std::string meant = meant_by(word);
  return unknown(word, meant.empty() ? "see fq help" : meant);
}

Error unknown_command(const CommandLine& line) {
  if (!line.misplaced_option) return unknown_command(*line.command);
  constexpr std::string_view kOrder =
      "only --spool, -q, --format, --json and --raw stand before the command, other options behind it";
  if (const std::string ordered = in_order(line); !ordered.empty())
    return unknown(*line.command, std::string(kOrder) + ": " + ordered);
  const std::string meant = meant_by(*line.command);
  return unknown(*line.command, meant.empty() ? kOrder : meant);
}

const Command no_command = {"", "", "", "", {kHelpOptions, &kQueueOption, ""}, "", "", run_help};

const Command help_command = {
    "help",
    "explain fq or a command",
    "[COMMAND]",
    "Explains fq or one command.",
    {kHelpOptions, nullptr, ""},
    "fq help push",
    "0 shown; 64 no such command",
    run_help,
};

}  // namespace fq::cli
