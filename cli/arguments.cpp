#include "cli/arguments.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/assert.h"
#include "core/base/escape.h"
#include "core/base/suggestion.h"
// fq, this room.
#include "cli/command.h"

namespace fq::cli {

namespace {

Error usage(std::string text) { return Error{ErrorKind::usage, std::move(text), 0}; }

std::string dashed(const OptionSpec& option) { return "--" + std::string(option.long_name); }

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

Error unknown_option(const Command& command, std::string_view word) {
  const std::string name(word.substr(0, word.find('=')));
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

/// Goes over the words once. What stands behind an option is its value, whatever it looks like, where the
/// option needs one; nothing is abbreviated, and no word has a meaning of its own.
class Arguments::Parser {
 public:
  Parser(Arguments& to, std::vector<std::string> words) : to_(to), words_(std::move(words)) {}

  Result<void> run() {
    if (std::find(words_.begin(), words_.end(), "--") != words_.end()) return double_dash(*to_.command_);
    for (; next_ < words_.size(); ++next_) {
      std::string& word = words_[next_];
      if (!is_option(word)) {
        to_.operands_.push_back(std::move(word));
      } else if (word.starts_with("--")) {
        FQ_TRY(take_long(word));
      } else {
        FQ_TRY(take_cluster(word));
      }
    }
    return {};
  }

 private:
  /// "-" alone is a word like any other.
  static bool is_option(std::string_view word) { return word.size() > 1 && word[0] == '-'; }

  template <class Named>
  const OptionSpec* find(Named named) const {
    const auto found = std::find_if(to_.known_.begin(), to_.known_.end(), named);
    return found == to_.known_.end() ? nullptr : *found;
  }

  Result<void> take_long(std::string_view word) {
    const size_t equals = word.find('=');
    const std::string_view name = word.substr(2, equals == word.npos ? equals : equals - 2);
    const OptionSpec* option = find([&](const OptionSpec* each) { return each->long_name == name; });
    if (option == nullptr) return unknown_option(*to_.command_, word);
    if (equals == word.npos) return take_what_follows(option);
    if (option->takes == Takes::nothing) return usage(dashed(*option) + ": takes no value");
    add(option, std::string(word.substr(equals + 1)));
    return {};
  }

  /// "-t", "-tacme" or, of those that need no value, several: "-0n5".
  Result<void> take_cluster(std::string_view word) {
    for (word.remove_prefix(1); !word.empty(); word.remove_prefix(1)) {
      const OptionSpec* option = find([&](const OptionSpec* each) { return each->short_name == word[0]; });
      if (option == nullptr) return unknown_option(*to_.command_, "-" + std::string(word));
      const bool takes_rest = option->takes == Takes::value || option->takes == Takes::optional;
      if (takes_rest && word.size() > 1) return add(option, std::string(word.substr(1))), Result<void>{};
      FQ_TRY(take_what_follows(option));
    }
    return {};
  }

  Result<void> take_what_follows(const OptionSpec* option) {
    const bool last = next_ + 1 == words_.size();
    if (option->takes == Takes::value && last) return usage(words_[next_] + ": needs a value");
    const bool takes_next = option->takes == Takes::value ||
                            (option->takes == Takes::optional && !last && !is_option(words_[next_ + 1]));
    add(option, takes_next ? std::optional(std::move(words_[++next_])) : std::nullopt);
    return {};
  }

  void add(const OptionSpec* option, std::optional<std::string> value) {
    to_.given_.push_back({option, std::move(value)});
  }

  Arguments& to_;
  std::vector<std::string> words_;
  size_t next_ = 0;
};

Result<Arguments> parse_arguments(const Command& command, std::vector<std::string> words) {
  Arguments arguments;
  arguments.command_ = &command;
  arguments.known_ = options_of(command);
  FQ_TRY(Arguments::Parser(arguments, std::move(words)).run());
  return arguments;
}

void Arguments::check_known(std::string_view long_name) const {
  const auto named = [&](const OptionSpec* option) { return option->long_name == long_name; };
  FQ_ASSERT(std::any_of(known_.begin(), known_.end(), named));
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
