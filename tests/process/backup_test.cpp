// backup_test - a backup onto another file system, and onto one that has too little room for it.

// Tests.
#include "tests/left_out.h"
#include "tests/process/small_disk.h"

namespace fq::test {

namespace {

/// Some messages, one of them with a payload beside the journal, one leased.
void few(const Spool& spool) {
  spool.push("one", "a");
  spool.push("two", "b");
  spool.says({"push", "-t", "large"}, {.env = {}, .input = std::string(200 * 1024, 'x')});
  spool.lease();
}

}  // namespace

TEST_CASE("a backup on another file system is a spool, and one that finds no room there leaves nothing") {
  Spool spool;
  few(spool);
  SmallDisk disk(spool, "size=32m");
  if (!disk.mounted()) {
    leave_out("a small disk needs root");
    return;
  }
  const std::string place = disk.path() + "/copy";
  const auto before = spool.live();
  const auto back_up = [&] { return spool.fq({"backup", place}); };

  REQUIRE(back_up().exit == 0);
  CHECK(spool.fq({"--spool", place, "check"}).exit == 0);
  CHECK(spool.says({"--spool", place, "pop", "-t", "b"}) == "two");
  const uint64_t all = disk.free_bytes();
  std::filesystem::remove_all(place);
  const uint64_t needed = disk.free_bytes() - all;

  // With less and less room, from none at all to all but enough.
  size_t refused = 0;
  for (uint64_t left = 0; left < needed; left += needed / 12) {
    INFO(left << " bytes of " << needed << " are free");
    disk.fill(left);
    const Outcome end = back_up();
    INFO(end.err);
    disk.make_room();
    CHECK((end.exit == 0 || end.exit == 75));
    if (end.exit == 75) ++refused;
    if (end.exit == 75) CHECK(end.err.find("No space left") != std::string::npos);
    if (end.exit == 75) CHECK_FALSE(std::filesystem::exists(place));
    if (end.exit == 0) CHECK(spool.fq({"--spool", place, "check"}).exit == 0);
    std::filesystem::remove_all(place);
  }
  CHECK(refused > 8);
  CHECK(spool.live().size() == before.size());
  spool.check_clean();
}

TEST_CASE("a backup that finds no inode leaves nothing") {
  Spool spool;
  few(spool);
  SmallDisk disk(spool, "size=32m,nr_inodes=40");
  if (!disk.mounted()) return;
  const std::string place = disk.path() + "/copy";
  disk.take_inodes();
  CHECK(spool.fq({"backup", place}).exit == 75);
  CHECK_FALSE(std::filesystem::exists(place));
  disk.give_inodes();
  CHECK(spool.fq({"backup", place}).exit == 0);
  spool.check_clean();
}

}  // namespace fq::test
