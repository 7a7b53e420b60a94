// care_operations - what compact, check --repair, log and a queue's files add to the table of operations.
#include "tests/crash/operations.h"

// System.
#include <fstream>
// Tests.
#include "tests/process/inflated.h"

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
/// The segment is larger than what lives there, so the command that comes puts a smaller one in its place.
void smaller_segment(Trial& t) {
  t.spool.push("done", "a");
  t.spool.says({"pop"});
  t.finished = {"done"};
  for (const char* payload : {"a1", "a2"}) t.spool.push(payload, "a");
  t.spool.push("b1", "b");
  t.spool.says({"push", "--lazy", "lazy"});
  t.must = {"a1", "a2", "b1", "lazy"};
  inflate(t.spool.queue("segment"), 20 * 1024 * 1024);
  t.words = {"push", "new"};
  t.may = {"new"};
}
void hit(const std::string& file, const std::string& text) {
  const size_t at = read_whole(file).find(text);
  REQUIRE(at != std::string::npos);
  write_at(file, at, "?");
}
/// A message whose record is damaged, between others, one of them acked.
void repair(Trial& t) {
  t.spool.push("done", "a");
  t.spool.says({"pop"});
  t.finished = {"done"};
  for (const char* payload : {"a1", "to-be-hit", "a2"}) t.spool.push(payload, "a");
  t.must = {"a1", "a2"};
  hit(t.spool.journal_files().front(), "to-be-hit");
  t.words = {"check", "--repair"};
}
/// A dead letter cannot be read, and its file is given back all the same.
void give_up_lost(Trial& t) {
  t.spool.push("to-be-hit", "a");
  t.spool.says({"bury", t.spool.lease()});
  t.spool.push("old", "a");
  churn(t.spool, 1'300'000);
  t.spool.push("young", "b");
  t.must = {"old", "young"};
  hit(t.spool.journal_files().front(), "to-be-hit");
  t.damaged = true;
  t.words = {"compact"};
}
/// The same where the segment is gone too, so that a recovery meets it first.
void repair_without_segment(Trial& t) {
  repair(t);
  std::filesystem::remove(t.spool.queue("segment"));
}

