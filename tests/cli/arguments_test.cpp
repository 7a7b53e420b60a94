// arguments_test - the words of random command lines mean what CLI11 says they mean. FQ_SEED=n repeats a run,
// FQ_LONG=N makes it N times as long.
#include "cli/arguments.h"

#include <cstdlib>
#include <random>

#include "cli/command.h"
#include "tests/catch.h"
#include "tests/cli/cli11_oracle.h"

using namespace fq;
using namespace fq::cli;
using fq::test::Taken;

namespace {

std::optional<Taken> taken_by_us(const Command& command, const std::vector<std::string>& words) {
  const Result<Arguments> arguments = parse_arguments(command, words);
  if (!arguments.ok()) return std::nullopt;
  Taken taken;
  for (const Arguments::Given& each : arguments->given())
    taken.given.emplace_back(each.option->long_name, each.value);
  taken.operands = arguments->operands();
  return taken;
}

class Lines {
 public:
  explicit Lines(uint64_t seed) : random_(seed) {}

  const Command& command() { return *all_commands()[below(all_commands().size())]; }

  std::vector<std::string> words(const Command& command) {
    std::vector<std::string> words(below(6));
    for (std::string& word : words) word = one(command);
    return words;
  }

 private:
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  std::string value() {
    static const char* const kValues[] = {"",    "x",   "5m", "a=b",  "-",   "[1,2]", "++",  "{}",
                                          "%%",  "=",   "-5", "-t",   "--",  "--tag", "---", "---x",
                                          "-é",  "é",   " ",  "-0n5", "\"q", "-n",    "\n",  "true",
                                          "--=", "--h", "-h", "-=",   "- ",  "--json"};
    return kValues[below(std::size(kValues))];
  }

  std::string one(const Command& command) {
    const std::vector<const OptionSpec*> options = options_of(command);
    const OptionSpec& option = *options[below(options.size())];
    const std::string name = "--" + std::string(option.long_name);
    const std::string shorter(option.short_name == 0 ? "-x" : std::string("-") + option.short_name);
    switch (below(8)) {
      case 0:
      case 1:
        return name;
      case 2:
        return name + "=" + value();
      case 3:
        return shorter;
      case 4:
        return shorter + value();
      case 5:
        return name.substr(0, below(name.size() + 1)) + value();
      default:
        return value();
    }
  }

  std::mt19937_64 random_;
};

uint64_t number_of(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string shown(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += "'" + word + "' ";
  return text;
}

}  // namespace

TEST_CASE("every command line means what CLI11 would make of it") {
  const uint64_t seed = number_of("FQ_SEED", std::random_device{}());
  const uint64_t lines = 5'000 * number_of("FQ_LONG", 1);
  INFO("FQ_SEED=" << seed);
  Lines random(seed);
  uint64_t accepted = 0;
  for (uint64_t i = 0; i < lines; ++i) {
    const Command& command = random.command();
    const std::vector<std::string> words = random.words(command);
    const std::optional<Taken> taken = taken_by_us(command, words);
    if (taken) ++accepted;
    INFO(command.name << " " << shown(words));
    REQUIRE(taken == test::taken_by_cli11(command, words));
  }
  CHECK(accepted > lines / 10);  // or nothing much was compared
}
