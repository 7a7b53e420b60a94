// repair_full_disk_test - a repair that finds no room changes nothing and says so; with room it does its
// work.
//
// The room that is left goes from none at all to what a repair needs, in steps, so that it ends at each of
// the things that it writes: the kept bytes, the segment, the next journal file, the copies of what is sound.

// Tests.
#include "tests/left_out.h"
#include "tests/process/small_disk.h"

namespace fq::test {

namespace {

size_t files_in(const std::string& directory) {
  if (!std::filesystem::exists(directory)) return 0;
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(directory), {}));
}

void hit(const std::string& file, const std::string& text) {
  const size_t at = read_whole(file).find(text);
  REQUIRE(at != std::string::npos);
  write_at(file, at, "?");
}

}  // namespace

TEST_CASE("a repair on a full disk leaves all as it was and says so, and does its work when there is room") {
  const std::string whole(70'000, 'w');
  const std::set<std::string> sound = {"one", "three", whole};
  size_t refused = 0;
  size_t done = 0;
  for (uint64_t left = 0; left <= 900'000; left += left < 40'000 ? 8'192 : 150'000) {
    const Spool beside;
    SmallDisk disk(beside, "size=12m,nr_inodes=300");
    if (!disk.mounted()) {
      leave_out("a small disk needs root");
      return;
    }
    const Spool spool(disk.path() + "/spool");
    for (const std::string& payload :
         {std::string("one"), std::string("to-be-hit"), std::string("three"), whole})
      spool.push(payload, "a");
    hit(spool.journal_files().front(), "to-be-hit");
    disk.fill(left);
    INFO(left << " bytes left");
    const Outcome repair = spool.fq({"check", "--repair"});
    INFO("check --repair: exit " << repair.exit << " signal " << repair.signal << ": " << repair.out
                                 << repair.err);
    CHECK((repair.exit == 0 || repair.exit == 75));
    if (repair.exit == 75) {
      ++refused;
      CHECK(repair.err.rfind("fq: ", 0) == 0);
      CHECK(files_in(spool.queue("damaged")) == 0);
      CHECK(files_in(spool.queue("blobs")) == 1);
      const Outcome look = spool.fq({"check"});
      CHECK(look.exit == 65);
    } else {
      ++done;
      CHECK(files_in(spool.queue("damaged")) == 1);
    }
    disk.make_room();
    CHECK(spool.fq({"check", "--repair"}).exit == 0);
    CHECK(spool.fq({"check"}).exit == 0);
    CHECK(spool.payloads() == sound);
  }
  CHECK(refused > 0);
  CHECK(done > 0);
}

}  // namespace fq::test
