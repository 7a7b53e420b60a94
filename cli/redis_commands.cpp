// redis_commands - of fq-redis alone: what an administrator of a server does for fq.

// System.
#include <unistd.h>
// fq, below us.
#include "core/base/descriptor.h"
#include "core/redis/redis_engine.h"
// fq, this room.
#include "cli/redis_engines.h"
#include "cli/session/session.h"
#include "cli/terminal/environment.h"
#include "cli/words/command.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

/// The operand, or FQ_SPOOL.
Result<std::string> url_of(std::string_view command, const Arguments& arguments) {
  if (arguments.operands().size() > 1) return usage_error(command, "takes one URL");
  const std::string url =
      arguments.operands().empty() ? environment("FQ_SPOOL").value_or("") : arguments.operands()[0];
  if (!redis_engine().keeps(scheme_of(url)))
    return usage_error(command, "needs the URL of a server, redis://HOST say");
  return url;
}

Result<Exit> print(Session& session, const std::string& line) {
  FQ_TRY(session.out().write(line + "\n"));
  FQ_TRY(session.out().flush());
  return Exit::done;
}

Result<Exit> run_acl(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const std::string url, url_of("acl", arguments));
  FQ_TRY_SET(const std::string rules, redis_engine().rights(url));
  return print(session, rules);
}

Result<Exit> run_load(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const std::string url, url_of("load", arguments));
  FQ_TRY_SET(const bool is_new, redis_engine().load(url));
  return print(session, std::string(redis_library().name) + (is_new ? ": loaded" : ": was there"));
}

/// By a worker, which is at the other end of its input.
Result<Exit> run_guard(const Arguments& arguments, Session&) {
  if (!arguments.operands().empty()) return usage_error("guard", "takes nothing");
  FQ_TRY(redis_engine().guard(Descriptor(STDIN_FILENO)));
  return Exit::done;
}

const Command acl_command = {
    "acl",
    "print the rights that a user of a server needs",
    "[URL]",
    "Prints the rules of ACL SETUSER for a user that works on these queues.",
    {{}, nullptr, ""},
    "redis-cli ACL SETUSER fq on '>secret' $(fq-redis acl redis://host)",
    "64 that is not the URL of a server",
    run_acl,
};

const Command load_command = {
    "load",
    "load what fq runs on a server, for users that may not",
    "[URL]",
    "Loads the functions of this fq into a server, for users that may not.",
    {{}, nullptr, ""},
    "fq-redis load redis://admin@host",
    "75 the server cannot be reached; 77 it does not let this user do it",
    run_load,
};

const Command guard_command = {
    "guard",
    "",
    "",
    "Sees to the messages of a worker that is stopped or dead; fq worker starts it.",
    {{}, nullptr, ""},
    "fq worker -j 4",
    "64 no worker has started it",
    run_guard,
};

/// Jobs get the name of a password's file with their environment, and no password.
void before(const Command& command) {
  if (&command != &worker_command || !has_password_of_its_own()) return;
  say("FQ_REDIS_PASSWORD: is not handed on, so jobs cannot reach the queue; put it into a file and name that "
      "in "
      "FQ_REDIS_PASSWORD_FILE");
}

constexpr const Command* kOwn[] = {&acl_command, &guard_command, &load_command};
[[maybe_unused]] const bool is_said = (own_parts = {kOwn, "fq-redis", before}, true);

}  // namespace

}  // namespace fq::cli
