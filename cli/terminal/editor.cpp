#include "cli/terminal/editor.h"

// System.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
// fq, below us.
#include "core/base/descriptor.h"
// fq, this room.
#include "cli/terminal/environment.h"
#include "cli/terminal/foreground.h"

namespace fq::cli {

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
  const std::string words[] = {"sh", "-c", command + " \"$@\"", "sh", path};
  return run_in_foreground("/bin/sh", words, "the editor", Endings::wait);
}

std::string end_of_editor(int status) {
  return WIFSIGNALED(status) ? "by signal " + std::to_string(WTERMSIG(status))
                             : "with " + std::to_string(WEXITSTATUS(status));
}

}  // namespace fq::cli
