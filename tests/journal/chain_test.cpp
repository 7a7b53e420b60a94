// chain_test - files that are missing, doubled, given up, foreign, of another format, or came back.
#include "core/journal/journal.h"

// fq, below us.
#include "core/base/crc32c.h"
#include "core/journal/lost_header.h"
// fq, this room.
#include "tests/journal/journal_writer.h"

using namespace fq;
using namespace fq::test;

TEST_CASE("a missing, a duplicated and a swapped file are told from whole ones") {
  ThreeFiles t;
  SECTION("missing") {
    REQUIRE(t.disk.remove("journal/2.fqj").ok());
    const Scanned scanned = scan(t.disk);
    CHECK(scanned.seqs == all_up_to(12, {5, 6, 7, 8}));
    REQUIRE(scanned.result.damage.size() == 1);
    CHECK(scanned.result.damage[0].file_number == 2);
    CHECK(scanned.lost == 4);
  }
  SECTION("the oldest is missing") {
    REQUIRE(t.disk.remove("journal/1.fqj").ok());
    const Scanned scanned = scan(t.disk);
    CHECK(scanned.seqs == all_up_to(12, {1, 2, 3, 4}));
    REQUIRE(scanned.result.damage.size() == 1);
    CHECK(scanned.result.damage[0].file_number == 1);
  }
  SECTION("duplicated") {
    t.disk.put("journal/9.fqj", t.disk.content("journal/2.fqj"));
    const Scanned scanned = scan(t.disk);
    CHECK(scanned.seqs == all_up_to(12));
    CHECK(scanned.result.unknown == std::vector<std::string>{"9.fqj"});
    CHECK(scanned.result.number_max == 9);
  }
  SECTION("swapped") {
    const std::string one = t.disk.content("journal/1.fqj");
    t.disk.put("journal/1.fqj", t.disk.content("journal/2.fqj"));
    t.disk.put("journal/2.fqj", one);
    const Scanned scanned = scan(t.disk);
    CHECK(scanned.seqs == all_up_to(12, {1, 2, 3, 4, 5, 6, 7, 8}));
    CHECK(scanned.result.unknown.size() == 2);
    CHECK(!scanned.result.damage.empty());
  }
}

TEST_CASE("files below LOW are not missed, and one that came back is ignored") {
  ThreeFiles t;
  const std::string one = t.disk.content("journal/1.fqj");
  t.journal.low(3);
  REQUIRE(t.disk.remove("journal/1.fqj").ok());
  REQUIRE(t.disk.remove("journal/2.fqj").ok());
  CHECK(scan(t.disk).result.damage.empty());
  t.disk.put("journal/1.fqj", one);
  const Scanned scanned = scan(t.disk);
  CHECK(scanned.seqs == std::vector<uint64_t>{9, 10, 11, 12, 13});
  CHECK(scanned.result.damage.empty());
  REQUIRE(scanned.result.stale.size() == 1);
  CHECK(scanned.result.stale[0].key.number == 1);
}

TEST_CASE("of what LOW let go it is read again what lies right before a file that is missing") {
  ThreeFiles t;
  t.journal.make(4).use(4).low(3);
  REQUIRE(t.disk.remove("journal/3.fqj").ok());
  SECTION("what was copied from it into that may be nowhere else") {
    const Scanned scanned = scan(t.disk);
    CHECK(scanned.seqs == all_up_to(13, {9, 10, 11, 12}));
    CHECK(scanned.result.stale.empty());
  }
  SECTION("as far as all of it is there") {
    REQUIRE(t.disk.remove("journal/1.fqj").ok());
    CHECK(scan(t.disk).seqs == std::vector<uint64_t>{5, 6, 7, 8, 13});
  }
  SECTION("but not where what ended since may have been told in between") {
    REQUIRE(t.disk.remove("journal/2.fqj").ok());
    const Scanned scanned = scan(t.disk);
    CHECK(scanned.seqs == std::vector<uint64_t>{13});
    REQUIRE(scanned.result.stale.size() == 1);
    CHECK(scanned.result.stale[0].key.number == 1);
  }
  const Scanned scanned = scan(t.disk);
  REQUIRE(scanned.result.damage.size() == 1);
  CHECK(scanned.result.damage[0].file_number == 3);
}

