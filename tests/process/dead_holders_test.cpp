// dead_holders_test - who holds what, told on a disk that has not one byte left.

// System.
#include <cstdio>
// Tests.
#include "tests/process/small_disk.h"

namespace fq::test {

TEST_CASE(
    "on a full disk too every look finds out that a worker was killed, and says nothing of it otherwise") {
  for (const std::vector<std::string>& look : std::vector<std::vector<std::string>>{
           {"stats", "--json"}, {"explain", "1", "--json"}, {"show", "1", "--json"}, {"peek", "--json"}}) {
    INFO(look[0]);
    const Spool beside;
    SmallDisk disk(beside, "size=16m,nr_inodes=40");
    if (!disk.mounted()) {
      std::printf("skipped: a full disk needs root, for a tmpfs\n");
      return;
    }
    const Spool spool(disk.path() + "/spool");
    spool.push("m");
    Child worker = spool.start({"worker", "--", "sleep", "1000"});
    const auto leased = [&] { return contains(spool.says({"stats", "--json"}), "\"leased\":1"); };
    const auto start = Clock_::now();
    while (!leased()) REQUIRE(ms_since(start) < 10'000);
    const std::string pid = std::to_string(worker.pid());
    while (spool.fq({"push", "--payload=" + std::string(60'000, 'x')}).exit == 0) disk.fill();
    disk.fill();
    disk.take_inodes();
    worker.killed();
    // Its job is killed with it, a moment later: until then that is the holder.
    std::string said;
    for (const auto killed = Clock_::now(); ms_since(killed) < 10'000;) {
      said = spool.says(look);
      CHECK_FALSE(contains(said, "\"holder\":" + pid));
      if (!contains(said, "\"leased\":1") && !contains(said, "\"state\":\"leased\"")) break;
    }
    INFO(said);
    CHECK_FALSE(contains(said, "\"leased\":1"));
    CHECK_FALSE(contains(said, "\"state\":\"leased\""));
    CHECK(spool.fq({"check"}).exit == 0);
    CHECK(disk.free_bytes() == 0);
  }
}

}  // namespace fq::test
