// move_ledger_test - what a queue's journal tells of moves, where the disk does not give all of it back.
#include "core/local/read/move_ledger.h"

// Tests.
#include "tests/journal/journal_writer.h"

namespace fq::test {

namespace {

/// Some messages that were pushed far from each other: the first leave for another queue, the rest came from
/// it.
struct Moves {
  static constexpr uint64_t kPage = 4096;

  Moves() : journal(disk) {
    journal.make(1, 128 * 1024).use(1);
    for (uint64_t id = 1; id <= 3; ++id) push_apart().leave(id);
    for (uint64_t id = 11; id <= 13; ++id) push_apart().arrive(id);
    journal.sync();
  }
  Moves& push_apart() { return journal.push(std::string(3 * kPage, 'p')), *this; }
  void leave(uint64_t id) {
    EditedRecord edited;
    edited.now = moved(id, true);
    encode_edited(journal.body, edited, RecordType::leaving);
    journal.append(MessageId{0});
    EventDetail detail;
    detail.queue = "there";
    detail.id_there = MessageId{id + 100};
    const EventItem item{MessageId{id}, 0};
    encode_event(journal.body, RecordType::left, std::span(&item, 1), detail);
    journal.append(MessageId{0});
  }
  void arrive(uint64_t id) {
    encode_moved(journal.body, moved(id, false), RecordType::arrived);
    journal.append(MessageId{0});
  }
  MovedRecord moved(uint64_t id, bool leaving) {
    terms = encode_terms({.transit = Transit{.leaving = leaving,
                                             .token = id,
                                             .queue = "there",
                                             .mark = "mark",
                                             .id = id,
                                             .then = SlotState::ready}});
    MovedRecord record;
    record.id = MessageId{id};
    record.state = SlotState::held;
    record.message.tenant = "acme";
    record.message.terms = terms;
    return record;
  }
  /// The page in which a record begins.
  void lose_page_of(const Written& record) {
    disk.set_unreadable(journal_file_name(1), record.offset / kPage * kPage, kPage);
  }

  FakeDisk disk;
  JournalWriter journal;
  std::string terms;
};

std::vector<uint64_t> departed(const MoveLedger& ledger) {
  std::vector<uint64_t> ids;
  for (const MoveLedger::Departure& each : ledger.departures()) ids.push_back(number(each.id));
  return ids;
}

MoveLedger ledger_of(Disk& disk) {
  Result<MoveLedger> ledger = MoveLedger::read(disk);
  INFO((ledger.ok() ? std::string() : ledger.error().text));
  REQUIRE(ledger.ok());
  return std::move(ledger).value();
}

}  // namespace

TEST_CASE("a page that the disk does not give back costs the moves in it, and no others") {
  Moves moves;
  CHECK(departed(ledger_of(moves.disk)) == std::vector<uint64_t>{1, 2, 3});
  CHECK_FALSE(ledger_of(moves.disk).lacks(MessageId{12}));
  moves.lose_page_of(moves.journal.records[4]);   // 2 leaves
  moves.lose_page_of(moves.journal.records[12]);  // 12 arrives
  const MoveLedger ledger = ledger_of(moves.disk);
  CHECK(departed(ledger) == std::vector<uint64_t>{1, 3});
  CHECK(ledger.departures().at(1).mark == "mark");
  CHECK(ledger.departures().at(1).id_there == MessageId{103});
  CHECK_FALSE(ledger.lacks(MessageId{11}));
  CHECK(ledger.lacks(MessageId{12}));
  CHECK_FALSE(ledger.lacks(MessageId{13}));
}

}  // namespace fq::test
