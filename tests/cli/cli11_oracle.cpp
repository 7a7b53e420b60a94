#include "tests/cli/cli11_oracle.h"

#include <CLI/CLI.hpp>
#include <map>

namespace fq::test {

using namespace fq::cli;

namespace {

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
/// Also inside: of "-t --x=y" the value is "--x=y".
std::string unguard(std::string word) {
  std::erase(word, kPlain);
  return word;
}

using Specs = std::map<const CLI::Option*, const OptionSpec*>;

Specs add_options(CLI::App& app, const Command& command) {
  Specs specs;
  for (const OptionSpec* spec : options_of(command)) {
    std::string names = "--" + std::string(spec->long_name);
    if (spec->short_name != 0) names = std::string("-") + spec->short_name + "," + names;
    CLI::Option* option = app.add_option(names, CLI::callback_t([](const CLI::results_t&) { return true; }));
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (spec->takes == Takes::nothing || spec->takes == Takes::attached) option->type_size(0);
    if (spec->takes == Takes::value) option->expected(1);
    if (spec->takes == Takes::optional) option->expected(0, 1);
    specs[option] = spec;
  }
  return specs;
}

}  // namespace

std::optional<Taken> taken_by_cli11(const Command& command, const std::vector<std::string>& words) {
  std::vector<std::string> reversed;  // as it wants them
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    if (*word == "--") return std::nullopt;
    reversed.push_back(guard(*word));
  }
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  Specs specs = add_options(app, command);
  try {
    app.parse(reversed);
  } catch (const CLI::Error&) {
    return std::nullopt;
  }
  Taken taken;
  std::map<const CLI::Option*, size_t> seen;
  for (const CLI::Option* option : app.parse_order()) {
    const OptionSpec& spec = *specs.at(option);
    const std::string& result = option->results().at(seen[option]++);
    const bool has_value = spec.takes == Takes::value || guarded(result);
    if (spec.takes == Takes::nothing && has_value) return std::nullopt;
    // "-5" is no option to CLI11, so a value, where no value is needed; to fq it is an unknown option.
    if (spec.takes == Takes::optional && !has_value && !result.empty()) return std::nullopt;
    taken.given.emplace_back(spec.long_name, has_value ? std::optional(unguard(result)) : std::nullopt);
  }
  for (const std::string& word : app.remaining()) {
    if (!guarded(word)) return std::nullopt;
    taken.operands.push_back(unguard(word));
  }
  return taken;
}

}  // namespace fq::test
