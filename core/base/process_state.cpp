#include "core/base/process_state.h"

// System.
#include <fcntl.h>
#include <unistd.h>
// fq, below us.
#include "core/base/descriptor.h"

namespace fq {

std::string read_proc(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  std::string text;
  char block[4096];
  for (;;) {
    const ssize_t got = ::read(file.get(), block, sizeof block);
    if (got <= 0) break;
    text.append(block, static_cast<size_t>(got));
  }
  return text;
}

std::string stat_of(int tid) { return read_proc("/proc/" + std::to_string(tid) + "/stat"); }

std::string_view stat_field(std::string_view stat, size_t index) {
  const size_t name_end = stat.rfind(") ");
  if (name_end == std::string_view::npos) return {};
  std::string_view rest = stat.substr(name_end + 2);
  for (; index > 0; --index) {
    const size_t space = rest.find(' ');
    if (space == std::string_view::npos) return {};
    rest.remove_prefix(space + 1);
  }
  return rest.substr(0, rest.find(' '));
}

bool is_stopped(std::string_view stat) {
  const std::string_view state = stat_field(stat, kStateField);
  return state == "T" || state == "t";
}

bool is_stopped(int tid) { return is_stopped(stat_of(tid)); }

}  // namespace fq
