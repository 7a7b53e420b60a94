#include "cli/policy/policy_edit.h"

// System.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
// fq, below us.
#include "core/base/descriptor.h"
#include "core/base/disk/no_such_spool.h"
// fq, this room.
#include "core/policy/policy.h"
#include "cli/terminal/editor.h"
#include "cli/terminal/new_file.h"
#include "cli/terminal/output.h"

namespace fq::cli {

namespace {

/// Durable in place of what was there.
Result<void> put_in_place(const std::string& from, const std::string& to) {
  const std::string directory = directory_of(to);
  const Descriptor file(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0) return sys_error("sync", from, errno);
  if (::rename(from.c_str(), to.c_str()) != 0) return sys_error("rename", from, errno);
  const Descriptor names(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!names || ::fsync(names.get()) != 0) return sys_error("sync", directory, errno);
  return {};
}

}  // namespace

Result<Exit> edit_policy(const Location& location) {
  if (::access(location.spool.c_str(), F_OK) != 0) return no_such_spool(location.spool);
  FQ_TRY_SET(const std::string command, editor_command("config edit"));
  const std::string path = end_of_links(policy_path(location.spool));
  const std::string copy = path + ".edit";
  FQ_TRY_SET(const std::string before, read_text_file(path));
  Result<void> made = write_new_file(copy, before);
  if (!made && made.error().sys != EEXIST) return std::move(made).error();
  if (!made) say(copy + ": goes on with the last edit, which was not put in place");
  FQ_TRY_SET(const int status, run_editor(command, copy));
  if (status != 0) {
    if (made) ::unlink(copy.c_str());
    say("the editor ended " + end_of_editor(status) + "; fq.toml is as it was");
    return Exit::nothing;
  }
  FQ_TRY_SET(const std::string after, read_text_file(copy));
  FQ_TRY_SET(const std::string now, read_text_file(path));
  const std::string kept = "; fq.toml is as it was, the edit is in " + copy;
  if (now != before) return Error{ErrorKind::later, path + ": was changed meanwhile" + kept, 0};
  if (after == before) {
    ::unlink(copy.c_str());
    return Exit::done;
  }
  if (Result<void> good = check_policy_text(after, location); !good) {
    Error error = std::move(good).error();
    error.text += kept;
    return error;
  }
  FQ_TRY(put_in_place(copy, path));
  return Exit::done;
}

}  // namespace fq::cli
