// push_faults_test - how many pages of the shipped binary a push has to be given, which is most of its time.
//
// core/install/push.ld keeps what a push touches together. Where this fails, something new is touched and
// lies elsewhere: tests/bench/order.sh writes the order anew.

// System.
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
// Tests.
#include "tests/left_out.h"
#include "tests/process/real_fq.h"

namespace fq::test {

namespace {

constexpr long kPageFaultsMax = 48;  // 41 in the release that the order was made for
constexpr size_t kPushes = 15;

long page_faults(const std::string& binary, const Spool& spool) {
  const std::string where = "FQ_SPOOL=" + spool.path();
  const char* const words[] = {binary.c_str(), "push", "--lazy", "text", nullptr};
  const char* const variables[] = {where.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  REQUIRE(::posix_spawn(&child, binary.c_str(), &actions, nullptr, const_cast<char* const*>(words),
                        const_cast<char* const*>(variables)) == 0);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  rusage used{};
  REQUIRE(::wait4(child, &status, 0, &used) == child);
  REQUIRE(status == 0);
  return used.ru_minflt;
}

}  // namespace

TEST_CASE("a push of the shipped binary has few page faults") {
  const char* const release = std::getenv("FQ_RELEASE");
  if (release == nullptr) {
    leave_out("FQ_RELEASE is not set");
    return;
  }
  const Spool spool;
  std::vector<long> faults;
  for (size_t i = 0; i < kPushes; ++i) faults.push_back(page_faults(release, spool));
  std::sort(faults.begin(), faults.end());
  std::printf("push: %ld page faults\n", faults[kPushes / 2]);
  CHECK(faults[kPushes / 2] <= kPageFaultsMax);
}

}  // namespace fq::test
