// arguments - the words of a command line, taken apart by the chosen command's option table.
//
// Knows which options and operands were given, in their order, and nothing of what they mean: each
// command turns them into its own typed struct. Asking for an option that is not in the table is a bug.
#pragma once

// System.
#include <optional>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/result.h"
// fq, this room.
#include "cli/words/option.h"

namespace fq::cli {

struct Command;

class Arguments {
 public:
  struct Given {
    const OptionSpec* option;
    std::optional<std::string> value;
  };

  bool has(std::string_view long_name) const;
  /// The value of the last one; none when it was not given, or given without a value.
  std::optional<std::string_view> value(std::string_view long_name) const;
  std::vector<std::string_view> values(std::string_view long_name) const;
  const std::vector<Given>& given() const { return given_; }
  const std::vector<std::string>& operands() const { return operands_; }
  /// CMD ARG... behind "--"; empty when there was none.
  const std::vector<std::string>& job() const { return job_; }
  const Command& command() const { return *command_; }

 private:
  friend Result<Arguments> parse_arguments(const Command& command, std::vector<std::string> words);
  void check_known(std::string_view long_name) const;
  class Parser;
  const Command* command_ = nullptr;
  std::vector<const OptionSpec*> known_;
  std::vector<Given> given_;
  std::vector<std::string> operands_;
  std::vector<std::string> job_;
};

/// `words` are the arguments without the program's and the command's name. Faults are ErrorKind::usage.
Result<Arguments> parse_arguments(const Command& command, std::vector<std::string> words);

/// The arguments split at the command: words that stood before it go behind it.
struct CommandLine {
  std::optional<std::string> command;  // none: there was no command
  bool misplaced_option = false;       // just before the command, whose value the "command" may be
  size_t before = 0;                   // so many of `words` stood before it
  std::vector<std::string> words;
};
CommandLine split_command_line(int argc, char** argv);

}  // namespace fq::cli
