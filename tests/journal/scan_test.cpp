// scan_test - what a scan gives of whole, cut and damaged journals. Short by default; FQ_LONG=1 goes through
// every cut and every bit.
#include "core/journal/journal.h"

// System.
#include <algorithm>
// fq, this room.
#include "tests/journal/journal_writer.h"

using namespace fq;
using namespace fq::test;

TEST_CASE("an empty directory and files that wait are an empty journal") {
  FakeDisk disk;
  JournalWriter journal(disk);
  CHECK(scan(disk).result.next_seq == 1);
  journal.make(1).make(2);
  const Scanned scanned = scan(disk);
  CHECK(scanned.result.ready.size() == 2);
  CHECK(scanned.result.files.empty());
  CHECK(scanned.result.end_position == 0);
}

TEST_CASE("a whole journal comes back in order with its end") {
  ThreeFiles t;
  t.journal.make(4);
  const Scanned scanned = scan(t.disk);
  CHECK(scanned.seqs == all_up_to(12));
  CHECK(scanned.result.damage.empty());
  CHECK(scanned.result.clean_end);
  CHECK(scanned.result.end_position == t.journal.position);
  CHECK(scanned.result.next_seq == 13);
  CHECK(scanned.result.records == 12);
  CHECK(scanned.result.durable_position == t.journal.durable);
  REQUIRE(scanned.result.files.size() == 3);
  CHECK(scanned.result.files[1].key.number == 2);
  CHECK(scanned.result.files[1].first_seq == 5);
  CHECK(scanned.result.files[1].end_position == scanned.result.files[2].start_position);
  REQUIRE(scanned.result.ready.size() == 1);
  CHECK(scanned.result.number_max == 4);
}

TEST_CASE("what the visitor says ends the scan") {
  ThreeFiles t;
  const auto result = scan_journal(t.disk, [](const ScannedRecord&) -> Result<void> {
    return Error{ErrorKind::later, "full", 0};
  });
  CHECK(result.error().text == "full");
}

TEST_CASE("a cut of the last file gives a prefix, in silence") {
  ThreeFiles t;
  const std::string full = t.disk.content("journal/3.fqj");
  const uint64_t first_end = t.journal.records.back().end_offset;
  for (uint64_t cut = kFirstRecordOffset; cut <= first_end + 16; ++cut) {
    FakeDisk disk(t.disk);
    disk.put("journal/3.fqj", full.substr(0, cut));
    const Scanned scanned = scan(disk);
    uint64_t expected = 8;
    while (expected < 12 && t.record(expected + 1).end_offset <= cut + 7) ++expected;
    if (scanned.seqs.size() < expected && t.record(expected).end_offset > cut)
      --expected;  // only padding was cut
    if (scanned.seqs != all_up_to(expected)) FAIL("cut at " << cut);
    if (!scanned.result.damage.empty()) FAIL("damage at " << cut);
  }
}

TEST_CASE("any cut of any file loses what was cut and nothing else") {
  ThreeFiles t;
  for (uint32_t number = 1; number <= 3; ++number) {
    const std::string full = t.disk.content(journal_file_name(number));
    for (uint64_t cut = 0; cut < full.size(); cut += step(13)) {
      FakeDisk disk(t.disk);
      disk.put(journal_file_name(number), full.substr(0, cut));
      const Scanned scanned = scan(disk);
      std::vector<uint64_t> sure;
      for (const Written& record : t.journal.records)
        if (record.file_number != number || record.end_offset <= cut) sure.push_back(record.seq);
      for (const uint64_t seq : sure) {
        // A file that was cut into its header is gone as a whole.
        if (cut < kFirstRecordOffset && t.record(seq).file_number == number) continue;
        if (std::find(scanned.seqs.begin(), scanned.seqs.end(), seq) == scanned.seqs.end())
          FAIL("file " << number << " cut at " << cut << " lost " << seq);
      }
      if (!std::is_sorted(scanned.seqs.begin(), scanned.seqs.end())) FAIL("out of order");
      const bool lost = scanned.seqs.size() < 12;
      if (number < 3 && lost && scanned.result.damage.empty())
        FAIL("file " << number << " cut at " << cut << ": silent");
    }
  }
}

TEST_CASE("a damaged record before a later file is reported and costs itself only") {
  ThreeFiles t;
  flip_bit(t.disk, 1, t.record(2).offset + 60, 3);
  const Scanned scanned = scan(t.disk);
  CHECK(scanned.seqs == all_up_to(12, {2}));
  REQUIRE(scanned.result.damage.size() == 1);
  CHECK(scanned.result.damage[0].file_number == 1);
  CHECK(scanned.result.damage[0].offset == t.record(2).offset);
  CHECK(scanned.result.damage[0].bytes == t.record(3).offset - t.record(2).offset);
  CHECK(scanned.result.damage[0].records_lost == 1);
}

TEST_CASE("a damaged last record of a sealed file is reported") {
  ThreeFiles t;
  flip_bit(t.disk, 2, t.record(8).offset + 2, 3);
  const Scanned scanned = scan(t.disk);
  CHECK(scanned.seqs == all_up_to(12, {8}));
  CHECK(scanned.lost == 1);
}

