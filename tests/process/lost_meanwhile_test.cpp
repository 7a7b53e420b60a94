// lost_meanwhile_test - a verdict that is lost while its process waits for the disk is not told as given.

// fq, below us.
#include "core/journal/journal.h"
// Tests.
#include "tests/process/left_ring.h"

namespace fq::test {

namespace {

constexpr uint64_t kRoomBytes = 1024 * 1024;  // for all that is to fill the ring

void push(Queue& queue, Durability durability) {
  const std::string payload(60'000, 'x');
  const NewMessage message{.payload = as_bytes(payload)};
  const auto pushed = queue.push({&message, 1}, {.durability = durability});
  REQUIRE(pushed.ok());
  REQUIRE(!pushed->error);
}

/// The file that is written now, and where in it the next record comes.
std::pair<std::string, uint64_t> end_of_journal(const Spool& spool) {
  const LookedAt header(spool.path());
  const auto current = header.at<uint32_t>(offsetof(SegmentHeader, current_file));
  return {spool.queue(journal_file_name(current)),
          kFirstRecordOffset + (journal_tail(spool.path()) - header.current_start())};
}

bool has_room(const Spool& spool) {
  const auto [file, end] = end_of_journal(spool);
  return std::filesystem::file_size(file) >= end + kRoomBytes;
}

}  // namespace

TEST_CASE("who waits for the disk is told when its verdict is lost with a file that failed") {
  const Spool spool;
  spool.policy("sync = \"lazy\"");
  const std::unique_ptr<Queue> queue = spool.door();
  // Of a payload beside the journal a lazy verdict is waited for, too: it goes only behind that.
  for (const char of : {'a', 'b'}) spool.push(std::string(100'000, of), "t");
  const std::string first = spool.lease(), second = spool.lease();
  // What is in the file before this one was synced.
  do push(*queue, Durability::always);
  while (!has_room(spool));
  Child leader = spool.start_stopping_at("flush.syncing:1", {"ack", first});
  REQUIRE(leader.stopped());
  const auto [file, place] = end_of_journal(spool);
  Child waiter = spool.start({"ack", second});
  REQUIRE(waiter.asleep_in_futex());
  REQUIRE(end_of_journal(spool).second > place);
  waiter.send(SIGSTOP);
  REQUIRE(waiter.stopped());
  leader.send(SIGCONT);
  REQUIRE(leader.end().exit == 0);
  // It leaves the ring for the file, which fails before anybody has synced that.
  for (int i = 0; i < 14 && !unsynced_left_ring(spool.path()); ++i) push(*queue, Durability::lazy);
  REQUIRE(unsynced_left_ring(spool.path()));
  write_at(file, place + kRecordHeaderBytes, "damaged");
  write_at(spool.queue("segment"), offsetof(SegmentHeader, file_failed), std::string(1, '\1'));
  push(*queue, Durability::always);
  waiter.send(SIGCONT);
  const Outcome told = waiter.end();
  INFO(told.err);
  CHECK(told.exit == 74);
  CHECK(contains(told.err, "records that were not synced yet are lost; the outcome is unknown"));
}

}  // namespace fq::test
