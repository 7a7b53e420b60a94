// attach_test - a process whose segment is damaged while it cannot be made anew: what each try costs it.

// System.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

size_t open_files() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

bool is_pushed(Queue& queue) {
  const NewMessage message{.tenant = "a"};
  return queue.push({&message, 1}).ok();
}

}  // namespace

TEST_CASE("who cannot have a damaged segment made anew goes on once it can be, and has opened nothing more") {
  SpoolFixture q;
  q.poison();
  const size_t before = open_files();
  // Where a file should be opened is a directory: of the rebuild, or of all who use the queue.
  for (const char* name : {"rebuild", "lock"}) {
    const std::filesystem::path path = q.path(name), aside = q.path("aside");
    if (exists(path)) rename(path, aside);
    create_directory(path);
    for (int i = 0; i < 10; ++i) CHECK_FALSE(is_pushed(q.door()));
    CHECK(open_files() == before);
    remove(path);
    if (exists(aside)) rename(aside, path);
  }
  CHECK(is_pushed(q.door()));
}

}  // namespace fq::test
