#include "cli/words/arguments.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/assert.h"
#include "core/base/text/escape.h"
#include "core/base/text/suggestion.h"
// fq, this room.
#include "cli/words/cli11.h"
#include "cli/words/command.h"

namespace fq::cli {

namespace {

Error usage(std::string text) { return Error{ErrorKind::usage, std::move(text), 0}; }

std::string dashed(const OptionSpec& option) { return "--" + std::string(option.long_name); }

/// CLI11 reads meanings into some words: `--x=` means that the value follows, "++" ends a subcommand,
/// "[a,b]" is a list, "-0-json" holds "--json". A NUL in front, which no argument can hold, keeps it from
/// that.
constexpr char kPlain = '\0';

std::string guard(std::string_view word) {
  std::string guarded;
  guarded.reserve(word.size() + 1);
  if (word.size() < 2 || word[0] != '-') return guarded.append(1, kPlain).append(word);
  const bool is_long = word[1] == '-';
  const size_t at = is_long ? word.find('=') : word.find('-', 1);
  if (at == word.npos) return guarded.append(word);
  const size_t kept = is_long ? at + 1 : at;
  return guarded.append(word.substr(0, kept)).append(1, kPlain).append(word.substr(kept));
}

bool guarded(std::string_view word) { return word.starts_with(kPlain); }

/// Also inside: of "-t --x=y" the value is "--x=y".
std::string unguard(std::string word) {
  std::erase(word, kPlain);
  return word;
}

/// What an option is called. CLI11 trims the names that it is told by way of a std::locale, and to make that
/// costs more than all else that it does; so it is told none and they are put where it keeps them.
struct Names : CLI::Option {
  static void set(CLI::Option& option, const OptionSpec& spec) {
    if (spec.short_name != 0) (option.*&Names::snames_).emplace_back(1, spec.short_name);
    (option.*&Names::lnames_).emplace_back(spec.long_name);
  }
};

/// CLI11's parser without what it makes for help: fq prints its own.
class OneLine : public CLI::App {
 public:
  OneLine() : App("", "", nullptr) { allow_extras(); }

  void add(const OptionSpec& spec) {
    CLI::Option* option = add_option("");
    Names::set(*option, spec);
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (spec.takes == Takes::nothing || spec.takes == Takes::attached) option->type_size(0);
    if (spec.takes == Takes::optional) option->expected(0, 1);
    added_.push_back({option, &spec, 0});
  }

  /// What `option` means and what it was given, this time.
  std::pair<const OptionSpec*, std::string> next_result(const CLI::Option* option) {
    const auto found =
        std::find_if(added_.begin(), added_.end(), [&](const Added& each) { return each.option == option; });
    return {found->spec, option->results().at(found->read++)};
  }

 private:
  struct Added {
    const CLI::Option* option;
    const OptionSpec* spec;
    size_t read;  // of its results
  };
  std::vector<Added> added_;
};

/// Words of beanstalkd, SQS, RabbitMQ and getopt habits, for options that we call otherwise.
struct Synonym {
  std::string_view theirs;
  std::string_view ours;
};
constexpr Synonym kSynonyms[] = {
    {"pri", "priority"},
    {"prio", "priority"},
    {"ttr", "lease"},
    {"ttr", "timeout"},  // of beanstalkd's put
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
    {"environment", "env"},
    {"retention", "keep"},
    {"v", "version"},
    {"V", "version"},
};

std::string words_of_help(const Command& command) {
  return command.name.empty() ? "fq help" : "fq help " + std::string(command.name);
}

Error unknown_option(const Command& command, std::string_view word) {
  const std::string name(word.substr(0, word.find('=')));
  const size_t dashes = name.starts_with("--") ? 2 : 1;
  std::vector<std::string_view> known;
  for (const OptionSpec* option : options_of(command)) known.push_back(option->long_name);
  // A word of another queue says more than what it happens to look like.
  std::string_view near;
  for (const Synonym& synonym : kSynonyms) {
    const bool takes = std::find(known.begin(), known.end(), synonym.ours) != known.end();
    if (near.empty() && takes && synonym.theirs == std::string_view(name).substr(dashes)) near = synonym.ours;
  }
  if (near.empty()) near = suggest(std::string_view(name).substr(dashes), known);
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

}  // namespace

/// Has CLI11 take the words apart. To build all options of a command costs more than all else that a short
/// command does, so it gets only those that the words can name.
class Arguments::Parser {
 public:
  Parser(Arguments& to, std::vector<std::string> words) : to_(to), words_(std::move(words)) {}

