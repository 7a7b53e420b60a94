#include "core/api/command_check.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/limits.h"
#include "core/base/text/escape.h"

namespace fq {

namespace {

bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

bool is_variable(const std::string& text) {
  return text.find('=') != std::string::npos && !text.starts_with('=');
}

size_t bytes_of(const JobCommand& command) {
  size_t bytes = command.cwd.size();
  for (const std::string& word : command.argv) bytes += word.size() + 2;
  for (const std::string& variable : command.env) bytes += variable.size() + 2;
  return bytes;
}

}  // namespace

Result<void> check_job_command(const JobCommand& command) {
  const auto refuse = [](std::string what) { return Error{ErrorKind::usage, std::move(what), 0}; };
  const auto& [argv, cwd, env] = command;
  if (argv.empty()) return refuse("command: is empty");
  if (argv[0].empty()) return refuse("argv: its first word, the command, is empty");
  if (std::any_of(argv.begin(), argv.end(), has_nul)) return refuse("argv: must be without a NUL");
  if (!cwd.starts_with('/')) return refuse("cwd: must be an absolute path");
  if (has_nul(cwd)) return refuse("cwd: must be without a NUL");
  if (std::any_of(env.begin(), env.end(), has_nul)) return refuse("env: must be without a NUL");
  for (const std::string& variable : env)
    if (!is_variable(variable)) return refuse("env: " + in_quotes(variable) + " is not NAME=VALUE");
  const size_t bytes = bytes_of(command);
  if (bytes <= kCommandBytesMax) return {};
  return Error{ErrorKind::bad_data,
               "command: its arguments and variables have " + std::to_string(bytes) +
                   " bytes, the limit is " + std::to_string(kCommandBytesMax) +
                   "; move long data to its standard input",
               0};
}

}  // namespace fq
