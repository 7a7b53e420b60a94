#include "cli/terminal/editor.h"

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
// fq, this room.
#include "cli/terminal/environment.h"

namespace fq::cli {

namespace {}  // namespace

Result<std::string> editor_command(std::string_view object) {
  for (const char* name : {"VISUAL", "EDITOR"}) {
    if (const auto set = environment(name)) return *set;
  }
  if (::isatty(STDIN_FILENO) == 1) return std::string("vi");
  return Error{ErrorKind::usage, std::string(object) + ": no editor is known here; set VISUAL or EDITOR", 0};
}

Result<std::string> read_text_file(const std::string& path) {
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

std::string end_of_editor(int status) {
  return WIFSIGNALED(status) ? "by signal " + std::to_string(WTERMSIG(status))
                             : "with " + std::to_string(WEXITSTATUS(status));
}

}  // namespace fq::cli