TEST_CASE("a file that is ready without the one before it tells that the newest file is missing") {
  ThreeFiles t;
  t.journal.make(4);
  SECTION("while all are there nothing is told") {
    const Scanned scanned = scan(t.disk);
    CHECK(scanned.result.damage.empty());
    CHECK(scanned.result.lost_number == 0);
  }
  SECTION("the last one in use") {
    REQUIRE(t.disk.remove("journal/3.fqj").ok());
    const Scanned scanned = scan(t.disk);
    CHECK(scanned.seqs == all_up_to(8));
    REQUIRE(scanned.result.damage.size() == 1);
    CHECK(scanned.result.damage[0].file_number == 3);
    CHECK(scanned.result.damage[0].what == "the file is missing");
    CHECK(scanned.result.lost_number == 3);
    REQUIRE(scanned.result.ready.size() == 1);
  }
  SECTION("nothing of the last one in use can be read") {
    t.disk.put("journal/3.fqj", "mine");
    const Scanned scanned = scan(t.disk);
    REQUIRE(scanned.result.damage.size() == 1);
    CHECK(scanned.result.damage[0].bytes == 4);
    CHECK(scanned.result.lost_number == 3);
  }
  SECTION("all that were in use") {
    for (const char* name : {"journal/1.fqj", "journal/2.fqj", "journal/3.fqj"})
      REQUIRE(t.disk.remove(name).ok());
    const Scanned scanned = scan(t.disk);
    // Those before it may have been let go.
    REQUIRE(scanned.result.damage.size() == 1);
    CHECK(scanned.result.damage[0].file_number == 3);
    CHECK(scanned.result.lost_number == 3);
  }
  SECTION("one that was ready, too") {
    t.journal.make(5);
    REQUIRE(t.disk.remove("journal/4.fqj").ok());
    const Scanned scanned = scan(t.disk);
    CHECK(scanned.seqs == all_up_to(12));
    REQUIRE(scanned.result.damage.size() == 1);
    CHECK(scanned.result.damage[0].file_number == 4);
  }
}

TEST_CASE("the first file, and nothing of it can be read, is lost and not one that was made ready") {
  FakeDisk disk;
  JournalWriter journal(disk);
  disk.put("journal/1.fqj", "mine");
  const Scanned scanned = scan(disk);
  REQUIRE(scanned.result.damage.size() == 1);
  CHECK(scanned.result.lost_number == 1);
}

TEST_CASE("nothing of a file is read past the start of the next one") {
  FakeDisk disk;
  JournalWriter journal(disk);
  journal.make(1).make(2).use(1).push("a").push("b");
  const uint64_t fence = journal.position;
  const uint64_t seq = journal.seq;
  journal.push("given up").push("given up");
  journal.position = fence;
  journal.seq = seq;
  journal.use(2);
  journal.durable = 0;
  journal.push("c");
  const Scanned scanned = scan(disk);
  CHECK(scanned.seqs == std::vector<uint64_t>{1, 2, 3});
  CHECK(scanned.result.damage.empty());
  CHECK(scanned.result.end_position == journal.position);
  CHECK(scanned.result.durable_position == journal.start);  // OPENED alone proves that
}

TEST_CASE("a file that was given up for another is stale") {
  FakeDisk disk;
  JournalWriter journal(disk);
  journal.make(1).make(2).make(3).use(1).push("a");
  const uint64_t fence = journal.position;
  journal.use(2).push("given up");
  journal.position = fence;
  journal.seq = 2;
  journal.current = 1;
  journal.use(3).push("b");
  const Scanned scanned = scan(disk);
  CHECK(scanned.seqs == all_up_to(2));
  CHECK(scanned.result.damage.empty());
  REQUIRE(scanned.result.stale.size() == 1);
  CHECK(scanned.result.stale[0].key.number == 2);
}

