#include "cli/arguments.h"

// System.
#include <algorithm>
#include <map>
// fq, below us.
#include "core/base/assert.h"
#include "core/base/escape.h"
#include "core/base/suggestion.h"
// fq, this room.
#include "cli/cli11.h"
#include "cli/command.h"

namespace fq::cli {

namespace {

Error usage(std::string text) { return Error{ErrorKind::usage, std::move(text), 0}; }

std::string dashed(const OptionSpec& option) { return "--" + std::string(option.long_name); }

/// CLI11 reads meanings into some words: `--x=` means that the value follows, "++" ends a subcommand,
/// "[a,b]" is a list. A NUL in front, which no argument can hold, keeps it from that.
constexpr char kPlain = '\0';

std::string guard(const std::string& word) {
  if (word.size() < 2 || word[0] != '-') return std::string(1, kPlain) + word;
  const size_t equals = word.find('=');
  if (word[1] != '-' || equals == std::string::npos) return word;
  return word.substr(0, equals + 1) + kPlain + word.substr(equals + 1);
}

bool guarded(const std::string& word) { return !word.empty() && word[0] == kPlain; }
std::string unguard(const std::string& word) { return guarded(word) ? word.substr(1) : word; }

std::string cli11_names(const OptionSpec& option) {
  std::string names;
  if (option.short_name != 0) names.append("-").push_back(option.short_name);
  if (option.short_name != 0) names.push_back(',');
  return names.append("--").append(option.long_name);
}

void add_option(CLI::App& app, const OptionSpec& option,
                std::map<const CLI::Option*, const OptionSpec*>& specs) {
  CLI::Option* added =
      app.add_option(cli11_names(option), CLI::callback_t([](const CLI::results_t&) { return true; }));
  added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  switch (option.takes) {
    case Takes::nothing:
    case Takes::attached:
      added->type_size(0);
      break;
    case Takes::value:
      added->expected(1);
      break;
    case Takes::optional:
      added->expected(0, 1);
      break;
  }
  specs[added] = &option;
}

/// Words of beanstalkd, SQS, RabbitMQ and getopt habits, for options that we call otherwise.
struct Synonym {
  std::string_view theirs;
  std::string_view ours;
};
constexpr Synonym kSynonyms[] = {
    {"pri", "priority"},
    {"prio", "priority"},
    {"ttr", "lease"},
    {"visibility-timeout", "lease"},
    {"group", "tenant"},
    {"body", "payload"},
    {"message", "payload"},
    {"data", "payload"},
    {"limit", "count"},
    {"number", "count"},
    {"max-attempts", "attempts"},
    {"tries", "attempts"},
    {"later", "delay"},
    {"in", "delay"},
    {"dir", "spool"},
    {"force", "yes"},
    {"output", "format"},
    {"zero", "null"},
    {"print0", "null"},
    {"label", "tag"},
    {"follow", "wait"},
    {"block", "wait"},
    {"why", "reason"},
};

std::string words_of_help(const Command& command) {
  return command.name.empty() ? "fq help" : "fq help " + std::string(command.name);
}

Error unknown_option(const Command& command, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const size_t dashes = name.starts_with("--") ? 2 : 1;
  std::vector<std::string_view> known;
  for (const OptionSpec* option : options_of(command)) known.push_back(option->long_name);
  std::string_view near = suggest(std::string_view(name).substr(dashes), known);
  for (const Synonym& synonym : kSynonyms) {
    const bool takes = std::find(known.begin(), known.end(), synonym.ours) != known.end();
    if (near.empty() && takes && synonym.theirs == std::string_view(name).substr(dashes)) near = synonym.ours;
  }
  std::string text = command.name.empty() ? "" : std::string(command.name) + ": ";
  text += "unknown option " + in_quotes(name);
  if (!near.empty()) {
    text += "; did you mean --" + std::string(near) + "?";
  } else if (command.name == "push" && dashes == 1) {
    text += "; a payload that begins with '-' goes by --payload=TEXT";
  } else {
    text += "; see " + words_of_help(command);
  }
  return usage(std::move(text));
}

Error double_dash(const Command& command) {
  if (command.name == "push") {
    return usage("--: what follows it is not a payload; for one that begins with '-' write --payload=TEXT");
  }
  return usage("--: not used here; for a value that begins with '-' write --OPTION=VALUE, or see " +
               words_of_help(command));
}

}  // namespace

Result<Arguments> parse_arguments(const Command& command, std::vector<std::string> words) {
  Arguments arguments;
  arguments.command_ = &command;
  std::vector<std::string> reversed;  // as CLI11 wants them
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    if (*word == "--") return double_dash(command);
    reversed.push_back(guard(*word));
  }
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::map<const CLI::Option*, const OptionSpec*> specs;
  for (const OptionSpec* option : options_of(command)) add_option(app, *option, specs);
  try {
    app.parse(reversed);
  } catch (const CLI::ArgumentMismatch&) {
    // It is only ever the last word that lacks one: before it, the next word is taken.
    return usage(words.back() + ": needs a value");
  } catch (const CLI::Error& error) {
    return usage(error.what());
  }
  std::map<const CLI::Option*, size_t> seen;
  for (const CLI::Option* option : app.parse_order()) {
    const OptionSpec* spec = specs.at(option);
    const std::string& result = option->results().at(seen[option]++);
    const bool has_value = spec->takes == Takes::value || guarded(result);
    if (spec->takes == Takes::nothing && has_value) return usage(dashed(*spec) + ": takes no value");
    arguments.given_.push_back({spec, has_value ? std::optional(unguard(result)) : std::nullopt});
  }
  for (const std::string& word : app.remaining()) {
    if (!guarded(word)) return unknown_option(command, word);
    arguments.operands_.push_back(unguard(word));
  }
  return arguments;
}

void Arguments::check_known(std::string_view long_name) const {
  bool known = false;
  for (const OptionSpec* option : options_of(*command_)) known = known || option->long_name == long_name;
  FQ_ASSERT(known);
}

bool Arguments::has(std::string_view long_name) const {
  check_known(long_name);
  for (const Given& each : given_) {
    if (each.option->long_name == long_name) return true;
  }
  return false;
}

std::optional<std::string_view> Arguments::value(std::string_view long_name) const {
  check_known(long_name);
  for (auto each = given_.rbegin(); each != given_.rend(); ++each) {
    if (each->option->long_name == long_name) return each->value;
  }
  return std::nullopt;
}

std::vector<std::string_view> Arguments::values(std::string_view long_name) const {
  check_known(long_name);
  std::vector<std::string_view> all;
  for (const Given& each : given_) {
    if (each.option->long_name == long_name && each.value) all.push_back(*each.value);
  }
  return all;
}

CommandLine split_command_line(int argc, char** argv) {
  CommandLine line;
  int i = 1;
  for (; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with('-') || word.size() == 1) break;
    line.words.emplace_back(word);
    const std::string_view name = word.substr(0, word.find('='));
    line.misplaced_option = name != "--spool" && name != "--queue" && !word.starts_with("-q");
    const bool value_follows = word == "--spool" || word == "--queue" || word == "-q";
    if (value_follows && i + 1 < argc) line.words.emplace_back(argv[++i]);
  }
  if (i < argc) line.command = argv[i++];
  for (; i < argc; ++i) line.words.emplace_back(argv[i]);
  return line;
}

}  // namespace fq::cli
