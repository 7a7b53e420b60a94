// asleep - whether a process or a thread sleeps on a futex, as those do that wait for what another one holds.
#pragma once

// System.
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>

namespace fq::test {

/// Waits until it does. `task` is its directory in /proc. False: it ended, or 10 s were over.
inline bool falls_asleep(const std::string& task) {
  constexpr long kFutexWaitv = 449;  // older headers do not know it
  using Clock = std::chrono::steady_clock;
  for (const auto begin = Clock::now(); Clock::now() - begin < std::chrono::seconds(10);) {
    std::ifstream file(task + "/syscall");
    std::string call;
    if (!(file >> call)) return false;
    if (call == std::to_string(SYS_futex) || call == std::to_string(kFutexWaitv)) return true;
    ::usleep(200);  // between two looks: nothing tells of a sleep
  }
  return false;
}

inline std::string task_of(pid_t process) { return "/proc/" + std::to_string(process); }
inline std::string task_of_thread(pid_t thread) { return "/proc/self/task/" + std::to_string(thread); }

}  // namespace fq::test
