// help - the help command, and the texts of every --help.

#include "cli/session/help.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/escape.h"
#include "core/base/text/suggestion.h"
// fq, this room.
#include "cli/words/arguments.h"
#include "cli/session/session.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr size_t kHelpColumn = 26;
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

/// Words of other queues for what we call otherwise.
constexpr Synonym kCommandSynonyms[] = {
    {"put", "push"},      {"add", "push"},        {"enqueue", "push"},    {"send", "push"},
    {"submit", "push"},   {"reserve", "pop"},     {"get", "pop"},         {"take", "pop"},
    {"receive", "pop"},   {"dequeue", "pop"},     {"delete", "ack"},      {"done", "ack"},
    {"complete", "ack"},  {"touch", "extend"},    {"renew", "extend"},    {"nack", "retry"},
    {"reject", "bury"},   {"fail", "bury"},       {"requeue", "release"}, {"list", "peek"},
    {"ls", "peek"},       {"status", "stats"},    {"info", "stats"},      {"stat", "stats"},
    {"remove", "cancel"}, {"rm", "cancel"},       {"drop", "cancel"},     {"kill", "cancel"},
    {"inspect", "show"},  {"fsck", "check"},      {"queues", "queue"},    {"purge", "queue"},
    {"create", "queue"},  {"await", "wait"},      {"join", "wait"},       {"output", "result"},
    {"pause", "queue"},   {"resume", "queue"},    {"drain", "queue"},     {"tenants", "tenant"},
    {"limit", "tenant"},  {"throttle", "tenant"}, {"policy", "config"},   {"settings", "config"},
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

/// `tight`: for a command with many options.
std::string help_text(const Command& command, bool tight) {
  std::string text = "usage: fq " + std::string(command.name);
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
  text.append("\nexample:  ").append(command.example);
  text.append("\nexit:     ").append(command.exits).append("\n");
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
  for (const Command* command : all_commands()) {
    std::string line = "  " + std::string(command->name);
    line.resize(11, ' ');
    std::string_view sentence = command->sentence;
    // The first clause is enough for a list.
    sentence = sentence.substr(0, std::min({sentence.find('.'), sentence.find(';'), sentence.find(':')}));
    text.append(line).append(sentence).append("\n");
  }
  text += "\nfq help COMMAND tells all of one; fq --version tells the version.\n";
  text += "example:  fq push -t acme hello && fq pop\n";
  return text;
}

Error unknown_command(std::string_view word, bool misplaced_option) {
  std::vector<std::string_view> names;
  for (const Command* command : all_commands()) names.push_back(command->name);
  std::string_view near;
  for (const Synonym& synonym : kCommandSynonyms) {
    if (synonym.theirs == word) near = synonym.ours;
  }
  if (near.empty()) near = suggest(word, names);
  std::string hint = "see fq help";
  if (misplaced_option) hint = "only --spool and -q stand before the command, other options behind it";
  if (!near.empty()) hint = "did you mean " + std::string(near) + "?";
  return Error{ErrorKind::usage, "unknown command " + in_quotes(word) + "; " + hint, 0};
}

const Command no_command = {"", "", "", {kHelpOptions, &kQueueOption, ""}, "", "", run_help};

const Command help_command = {
    "help",
    "[COMMAND]",
    "Explains fq or one command.",
    {kHelpOptions, nullptr, ""},
    "fq help push",
    "0 shown; 64 no such command",
    run_help,
};

}  // namespace fq::cli
