// options_test - one option list: --help, man/ and completions/ agree with the option tables.
#include <fstream>
#include <set>
#include <sstream>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/policy_value.h"
#include "tests/catch.h"

using namespace fq;
using namespace fq::cli;

namespace {

std::string read(const std::string& path) {
  std::ifstream file(std::string(FQ_SOURCE) + "/" + path);
  INFO(path);
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Every "--word" of a text.
std::set<std::string> long_options(const std::string& text) {
  std::set<std::string> found;
  for (size_t at = text.find("--"); at != std::string::npos; at = text.find("--", at + 2)) {
    size_t end = at + 2;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '-'))
      ++end;
    if (end > at + 2) found.insert(text.substr(at + 2, end - at - 2));
  }
  return found;
}

/// Every long option that an mdoc page documents in its lists (".It Fl t , Fl -tenant Ar PATH").
std::set<std::string> documented(const std::string& page) {
  std::set<std::string> found;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(".It ", 0) != 0) continue;
    for (size_t at = line.find("Fl -"); at != std::string::npos; at = line.find("Fl -", at + 4)) {
      const size_t end = line.find_first_of(" =[", at + 4);
      found.insert(line.substr(at + 4, end == std::string::npos ? end : end - at - 4));
    }
  }
  return found;
}

std::set<std::string> in_table(const Command& command) {
  std::set<std::string> names;
  for (const OptionSpec* option : options_of(command)) names.insert(std::string(option->long_name));
  return names;
}

}  // namespace

TEST_CASE("the manual page of each command lists exactly the options of its table") {
  for (const Command* command : all_commands()) {
    INFO(command->name);
    CHECK(documented(read("man/fq-" + std::string(command->name) + ".1")) == in_table(*command));
  }
}

TEST_CASE("the completions of each shell know every command and option, and no other") {
  std::set<std::string> all;
  for (const Command* command : all_commands()) {
    for (const std::string& name : in_table(*command)) all.insert(name);
  }
  for (const char* path : {"completions/fq.bash", "completions/_fq"}) {
    const std::string text = read(path);
    INFO(path);
    CHECK(long_options(text) == all);
    for (const Command* command : all_commands())
      CHECK(text.find(std::string(command->name)) != std::string::npos);
  }
  const std::string fish = read("completions/fq.fish");
  for (const Command* command : all_commands()) {
    for (const OptionSpec* option : options_of(*command)) {
      INFO(command->name << " " << option->long_name);
      CHECK(fish.find("-l " + std::string(option->long_name)) != std::string::npos);
    }
  }
}

TEST_CASE("the completions of each shell know every key of queues and tenants, and no other") {
  // As they stand in a word list: "order= scope= ...".
  const auto list_of = [](Node node) {
    std::string list;
    for (const PolicyKeySpec& spec : policy_keys()) {
      if ((spec.nodes & node) != 0) list += (list.empty() ? "" : " ") + std::string(spec.name) + "=";
    }
    return list;
  };
  for (const char* path : {"completions/fq.bash", "completions/_fq", "completions/fq.fish"}) {
    const std::string text = read(path);
    INFO(path);
    for (const Node node : {kQueueNode, kTenantNode}) {
      const std::string list = list_of(node);
      INFO(list);
      const size_t at = text.find(list);
      REQUIRE(at != std::string::npos);
      CHECK(text[at + list.size()] != ' ');
    }
  }
}

TEST_CASE("help names every option and fits a screen") {
  for (const Command* command : all_commands()) {
    const std::string help = help_of(*command);
    INFO(help);
    for (const OptionSpec* option : options_of(*command))
      CHECK(help.find("--" + std::string(option->long_name)) != std::string::npos);
    std::istringstream lines(help);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) CHECK(line.size() <= 80);
    CHECK(count <= 40);
    CHECK(help.find("\nexample:  ") != std::string::npos);
  }
}

TEST_CASE("fq.1 lists the exit codes of the table") {
  const std::string page = read("man/fq.1");
  for (const Exit exit : {Exit::done, Exit::nothing, Exit::usage, Exit::bad_data, Exit::unusable, Exit::bug,
                          Exit::io, Exit::later, Exit::denied, Exit::config}) {
    INFO(number(exit));
    CHECK(page.find("\n.It " + std::to_string(number(exit)) + "\n") != std::string::npos);
  }
}

TEST_CASE("fq.toml.5 explains every key with its default and an example that is one") {
  const std::string page = read("man/fq.toml.5");
  for (const PolicyKeySpec& spec : policy_keys()) {
    INFO(spec.name);
    const size_t at = page.find("\n.It Ic " + std::string(spec.name) + "\n");
    REQUIRE(at != std::string::npos);
    const std::string text = page.substr(at, page.find("\n.It ", at + 1) - at);
    CHECK(text.find(spec.standard) != std::string::npos);
    const std::string example = "\nExample:\n.Ql " + std::string(spec.name) + " = ";
    const size_t begin = text.find(example);
    REQUIRE(begin != std::string::npos);
    std::string value = text.substr(begin + example.size());
    value = value.substr(0, value.find('\n'));
    for (size_t quote = value.find("\\(dq"); quote != std::string::npos; quote = value.find("\\(dq")) {
      value.erase(quote, 4);
    }
    CHECK(parse_policy_value(spec, value).ok());
  }
}

TEST_CASE("words of other queues lead to ours") {
  const std::pair<const char*, const char*> words[] = {
      {"put", "push"},   {"reserve", "pop"}, {"delete", "ack"},   {"touch", "extend"},
      {"nack", "retry"}, {"list", "peek"},   {"status", "stats"}, {"psuh", "push"}};
  for (const auto& [theirs, ours] : words) {
    CHECK(unknown_command(theirs).text.find("did you mean " + std::string(ours) + "?") != std::string::npos);
  }
}
