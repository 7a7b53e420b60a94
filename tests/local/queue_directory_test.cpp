// queue_directory_test - what lies in a spool's directory beside its queues.
#include "core/local/files/queue_directory.h"

// System.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>
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

TEST_CASE("a queue is removed whole beside one who still makes files there", "[threads]") {
  SpoolFixture q;
  const std::string queues = std::filesystem::path(q.path("")).parent_path().parent_path().string();
  const std::string spool = std::filesystem::path(queues).parent_path().string();
  REQUIRE(make_queue_directory(spool, "other").ok());
  const std::string path = queues + "/other";
  const int opened = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(opened >= 0);
  constexpr int kMade = 5'000;
  int made = 0;
  std::thread late([&] {
    while (::access(path.c_str(), F_OK) == 0) std::this_thread::yield();
    // Until it finds that it has no name any more.
    while (made < kMade && ::mkdirat(opened, std::to_string(made).c_str(), 0700) == 0) ++made;
  });
  const Result<void> removed = remove_queue_directory(spool, "other");
  late.join();
  ::close(opened);
  INFO("made beside it: " << made);
  CHECK(removed.ok());
  for (const auto& item : std::filesystem::directory_iterator(queues))
    CHECK(item.path().filename() == "default");
}

}  // namespace fq::test
