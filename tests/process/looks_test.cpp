// looks_test - what commands ask the kernel about the files of a journal.
//
// Not their times: who asks for those makes the next write take a time of the finest grain (Linux 6.13 and
// later), and a sync then waits for the inode too. That was a quarter of a durable push.

// Tests.
#include "tests/process/system_calls.h"

namespace fq::test {

TEST_CASE("no command that writes to a journal asks a file of it for its times") {
  if (!have_strace()) {
    leave_out("strace is not installed");
    return;
  }
  const Spool spool;
  spool.push("first", "a");
  const std::string receipt = spool.lease();
  const std::vector<std::vector<std::string>> commands = {{fq_binary(), "push", "second"},
                                                          {fq_binary(), "push", "--lazy", "third"},
                                                          {fq_binary(), "ack", receipt}};
  for (const std::vector<std::string>& command : commands) {
    const std::vector<std::string> looks = looks_below("/journal/", command, spool.with({}));
    CHECK((command[2] == "--lazy" || !looks.empty()));
    for (const std::string& look : looks) {
      const std::string asked = look.substr(0, look.find('{'));  // the answer may tell more
      INFO(command[1] << ": " << look);
      for (const char* word : {"stat(", "statat(", "TIME", "BASIC_STATS", "ALL"}) {
        CHECK(asked.find(word) == std::string::npos);
      }
    }
  }
}

}  // namespace fq::test
