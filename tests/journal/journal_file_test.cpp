// journal_file_test - files are whole or not there, whatever call fails and whenever the power goes.
#include "core/journal/journal.h"

// System.
#include <cerrno>
// fq, this room.
#include "core/journal/journal_name.h"
#include "tests/journal/journal_writer.h"

using namespace fq;
using namespace fq::test;

namespace {

constexpr uint64_t kBytes = 16 * 1024;
const FileHeader kFirst{{1, 11}, 5};

size_t names(FakeDisk& disk) { return disk.list("journal").value().size(); }

FakeDisk empty_disk() {
  FakeDisk disk;
  REQUIRE(disk.make_directory("journal").ok());
  REQUIRE(disk.sync_directory("").ok());
  return disk;
}

}  // namespace

TEST_CASE("a made file outlives a power cut, whole") {
  FakeDisk disk = empty_disk();
  REQUIRE(make_journal_file(disk, kFirst, kBytes).ok());
  FakeDisk after = disk.crash();
  CHECK(after.content("journal/1.fqj").size() == kBytes);
  CHECK(open_journal_file(after, kFirst.key).value() != nullptr);
  CHECK(open_journal_file(after, {1, 12}).value() == nullptr);
  CHECK(open_journal_file(after, {3, 12}).error().sys == ENOENT);
  CHECK(scan(after).result.ready.size() == 1);
}

TEST_CASE("a file without records is opened by either copy of its header") {
  FakeDisk disk = empty_disk();
  REQUIRE(make_journal_file(disk, kFirst, kBytes).ok());
  const std::string whole = disk.content("journal/1.fqj");
  const std::vector<std::byte> lost(kFileHeaderCopyBytes);
  const auto file = disk.open("journal/1.fqj", OpenMode::write).value();
  for (const uint64_t copy : {uint64_t{0}, uint64_t{kFileHeaderBytes / 2}}) {
    REQUIRE(file->write_at(copy, lost).ok());
    const auto opened = open_journal_file(disk, kFirst.key);
    REQUIRE(opened.ok());
    CHECK(opened.value() != nullptr);
    CHECK(open_journal_file(disk, {1, 12}).value() == nullptr);
    REQUIRE(file->write_at(0, as_bytes(whole)).ok());
  }
  REQUIRE(file->write_at(0, std::vector<std::byte>(kFileHeaderBytes)).ok());
  CHECK(open_journal_file(disk, kFirst.key).error().kind == ErrorKind::bad_data);
}

TEST_CASE("a file behind the last number is refused as on a full disk") {
  FakeDisk disk = empty_disk();
  const FileHeader last{{kJournalNumberMax, 1}, 5};
  const FileHeader behind{{kJournalNumberMax + 1, 1}, 5};
  REQUIRE(make_journal_file(disk, last, kBytes).ok());
  for (const Result<void>& refused :
       {make_journal_file(disk, behind, kBytes), recycle_journal_file(disk, kJournalNumberMax, behind)}) {
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == ErrorKind::later);
    CHECK(refused.error().sys == ENOSPC);
  }
  CHECK(names(disk) == 1);
}

TEST_CASE("a file that cannot be made leaves nothing behind") {
  for (uint64_t call = 0;; ++call) {
    FakeDisk disk = empty_disk();
    disk.fail_at(disk.call_count() + call, ENOSPC);
    const auto made = make_journal_file(disk, kFirst, kBytes);
    disk.heal();
    if (made.ok()) break;
    CHECK(made.error().kind == ErrorKind::later);
    CHECK(names(disk) == 0);
    REQUIRE(make_journal_file(disk, kFirst, kBytes).ok());
  }
}

TEST_CASE("a full disk is met when the file is made") {
  FakeDisk disk = empty_disk();
  disk.set_capacity(kBytes / 2);
  CHECK(make_journal_file(disk, kFirst, kBytes).error().kind == ErrorKind::later);
  CHECK(names(disk) == 0);
}

TEST_CASE("a name that is taken is not overwritten") {
  FakeDisk disk = empty_disk();
  disk.put("journal/1.fqj", "precious");
  CHECK(!make_journal_file(disk, kFirst, kBytes).ok());
  CHECK(disk.content("journal/1.fqj") == "precious");
}

TEST_CASE("whenever the power goes, a name means a whole file with its own header") {
  for (uint64_t call = 0; call < 40; ++call)
    for (uint64_t seed = 0; seed < 8; ++seed) {
      FakeDisk disk = empty_disk();
      JournalWriter journal(disk);
      journal.make(1).make(2).use(1).push("old").use(2).low(2);
      const FileKey third = JournalWriter::key_of(3);
      disk.fail_at(disk.call_count() + call, EIO, true);
      (void)recycle_journal_file(disk, 1, {third, 6});
      disk.heal();
      FakeDisk after = disk.crash(seed);
      for (const FileKey& key : {JournalWriter::key_of(1), third}) {
        const auto file = open_journal_file(after, key);
        if (file.ok()) CHECK(file.value() != nullptr);
        if (!file.ok()) CHECK(file.error().sys == ENOENT);
      }
      CHECK(scan(after).result.damage.empty());
    }
}

