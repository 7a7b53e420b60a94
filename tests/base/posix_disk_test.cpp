// posix_disk_test - the real disk in a temporary directory: what it writes, and what it refuses to open.
#include "core/base/disk/disk.h"

// System.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
// fq, below us.
#include "tests/catch.h"

using namespace fq;

namespace {

struct Directory {
  Directory() {
    std::string name = (std::filesystem::temp_directory_path() / "fq-disk-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
    disk = open_disk(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "queue");
    REQUIRE(disk->make_directory("journal").ok());
  }
  ~Directory() { std::filesystem::remove_all(path); }

  std::unique_ptr<File> make(std::string_view name, std::string_view text) {
    auto file = disk->open(name, OpenMode::create_new);
    REQUIRE(file.ok());
    REQUIRE(file.value()->write_at(0, as_bytes(text)).ok());
    return std::move(file).value();
  }
  std::string read(std::string_view name) {
    auto file = disk->open(name, OpenMode::read);
    REQUIRE(file.ok());
    std::string text(100, '?');
    auto got = file.value()->read_at(0, std::as_writable_bytes(std::span(text)));
    REQUIRE(got.ok());
    return text.substr(0, got.value());
  }
  ErrorKind refusal(std::string_view name, OpenMode mode = OpenMode::write) {
    auto file = disk->open(name, mode);
    REQUIRE(!file.ok());
    CHECK(file.error().text.starts_with("queue/"));
    return file.error().kind;
  }

  std::filesystem::path path;
  std::unique_ptr<Disk> disk;
};

}  // namespace

TEST_CASE("what is written is read back, short at the end") {
  Directory d;
  auto file = d.make("journal/1.fqj", "hello");
  CHECK(file->size().value() == 5);
  CHECK(file->descriptor() >= 0);
  CHECK(file->sync_data().ok());
  CHECK(file->sync_all().ok());
  CHECK(d.disk->sync_directory("journal").ok());
  CHECK(d.disk->sync_directory("").ok());
  CHECK(d.read("journal/1.fqj") == "hello");
  struct stat status {};
  REQUIRE(::fstat(file->descriptor(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0600);
  CHECK(file->opened().device == status.st_dev);
  CHECK(file->opened().inode == status.st_ino);
  CHECK((::fcntl(file->descriptor(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("allocate makes real zero bytes and keeps what is there") {
  Directory d;
  auto file = d.make("a", "hello");
  REQUIRE(file->allocate(0, 100'000).ok());
  CHECK(file->size().value() == 100'000);
  CHECK(d.read("a").starts_with(std::string("hello\0\0", 7)));
  REQUIRE(file->allocate(0, 10).ok());
  CHECK(file->size().value() == 100'000);
}

TEST_CASE("what is free is told without what is kept for root") {
  Directory d;
  const auto before = std::filesystem::space(d.path);
  const uint64_t free = d.disk->free_bytes().value();
  // Others write to it meanwhile.
  CHECK(free > before.available / 2);
  CHECK(free < before.available + before.available / 2);
}

TEST_CASE("names are listed, renamed and removed") {
  Directory d;
  d.make("journal/1.fqj", "one");
  d.make("journal/2.fqj", "two");
  REQUIRE(d.disk->rename("journal/2.fqj", "journal/3.fqj").ok());
  auto names = d.disk->list("journal").value();
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"1.fqj", "3.fqj"});
  REQUIRE(d.disk->remove("journal/1.fqj").ok());
  CHECK(d.disk->list("journal").value().size() == 1);
  CHECK(d.disk->list("").value() == std::vector<std::string>{"journal"});
  CHECK(d.disk->list("none").error().sys == ENOENT);
}

TEST_CASE("an open file knows whether it still has a name") {
  Directory d;
  auto file = d.make("a", "hello");
  CHECK(file->has_name().value());
  REQUIRE(d.disk->rename("a", "b").ok());
  CHECK(file->has_name().value());
  REQUIRE(d.disk->remove("b").ok());
  CHECK_FALSE(file->has_name().value());
}

TEST_CASE("missing and present names fail as open does") {
  Directory d;
  d.make("a", "x");
  CHECK(d.disk->open("b", OpenMode::read).error().sys == ENOENT);
  CHECK(d.disk->open("a", OpenMode::create_new).error().sys == EEXIST);
  CHECK(d.disk->make_directory("journal").ok());
  CHECK(!d.disk->make_directory("a").ok());
}

TEST_CASE("symlinks, hard links, directories and pipes are refused") {
  Directory d;
  d.make("a", "x");
  std::filesystem::create_symlink("a", d.path / "soft");
  std::filesystem::create_symlink("/etc/passwd", d.path / "far");
  std::filesystem::create_directory_symlink("journal", d.path / "way");
  d.make("journal/1.fqj", "one");
  REQUIRE(::mkfifo((d.path / "pipe").c_str(), 0600) == 0);
  CHECK(d.refusal("soft") == ErrorKind::unusable);
  CHECK(d.refusal("far", OpenMode::read) == ErrorKind::unusable);
  CHECK(d.refusal("way/1.fqj") == ErrorKind::unusable);
  CHECK(d.refusal("journal") == ErrorKind::unusable);
  CHECK(d.refusal("journal", OpenMode::read) == ErrorKind::unusable);
  CHECK(d.refusal("pipe") == ErrorKind::unusable);
  CHECK(d.refusal("pipe", OpenMode::read) == ErrorKind::unusable);
  std::filesystem::create_hard_link(d.path / "a", d.path / "twin");
  CHECK(d.refusal("a") == ErrorKind::unusable);
  CHECK(!d.disk->list("way").ok());
}

TEST_CASE("names that lead out of the directory are refused") {
  Directory d;
  for (const char* name : {"../x", "/etc/passwd", "journal/../../x", "journal//x", "./x", "journal/"})
    CHECK(d.refusal(name, OpenMode::read) == ErrorKind::unusable);
}
