// arguments_test - what the words of a command line mean: options in every spelling, operands, faults.
#include "cli/words/arguments.h"

#include "cli/words/command.h"
#include "tests/catch.h"

using namespace fq;
using namespace fq::cli;

namespace {

Result<Arguments> parse(const Command& command, std::vector<std::string> words) {
  return parse_arguments(command, std::move(words));
}

/// What is said of a line that is refused.
std::string fault(const Command& command, std::vector<std::string> words) {
  const Result<Arguments> arguments = parse(command, std::move(words));
  return arguments.ok() ? "" : arguments.error().text;
}

}  // namespace

TEST_CASE("options and operands mix, the last one holds, and --opt=VALUE takes any value") {
  const Result<Arguments> arguments =
      parse(push_command, {"-t", "a", "x", "--tenant=b", "-p", "-5", "--payload=", "--key=-k", "-"});
  REQUIRE(arguments.ok());
  CHECK(arguments->value("tenant") == "b");
  CHECK(arguments->value("priority") == "-5");
  CHECK(arguments->value("payload") == "");
  CHECK(arguments->value("key") == "-k");
  CHECK(arguments->operands() == std::vector<std::string>{"x", "-"});
}

TEST_CASE("words that a parser could have a meaning for reach the command as they are") {
  for (const char* word : {"[1,2]", "++", "", "{}", "%%", "a=b", "\"q\"", "-5x=\n", "--x=y"}) {
    INFO(word);
    if (word[0] != '-') CHECK(parse(push_command, {word})->operands() == std::vector<std::string>{word});
    CHECK(parse(push_command, {std::string("--payload=") + word})->value("payload") == word);
    CHECK(parse(push_command, {"--payload", word})->value("payload") == word);
    CHECK(parse(push_command, {"--tag", word, "--tag", word})->values("tag").size() == 2);
  }
}

TEST_CASE("an optional value is taken from --lease VALUE, but --wait only takes --wait=VALUE") {
  CHECK(parse(pop_command, {"--lease", "5m"})->value("lease") == "5m");
  CHECK(parse(pop_command, {"--lease=5m"})->value("lease") == "5m");
  CHECK_FALSE(parse(pop_command, {"--lease", "-n", "3"})->value("lease"));
  CHECK(parse(pop_command, {"--lease", "-n", "3"})->value("count") == "3");
  CHECK(parse(pop_command, {"--wait", "5m"})->operands().size() == 1);
  CHECK(parse(pop_command, {"--wait=5m"})->value("wait") == "5m");
  CHECK(parse(pop_command, {"--wait="})->value("wait") == "");
}

TEST_CASE("short options cluster and take what is attached") {
  CHECK(parse(pop_command, {"-n5"})->value("count") == "5");
  CHECK(parse(pop_command, {"-0n5"})->has("null"));
  CHECK(parse(pop_command, {"-tacme"})->value("tenant") == "acme");
}

TEST_CASE("what follows -- is a command, whatever it looks like, where one is taken") {
  const Result<Arguments> arguments =
      parse(push_command, {"-t", "a", "x", "--", "cmd", "-t", "b", "--lazy", "--", ""});
  REQUIRE(arguments.ok());
  CHECK(arguments->job() == std::vector<std::string>{"cmd", "-t", "b", "--lazy", "--", ""});
  CHECK(arguments->value("tenant") == "a");
  CHECK_FALSE(arguments->has("lazy"));
  CHECK(arguments->operands() == std::vector<std::string>{"x"});
  CHECK(parse(push_command, {"x"})->job().empty());
}

TEST_CASE("what follows -- is operands, whatever it looks like, where no command is taken") {
  const Result<Arguments> arguments = parse(ack_command, {"a", "-q", "mail", "--", "-q", "--", ""});
  REQUIRE(arguments.ok());
  CHECK(arguments->operands() == std::vector<std::string>{"a", "-q", "--", ""});
  CHECK(arguments->value("queue") == "mail");
  CHECK(arguments->job().empty());
  CHECK(parse(ack_command, {"--"})->operands().empty());
  CHECK(fault(ack_command, {"-q", "--", "x"}) == "-q: needs a value");
}

