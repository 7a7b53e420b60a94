// queue_directory_test - what lies in a spool's directory beside its queues.
#include "core/local/files/queue_directory.h"
// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

TEST_CASE("what a crash left of a removed queue goes with the next queue that is made or removed") {
  SpoolFixture q;
  const std::string queues = std::filesystem::path(q.path("")).parent_path().parent_path().string();
  const std::string spool = std::filesystem::path(queues).parent_path().string();
  for (const bool made : {true, false}) {
    std::filesystem::create_directories(queues + "/.removed-default-17/journal");
    std::ofstream(queues + "/.removed-default-17/journal/1.fqj") << "left";
    std::filesystem::create_directories(queues + "/.somebody-elses");
    if (made) CHECK(make_queue_directory(spool, "other").ok());
    if (!made) CHECK(remove_queue_directory(spool, "other").ok());
    CHECK_FALSE(std::filesystem::exists(queues + "/.removed-default-17"));
    CHECK(std::filesystem::exists(queues + "/.somebody-elses"));
  }
  CHECK(q.stats().ready == 0);
}

}  // namespace fq::test
