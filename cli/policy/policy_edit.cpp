#include "cli/policy/policy_edit.h"

// System.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
// fq, below us.
#include "core/base/descriptor.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "core/policy/policy.h"
#include "cli/terminal/environment.h"
#include "cli/terminal/output.h"

namespace fq::cli {

namespace {

constexpr mode_t kMode = 0600;

Result<std::string> editor() {
  for (const char* name : {"VISUAL", "EDITOR"}) {
    if (const auto set = environment(name)) return *set;
  }
  if (::isatty(STDIN_FILENO) == 1) return std::string("vi");
  return Error{ErrorKind::usage, "config edit: no editor is known here; set VISUAL or EDITOR", 0};
}

/// "": there is none.
Result<std::string> text_of(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file && errno == ENOENT) return std::string();
  if (!file) return sys_error("open", path, errno);
  std::string text;
  char piece[16 * 1024];
  for (;;) {
    const ssize_t got = ::read(file.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return sys_error("read", path, errno);
    if (got == 0) return text;
    text.append(piece, static_cast<size_t>(got));
  }
}

Result<void> write_new(const std::string& path, std::string_view text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
  if (!file) return sys_error("open", path, errno);
  while (!text.empty()) {
    const ssize_t put = ::write(file.get(), text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return sys_error("write", path, errno);
    text.remove_prefix(static_cast<size_t>(put));
  }
  return {};
}

/// Runs it as git does: words of a shell, with the file behind them. Its status as waitpid tells it.
Result<int> run_editor(const std::string& command, const std::string& path) {
  const std::string text = command + " \"$@\"";
  const char* const words[] = {"sh", "-c", text.c_str(), "sh", path.c_str(), nullptr};
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&how, &none);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, "/bin/sh", nullptr, &how, const_cast<char* const*>(words), environ);
  ::posix_spawnattr_destroy(&how);
  if (failed != 0) return sys_error("start", "the editor", failed);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return sys_error("wait for", "the editor", errno);
  }
  return status;
}

/// Durable in place of what was there.
Result<void> put_in_place(const std::string& from, const std::string& to, const std::string& directory) {
  const Descriptor file(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0) return sys_error("sync", from, errno);
  if (::rename(from.c_str(), to.c_str()) != 0) return sys_error("rename", from, errno);
  const Descriptor names(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!names || ::fsync(names.get()) != 0) return sys_error("sync", directory, errno);
  return {};
}

}  // namespace

Result<Exit> edit_policy(const Location& location) {
  if (::access(location.spool.c_str(), F_OK) != 0)
    return Error{ErrorKind::missing,
                 "spool " + in_quotes(location.spool) + ": there is none; the first push makes it", 0};
  FQ_TRY_SET(const std::string command, editor());
  const std::string path = policy_path(location.spool);
  const std::string copy = path + ".edit";
  FQ_TRY_SET(const std::string before, text_of(path));
  Result<void> made = write_new(copy, before);
  if (!made && made.error().sys != EEXIST) return std::move(made).error();
  if (!made) say(copy + ": goes on with the edit that was not put in place");
  FQ_TRY_SET(const int status, run_editor(command, copy));
  if (status != 0) {
    if (made) ::unlink(copy.c_str());
    say("the editor ended " +
        (WIFSIGNALED(status) ? "by signal " + std::to_string(WTERMSIG(status))
                             : "with " + std::to_string(WEXITSTATUS(status))) +
        "; fq.toml is as it was");
    return Exit::nothing;
  }
  FQ_TRY_SET(const std::string after, text_of(copy));
  FQ_TRY_SET(const std::string now, text_of(path));
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
  FQ_TRY(put_in_place(copy, path, location.spool));
  return Exit::done;
}

}  // namespace fq::cli
