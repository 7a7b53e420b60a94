#include "cli/words/job_options.h"

// System.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
// fq, below us.
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/words/values.h"

namespace fq::cli {

namespace {

Result<std::string> working_directory() {
  const std::unique_ptr<char, decltype(&std::free)> path(::getcwd(nullptr, 0), &std::free);
  if (path) return std::string(path.get());
  Error error = sys_error("read", "the working directory", errno);
  error.kind = ErrorKind::bad_data;
  return error;
}

Result<std::vector<std::string>> variables_of(const Arguments& arguments) {
  std::vector<std::string> variables;
  for (const std::string_view typed : arguments.values("env")) {
    const std::string name(typed);
    if (name.empty() || name.find('=') != std::string::npos)
      return usage_error("--env", in_quotes(name) + " is not a variable's name; its value is our own");
    const char* value = ::secure_getenv(name.c_str());
    if (value == nullptr) continue;
    const std::string variable = name + "=" + value;
    if (std::find(variables.begin(), variables.end(), variable) == variables.end())
      variables.push_back(variable);
  }
  return variables;
}

}  // namespace

Result<std::optional<JobCommand>> job_of(const Arguments& arguments) {
  if (arguments.job().empty()) {
    if (arguments.has("env")) return usage_error("--env", "is for a command; write fq push --env VAR -- CMD");
    return std::optional<JobCommand>();
  }
  JobCommand command;
  command.argv = arguments.job();
  FQ_TRY_SET(command.cwd, working_directory());
  FQ_TRY_SET(command.env, variables_of(arguments));
  return std::optional<JobCommand>(std::move(command));
}

}  // namespace fq::cli
