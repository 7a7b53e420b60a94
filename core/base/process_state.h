// process_state - what /proc tells of a process or a thread.
#pragma once

// System.
#include <cstddef>
#include <string>
#include <string_view>

namespace fq {

/// A small file of /proc, whole; empty when it cannot be read.
std::string read_proc(const std::string& path);

/// /proc/<tid>/stat; empty when it is gone.
std::string stat_of(int tid);
/// Its fields behind the name, which may hold spaces and parentheses.
std::string_view stat_field(std::string_view stat, size_t index);
inline constexpr size_t kStateField = 0;

/// By SIGSTOP, or by a debugger.
bool is_stopped(std::string_view stat);
bool is_stopped(int tid);

}  // namespace fq