TEST_CASE("in the last file a later record's proof makes a bad place damage") {
  ThreeFiles t;
  flip_bit(t.disk, 3, t.record(10).offset + 9, 3);  // 12 says that 11 was on disk
  const Scanned scanned = scan(t.disk);
  CHECK(scanned.seqs == all_up_to(12, {10}));
  CHECK(scanned.lost == 1);
  CHECK(scanned.result.clean_end);
}

TEST_CASE("without proof a bad place ends the stream, whatever follows it") {
  FakeDisk disk;
  JournalWriter journal(disk);
  journal.make(1).use(1).push("a").push("b").push("c").push("d");
  flip_bit(disk, 1, journal.records[1].offset + 50, 0);
  const Scanned scanned = scan(disk);
  CHECK(scanned.seqs == all_up_to(1));
  CHECK(scanned.result.damage.empty());
  CHECK(!scanned.result.clean_end);
  CHECK(scanned.result.end_position == journal.records[1].position);
}

TEST_CASE("a torn body at the end is not a clean end, zeros are") {
  FakeDisk disk;
  JournalWriter journal(disk);
  journal.make(1).use(1).push("a").push("b");
  CHECK(scan(disk).result.clean_end);
  flip_bit(disk, 1, journal.records[1].offset + kRecordHeaderBytes + 12, 0);
  CHECK(!scan(disk).result.clean_end);
  const std::vector<std::byte> zeros(64);
  journal.write(1, journal.records[1].offset, zeros);
  CHECK(scan(disk).result.clean_end);
}

TEST_CASE("a payload that holds a perfect record of another file never parses") {
  FakeDisk disk;
  JournalWriter journal(disk);
  journal.make(1).make(2).use(1).push("a").push("b");
  const std::string old = disk.content("journal/1.fqj").substr(journal.records[1].offset, 256);
  journal.use(2).push(old).push("c").sync().push("d");
  flip_bit(disk, 2, journal.records[2].offset, 0);
  const Scanned scanned = scan(disk);
  CHECK(scanned.seqs == all_up_to(5, {3}));
  CHECK(scanned.lost == 1);
}

TEST_CASE("a block at the wrong place of its own file never parses") {
  FakeDisk disk;
  JournalWriter journal(disk);
  journal.make(1).use(1);
  for (int i = 0; i < 8; ++i) journal.sync().push("same size");
  const std::string content = disk.content("journal/1.fqj");
  const uint64_t bytes = journal.records[0].end_offset - journal.records[0].offset;
  journal.write(1, journal.records[4].offset,
                as_bytes(std::string_view(content).substr(journal.records[2].offset, bytes)));
  const Scanned scanned = scan(disk);
  CHECK(scanned.seqs == all_up_to(8, {5}));
  CHECK(scanned.lost == 1);
}

TEST_CASE("a record copied to another place of its own file is not taken for itself") {
  FakeDisk disk;
  JournalWriter journal(disk);
  journal.make(1).use(1).push("a").push(std::string(400, 'x')).sync().push("c").sync().push("d");
  const Written& hit = journal.records[1];
  const Written& copied = journal.records[2];
  const std::string content = disk.content("journal/1.fqj");
  const std::string_view bytes(content.data() + copied.offset, copied.end_offset - copied.offset);
  journal.write(1, hit.offset + 64, as_bytes(bytes));
  const Scanned scanned = scan(disk);
  CHECK(scanned.seqs == all_up_to(4, {2}));
  REQUIRE(scanned.result.damage.size() == 1);
  CHECK(scanned.result.damage[0].bytes == hit.end_offset - hit.offset);
}

TEST_CASE("a batch comes back whole or not at all") {
  FakeDisk disk;
  JournalWriter journal(disk);
  journal.make(1).use(1);
  std::vector<MessageItem> items(20);
  for (MessageItem& item : items) item.payload = as_bytes("batched payload");
  REQUIRE(encode_pushed(journal.body, items, false));
  journal.append(MessageId{100});
  const std::string full = disk.content("journal/1.fqj");
  const uint64_t bytes = kRecordHeaderBytes + journal.body.bytes.size();
  for (uint64_t cut = kFirstRecordOffset; cut < kFirstRecordOffset + bytes; ++cut) {
    disk.put("journal/1.fqj", full.substr(0, cut) + std::string(full.size() - cut, '\0'));
    const size_t found = scan(disk).seqs.size();
    // Zeros in place of zeros change nothing.
    const bool same = disk.content("journal/1.fqj") == full;
    if (found != (same ? 1u : 0u)) FAIL("cut at " << cut);
  }
}

TEST_CASE("a hole in the numbers is found although all places fit") {
  ThreeFiles t;
  FakeDisk disk;
  JournalWriter journal(disk);
  journal.make(1).use(1).push("a").push("b");
  journal.seq += 3;
  journal.push("c").sync().push("d");
  const Scanned scanned = scan(disk);
  CHECK(scanned.seqs == std::vector<uint64_t>{1, 2, 6, 7});
  CHECK(scanned.lost == 3);
}