TEST_CASE("a lost OPENED is damage if a record or a later file proves it, else the file was never in use") {
  ThreeFiles t;
  const std::vector<std::byte> zeros(kOpenedBytes);
  SECTION("a later file names it") {
    t.journal.write(2, kFileHeaderBytes, zeros);
    const Scanned scanned = scan(t.disk);
    CHECK(scanned.seqs == all_up_to(12));
    REQUIRE(scanned.result.damage.size() == 1);
    CHECK(scanned.result.damage[0].offset == kFileHeaderBytes);
  }
  SECTION("its own records prove it") {
    t.journal.write(3, kFileHeaderBytes, zeros);
    const Scanned scanned = scan(t.disk);
    CHECK(scanned.seqs == all_up_to(12));
    CHECK(scanned.result.damage.size() == 1);
  }
  SECTION("its only record proves it") {
    t.journal.make(4).use(4).push("of one flush");
    t.journal.write(4, kFileHeaderBytes, zeros);
    const Scanned scanned = scan(t.disk);
    CHECK(scanned.seqs == all_up_to(13));
    REQUIRE(scanned.result.damage.size() == 1);
    CHECK(scanned.result.damage[0].file_number == 4);
    CHECK(scanned.result.damage[0].offset == kFileHeaderBytes);
    CHECK(scanned.result.stale.empty());
    CHECK(scanned.result.files.back().key.number == 4);
    CHECK(scanned.result.end_position == t.journal.position);
  }
  SECTION("its only record proves it, behind another that lost its own") {
    t.journal.make(4).use(4).push("of one flush").make(5).use(5).push("of another");
    t.journal.write(4, kFileHeaderBytes, zeros);
    t.journal.write(5, kFileHeaderBytes, zeros);
    const Scanned scanned = scan(t.disk);
    CHECK(scanned.seqs == all_up_to(14));
    CHECK(scanned.result.damage.size() == 2);
  }
  SECTION("nothing proves it") {
    t.journal.make(4);
    const Scanned scanned = scan(t.disk);
    CHECK(scanned.seqs == all_up_to(12));
    CHECK(scanned.result.damage.empty());
    CHECK(scanned.result.ready.size() == 1);
    CHECK(scanned.result.stale.empty());
  }
}

TEST_CASE("a file that was given up for another is stale also where one of them has lost its OPENED") {
  FakeDisk disk;
  JournalWriter journal(disk);
  journal.make(1).make(2).make(3).use(1).push("a");
  const uint64_t fence = journal.position;
  journal.use(2).push("given up").push("given up");
  journal.position = fence;
  journal.seq = 2;
  journal.current = 1;
  journal.use(3).push("b").push("c");
  const std::vector<std::byte> zeros(kOpenedBytes);
  SECTION("the one that was given up") {
    journal.write(2, kFileHeaderBytes, zeros);
    const Scanned scanned = scan(disk);
    CHECK(scanned.result.damage.empty());
    REQUIRE(scanned.result.stale.size() == 1);
    CHECK(scanned.result.stale[0].key.number == 2);
  }
  SECTION("the other one") {
    journal.write(3, kFileHeaderBytes, zeros);
    CHECK(scan(disk).result.damage.size() == 1);
  }
  std::string files;
  REQUIRE(scan_journal(disk, [&](const ScannedRecord& record) -> Result<void> {
            files += std::to_string(record.file_number);
            return {};
          }).ok());
  CHECK(files == "133");
}

TEST_CASE("a file whose records fit in nowhere is damage, and its bytes are not given away") {
  ThreeFiles t;
  JournalWriter other(t.disk);
  other.make(7).use(7).push("of the beginning").push("again");  // its positions are those of file 1
  t.journal.write(7, kFileHeaderBytes, std::vector<std::byte>(kOpenedBytes));
  const Scanned scanned = scan(t.disk);
  CHECK(scanned.seqs == all_up_to(12));
  REQUIRE(scanned.result.damage.size() == 1);
  CHECK(scanned.result.damage[0].file_number == 7);
  CHECK(scanned.result.damage[0].offset == 0);
  CHECK(scanned.result.stale.empty());
  CHECK(scanned.result.ready.empty());
}

namespace {

/// Nothing is left of the header, one way or another.
void lose_header(JournalWriter& journal, uint32_t number, std::byte with) {
  journal.write(number, 0, std::vector<std::byte>(kFileHeaderBytes, with));
}

}  // namespace

