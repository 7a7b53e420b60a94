// left_unsynced_test - what may leave the ring before it is on disk is what may be lost: a file that then fails,
// and does not give it back, takes nothing else with it.

// System.
#include <algorithm>
// fq, below us.
#include "core/journal/codec.h"
// Tests.
#include "tests/process/left_ring.h"

namespace fq::test {

namespace {

std::string lines(size_t count, char of) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += std::string(60'000, of) + "\n";
  return text;
}

void push_lines(const Spool& spool, const std::string& tenant, const std::string& text) {
  spool.says({"push", "-t", tenant, "--lines"}, {.env = {}, .input = text});
}

/// As where the disk took bytes and never had them: the current file fails, and gives back nothing of what no
/// sync has proved.
void fail_current_file(const Spool& spool) {
  const LookedAt header(spool.path());
  const auto current = header.at<uint32_t>(offsetof(SegmentHeader, current_file));
  if (const uint64_t from = std::max(header.durable_end(), header.current_start()); from < header.ring_start()) {
    write_at(spool.queue("journal/" + std::to_string(current) + ".fqj"),
             kFirstRecordOffset + (from - header.current_start()), std::string(header.ring_start() - from, '\0'));
  }
  const uint32_t failed = 1;
  write_at(spool.queue("segment"), offsetof(SegmentHeader, file_failed),
           {reinterpret_cast<const char*>(&failed), sizeof failed});
}

}  // namespace

TEST_CASE("copies of messages that live on are on disk before they leave the ring") {
  const bool rebuilt = GENERATE(false, true);
  Spool spool;
  push_lines(spool, "bulk", lines(50, 'b'));
  push_lines(spool, "keep", lines(30, 'k'));
  push_lines(spool, "bulk", lines(120, 'b'));
  spool.fq_killed_at("compaction.moved:25", {"pop", "-t", "bulk", "-n", "170"});
  fail_current_file(spool);
  spool.push("next");
  spool.check_clean();
  if (rebuilt) std::filesystem::remove(spool.queue("segment"));
  const std::string left = spool.says({"pop", "-t", "keep", "-n", "100"});
  CHECK(std::count(left.begin(), left.end(), 'k') == 30 * 60'000);
  spool.check_clean();
}

}  // namespace fq::test