TEST_CASE("no abbreviation, no unknown option and no bare -- gets through") {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"--tenan", "a"},
                                                                                     {"--ten=a"},
                                                                                     {"-x"},
                                                                                     {"--"},
                                                                                     {"x", "--", ""},
                                                                                     {"-t", "--", "x"},
                                                                                     {"--json=1"},
                                                                                     {"-5"},
                                                                                     {"--tenant"},
                                                                                     {"-t"},
                                                                                     {"---"}}) {
    const Result<Arguments> arguments = parse(push_command, words);
    INFO(words[0]);
    REQUIRE_FALSE(arguments.ok());
    CHECK(arguments.error().kind == ErrorKind::usage);
  }
}

TEST_CASE("every option is known in each of its spellings, whatever else is on the line") {
  for (const Command* command : all_commands()) {
    for (const OptionSpec* option : options_of(*command)) {
      const std::string name = "--" + std::string(option->long_name);
      INFO(command->name << " " << name);
      const bool valued = option->takes != Takes::nothing;
      const Result<Arguments> alone = parse(*command, {"x", valued ? name + "=v" : name, "-h"});
      REQUIRE(alone.ok());
      CHECK(alone->has(option->long_name));
      if (option->short_name == 0) continue;
      const Result<Arguments> shorter = parse(*command, {std::string("-") + option->short_name, "v"});
      REQUIRE(shorter.ok());
      CHECK(shorter->has(option->long_name));
    }
  }
}

TEST_CASE("a value may look like an option, with a sign of equality or without") {
  CHECK(parse(push_command, {"-t", "--x=y"})->value("tenant") == "--x=y");
  CHECK(parse(push_command, {"-t", "-x-y"})->value("tenant") == "-x-y");
  CHECK(parse(push_command, {"-t-x-y"})->value("tenant") == "-x-y");
  CHECK(parse(push_command, {"-t=a"})->value("tenant") == "=a");
  CHECK(parse(push_command, {"--tenant", "--lazy"})->value("tenant") == "--lazy");
  CHECK_FALSE(parse(push_command, {"--tenant", "--lazy"})->has("lazy"));
  CHECK(parse(pop_command, {"--lease", "-"})->value("lease") == "-");
}

TEST_CASE("options come in the order in which they were given") {
  const Result<Arguments> arguments = parse(push_command, {"--tag=a=1", "-t", "x", "--tag", "b=2", "-ty"});
  REQUIRE(arguments.ok());
  std::string order;
  for (const Arguments::Given& each : arguments->given())
    order += std::string(each.option->long_name) + ":" + each.value.value_or("") + " ";
  CHECK(order == "tag:a=1 tenant:x tag:b=2 tenant:y ");
}

TEST_CASE("what is unknown inside a cluster is refused, also where it would be a long option") {
  CHECK(fault(pop_command, {"-0x5"}).find("unknown option '-x5'") != std::string::npos);
  CHECK(fault(pop_command, {"-0-json", "--json"}).find("unknown option '--json'") != std::string::npos);
  CHECK(fault(pop_command, {"-0h--json", "--json"}).find("unknown option '---json'") != std::string::npos);
  CHECK(fault(pop_command, {"--lease", "-5"}).find("unknown option '-5'") != std::string::npos);
}

TEST_CASE("an option of another queue leads to ours, by what the command takes") {
  CHECK(fault(push_command, {"--ttr", "5"}).find("did you mean --timeout?") != std::string::npos);
  CHECK(fault(pop_command, {"--ttr", "5"}).find("did you mean --lease?") != std::string::npos);
}

TEST_CASE("of several faults the first one is told") {
  CHECK(fault(push_command, {"--lazy=x", "--tenan", "-t"}) == "--lazy: takes no value");
  CHECK(fault(push_command, {"--tenan", "--lazy=x", "-t"}).find("did you mean --tenant?") !=
        std::string::npos);
  CHECK(fault(push_command, {"x", "--tenant"}) == "--tenant: needs a value");
  CHECK(fault(push_command, {"-0t"}) == "-0t: needs a value");
}
