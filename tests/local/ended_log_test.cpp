// ended_log_test - what is told after the end: kept whole, bounded, given back, and never more lost than what
// was damaged.

// System.
#include <algorithm>
// fq, below us.
#include "core/local/files/ended/ended_log.h"
#include "core/local/files/jobs/outputs.h"
// Tests.
#include "tests/catch.h"
#include "tests/fakes/fake_disk.h"

namespace fq::test {

namespace {

constexpr int64_t kNow = 1'700'000'000'000;
constexpr int64_t kHour = 3'600'000;

EndedRecord record_of(uint64_t id, int64_t kept_ms = kHour, std::string_view tenant = "t") {
  EndedRecord record;
  record.id = MessageId{id};
  record.until_wall_ms = kNow + kept_ms;
  record.ended_wall_ms = kNow;
  record.pushed_wall_ms = kNow - 5;
  record.tenant = tenant;
  return record;
}

struct Shelf {
  FakeDisk disk;
  std::unique_ptr<EndedLog> log;

  Shelf() {
    REQUIRE(disk.make_directory("ended").ok());
    REQUIRE(disk.make_directory("output").ok());
    reopen();
  }
  /// As another process.
  void reopen() { log = std::make_unique<EndedLog>(disk); }
  void add(const EndedRecord& record, int64_t now = kNow) { REQUIRE(log->append({&record, 1}, now).ok()); }
  std::optional<EndedRecord> find(uint64_t id, int64_t now = kNow) {
    auto found = log->find(MessageId{id}, now);
    REQUIRE(found.ok());
    return std::move(found).value();
  }
  std::vector<uint64_t> told(int64_t now = kNow) {
    auto places = log->newest_first(now);
    REQUIRE(places.ok());
    std::vector<uint64_t> ids;
    for (const EndedPlace& place : *places) ids.push_back(place.id);
    return ids;
  }
  size_t files() { return list_ended(disk)->size(); }
};

/// With its output in a file.
EndedRecord with_file(Shelf& shelf, uint64_t id, size_t bytes, int64_t kept_ms = kHour) {
  EndedRecord record = record_of(id, kept_ms);
  record.output_bytes = bytes;
  const JobOutput output{std::string(bytes, 'x'), "", 0};
  REQUIRE(keep_output(shelf.disk, record.id, output, record.until_wall_ms).ok());
  return record;
}

bool same(const EndedRecord& a, const EndedRecord& b) {
  std::string left, right;
  encode_ended(left, a, 1, 0);
  encode_ended(right, b, 1, 0);
  return left == right;
}

}  // namespace

TEST_CASE("all that is told of an end comes back as it was") {
  Shelf shelf;
  EndedRecord record = record_of(7);
  record.verdict = RecordType::cancelled;
  record.started_wall_ms = kNow - 3;
  record.priority = -9;
  record.pid = 4711;
  record.deliveries = 70'000;
  record.attempts = 3;
  record.attempts_max = 5;
  record.crashes = 2;
  record.exit = int16_t{3};
  record.error_wall_ms = kNow - 1;
  record.error_signal = int16_t{9};
  record.key = std::string("\1\0\2", 3);
  record.tags = "tags";
  record.job = "job";
  record.terms = "terms";
  record.error_reason = "why";
  record.error_stderr = std::string(4096, 'e');
  record.output = EndedOutput{"out", std::string("err\0", 4)};
  shelf.add(record);
  shelf.reopen();
  const auto found = shelf.find(7);
  REQUIRE(found);
  CHECK(same(*found, record));
  CHECK_FALSE(shelf.find(8));
  CHECK(shelf.log->output(MessageId{7}, kNow)->value().out == "out");
}

TEST_CASE("of several records of one message the last counts, and its last output is kept") {
  Shelf shelf;
  EndedRecord buried = record_of(1);
  buried.verdict = RecordType::buried;
  buried.output = EndedOutput{"said", ""};
  shelf.add(buried);
  CHECK_FALSE(shelf.find(1));
  CHECK(shelf.told().empty());
  EndedRecord cancelled = record_of(1);
  cancelled.verdict = RecordType::cancelled;
  shelf.add(cancelled);
  REQUIRE(shelf.find(1));
  CHECK(shelf.find(1)->verdict == RecordType::cancelled);
  CHECK(shelf.told() == std::vector<uint64_t>{1});
  CHECK(shelf.log->output(MessageId{1}, kNow)->value().out == "said");
}

TEST_CASE("what ended last is told first") {
  Shelf shelf;
  for (uint64_t id = 1; id <= 5; ++id) {
    EndedRecord record = record_of(id);
    record.ended_wall_ms = kNow + static_cast<int64_t>(id % 3);
    shelf.add(record);
  }
  CHECK(shelf.told() == std::vector<uint64_t>{5, 2, 4, 1, 3});
}

TEST_CASE("a record is told until its time, and given back by whoever appends or sweeps after it") {
  Shelf shelf;
  shelf.add(record_of(1, 1000));
  shelf.add(record_of(2, 10 * kHour));
  CHECK(shelf.find(1, kNow + 999));
  CHECK_FALSE(shelf.find(1, kNow + 1000));
  CHECK(shelf.told(kNow + 1000) == std::vector<uint64_t>{2});
  const int64_t later = kNow + 20 * kHour;
  CHECK(shelf.log->is_due(later));
  CHECK_FALSE(shelf.log->is_due(kNow));
  REQUIRE(shelf.log->sweep(later, EndedLog::Depth::records).ok());
  CHECK(shelf.files() == 0);
  CHECK_FALSE(shelf.log->is_due(later));
  // And what comes then is found by who knew the old files, and by who did not.
  EndedRecord next = record_of(3, 30 * kHour);
  shelf.add(next, later);
  CHECK(shelf.find(3, later));
  shelf.reopen();
  CHECK(shelf.find(3, later));
}

TEST_CASE("ten thousand are kept, the newest, in a bounded number of files") {
  Shelf shelf;
  constexpr uint64_t kMany = 3 * kEndedRecordsMax;
  size_t files_most = 0;
  for (uint64_t id = 1; id <= kMany; id += 25) {
    std::vector<EndedRecord> some;
    for (uint64_t each = id; each < id + 25; ++each) some.push_back(record_of(each));
    if (id % 1000 == 1) shelf.reopen();
    REQUIRE(shelf.log->append(some, kNow).ok());
    files_most = std::max(files_most, shelf.files());
  }
  const std::vector<uint64_t> told = shelf.told();
  CHECK(told.size() <= kEndedRecordsMax);
  CHECK(told.size() >= kEndedRecordsMax - kEndedFileRecords);
  CHECK(told.front() == kMany);
  CHECK(told.back() == kMany - told.size() + 1);
  CHECK(files_most <= 18);
}

TEST_CASE("their bytes are bounded, outputs among them, and outputs go with their records") {
  Shelf shelf;
  constexpr size_t kOutput = 5 * 1024 * 1024;
  for (uint64_t id = 1; id <= 60; ++id) {
    EndedRecord record = record_of(id);
    record.output_bytes = kOutput;  // its file is as good as there
    const JobOutput output{"as if it were long", "", 0};
    REQUIRE(keep_output(shelf.disk, record.id, output, record.until_wall_ms).ok());
    shelf.add(record);
    const size_t kept = shelf.told().size();
    CHECK(kept * kOutput <= kEndedBytesMax);
    CHECK(shelf.disk.list("output")->size() == kept);
  }
  CHECK(shelf.told().size() >= 45);
  CHECK(shelf.log->output(MessageId{60}, kNow)->has_value());
}

TEST_CASE("one that is larger than all may be is kept alone") {
  Shelf shelf;
  shelf.add(record_of(1));
  EndedRecord huge = record_of(2);
  huge.output_bytes = 2 * kEndedBytesMax;
  shelf.add(huge);
  CHECK(shelf.told() == std::vector<uint64_t>{2});
  shelf.add(record_of(3));
  CHECK(shelf.told() == std::vector<uint64_t>{3});
}

TEST_CASE("many that were told for a moment do not stay for the few that are told longer") {
  Shelf shelf;
  for (uint64_t id = 1; id <= 500; ++id) {
    shelf.add(record_of(id, id % 100 == 0 ? 10 * kHour : 1000, std::string(200, 't')));
  }
  shelf.add(with_file(shelf, 1001, 100'000, 1000));
  shelf.add(with_file(shelf, 1002, 100'000, 10 * kHour));
  const uint64_t before = shelf.disk.used_bytes();
  const int64_t later = kNow + kHour;
  REQUIRE(shelf.log->sweep(later, EndedLog::Depth::records).ok());
  CHECK(shelf.told(later) == std::vector<uint64_t>{1002, 500, 400, 300, 200, 100});
  CHECK(shelf.disk.used_bytes() < 110'000);
  CHECK(before > 300'000);
  CHECK(shelf.disk.exists("output/1002"));
  CHECK_FALSE(shelf.disk.exists("output/1001"));
  shelf.reopen();
  CHECK(shelf.find(300, later)->tenant == std::string(200, 't'));
}

TEST_CASE("a record that is copied forward for its output takes the place of no later one") {
  for (const RecordType before : {RecordType::buried, RecordType::acked}) {
    Shelf shelf;
    EndedRecord first = record_of(1);
    first.verdict = before;  // acked: its worker was killed before the queue was told
    first.output = EndedOutput{"said", ""};
    shelf.add(first);
    for (uint64_t id = 2; id <= kEndedFileRecords; ++id) shelf.add(record_of(id, 1000));
    EndedRecord last = record_of(1);
    last.verdict = RecordType::cancelled;
    last.ended_wall_ms = kNow - 1;  // the clock was set back
    shelf.add(last);
    const auto check = [&] {
      REQUIRE(shelf.find(1, kNow + 2000));
      CHECK(same(*shelf.find(1, kNow + 2000), last));
      CHECK(shelf.told(kNow + 2000) == std::vector<uint64_t>{1});
      CHECK(shelf.log->output(MessageId{1}, kNow)->value().out == "said");
    };
    check();
    for (int sweep = 0; sweep < 2; ++sweep) {
      REQUIRE(shelf.log->sweep(kNow + 2000, EndedLog::Depth::records).ok());
      check();
      shelf.reopen();
      check();
    }
    CHECK_FALSE(shelf.disk.exists("ended/1"));
  }
}

TEST_CASE("what a killed worker left of an output goes, what is written now or kept stays") {
  Shelf shelf;
  shelf.add(with_file(shelf, 1, 100));
  shelf.disk.put("output/2.4711.new", "half");
  shelf.disk.put("output/3.new", "of an older fq");
  shelf.disk.put("output/4", "not whole");
  shelf.disk.put("output/mine.txt", "not ours");
  with_file(shelf, 5, 100, 10);  // whose record was never written
  REQUIRE(shelf.log->sweep(kNow + 20, EndedLog::Depth::records).ok());
  CHECK(shelf.disk.list("output")->size() == 6);
  REQUIRE(shelf.log->sweep(kNow + 20, EndedLog::Depth::strays).ok());
  CHECK(shelf.disk.exists("output/1"));
  CHECK(shelf.disk.exists("output/mine.txt"));
  CHECK(shelf.disk.list("output")->size() == 2);
}

TEST_CASE("a log that is cut anywhere tells what is whole, and takes what comes") {
  Shelf shelf;
  for (uint64_t id = 1; id <= 3; ++id) shelf.add(record_of(id, kHour, "tenant" + std::to_string(id)));
  const std::string whole = shelf.disk.content("ended/1");
  const size_t each = whole.size() / 3;
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    Shelf damaged;
    damaged.disk.put("ended/state", shelf.disk.content("ended/state"));
    damaged.disk.put("ended/1", whole.substr(0, cut));
    INFO("cut at " << cut);
    const size_t left = cut / each;
    CHECK(damaged.told().size() == left);
    damaged.add(record_of(9));
    CHECK(damaged.told().size() == left + 1);
    CHECK(damaged.find(9));
    for (uint64_t id = 1; id <= left; ++id) CHECK(damaged.find(id));
  }
}

TEST_CASE("a damaged byte costs its record and no other") {
  Shelf shelf;
  for (uint64_t id = 1; id <= 3; ++id) shelf.add(record_of(id));
  const std::string whole = shelf.disk.content("ended/1");
  const size_t each = whole.size() / 3;
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    Shelf damaged;
    damaged.disk.put("ended/state", shelf.disk.content("ended/state"));
    damaged.disk.put("ended/1", bytes);
    INFO("byte " << at);
    for (uint64_t id = 1; id <= 3; ++id) {
      const auto found = damaged.find(id);
      if ((id - 1) != at / each) CHECK((found && same(*found, record_of(id))));
      if (found) CHECK(same(*found, record_of(id)));
    }
  }
}

TEST_CASE("a state that is cut, wild or of another file is made anew") {
  Shelf shelf;
  for (uint64_t id = 1; id <= 3; ++id) shelf.add(record_of(id));
  const std::string whole = shelf.disk.content("ended/state");
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const bool cut : {true, false}) {
      std::string bytes = whole;
      if (cut) bytes.resize(at);
      if (!cut) bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
      Shelf damaged;
      damaged.disk.put("ended/1", shelf.disk.content("ended/1"));
      damaged.disk.put("ended/state", bytes);
      damaged.add(record_of(4));
      CHECK(damaged.told().size() == 4);
    }
  }
}

TEST_CASE("whatever call to the disk fails, what was told is told, and the next append works") {
  for (uint64_t call = 0; call < 60; ++call) {
    for (const bool sticky : {false, true}) {
      Shelf shelf;
      for (uint64_t id = 1; id <= 3; ++id) shelf.add(record_of(id));
      shelf.add(with_file(shelf, 4, 500, 10));
      shelf.reopen();
      INFO("call " << call << (sticky ? " and all after it" : ""));
      const int64_t later = kNow + 2 * 60'000;
      shelf.disk.fail_at(shelf.disk.call_count() + call, ENOSPC, sticky);
      const EndedRecord fifth = record_of(5), sixth = record_of(6);
      const bool told = shelf.log->append({&fifth, 1}, later).ok();
      shelf.disk.heal();
      REQUIRE(shelf.log->append({&sixth, 1}, later).ok());
      shelf.reopen();
      for (const uint64_t id : {1U, 2U, 3U, 6U}) CHECK(shelf.find(id, later));
      if (told) CHECK(shelf.find(5, later));
      CHECK_FALSE(shelf.find(4, later));
    }
  }
}

TEST_CASE("giving back that breaks off anywhere is begun again, and costs nothing that is told") {
  const int64_t later = kNow + kHour;
  for (uint64_t call = 0; call < 80; ++call) {
    for (const bool sticky : {false, true}) {
      Shelf shelf;
      for (uint64_t id = 1; id <= 40; ++id) shelf.add(record_of(id, 1000));
      shelf.add(with_file(shelf, 41, 20'000, 10 * kHour));
      shelf.add(with_file(shelf, 42, 20'000, 1000));
      INFO("call " << call << (sticky ? " and all after it" : ""));
      shelf.disk.fail_at(shelf.disk.call_count() + call, EIO, sticky);
      static_cast<void>(shelf.log->sweep(later, EndedLog::Depth::strays));
      shelf.disk.heal();
      shelf.reopen();
      CHECK(shelf.find(41, later));
      REQUIRE(shelf.log->sweep(later, EndedLog::Depth::strays).ok());
      CHECK(shelf.told(later) == std::vector<uint64_t>{41});
      CHECK(shelf.log->output(MessageId{41}, later)->has_value());
      CHECK(shelf.disk.list("output")->size() == 1);
      CHECK(shelf.disk.used_bytes() < 25'000);
      shelf.add(record_of(50, 20 * kHour), later);
      CHECK(shelf.told(later).size() == 2);
    }
  }
}

TEST_CASE("a file that is none of ours, however long, costs a bounded look") {
  Shelf shelf;
  shelf.add(record_of(1));
  shelf.disk.put("ended/2", std::string(100 * 1024 * 1024, '\0'));
  const size_t before = shelf.disk.call_count();
  CHECK(shelf.find(1));
  CHECK(shelf.disk.call_count() - before < 2000);
  shelf.disk.put("ended/1", shelf.disk.content("ended/1") + std::string(100 * 1024 * 1024, '\0'));
  shelf.reopen();
  shelf.add(record_of(3));
  CHECK(shelf.find(1));
  CHECK(shelf.find(3));
}

TEST_CASE("a full disk leaves no files behind, however often it is tried") {
  Shelf shelf;
  shelf.add(record_of(1));
  shelf.disk.set_capacity(shelf.disk.used_bytes() + 100);
  for (uint64_t id = 2; id < 50; ++id) {
    const EndedRecord record = record_of(id);
    CHECK_FALSE(shelf.log->append({&record, 1}, kNow).ok());
  }
  CHECK(shelf.files() <= 2);
  shelf.disk.set_capacity(UINT64_MAX);
  shelf.add(record_of(60));
  CHECK(shelf.find(1));
  CHECK(shelf.find(60));
}

}  // namespace fq::test