TEST_CASE("old records of a recycled file never parse") {
  FakeDisk disk;
  JournalWriter journal(disk);
  journal.make(1).use(1).push("old").push("older").sync().push("oldest");
  REQUIRE(recycle_journal_file(disk, 1, {{5, 55}, 7}).ok());
  const Scanned scanned = scan(disk);
  CHECK(scanned.seqs.empty());
  REQUIRE(scanned.result.ready.size() == 1);
  CHECK(scanned.result.ready[0].key.number == 5);
  CHECK(scanned.result.ready[0].file_bytes == 16 * 1024);
  CHECK(scanned.result.stale.empty());
  CHECK(scanned.result.number_max == 5);
}

TEST_CASE("old records of a recycled file never parse where its header is lost, either") {
  FakeDisk disk;
  JournalWriter journal(disk);
  journal.make(1).use(1).push("old").push("older").sync().push("oldest");
  REQUIRE(recycle_journal_file(disk, 1, {{5, 55}, 7}).ok());
  journal.write(5, 0, std::vector<std::byte>(kFileHeaderBytes));
  const Scanned scanned = scan(disk);
  CHECK(scanned.seqs.empty());
  CHECK(scanned.result.ready.empty());
  REQUIRE(scanned.result.damage.size() == 1);
  CHECK(scanned.result.damage[0].file_number == 5);
}

TEST_CASE("a file is set aside under a name that is free, for good") {
  FakeDisk disk;
  JournalWriter journal(disk);
  journal.make(1).use(1).push("something");
  const std::string bytes = disk.content("journal/1.fqj");
  CHECK(set_file_aside(disk, 1).value() == "damaged/1-0.bin");
  disk.put("journal/1.fqj", "another");
  CHECK(set_file_aside(disk, 1).value() == "damaged/1-0.2.bin");
  CHECK(set_file_aside(disk, 1).error().sys == ENOENT);
  FakeDisk after = disk.crash();
  CHECK(after.content("damaged/1-0.bin") == bytes);
  CHECK(after.content("damaged/1-0.2.bin") == "another");
  CHECK_FALSE(after.open("journal/1.fqj", OpenMode::read).ok());
}

TEST_CASE("damage is set aside once, byte by byte") {
  FakeDisk disk;
  JournalWriter journal(disk);
  journal.make(1).use(1).push("something");
  const JournalDamage damage{1, kFirstRecordOffset, 64, 1, "records are damaged"};
  REQUIRE(keep_damage(disk, damage).ok());
  REQUIRE(keep_damage(disk, damage).ok());
  const std::string kept = disk.crash().content("damaged/1-4224.bin");
  CHECK(kept == disk.content("journal/1.fqj").substr(kFirstRecordOffset, 64));
  CHECK(disk.list("damaged").value().size() == 1);
}

TEST_CASE("damage that has become another at the same place is kept beside what it was") {
  FakeDisk disk;
  JournalWriter journal(disk);
  journal.make(1).use(1).push("something").push("and more of it");
  JournalDamage damage{1, kFirstRecordOffset, 64, 1, "records are damaged"};
  const auto bytes = [&] { return disk.content("journal/1.fqj").substr(kFirstRecordOffset, damage.bytes); };
  const std::string small = bytes();
  CHECK(keep_damage(disk, damage).value().name == "damaged/1-4224.bin");
  damage.bytes = 128;  // longer
  const std::string longer = bytes();
  CHECK(keep_damage(disk, damage).value().name == "damaged/1-4224.2.bin");
  journal.write(1, kFirstRecordOffset + 100, std::vector<std::byte>(8, std::byte{'x'}));  // as long
  const std::string other = bytes();
  REQUIRE(other != longer);
  KeptDamage kept = keep_damage(disk, damage).value();
  CHECK(kept.name == "damaged/1-4224.3.bin");
  CHECK(kept.made);
  // One of those that are there: shorter, or the last.
  kept = keep_damage(disk, damage).value();
  CHECK(kept.name == "damaged/1-4224.3.bin");
  CHECK_FALSE(kept.made);
  damage.bytes = 64;
  CHECK(keep_damage(disk, damage).value().name == "damaged/1-4224.bin");
  FakeDisk after = disk.crash();
  CHECK(after.content("damaged/1-4224.bin") == small);
  CHECK(after.content("damaged/1-4224.2.bin") == longer);
  CHECK(after.content("damaged/1-4224.3.bin") == other);
  CHECK(after.list("damaged").value().size() == 3);
}

TEST_CASE("a stretch that ends beyond its file is kept once, as far as it goes; one without bytes is not") {
  FakeDisk disk;
  JournalWriter journal(disk);
  journal.make(1).use(1).push("something");
  const uint64_t size = disk.content("journal/1.fqj").size();
  const JournalDamage damage{1, size - 100, 4096, 1, "records are damaged"};
  CHECK(keep_damage(disk, damage).value().made);
  CHECK_FALSE(keep_damage(disk, damage).value().made);
  CHECK(disk.list("damaged").value().size() == 1);
  CHECK(keep_damage(disk, {1, 0, 0, 0, "the file is missing"}).value().name.empty());
  CHECK(disk.list("damaged").value().size() == 1);
}
