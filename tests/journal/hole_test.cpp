// hole_test - pages of the journal that the disk does not give back.
#include "core/journal/journal.h"

// System.
#include <cerrno>
// fq, below us.
#include "core/journal/lost_header.h"
// fq, this room.
#include "tests/journal/journal_writer.h"

using namespace fq;
using namespace fq::test;

namespace {

constexpr uint64_t kPage = 4096;

/// Two files of eight records, each a bit shorter than a page.
struct Paged {
  Paged() : journal(disk) {
    journal.make(1, 48 * 1024).make(2, 48 * 1024);
    for (uint32_t number = 1; number <= 2; ++number) {
      journal.use(number);
      for (int i = 0; i < 8; ++i) journal.push(std::string(3'000, 'p'));
    }
  }
  void lose_page_of(uint64_t seq) {
    const Written& record = journal.records[seq - 1];
    disk.set_unreadable(journal_file_name(record.file_number), page_of(seq), kPage);
  }
  uint64_t page_of(uint64_t seq) const { return (journal.records[seq - 1].offset + 1'000) / kPage * kPage; }
  /// All but those with a byte in that page.
  std::vector<uint64_t> others(uint64_t of) const {
    std::vector<uint64_t> seqs;
    for (const Written& each : journal.records) {
      const bool same_file = each.file_number == journal.records[of - 1].file_number;
      if (!same_file || each.end_offset <= page_of(of) || each.offset >= page_of(of) + kPage)
        seqs.push_back(each.seq);
    }
    return seqs;
  }

  FakeDisk disk;
  JournalWriter journal;
};

Scanned scan_with_holes(Disk& disk) {
  Scanned scanned;
  auto result = scan_journal(
      disk,
      [&](const ScannedRecord& record) -> Result<void> {
        scanned.seqs.push_back(record.header.seq);
        return {};
      },
      Holes::taken);
  INFO((result.ok() ? std::string() : result.error().text));
  REQUIRE(result.ok());
  scanned.result = std::move(result).value();
  for (const JournalDamage& damage : scanned.result.damage) scanned.lost += damage.records_lost;
  return scanned;
}

std::string refusal(Disk& disk) {
  const auto result = scan_journal(disk, [](const ScannedRecord&) -> Result<void> { return {}; });
  REQUIRE(!result.ok());
  CHECK(result.error().kind == ErrorKind::io);
  CHECK(result.error().sys == EIO);
  return result.error().text;
}

}  // namespace

TEST_CASE("a page that the disk does not give back costs the records in it, or the scan names it") {
  for (const uint64_t seq :
       {uint64_t{1}, uint64_t{3}, uint64_t{8}, uint64_t{9}, uint64_t{12}, uint64_t{16}}) {
    INFO("record " << seq);
    Paged t;
    t.lose_page_of(seq);
    CHECK(refusal(t.disk).find(": read at byte " + std::to_string(t.page_of(seq)) +
                               ": Input/output error; fq check --repair goes on without it") !=
          std::string::npos);
    const Scanned scanned = scan_with_holes(t.disk);
    CHECK(scanned.seqs == t.others(seq));
    REQUIRE(!scanned.result.damage.empty());
    CHECK(scanned.result.damage.back().what == "records cannot be read");
    // Of the first one nobody knows its number, of the last one that it was there.
    if (seq > 1 && seq < 15) CHECK(scanned.lost == 16 - scanned.seqs.size());
    if (seq == 16) CHECK(scanned.result.damage[0].bytes <= 2 * kPage);
  }
}

TEST_CASE("a file whose header the disk does not give back is read by what lies behind it") {
  Paged t;
  t.disk.set_unreadable("journal/1.fqj", 0, kPage);
  CHECK(refusal(t.disk).find(": read at byte 0: ") != std::string::npos);
  const Scanned scanned = scan_with_holes(t.disk);
  CHECK(scanned.seqs.size() == 16);
  REQUIRE(scanned.result.damage.size() == 1);
  CHECK(scanned.result.files[0].header_lost);
  CHECK(open_journal_file(t.disk, JournalWriter::key_of(1)).value() != nullptr);
}

TEST_CASE("of damage that the disk does not give back what can be read is kept, in its place") {
  Paged t;
  t.lose_page_of(3);
  const JournalDamage damage = scan_with_holes(t.disk).result.damage.at(0);
  const KeptDamage told = keep_damage(t.disk, damage).value();
  const std::string kept = t.disk.content(told.name);
  std::string expected = t.disk.content("journal/1.fqj").substr(damage.offset, damage.bytes);
  const uint64_t from = t.page_of(3) > damage.offset ? t.page_of(3) - damage.offset : 0;
  for (uint64_t i = from; i < expected.size() && damage.offset + i < t.page_of(3) + kPage; ++i)
    expected[i] = 0;
  CHECK(kept == expected);
  CHECK(told.made);
  CHECK(told.unread_bytes ==
        std::min(damage.offset + damage.bytes, t.page_of(3) + kPage) - damage.offset - from);
  CHECK(described(damage, told) ==
        "; " + std::to_string(damage.bytes) + " bytes kept in damaged/, with zeros for the " +
            std::to_string(told.unread_bytes) + " bytes that the disk does not give back");
  CHECK_FALSE(keep_damage(t.disk, damage).value().made);
  // What the disk gives back after all is kept as well.
  t.disk.heal();
  const KeptDamage whole = keep_damage(t.disk, damage).value();
  CHECK(whole.made);
  CHECK(whole.unread_bytes == 0);
}

TEST_CASE("a disk that gives nothing back is no damage") {
  FakeDisk disk;
  JournalWriter journal(disk);
  journal.make(1, 8 * 1024 * 1024).use(1).push("a");
  disk.set_unreadable("journal/1.fqj", 8192, 8 * 1024 * 1024);
  const auto result = scan_journal(
      disk, [](const ScannedRecord&) -> Result<void> { return {}; }, Holes::taken);
  CHECK(!result.ok());
}
