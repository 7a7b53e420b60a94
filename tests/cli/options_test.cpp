// options_test - one option list: --help and man/ agree with the option tables. (completions_test: so do
// these.)
#include <filesystem>
#include <sstream>

#include "cli/words/arguments.h"
#include "cli/words/exit_code.h"
#include "cli/session/help.h"
#include "core/policy/policy_value.h"
#include "tests/catch.h"
#include "tests/cli/texts.h"

using namespace fq;
using namespace fq::cli;

namespace {

/// The items of a list under a heading, as they are written: ".It ..." lines.
std::vector<std::string> items_under(const std::string& page, const std::string& heading) {
  std::vector<std::string> items;
  bool under = false;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(".Sh ") || line.starts_with(".Ss ")) under = line.substr(4) == heading;
    if (under && line.starts_with(".It ")) items.push_back(line.substr(4));
  }
  return items;
}

/// As a page writes an option: "Fl t , Fl -tenant Ar PATH".
std::string as_item(const OptionSpec& option) {
  std::string item = option.short_name == 0 ? "" : std::string("Fl ") + option.short_name + " , ";
  item += "Fl -" + std::string(option.long_name);
  const std::string value(option.value_name);
  if (option.takes == Takes::value) item += " Ar " + value;
  if (option.takes == Takes::optional) item += " Op Ar " + value;
  if (option.takes == Takes::attached) item += " Ns Op = Ns Ar " + value;
  return item;
}

/// The codes of "0 done; 1 nothing there; 75 later".
std::set<std::string> exit_codes(std::string_view exits) {
  std::set<std::string> codes;
  std::stringstream parts{std::string(exits)};
  for (std::string part; std::getline(parts, part, ';');) {
    part.erase(0, part.find_first_not_of(" \n"));
    const std::string code = part.substr(0, part.find_first_not_of("0123456789"));
    if (!code.empty()) codes.insert(code);
  }
  return codes;
}

std::string page_of(const Command& command) {
  return read_text("man/fq-" + std::string(command.name) + ".1");
}

}  // namespace

TEST_CASE("fq help tells of each command what fq(1) tells of it, in 80 columns") {
  const std::string page = read_text("man/fq.1");
  for (const Command* command : all_commands()) {
    INFO(command->name);
    const std::string item = ".It Xr fq-" + std::string(command->name) + " 1\n";
    CHECK(page.find(item + std::string(command->summary) + "\n") != std::string::npos);
    CHECK(overview().find(" " + std::string(command->summary) + "\n") != std::string::npos);
  }
  std::istringstream lines(overview());
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
}

TEST_CASE("the manual page of each command lists exactly the options of its table, as they are there") {
  for (const Command* command : all_commands()) {
    INFO(command->name);
    std::set<std::string> wanted;
    for (const OptionSpec* option : options_of(*command)) wanted.insert(as_item(*option));
    const std::vector<std::string> items = items_under(page_of(*command), "OPTIONS");
    CHECK(std::set<std::string>(items.begin(), items.end()) == wanted);
    CHECK(items.size() == wanted.size());
  }
}

TEST_CASE("the manual page of each command lists the exit codes that its help names") {
  for (const Command* command : all_commands()) {
    INFO(command->name);
    std::set<std::string> listed;
    for (const std::string& item : items_under(page_of(*command), "EXIT STATUS")) {
      if (item.find(' ') == std::string::npos) listed.insert(item);  // "1 to 255" is not one code
    }
    CHECK(listed == exit_codes(command->exits));
  }
}

TEST_CASE("each command has a page with an example, each page a command, and fq.1 names all") {
  std::set<std::string> commands = {"fq"};
  std::set<std::string> named;
  for (const Command* command : all_commands()) {
    INFO(command->name);
    commands.insert("fq-" + std::string(command->name));
    const std::string page = page_of(*command);
    CHECK(page.find("\n.Nm fq-" + std::string(command->name) + "\n") != std::string::npos);
    const size_t examples = page.find("\n.Sh EXAMPLES\n");
    REQUIRE(examples != std::string::npos);
    CHECK(page.find("fq " + std::string(command->name), examples) != std::string::npos);
  }
  std::set<std::string> pages;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(FQ_SOURCE) + "/man")) {
    if (entry.path().extension() == ".1") pages.insert(entry.path().stem());
  }
  CHECK(pages == commands);
  commands.erase("fq");
  for (const std::string& item : items_under(read_text("man/fq.1"), "Commands")) {
    named.insert(item.substr(0, item.rfind(' ')).substr(3));  // "Xr fq-push 1"
  }
  CHECK(named == commands);
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
  const std::string page = read_text("man/fq.1");
  for (const Exit exit : {Exit::done, Exit::nothing, Exit::usage, Exit::bad_data, Exit::unusable, Exit::bug,
                          Exit::io, Exit::later, Exit::denied, Exit::config}) {
    INFO(number(exit));
    CHECK(page.find("\n.It " + std::to_string(number(exit)) + "\n") != std::string::npos);
  }
}

TEST_CASE("fq.toml.5 explains every key with its default and an example that is one") {
  const std::string page = read_text("man/fq.toml.5");
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
      {"put", "push"},   {"reserve", "pop"}, {"dequeue", "pop"}, {"touch", "extend"},
      {"nack", "retry"}, {"list", "jobs"},   {"status", "jobs"}, {"psuh", "push"}};
  for (const auto& [theirs, ours] : words) {
    CHECK(unknown_command(theirs).text.find("did you mean " + std::string(ours) + "?") != std::string::npos);
  }
}