TEST_CASE("a file that lost its header is damage, and all of it is read by what lies behind") {
  ThreeFiles t;
  const auto is_read = [&] {
    const Scanned scanned = scan(t.disk);
    CHECK(scanned.seqs == all_up_to(12));
    CHECK(scanned.result.unknown.empty());
    REQUIRE(scanned.result.damage.size() == 1);
    CHECK(scanned.result.damage[0].file_number == 2);
    CHECK(scanned.result.damage[0].offset == 0);
    CHECK(scanned.result.damage[0].bytes == kFileHeaderBytes);
    CHECK(scanned.lost == 0);
    REQUIRE(scanned.result.files.size() == 3);
    CHECK(scanned.result.files[1].header_lost);
    // The key is not the one that it was, and as good.
    const FileKey key = scanned.result.files[1].key;
    CHECK(file_seed(key) == file_seed(JournalWriter::key_of(2)));
    CHECK(open_journal_file(t.disk, key).value() != nullptr);
    CHECK(open_journal_file(t.disk, JournalWriter::key_of(2)).value() != nullptr);
    CHECK(open_journal_file(t.disk, {2, 12}).error().kind == ErrorKind::bad_data);
    REQUIRE(write_header_anew(t.disk, {key, 1000}).ok());
    CHECK(scan(t.disk).seqs == all_up_to(12));
    CHECK(scan(t.disk).result.damage.empty());
  };
  SECTION("a bit in each copy") {
    flip_bit(t.disk, 2, 20, 0);
    flip_bit(t.disk, 2, 2048 + 20, 0);
    is_read();
  }
  SECTION("zeros") {
    lose_header(t.journal, 2, std::byte{0});
    is_read();
  }
  SECTION("garbage") {
    lose_header(t.journal, 2, std::byte{0xa5});
    is_read();
  }
  SECTION("and one copy of OPENED") {
    lose_header(t.journal, 2, std::byte{0});
    flip_bit(t.disk, 2, kFileHeaderBytes + 9, 3);
    is_read();
  }
  SECTION("and its first record") {
    lose_header(t.journal, 2, std::byte{0});
    flip_bit(t.disk, 2, kFirstRecordOffset + kRecordHeaderBytes + 10, 3);
    const Scanned scanned = scan(t.disk);
    CHECK(scanned.seqs == all_up_to(12, {5}));
    CHECK(scanned.lost == 1);
  }
}

TEST_CASE("a file of which nothing proves a key is damage, and the rest is read") {
  ThreeFiles t;
  lose_header(t.journal, 2, std::byte{0});
  SECTION("its OPENED is lost too") {
    t.journal.write(2, kFileHeaderBytes, std::vector<std::byte>(kOpenedBytes));
  }
  SECTION("no record is left") {
    t.journal.write(2, kFirstRecordOffset, std::vector<std::byte>(8192 - kFirstRecordOffset));
  }
  SECTION("its OPENED is of another file") {
    const OpenedRecord opened{1, 0, 1};
    t.journal.write(2, kFileHeaderBytes, encode_opened({2, 99}, opened, 1000));
  }
  const Scanned scanned = scan(t.disk);
  CHECK(scanned.seqs == all_up_to(12, {5, 6, 7, 8}));
  REQUIRE(scanned.result.damage.size() == 1);
  CHECK(scanned.result.damage[0].file_number == 2);
  CHECK(scanned.result.damage[0].bytes == 8192);
  CHECK(scanned.lost == 4);
}

TEST_CASE("a file under a name of ours that is none is damage, also where it is empty") {
  ThreeFiles t;
  t.disk.put("journal/8.fqj", "mine");
  t.disk.put("journal/9.fqj", "");
  const Scanned scanned = scan(t.disk);
  CHECK(scanned.seqs == all_up_to(12));
  CHECK(scanned.result.unknown.empty());
  REQUIRE(scanned.result.damage.size() == 2);
  CHECK(scanned.result.damage[0].bytes == 4);
  CHECK(scanned.result.damage[1].what == "the file is empty");
  CHECK(scanned.result.number_max == 9);
}

TEST_CASE("foreign names are reported and never touched") {
  ThreeFiles t;
  for (const char* name : {"07.fqj", "7.fqj~", "0.fqj", "-1.fqj", "99999999999.fqj", "notes.txt"})
    t.disk.put(std::string("journal/") + name, "mine");
  t.disk.put("journal/new-9.tmp", "half");
  const uint64_t calls = t.disk.operations().size();
  const Scanned scanned = scan(t.disk);
  CHECK(scanned.seqs == all_up_to(12));
  CHECK(scanned.result.unknown.size() == 6);
  CHECK(scanned.result.leftovers == std::vector<std::string>{"new-9.tmp"});
  for (size_t i = calls; i < t.disk.operations().size(); ++i) {
    const std::string& call = t.disk.operations()[i].call;
    if (call == "write" || call == "rename" || call == "remove" || call == "sync") FAIL(call);
  }
}

TEST_CASE("a file of another format is refused") {
  ThreeFiles t;
  std::vector<std::byte> header = encode_file_header({JournalWriter::key_of(2), 1});
  put_number(header.data() + 8, uint32_t{9});
  put_number(header.data() + 32, crc32c(0, Bytes(header).first(32)));
  t.journal.write(2, 0, header);
  const auto result = scan_journal(t.disk, [](const ScannedRecord&) -> Result<void> { return {}; });
  REQUIRE(!result.ok());
  CHECK(result.error().kind == ErrorKind::unusable);
  CHECK(result.error().text.find("; made by another version of fq") != std::string::npos);
}
