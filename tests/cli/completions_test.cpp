// completions_test - the completions of each shell agree with the option tables, command by command.
#include <regex>

#include "cli/session/help.h"
#include "core/policy/policy_key.h"
#include "tests/catch.h"
#include "tests/cli/texts.h"

using namespace fq;
using namespace fq::cli;

namespace {

/// What one shell knows of a command.
struct Known {
  std::set<std::string> flags;   // long options without a value
  std::set<std::string> valued;  // those with one, that may be optional
  std::string formats;           // "human|json"
  bool operator==(const Known&) const = default;
};

Known in_table(const Command& command) {
  Known known;
  for (const OptionSpec* option : options_of(command)) {
    (option->takes == Takes::nothing ? known.flags : known.valued).insert(std::string(option->long_name));
  }
  known.formats = command.options.formats;
  return known;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The lines of a `case` in `text` behind the line `NAME)`, up to the next one with the same indentation.
std::vector<std::string> branch(const std::string& text, const std::string& indentation,
                                std::string_view name) {
  std::vector<std::string> found;
  bool inside = false;
  for (const std::string& line : lines_of(text)) {
    const bool label = line.starts_with(indentation) && line[indentation.size()] != ' ';
    if (label) inside = line == indentation + std::string(name) + ")";
    if (inside && !label) found.push_back(line);
  }
  return found;
}

std::string with_bars(std::string words) {
  std::replace(words.begin(), words.end(), ' ', '|');
  return words;
}

/// Bash is not told which of them take a value.
Known in_bash(const Command& command) {
  static const std::string text = read_text("completions/fq.bash");
  Known known;
  std::smatch match;
  for (const std::string& line : branch(text, "    ", command.name)) {
    if (std::regex_search(line, match, std::regex("options='([^']*)'"))) {
      std::istringstream words(match[1]);
      for (std::string word; words >> word;) known.flags.insert(word.substr(2));
    }
    if (std::regex_search(line, match, std::regex("--format \\]\\]; then [^']*words ([a-z ]+);"))) {
      known.formats = with_bars(match[1]);
    }
  }
  return known;
}

Known in_zsh(const Command& command) {
  static const std::string text = read_text("completions/_fq");
  Known known;
  std::smatch match;
  for (const std::string& line : branch(text, "        ", command.name)) {
    const std::string names = line.substr(0, line.find('['));
    if (!std::regex_search(names, match, std::regex("[*',{]--([a-z-]+)(=?-?)[}']?'?$"))) continue;
    const bool valued = line.find("]:") != std::string::npos;
    CHECK(valued == (match[2].length() != 0));
    (valued ? known.valued : known.flags).insert(match[1]);
    if (match[1] == "tenant") CHECK(line.find(":_fq_tenants'") != std::string::npos);
    if (match[1] == "queue") CHECK(line.find(":_fq_queues'") != std::string::npos);
    if (match[1] == "format" && std::regex_search(line, match, std::regex("FORMAT:\\(([a-z ]+)\\)"))) {
      known.formats = with_bars(match[1]);
    }
  }
  return known;
}

Known in_fish(const Command& command) {
  static const std::vector<std::string> lines = lines_of(read_text("completions/fq.fish"));
  Known known;
  std::smatch match;
  const std::regex own("^complete -c fq -n '__fish_seen_subcommand_from " + std::string(command.name) + "' ");
  const std::regex everywhere("^complete -c fq (-s . )?-l ");
  for (const std::string& line : lines) {
    if (!std::regex_search(line, own) && !std::regex_search(line, everywhere)) continue;
    if (!std::regex_search(line, match, std::regex(" -l ([a-z-]+)"))) continue;
    const std::string name = match[1];
    if (command.options.queue == nullptr && (name == "spool" || name == "queue")) continue;
    const bool valued = std::regex_search(line, std::regex(" -[xr] "));
    (valued ? known.valued : known.flags).insert(name);
    if (name == "tenant") CHECK(line.find(" -a '(__fq_tenants)'") != std::string::npos);
    if (name == "queue") CHECK(line.find(" -a '(__fq_queues)'") != std::string::npos);
    if (name == "format" && std::regex_search(line, match, std::regex(" -a '([a-z ]+)'"))) {
      known.formats = with_bars(match[1]);
    }
  }
  return known;
}

/// --opt or --opt=VALUE is a flag to fish.
Known as_fish_says(Known known, const Command& command) {
  for (const OptionSpec* option : options_of(command)) {
    const bool optional = option->takes == Takes::attached || option->takes == Takes::optional;
    if (optional) known.flags.insert(known.valued.extract(std::string(option->long_name)));
  }
  return known;
}

}  // namespace

namespace Catch {
template <>
struct StringMaker<Known> {
  static std::string convert(const Known& known) {
    std::string text = "flags:";
    for (const std::string& name : known.flags) text += " " + name;
    text += "; valued:";
    for (const std::string& name : known.valued) text += " " + name;
    return text + "; formats: " + known.formats;
  }
};
}  // namespace Catch

TEST_CASE("the completions of each shell know exactly the options of each command") {
  for (const Command* command : all_commands()) {
    INFO(command->name);
    const Known table = in_table(*command);
    CHECK(in_zsh(*command) == table);
    CHECK(in_fish(*command) == as_fish_says(table, *command));
    Known together = table;
    together.flags.merge(together.valued);
    together.valued.clear();
    CHECK(in_bash(*command) == together);
  }
}

TEST_CASE("the completions of each shell offer exactly the commands of the table") {
  std::string words;
  std::set<std::string> names;
  for (const Command* command : all_commands()) {
    words += (words.empty() ? "" : " ") + std::string(command->name);
    names.insert(std::string(command->name));
  }
  CHECK(read_text("completions/fq.bash")
            .find("'') options='--spool --queue --version --help' words='" + words + "'") !=
        std::string::npos);
  for (const char* path : {"completions/fq.bash", "completions/_fq", "completions/fq.fish"}) {
    INFO(path << " behind help");
    const std::string text = read_text(path);
    CHECK((text.find("'" + words + "'") != std::string::npos ||
           text.find("(" + words + ")") != std::string::npos));
  }
  const auto offered = [](const char* path, const std::string& pattern) {
    std::set<std::string> found;
    const std::string text = read_text(path);
    const std::regex line(pattern);
    for (auto at = std::sregex_iterator(text.begin(), text.end(), line); at != std::sregex_iterator(); ++at) {
      found.insert((*at)[1]);
    }
    return found;
  };
  CHECK(offered("completions/_fq", "\n    '([a-z]+):") == names);
  CHECK(offered("completions/fq.fish", "-n __fq_needs_command -a ([a-z]+) ") == names);
}

TEST_CASE("help has every key of queues and of tenants, where the completions look for them") {
  const std::pair<const Command*, PolicyNode> sets[] = {{&queue_command, kQueueNode},
                                                        {&tenant_command, kTenantNode}};
  for (const auto& [command, node] : sets) {
    std::string help = help_of(*command);
    INFO(help);
    const size_t at = help.find("\nKeys:\n");
    REQUIRE(at != std::string::npos);
    help = help.substr(at + 7, help.find("\n\n", at + 1) - at - 7);
    std::istringstream words(help);
    std::vector<std::string> names;
    for (std::string word; words >> word;) names.push_back(word);
    const std::vector<std::string_view> keys = policy_key_names(node);
    CHECK(names == std::vector<std::string>(keys.begin(), keys.end()));
    for (const std::string& line : lines_of(help)) CHECK(line.starts_with("  "));
  }
}
