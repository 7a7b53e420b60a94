// notice_of_death - how long this machine, with all else that it does, takes to tell of a death: what a test that
// measures fq is held against.
#pragma once

// Tests.
#include "tests/process/real_fq.h"

namespace fq::test {

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// How long the kernel takes to tell of a death: a process that reads a pipe until its writer was killed.
inline double notice_of_death_ms() {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const Start none;
  const std::string self = "/proc/" + std::to_string(::getpid()) + "/fd/";
  Child writer({"/bin/sh", "-c", "exec sleep 60 >" + self + std::to_string(ends[1])}, none);
  Child reader({"/bin/sh", "-c", "exec cat <" + self + std::to_string(ends[0])}, none);
  const auto is_program = [](const Child& child, const char* name) {
    return contains(read_whole("/proc/" + std::to_string(child.pid()) + "/comm"), name);
  };
  const auto both_are = [&] { return is_program(writer, "sleep") && is_program(reader, "cat"); };
  const auto begin = Clock_::now();
  while (!both_are() && ms_since(begin) < 20'000) ::usleep(200);  // nothing tells that they have become these
  REQUIRE(both_are());
  ::close(ends[0]);
  ::close(ends[1]);
  const auto killed = Clock_::now();
  writer.killed();
  CHECK(reader.end().exit == 0);
  return ms_since(killed);
}

}  // namespace fq::test
