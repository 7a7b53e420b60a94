// exit_code - the exit status of a command, as a number that scripts may rely on.
//
// The one table. fq.1 lists the same numbers, and tests/cli/exit_code_test compares them.
#pragma once

// fq, below us.
#include "core/base/error.h"

namespace fq::cli {

enum class Exit : int {
  done = 0,
  nothing = 1,    // empty, no such message, receipt no longer valid
  usage = 64,     // wrong usage
  bad_data = 65,  // a line, a payload that cannot be read or is too long, damage found by check
  unusable = 69,  // refused file system, other version, another pid namespace at work in it
  bug = 70,
  io = 74,      // I/O error, outcome unknown
  later = 75,   // full, limit reached, lock held by a stopped process, wait ended
  denied = 77,  // no permission
  config = 78,  // bad configuration
};

/// For commands that exit with the status of a job.
constexpr Exit exit_of_job(int status) { return static_cast<Exit>(status); }

constexpr int number(Exit exit) { return static_cast<int>(exit); }

constexpr Exit exit_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::missing:
      return Exit::nothing;
    case ErrorKind::usage:
      return Exit::usage;
    case ErrorKind::bad_data:
      return Exit::bad_data;
    case ErrorKind::unusable:
      return Exit::unusable;
    case ErrorKind::io:
      return Exit::io;
    case ErrorKind::later:
      return Exit::later;
    case ErrorKind::denied:
      return Exit::denied;
    case ErrorKind::config:
      return Exit::config;
  }
  return Exit::bug;
}

/// Of two that a command over several queues could end with: damage before a fault, and that before what
/// passes by itself. Nothing there says least.
constexpr Exit worse_of(Exit one, Exit other) {
  const auto weight = [](Exit exit) {
    switch (exit) {
      case Exit::done:
        return 0;
      case Exit::nothing:
        return 1;
      case Exit::later:
        return 2;
      case Exit::bad_data:
        return 4;
      default:
        return 3;
    }
  };
  return weight(other) > weight(one) ? other : one;
}

}  // namespace fq::cli