/// A record that was copied, and whose copy is damaged before the file of the first was given back.
void repair_from_older(Trial& t) {
  t.spool.push("old", "a");
  t.spool.push("stays", "a");
  churn(t.spool, 1'300'000);
  const Outcome died = run({fq_binary(), "compact"}, t.spool.with({{"FQ_KILL_AT=compaction.moved:2"}, {}}));
  REQUIRE(died.signal == SIGKILL);
  t.spool.push("young", "b");
  t.must = {"old", "stays", "young"};
  REQUIRE(read_whole(t.spool.journal_files().front()).find("old") != std::string::npos);
  const std::vector<std::string> files = t.spool.journal_files();
  const auto copy = std::find_if(files.begin(), files.end(), [](const std::string& file) {
    return read_whole(file).find("young") != std::string::npos;
  });
  REQUIRE(copy != files.end());
  hit(*copy, "old");
  t.words = {"check", "--repair"};
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

/// The front of a file that is written to is gone: its header, both copies.
void lose_front(Trial& t, uint32_t number, size_t bytes) {
  write_at(t.spool.queue("journal/" + std::to_string(number) + ".fqj"), 0, std::string(bytes, '\0'));
}
void repair_header(Trial& t) {
  t.spool.push("done", "a");
  t.spool.says({"pop"});
  t.finished = {"done"};
  for (const char* payload : {"a1", "a2"}) t.spool.push(payload, "a");
  t.must = {"a1", "a2"};
  lose_front(t, 1, 4096);
  t.words = {"check", "--repair"};
}
/// A recovery finds the key behind the header.
void rebuild_header(Trial& t) {
  repair_header(t);
  std::filesystem::remove(t.spool.queue("segment"));
}
/// A file that is not in use yet is none any more.
void fill_to_spare(Trial& t) {
  for (int i = 0; !std::filesystem::exists(t.spool.queue("journal/2.fqj")); ++i) {
    const std::string large = std::to_string(i) + std::string(50'000, 'x');
    t.spool.says({"push"}, {.env = {}, .input = large});
    t.must.insert(large);
  }
}
void damage_spare(Trial& t) {
  fill_to_spare(t);
  lose_front(t, 2, 200'000);
}
void repair_spare(Trial& t) {
  damage_spare(t);
  t.words = {"check", "--repair"};
}
void rebuild_spare(Trial& t) {
  damage_spare(t);
  std::filesystem::remove(t.spool.queue("segment"));
  t.words = {"check"};
}
/// A push finds none, and goes on in another.
void push_past_spare(Trial& t) {
  fill_to_spare(t);
  std::filesystem::remove(t.spool.queue("journal/2.fqj"));
  t.damaged = true;
  t.words = {"push", "--lines"};
  for (char name = 'a'; name <= 'l'; ++name) {
    const std::string line(50'000, name);
    t.how.input += line + "\n";
    t.may.insert(line);
  }
}

/// Lazy bytes leave the ring for several files, each made durable when it is left and not before.
void push_lazily_through_files(Trial& t) {
  t.spool.push("a1", "a");
  t.must = {"a1"};
  t.words = {"push", "--lazy", "--lines"};
  for (int i = 0; i < 36; ++i) {
    const std::string line = std::to_string(i) + std::string(60 * 1024, 'x');
    t.how.input += line + "\n";
    t.may.insert(line);
  }
}

}  // namespace

std::vector<Operation> with_care(std::vector<Operation> operations) {
  const Operation care[] = {
      {"compact",
       compact,
       {"attach.shared", "flush.syncing", "flush.synced", "flush.written", "flush.applied", "flush.taken",
        "compaction.moved", "compaction.low", "compaction.low_durable", "compaction.removed"}},
      {"give_up_lost",
       give_up_lost,
       {"compaction.moved", "compaction.low", "compaction.low_durable", "file.set_aside",
        "compaction.removed"}},
      {"smaller_segment",
       smaller_segment,
       {"attach.shared", "smaller.begin", "smaller.made", "smaller.renamed", "push.appended",
        "push.committed", "flush.syncing", "flush.synced", "push.durable"}},
      {"repair",
       repair,
       {"attach.shared", "flush.syncing", "flush.synced", "flush.written", "repair.stepped",
        "compaction.left", "compaction.moved", "event.appended", "event.committed", "compaction.low",
        "compaction.low_durable", "compaction.removed"}},
      {"repair_from_older",
       repair_from_older,
       {"attach.shared", "flush.syncing", "flush.synced", "flush.written", "repair.stepped",
        "compaction.left", "compaction.moved", "compaction.low", "compaction.low_durable",
        "compaction.removed"}},
      {"repair_without_segment",
       repair_without_segment,
       {"rebuild.begin", "rebuild.replayed", "rebuild.made", "rebuild.renamed", "repair.stepped",
        "compaction.left", "compaction.moved", "compaction.low", "compaction.low_durable",
        "compaction.removed"}},
      {"repair_header", repair_header, {"attach.shared", "header.written"}},
      {"rebuild_header",
       rebuild_header,
       {"rebuild.begin", "rebuild.replayed", "header.written", "rebuild.made", "rebuild.renamed"}},
      {"repair_spare", repair_spare, {"attach.shared", "file.set_aside"}},
      {"rebuild_spare",
       rebuild_spare,
       {"rebuild.begin", "rebuild.replayed", "file.set_aside", "rebuild.made", "rebuild.renamed"}},
      {"push_past_spare", push_past_spare, {"salvage.ready", "salvage.written", "supply.made"}},
      {"push_lazily_through_files",
       push_lazily_through_files,
       {"supply.made", "push.committed", "flush.taken", "flush.written", "flush.syncing", "flush.synced",
        "flush.applied", "flush.unlocked"}},
      {"repair_blobs",
       repair_blobs,
       {"attach.shared", "event.appended", "event.committed", "flush.syncing", "flush.synced",
        "repair.stepped", "repair.blob_kept", "orphan.found", "orphan.gone", "check.copying",
        "check.copied"}},
      {"log", read_log, {"attach.shared", "log.block"}, Stores::none},
  };
  operations.insert(operations.end(), std::begin(care), std::end(care));
  return operations;
}

}  // namespace fq::test
