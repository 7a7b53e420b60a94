#include "cli/words/job_options.h"

// System.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
// fq, below us.
#include "core/base/text/escape.h"
#include "core/base/text/shell_words.h"
// fq, this room.
#include "cli/words/values.h"

namespace fq::cli {

namespace {

void add(std::vector<std::string>& variables, const std::string& variable) {
  if (std::find(variables.begin(), variables.end(), variable) == variables.end())
    variables.push_back(variable);
}

Result<std::vector<std::string>> variables_of(const Arguments& arguments) {
  std::vector<std::string> variables;
  for (char** each = environ; arguments.has("env-all") && *each != nullptr; ++each) {
    const std::string_view variable(*each);
    // What fq says to a job is each job's own.
    const bool is_one = variable.find('=') != std::string_view::npos && !variable.starts_with("=");
    if (is_one && !variable.starts_with("FQ_")) add(variables, std::string(variable));
  }
  for (const std::string_view typed : arguments.values("env")) {
    const std::string name(typed);
    if (name.empty() || name.find('=') != std::string::npos)
      return usage_error(
          "--env",
          in_quotes(name) +
              " is not a variable's name; give a name only, its value is taken from our environment");
    const char* value = ::secure_getenv(name.c_str());
    if (value != nullptr) add(variables, name + "=" + value);
  }
  return variables;
}

}  // namespace

Result<std::string> working_directory() {
  const std::unique_ptr<char, decltype(&std::free)> path(::getcwd(nullptr, 0), &std::free);
  if (path) return std::string(path.get());
  Error error = sys_error("read", "the working directory", errno);
  error.kind = ErrorKind::bad_data;
  return error;
}

Result<std::vector<std::string>> job_words(const Arguments& arguments) {
  const std::optional<std::string_view> shell = arguments.value("shell");
  if (shell && shell->empty()) return usage_error("--shell", "is empty; write a text for sh -c");
  if (shell && !arguments.job().empty())
    return usage_error("--shell", "does not go with -- CMD; give one of them");
  return shell ? words_of_shell(*shell) : arguments.job();
}

Result<std::optional<JobCommand>> job_of(const Arguments& arguments) {
  JobCommand command;
  FQ_TRY_SET(command.argv, job_words(arguments));
  if (command.argv.empty()) {
    for (const std::string_view name : {"env", "env-all"}) {
      if (!arguments.has(name)) continue;
      const std::string option = "--" + std::string(name);
      return usage_error(
          option, "is for a command; write fq push " + option + (name == "env" ? " VAR -- CMD" : " -- CMD"));
    }
    return std::optional<JobCommand>();
  }
  FQ_TRY_SET(command.cwd, working_directory());
  FQ_TRY_SET(command.env, variables_of(arguments));
  return std::optional<JobCommand>(std::move(command));
}

}  // namespace fq::cli
