// system_calls - which system calls a command makes, and the command with one of them failed or killed.
//
// strace does both (its inject), so the binary is the one that is shipped, untouched, and a case can be
// repeated by hand from the line that Fault::text gives. Every call that fq makes has its place in the table
// here: the errors that the kernel may answer it with, or none where it has none to give.
#pragma once

// Tests.
#include "tests/left_out.h"
#include "tests/process/real_fq.h"

namespace fq::test {

/// The n-th call of one name, and what becomes of it.
struct Fault {
  std::string call;
  int n = 0;
  std::string what;  // as in strace's inject: "signal=SIGKILL", "error=EIO", "retval=0"

  bool kills() const { return what == "signal=SIGKILL"; }
  std::string text() const { return call + ":" + what + ":when=" + std::to_string(n); }
};

struct CallCount {
  std::string call;
  int times = 0;
};

bool have_strace();
/// What `command` calls, with how often, when nothing fails; it is run once for that.
std::vector<CallCount> calls_of(const std::vector<std::string>& command, const Start& how);
/// What it asks about files whose path has `place` in it, in strace's words; it is run once for that.
std::vector<std::string> looks_below(const std::string& place, const std::vector<std::string>& command,
                                     const Start& how);
/// Every fault for these calls: killed at each, and each failed in every way that is meant for it.
std::vector<Fault> faults_of(const std::vector<CallCount>& calls);
/// Calls that the table does not know: a new one wants a decision.
std::vector<std::string> unknown_calls(const std::vector<CallCount>& calls);
Outcome run_with(const Fault& fault, const std::vector<std::string>& command, const Start& how);

}  // namespace fq::test
