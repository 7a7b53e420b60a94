// care_operations - what compact, check --repair and log add to the table of operations.
#include "tests/crash/operations.h"

#include <fstream>

namespace fq::test {

namespace {

/// One message lives, and one is behind much that is gone.
void compact(Trial& t) {
  t.spool.push("done", "a");
  t.spool.says({"pop"});
  t.finished = {"done"};
  t.spool.push("old", "a");
  churn(t.spool, 1'300'000);
  t.spool.push("young", "b");
  t.must = {"old", "young"};
  t.words = {"compact"};
}
/// A message whose record is damaged, between others, one of them acked.
void repair(Trial& t) {
  t.spool.push("done", "a");
  t.spool.says({"pop"});
  t.finished = {"done"};
  for (const char* payload : {"a1", "to-be-hit", "a2"}) t.spool.push(payload, "a");
  t.must = {"a1", "a2"};
  const std::string file = t.spool.journal_files().front();
  const size_t at = read_whole(file).find("to-be-hit");
  REQUIRE(at != std::string::npos);
  write_at(file, at, "?");
  t.words = {"check", "--repair"};
}
/// The same where the segment is gone too, so that a recovery meets it first.
void repair_without_segment(Trial& t) {
  repair(t);
  std::filesystem::remove(t.spool.queue("segment"));
}

void read_log(Trial& t) {
  t.spool.push("a1", "a");
  t.must = {"a1"};
  t.words = {"log"};
}

/// A payload beside the journal that is damaged, one that is whole, and one of no message.
void repair_blobs(Trial& t) {
  const std::string whole(70'000, 'w');
  t.spool.push("done", "a");
  t.spool.says({"pop"});
  t.finished = {"done"};
  t.spool.push(std::string(80'000, 'd'), "a");
  const std::string damaged = std::filesystem::directory_iterator(t.spool.queue("blobs"))->path();
  write_at(damaged, 1'000, "?");
  t.spool.push(whole, "a");
  t.spool.push("short", "b");
  std::ofstream(t.spool.queue("blobs/00112233445566778899aabbccddeeff")) << "left by a killed push";
  t.must = {whole, "short"};
  t.words = {"check", "--repair"};
}

}  // namespace

std::vector<Operation> with_care(std::vector<Operation> operations) {
  const Operation care[] = {
      {"compact",
       compact,
       {"attach.shared", "flush.syncing", "flush.synced", "flush.written", "flush.applied", "flush.taken",
        "compaction.moved", "compaction.low", "compaction.low_durable", "compaction.removed"}},
      {"repair",
       repair,
       {"attach.shared", "flush.syncing", "flush.synced", "flush.written", "compaction.left",
        "compaction.moved", "event.appended", "event.committed", "compaction.low", "compaction.low_durable",
        "compaction.removed"}},
      {"repair_without_segment",
       repair_without_segment,
       {"rebuild.begin", "rebuild.replayed", "rebuild.made", "rebuild.renamed", "compaction.left",
        "compaction.moved", "compaction.low", "compaction.low_durable", "compaction.removed"}},
      {"repair_blobs",
       repair_blobs,
       {"attach.shared", "event.appended", "event.committed", "flush.syncing", "flush.synced",
        "repair.blob_kept", "orphan.found", "orphan.gone"}},
      {"log", read_log, {"attach.shared", "log.block"}, Stores::none},
  };
  operations.insert(operations.end(), std::begin(care), std::end(care));
  return operations;
}

}  // namespace fq::test