  Result<void> run() {
    FQ_TRY(split_at_dashes());
    Result<void> taken = take(words_.size());
    to_.operands_.insert(to_.operands_.end(), plain_.begin(), plain_.end());
    // CLI11 keeps options and other words apart; which of several faults comes first, shorter lines tell.
    for (size_t count = 1; !taken.ok() && count < words_.size(); ++count) {
      Result<void> sooner = take(count);
      if (!sooner.ok() && !lacks_value_) return sooner;
    }
    return taken;
  }

 private:
  /// What follows the first "--" is a command, or operands, whatever it looks like.
  Result<void> split_at_dashes() {
    const auto dashes = std::find(words_.begin(), words_.end(), "--");
    if (dashes == words_.end()) return {};
    const bool takes_job = to_.command_->options.takes_job;
    (takes_job ? to_.job_ : plain_).assign(dashes + 1, words_.end());
    if (takes_job && (to_.job_.empty() || to_.job_[0].empty()))
      return usage("--: needs a command behind it; write fq " + std::string(to_.command_->name) +
                   " -- CMD ARG...");
    words_.erase(dashes, words_.end());
    return {};
  }

  /// The first `count` words.
  Result<void> take(size_t count) {
    OneLine line;
    std::vector<std::string> reversed;  // as CLI11 wants them
    reversed.reserve(count);
    for (size_t i = count; i > 0; --i) reversed.push_back(guard(words_[i - 1]));
    for (const OptionSpec* option : to_.known_) {
      if (can_be_named(*option)) line.add(*option);
    }
    lacks_value_ = false;
    try {
      line.parse(std::move(reversed));
    } catch (const CLI::ArgumentMismatch&) {
      // It is only ever the last word that lacks one: before it, the next word is taken.
      lacks_value_ = true;
      return usage(words_[count - 1] + ": needs a value");
    }
    to_.given_.clear();
    to_.operands_.clear();
    FQ_TRY(read_options(line));
    for (const std::string& word : line.remaining()) {
      if (!guarded(word)) return unknown_option(*to_.command_, unguard(word));
      to_.operands_.push_back(unguard(word));
    }
    return {};
  }

  Result<void> read_options(OneLine& line) {
    for (const CLI::Option* each : line.parse_order()) {
      const auto& [spec, result] = line.next_result(each);
      const bool has_value = spec->takes == Takes::value || guarded(result);
      if (spec->takes == Takes::nothing && has_value) return usage(dashed(*spec) + ": takes no value");
      // "-5" is a value to CLI11 where no option has that digit.
      if (!has_value && !result.empty()) return unknown_option(*to_.command_, unguard(result));
      to_.given_.push_back({spec, has_value ? std::optional(unguard(result)) : std::nullopt});
    }
    return {};
  }

  bool can_be_named(const OptionSpec& option) const {
    return std::any_of(words_.begin(), words_.end(), [&](std::string_view word) {
      if (!word.starts_with('-')) return false;
      if (word.starts_with("--")) return word.substr(2).starts_with(option.long_name);
      return option.short_name != 0 && word.find(option.short_name) != word.npos;
    });
  }

  Arguments& to_;
  std::vector<std::string> words_;
  std::vector<std::string> plain_;  // operands behind "--"
  bool lacks_value_ = false;
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
    const bool has_value = name == "--spool" || name == "--queue" || name == "--format";
    line.misplaced_option |= !has_value && !word.starts_with("-q") && word != "--json" && word != "--raw";
    const bool value_follows = word == "-q" || (has_value && word == name);
    if (value_follows && i + 1 < argc) line.words.emplace_back(argv[++i]);
  }
  line.before = line.words.size();
  if (i < argc) line.command = argv[i++];
  for (; i < argc; ++i) line.words.emplace_back(argv[i]);
  return line;
}

}  // namespace fq::cli
