// damaged_journal_test - a journal that was cut or flipped costs what was hit and nothing else.
//
// Recovery is silent about a torn tail and loud about damage before it: the bytes go to damaged/, the notice
// and fq check name the file, and every other message is there. The exhaustive loops (every byte, every bit)
// are tests/journal's, in-process; here the whole engine goes through samples of them.

// System.
#include <cstring>
#include <random>
// fq, below us.
#include "core/base/crc32c.h"
#include "core/journal/codec.h"
// Tests.
#include "tests/knobs.h"
#include "tests/process/real_fq.h"

namespace fq::test {

namespace {

struct Stored {
  std::string payload;
  size_t begin = 0;  // in the file; begins with the record's header
  size_t end = 0;
};

/// Twelve messages, each in a record of its own, and where their records lie in the only journal file.
std::vector<Stored> fill_files(const Spool& spool) {
  std::vector<Stored> records;
  for (int i = 0; i < 12; ++i) {
    records.push_back({"payload-number-" + std::to_string(100 + i), 0, 0});
    spool.push(records.back().payload);
  }
  const std::string bytes = read_whole(spool.journal_files().front());
  for (Stored& each : records) {
    const size_t at = bytes.find(each.payload);
    REQUIRE(at != std::string::npos);
    each.begin = bytes.rfind("fqr1", at);
    uint32_t length = 0;
    std::memcpy(&length, bytes.data() + each.begin + 4, sizeof length);
    each.end = each.begin + length;
  }
  return records;
}

void flip_bit(const std::string& path, size_t byte, int bit) {
  const char changed = static_cast<char>(read_whole(path).at(byte) ^ (1 << bit));
  write_at(path, byte, {changed});
}

}  // namespace

TEST_CASE("a flipped bit in a record costs that record's message, is kept, reported, and found by fq check") {
  const uint64_t seed = seed_of_run();
  INFO("FQ_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (const size_t hit : {size_t{1}, size_t{5}, size_t{9}}) {
    for (int round = 0; round < 6; ++round) {
      Spool spool;
      const std::vector<Stored> records = fill_files(spool);
      const std::string file = spool.journal_files().front();
      const size_t used = kRecordHeaderBytes + 8;  // the header, and ids that it covers
      const size_t byte = records[hit].begin + (round < 3 ? random() % used : used + random() % 20);
      flip_bit(file, byte, static_cast<int>(random() % 8));
      std::filesystem::remove(spool.queue("segment"));
      INFO("record " << hit << " byte " << byte - records[hit].begin);
      const Outcome recovery = spool.fq({"push", "next"});
      CHECK(recovery.exit == 0);
      CHECK(contains(recovery.err, "journal/"));
      CHECK(contains(recovery.err, "damaged/"));
      CHECK_FALSE(std::filesystem::is_empty(spool.queue("damaged")));
      const std::set<std::string> there = spool.payloads();
      for (size_t i = 0; i < records.size(); ++i)
        CHECK(there.count(records[i].payload) == (i == hit ? 0 : 1));
      CHECK(there.count("next") == 1);
      const Outcome check = spool.fq({"check"});
      CHECK(check.exit == 65);
      CHECK(contains(check.out + check.err, "damaged/"));
    }
  }
}

TEST_CASE("a live queue whose journal was flipped says so in fq check, exit 65, naming the file") {
  Spool spool;
  const std::vector<Stored> records = fill_files(spool);
  const std::string file = spool.journal_files().front();
  flip_bit(file, records[4].begin + kRecordHeaderBytes + 12, 3);
  const Outcome check = spool.fq({"check"});
  CHECK(check.exit == 65);
  CHECK(contains(check.out + check.err, std::filesystem::path(file).filename().string()));
}

TEST_CASE(
    "a repair that ends behind one of its steps leaves the rest, and what is left of messages, to another") {
  Spool spool;
  const std::vector<Stored> records = fill_files(spool);
  const std::string input = spool.directory() + "/long";
  std::ofstream(input) << std::string(100'000, 'l');
  spool.says({"push", "--file", input});
  for (const char* behind : {"x", "y", "z"})
    spool.push(behind);  // damage of the last record could be a crash
  const std::string blob = std::filesystem::directory_iterator(spool.queue("blobs"))->path().stem();
  const std::string file = spool.journal_files().front();
  // Its name is lost with its record.
  flip_bit(file, records.back().end + kRecordHeaderBytes + 20, 3);
  Child repair = spool.start_stopping_at("repair.stepped:1", {"check", "--repair"});
  REQUIRE(repair.stopped());
  const bool is_told = GENERATE(true, false);
  if (!is_told) repair.send(SIGKILL);
  if (is_told) repair.send(SIGINT);
  repair.send(SIGCONT);
  const Outcome ended = repair.end();
  CHECK(ended.signal == (is_told ? SIGINT : SIGKILL));
  CHECK(contains(ended.err, "fq: repaired: ") == is_told);
  CHECK(contains(ended.err, "fq: interrupted; another repair does the rest") == is_told);
  CHECK(std::filesystem::exists(spool.queue("blobs/" + blob)));
  for (const Stored& each : records) CHECK(spool.payloads().count(each.payload) == 1);
  CHECK(spool.fq({"check", "--repair"}).exit == 0);
  CHECK(std::filesystem::exists(spool.queue("damaged/" + blob + ".blob")));
  spool.check_clean();
}

TEST_CASE("a delivery whose record is damaged costs that message and the next one is served") {
  Spool spool;
  const std::vector<Stored> records = fill_files(spool);
  flip_bit(spool.journal_files().front(), records[0].begin + kRecordHeaderBytes + 20, 3);
  const Outcome popped = spool.fq({"pop", "-n", "3"});
  CHECK(popped.exit == 0);
  CHECK_FALSE(contains(popped.out, records[0].payload));
  CHECK(contains(popped.out, records[1].payload));
}

TEST_CASE("a journal cut anywhere keeps every record before the cut, whole") {
  const uint64_t seed = seed_of_run();
  INFO("FQ_SEED=" << seed);
  std::mt19937_64 random(seed);
  const int rounds = is_long_form() ? 1000 : 40;
  for (int round = 0; round < rounds; ++round) {
    Spool spool;
    const std::vector<Stored> records = fill_files(spool);
    const std::string file = spool.journal_files().front();
    const size_t last = records.back().end;
    const size_t cut = round < 14 ? (round < 12    ? records[size_t(round)].begin
                                     : round == 12 ? last
                                                   : last - 1)
                                  : kFirstRecordOffset + random() % (last - kFirstRecordOffset);
    std::filesystem::resize_file(file, cut);
    std::filesystem::remove(spool.queue("segment"));
    INFO("cut at " << cut);
    const Outcome next = spool.fq({"push", "next"});
    INFO("exit " << next.exit << ": " << next.err);
    CHECK(next.exit == 0);
    std::set<std::string> there = spool.payloads();
    CHECK(there.erase("next") == 1);
    for (const Stored& each : records) {
      INFO(each.payload << " from " << each.begin << " to " << each.end);
      CHECK(there.erase(each.payload) == (each.end <= cut ? 1 : 0));
    }
    CHECK(there.empty());
    // Gone on for good: what comes after the cut is kept by the next rebuild too.
    std::filesystem::remove(spool.queue("segment"));
    CHECK(spool.payloads().count("next") == 1);
  }
}

TEST_CASE("a missing journal file is reported and the messages of the others are there") {
  Spool spool;
  const std::string large(60 * 1024, 'x');
  for (int i = 0; i < 20; ++i) spool.says({"push"}, {.env = {}, .input = std::to_string(i) + large});
  const std::vector<std::string> files = spool.journal_files();
  REQUIRE(files.size() >= 3);
  std::filesystem::remove(files[1]);
  std::filesystem::remove(spool.queue("segment"));
  const Outcome next = spool.fq({"push", "next"});
  CHECK(next.exit == 0);
  CHECK_FALSE(next.err.empty());
  const std::set<std::string> there = spool.payloads();
  CHECK(there.count("0" + large) == 1);
  CHECK(there.count("19" + large) == 1);
  CHECK(there.count("next") == 1);
}

TEST_CASE("a spool of another format version is refused, exit 69, and left as it is") {
  Spool spool;
  fill_files(spool);
  const std::string file = spool.journal_files().front();
  // The format stands at 8, the checksum of the 32 bytes before it at 32, and both a second time at 2048.
  std::string bytes = read_whole(file).substr(0, kFileHeaderBytes);
  for (const size_t copy : {size_t{0}, size_t{2048}}) {
    const uint32_t next_format = kJournalFormat + 1;
    std::memcpy(bytes.data() + copy + 8, &next_format, 4);
    const uint32_t crc = crc32c(0, as_bytes(bytes).subspan(copy, 32));
    std::memcpy(bytes.data() + copy + 32, &crc, 4);
  }
  FileHeader header;
  REQUIRE(decode_file_header(as_bytes(bytes), header) == FileHeaderFault::other_format);
  write_at(file, 0, bytes);
  // Of a layout that this build does not know, as a newer one's may be.
  std::filesystem::remove(spool.queue("segment"));
  std::ofstream(spool.queue("segment")) << std::string(64 * 1024, 's');
  const auto all_of_it = [&spool] {
    std::map<std::string, std::string> files;
    for (const auto& each : std::filesystem::recursive_directory_iterator(spool.queue("")))
      if (each.is_regular_file()) files[each.path()] = read_whole(each.path());
    return files;
  };
  const auto before = all_of_it();
  for (const char* command : {"pop", "check", "stats"}) {
    const Outcome outcome = spool.fq({command});
    INFO(command << ": " << outcome.err);
    CHECK(outcome.exit == 69);
    CHECK(contains(outcome.err + outcome.out, "format"));
  }
  CHECK(spool.fq({"push", "x"}).exit == 69);
  CHECK(all_of_it() == before);
}

TEST_CASE("what was not written yet when check looked, before something that was, is not called damage") {
  const Spool spool;
  spool.push("there");
  const std::string moment = read_whole(spool.queue("segment"));
  const std::string later(500, 'l');
  spool.push(later);
  spool.push("a proof that it is durable");
  // What check reads of a file that grows under it: the later record, and of the one before nothing.
  const std::string journal = spool.journal_files().front();
  const size_t at = read_whole(journal).find(later);
  REQUIRE(at != std::string::npos);
  write_at(journal, at, std::string(later.size(), '\0'));
  const std::string grown = read_whole(spool.queue("segment"));
  write_at(spool.queue("segment"), 0, moment);
  spool.check_clean();
  write_at(spool.queue("segment"), 0, grown);
  CHECK(contains(spool.fq({"check"}).out, "damage"));
}

}  // namespace fq::test
