// segment_test - a mapping that grows at its end, is seen by all who map the file, and is not inherited.

// System.
#include <fcntl.h>
#include <setjmp.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
// fq, this room.
#include "core/shm/segment.h"
// Tests.
#include "tests/left_out.h"
#include "tests/shm/forked.h"

namespace fq::test {

namespace {

class SegmentFile {
 public:
  SegmentFile() {
    const char* base = std::getenv("TMPDIR");
    directory_ = std::string(base != nullptr ? base : "/tmp") + "/fq-segment-XXXXXX";
    REQUIRE(::mkdtemp(directory_.data()) != nullptr);
    disk_ = open_disk(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "test");
    REQUIRE(disk_->open("segment", OpenMode::create_new).ok());
  }
  ~SegmentFile() { std::filesystem::remove_all(directory_); }
  std::unique_ptr<SegmentMemory> map() {
    auto memory = map_segment(std::move(disk_->open("segment", OpenMode::write)).value(), "test");
    REQUIRE(memory.ok());
    return std::move(memory).value();
  }
  Result<std::unique_ptr<SegmentMemory>> try_map() {
    return map_segment(std::move(disk_->open("segment", OpenMode::write)).value(), "test");
  }

 private:
  std::string directory_;
  std::unique_ptr<Disk> disk_;
};

}  // namespace

TEST_CASE("a segment that grows stays where it is, keeps its bytes, and begins with zeros") {
  SegmentFile file;
  const std::unique_ptr<SegmentMemory> memory = file.map();
  REQUIRE(memory->extend_to(4096).ok());
  std::byte* const base = memory->base();
  base[17] = std::byte{42};
  for (uint64_t bytes = 8192; bytes <= 4 * 1024 * 1024; bytes *= 2) {
    REQUIRE(memory->extend_to(bytes).ok());
    CHECK(base[bytes - 1] == std::byte{0});
    base[bytes - 1] = std::byte{1};
  }
  CHECK(memory->base() == base);
  CHECK(base[17] == std::byte{42});
}

TEST_CASE("growing to what is there already changes nothing") {
  SegmentFile file;
  const std::unique_ptr<SegmentMemory> memory = file.map();
  REQUIRE(memory->extend_to(8192).ok());
  memory->base()[8000] = std::byte{7};
  CHECK(memory->extend_to(4096).ok());
  CHECK(memory->extend_to(8192).ok());
  CHECK(memory->base()[8000] == std::byte{7});
}

TEST_CASE("what one mapping grows and writes another one reads without mapping anew") {
  SegmentFile file;
  const std::unique_ptr<SegmentMemory> one = file.map();
  REQUIRE(one->extend_to(4096).ok());
  const std::unique_ptr<SegmentMemory> other = file.map();
  REQUIRE(one->extend_to(1024 * 1024).ok());
  one->base()[1024 * 1024 - 1] = std::byte{9};
  CHECK(other->base()[1024 * 1024 - 1] == std::byte{9});
}

TEST_CASE("a child does not inherit a mapping that is kept from it, so that a job cannot touch the queue") {
  SegmentFile file;
  const std::unique_ptr<SegmentMemory> memory = file.map();
  REQUIRE(memory->extend_to(4096).ok());
  memory->keep_from_children();
  Forked child([&] {
    ::signal(SIGSEGV, SIG_DFL);
    *static_cast<volatile std::byte*>(memory->base()) = std::byte{1};
  });
  const int status = child.wait();
  // Under sanitizers the fault becomes an exit code.
  CHECK_FALSE((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  CHECK(memory->base()[0] == std::byte{0});
}

TEST_CASE("too little address space is an error that names the limit") {
#ifdef FQ_SANITIZED
  leave_out("sanitizers need the address space themselves");
#else
  SegmentFile file;
  Forked child([&] {
    const rlimit limit{uint64_t{2} << 30, uint64_t{2} << 30};
    ::setrlimit(RLIMIT_AS, &limit);
    const auto memory = file.try_map();
    const bool named = !memory.ok() && memory.error().kind == ErrorKind::later &&
                       memory.error().text.find("ulimit -v") != std::string::npos;
    ::_exit(named ? 0 : 1);
  });
  CHECK(child.wait() == 0);
#endif
}

TEST_CASE("a file size limit is an error when the segment grows") {
  SegmentFile file;
  Forked child([&] {
    const std::unique_ptr<SegmentMemory> memory = file.map();
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{8192, 8192};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const bool refused = memory->extend_to(8192).ok() && !memory->extend_to(1024 * 1024).ok();
    ::_exit(refused ? 0 : 1);
  });
  CHECK(child.wait() == 0);
}

}  // namespace fq::test
