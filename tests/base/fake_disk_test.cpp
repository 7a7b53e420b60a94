// fake_disk_test - the disk that other tests trust: it forgets exactly what was not synced.
#include "tests/fakes/fake_disk.h"

// System.
#include <cerrno>
// Tests.
#include "tests/catch.h"

namespace fq::test {

namespace {

std::unique_ptr<File> create(FakeDisk& disk, std::string_view name) {
  auto file = disk.open(name, OpenMode::create_new);
  REQUIRE(file.ok());
  return std::move(file).value();
}

bool write(File& file, std::string_view text, uint64_t offset = 0) {
  return file.write_at(offset, as_bytes(text)).ok();
}

}  // namespace

TEST_CASE("what was written can be read and what was not synced is gone after a crash") {
  FakeDisk disk;
  auto file = create(disk, "a");
  CHECK(disk.sync_directory("").ok());
  CHECK(write(*file, "kept"));
  CHECK(file->sync_data().ok());
  CHECK(write(*file, "lost", 4));
  CHECK(disk.content("a") == "keptlost");
  CHECK(disk.crash().content("a") == "kept");
}

TEST_CASE("a name that was not synced is gone after a crash, and its file with it") {
  FakeDisk disk;
  auto file = create(disk, "a");
  CHECK(write(*file, "x"));
  CHECK(file->sync_all().ok());
  CHECK(!disk.crash().exists("a"));
}

TEST_CASE("a file in a directory that was not synced is gone") {
  FakeDisk disk;
  REQUIRE(disk.make_directory("d").ok());
  create(disk, "d/a");
  CHECK(disk.sync_directory("d").ok());
  CHECK(!disk.crash().exists("d/a"));
  CHECK(disk.sync_directory("").ok());
  CHECK(disk.crash().exists("d/a"));
}

TEST_CASE("seeds give every mix of torn sectors and each seed always the same") {
  FakeDisk disk;
  auto file = create(disk, "a");
  CHECK(disk.sync_directory("").ok());
  CHECK(write(*file, std::string(1024, 'x')));
  std::set<std::string> seen;
  for (uint64_t seed = 1; seed < 200; ++seed) seen.insert(disk.crash(seed).content("a"));
  CHECK(seen.contains(""));
  CHECK(seen.contains(std::string(512, 'x')));
  CHECK(seen.contains(std::string(512, '\0') + std::string(512, 'x')));
  CHECK(seen.contains(std::string(1024, 'x')));
  CHECK(disk.crash(7).content("a") == disk.crash(7).content("a"));
}

TEST_CASE("after a failed sync a second one proves nothing") {
  FakeDisk disk;
  auto file = create(disk, "a");
  CHECK(disk.sync_directory("").ok());
  CHECK(write(*file, "x"));
  disk.fail_at(disk.call_count(), EIO);
  CHECK(file->sync_data().error().sys == EIO);
  CHECK(file->sync_data().ok());
  CHECK(disk.content("a") == "x");
  CHECK(disk.crash().content("a") == std::string(1, '\0'));
}

TEST_CASE("a full disk refuses what makes it larger and nothing else") {
  FakeDisk disk;
  disk.set_capacity(8);
  auto file = create(disk, "a");
  CHECK(file->allocate(0, 8).ok());
  CHECK(file->allocate(8, 1).error().sys == ENOSPC);
  CHECK(write(*file, "12345678"));
  CHECK(!write(*file, "9", 8));
  CHECK(disk.used_bytes() == 8);
  CHECK(disk.free_bytes().value() == 0);
  disk.set_capacity(4);  // made smaller under what lies on it
  CHECK(disk.free_bytes().value() == 0);
}

TEST_CASE("a file that was removed has no name, one that was renamed has") {
  FakeDisk disk;
  auto file = create(disk, "a");
  CHECK(file->has_name().value());
  REQUIRE(disk.rename("a", "b").ok());
  CHECK(file->has_name().value());
  REQUIRE(disk.remove("b").ok());
  CHECK(!file->has_name().value());
}

TEST_CASE("a sticky fault fails every later change but no reading") {
  FakeDisk disk;
  auto file = create(disk, "a");
  CHECK(write(*file, "x"));
  disk.fail_at(disk.call_count(), EIO, true);
  CHECK(!write(*file, "y"));
  CHECK(!file->sync_data().ok());
  std::byte one;
  CHECK(file->read_at(0, {&one, 1}).ok());
  disk.heal();
  CHECK(write(*file, "z"));
}

TEST_CASE("a copy of a disk is a disk of its own") {
  FakeDisk disk;
  disk.put("a", "before");
  FakeDisk copy = disk;
  disk.put("a", "after");
  CHECK(copy.content("a") == "before");
  CHECK(copy.crash().content("a") == "before");
}

TEST_CASE("open, list, rename and remove fail as the real ones do") {
  FakeDisk disk;
  create(disk, "a");
  CHECK(disk.open("a", OpenMode::create_new).error().sys == EEXIST);
  CHECK(disk.open("b", OpenMode::write).error().sys == ENOENT);
  CHECK(disk.rename("a", "b").ok());
  CHECK(disk.list("").value() == std::vector<std::string>{"b"});
  CHECK(disk.remove("b").ok());
  CHECK(disk.remove("b").error().sys == ENOENT);
}

}  // namespace fq::test
