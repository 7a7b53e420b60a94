// salvage_test - what had left the ring unsynced when its file failed: moved to another file as far as it can
// be read, and told where it cannot.

// System.
#include <unistd.h>

#include <atomic>
#include <thread>
// fq, below us.
#include "core/journal/codec.h"
// Tests.
#include "tests/asleep.h"
#include "tests/local/bad_pages.h"
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

constexpr size_t kLargeBytes = 60'000;

std::string large(char of) { return std::string(kLargeBytes, of); }

/// As after a write or a sync that failed: the next leader goes on in another file.
void fail_file(const SpoolFixture& q) {
  const uint32_t failed = 1;
  std::fstream file(q.path("segment"), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(offsetof(SegmentHeader, file_failed)));
  file.write(reinterpret_cast<const char*>(&failed), sizeof failed);
}

/// Messages 'a' to 'n', of which 'a' to 'e' are synced. 'i' to 'm' have left the ring for the second file.
void push_unsynced(SpoolFixture& q) {
  for (char each = 'a'; each <= 'd'; ++each) q.push(large(each), Durability::lazy);
  q.push(large('e'));
  for (char each = 'f'; each <= 'n'; ++each) q.push(large(each), Durability::lazy);
}

/// Where the payload lies in the second file.
uint64_t place_of(const SpoolFixture& q, char of) {
  std::ifstream file(q.path("journal/2.fqj"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const size_t at = whole.find(large(of));
  REQUIRE(at != std::string::npos);
  return at;
}

void hit_payload(const SpoolFixture& q, char of) {
  const uint64_t at = place_of(q, of);
  std::fstream file(q.path("journal/2.fqj"), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(at + 5));
  file.put('?');
}

/// From the first of this text on there is nothing in the file.
void forget_from(const std::string& path, const std::string& text) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const std::string whole{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const size_t at = whole.find(text);
  if (at == std::string::npos) return;
  file.seekp(static_cast<std::streamoff>(at));
  const std::string zeros(whole.size() - at, '\0');
  file.write(zeros.data(), static_cast<std::streamsize>(zeros.size()));
}

std::string serve_all(SpoolFixture& q, uint64_t& lost) {
  std::string text;
  for (;;) {
    const LeaseReply leased = q.lease_from(q.door(), {.want = 30});
    lost += leased.lost.size();
    if (leased.deliveries.empty()) return text;
    for (const Delivery& each : leased.deliveries) {
      text += text_of(each)[0];
      CHECK(q.ack(each) == SettleStatus::ok);
    }
  }
}

}  // namespace

TEST_CASE("of unsynced records the one that a failed file does not give back is lost and told") {
  SpoolFixture q;
  push_unsynced(q);
  SECTION("it is damaged") {
    hit_payload(q, 'j');
    fail_file(q);
    q.push("o");
  }
  SECTION("the disk does not give it back") {
    const BadPages bad(q.path("journal/2.fqj"), place_of(q, 'j') + 5'000, 1);
    fail_file(q);
    q.push("o");
  }
  const bool rebuilt = GENERATE(false, true);
  // What was pushed before and after it is there, whatever tells of it.
  if (rebuilt) {
    q.lose_segment();
    const std::vector<std::string> notices = q.door().take_notices();
    REQUIRE(!notices.empty());
    CHECK(notices[0].find("records are damaged at byte ") != std::string::npos);
  } else {
    const auto report = q.door().check();
    REQUIRE(report.ok());
    REQUIRE(!report->findings.lines.empty());
    CHECK(report->findings.lines[0].find(": records are damaged at byte ") != std::string::npos);
  }
  uint64_t lost = 0;
  CHECK(serve_all(q, lost) == "abcdefghiklmno");
  CHECK(lost == (rebuilt ? 0 : 1));
  const auto repaired = q.door().check({.repair = true});
  INFO((repaired.ok() ? std::string() : repaired.error().text));
  REQUIRE(repaired.ok());
  q.check_clean();
}

TEST_CASE("a failed file that gives nothing back costs what had left the ring for it, and no more") {
  SpoolFixture q;
  push_unsynced(q);
  q.close();
  std::filesystem::remove(q.path("journal/2.fqj"));
  q.reopen();
  fail_file(q);
  q.push("o");
  uint64_t lost = 0;
  CHECK(serve_all(q, lost) == "abcdefghno");
  CHECK(lost == 5);
  REQUIRE(q.door().check({.repair = true}).ok());
  q.check_clean();
  q.lose_segment();
  q.check_clean();
}

TEST_CASE("what is accepted while all that is not synced proves to be lost is no torn end") {
  SpoolFixture q;
  push_unsynced(q);
  // All of it is written, and then leaves the ring: for a message that never came.
  q.reopen();
  q.write_header(offsetof(SegmentHeader, ring_start), q.read_header<uint64_t>(offsetof(SegmentHeader, tail)));
  fail_file(q);
  std::unique_ptr<Queue> other = q.open();
  {
    const NewMessage next{.payload = as_bytes(std::string_view("o"))};
    const BeforeRead meanwhile(q.path("journal/2.fqj"), 0, [&] {
      forget_from(q.path("journal/2.fqj"), large('i'));
      REQUIRE(other->push({&next, 1}, {.durability = Durability::lazy}).ok());
    });
    const auto told = q.door().check();
    REQUIRE(!told.ok());
    CHECK(told.error().text ==
          "queue 'default': records that were not synced yet are lost; the outcome is unknown");
  }
  REQUIRE(q.door().check().ok());
  REQUIRE(q.read_header<uint64_t>(offsetof(SegmentHeader, durable_end)) ==
          q.read_header<uint64_t>(offsetof(SegmentHeader, tail)));
  other.reset();
  q.lose_segment();
  uint64_t lost = 0;
  CHECK(serve_all(q, lost) == "abcdefgho");
  REQUIRE(q.door().check({.repair = true}).ok());
  q.check_clean();
}

TEST_CASE("who waits for what fell into a hole is told, however late the look at it is") {
  SpoolFixture q;
  q.push("a");
  // As for a process that was held up, while another one left the failed file, between its record and the look.
  q.write_header(offsetof(SegmentHeader, lost_end), q.read_header<uint64_t>(offsetof(SegmentHeader, tail)));
  const auto told = q.door().check();
  REQUIRE(!told.ok());
  CHECK(told.error().text == "queue 'default': records that were not synced yet are lost; the outcome is unknown");
}

TEST_CASE("what is carried forward goes on from memory where its file fails between the look at it and the read") {
  SpoolFixture q;
  q.sync_lazily();
  const auto set = [&](const std::string& name) {
    ScheduleDefinition schedule;
    schedule.name = name;
    schedule.spec = "every 1h";
    const std::string payload = name + "-payload";
    schedule.message.payload = as_bytes(payload);
    REQUIRE(q.door().schedules()->set(schedule).ok());
  };
  q.push("job", Durability::lazy, "job");
  const Receipt job = q.lease_from(q.door(), {.hold = Hold::duration, .hold_ms = 3'600'000}).deliveries.at(0).receipt;
  const auto keep = [&](const std::string& name) {
    REQUIRE(q.door().steps()->keep(job, name, as_bytes(name + "-output")).value() == SettleStatus::ok);
  };
  const bool steps = GENERATE(false, true);
  // One in the first file, which is read there, apart from the message; the others behind what is on disk.
  q.push(large('c'), Durability::lazy);
  if (steps) {
    keep("first");
  } else {
    set("first");
  }
  for (int i = 0; i < 99; ++i) q.push(large('c'), Durability::lazy);
  q.push("c");
  std::vector<Settle> acks;
  for (const Delivery& each : q.lease_from(q.door(), {.want = 101}).deliveries)
    acks.push_back({.receipt = each.receipt});
  for (const char* name : {"second", "third"}) {
    if (steps) {
      keep(name);
    } else {
      set(name);
    }
  }
  const std::string failed = q.path("journal/" + std::to_string(q.journal_files().rbegin()->first - 1) + ".fqj");
  const std::unique_ptr<Queue> other = q.open();
  bool has_failed = false;
  {
    const BeforeRead meanwhile(q.path("journal/1.fqj"), kLargeBytes / 2, [&] {
      has_failed = true;
      fail_file(q);
      q.push("now");
      // Of what was not synced nothing had reached it.
      forget_from(failed, steps ? "second-output" : "second-payload");
    });
    REQUIRE(other->settle(acks).ok());
    REQUIRE(other->maintain(0).ok());
  }
  REQUIRE(has_failed);
  CHECK(other->take_notices().empty());
  const auto there = q.door().schedules()->list({}, 20).value().schedules;
  CHECK(there.size() == (steps ? 0 : 3));
  for (const ScheduleInfo& each : there) CHECK(each.fault == "");
  CHECK(q.door().steps()->list(MessageId{1}).value()->size() == (steps ? 3 : 0));
  q.check_clean();
}

TEST_CASE("a schedule that is carried while a failed file is left is not taken for damaged", "[threads]") {
  SpoolFixture q;
  q.sync_lazily();
  const auto set = [&](int n) {
    ScheduleDefinition schedule;
    schedule.name = "s" + std::to_string(n);
    schedule.spec = "every 1h";
    REQUIRE(q.door().schedules()->set(schedule).ok());
  };
  // Before files whose messages end soon: what is told in the first of them has to be carried forward.
  set(0);
  for (int i = 0; i < 100; ++i) q.push(large('c'), Durability::lazy);
  q.push("c");
  std::vector<Settle> acks;
  for (const Delivery& each : q.lease_from(q.door(), {.want = 101}).deliveries)
    acks.push_back({.receipt = each.receipt});
  // The schedules behind messages that leave the ring unsynced do not.
  for (int i = 0; i < 12; ++i) q.push(large('d'), Durability::lazy);
  for (int i = 1; i <= 5; ++i) set(i);
  const int current = q.journal_files().rbegin()->first - 1;
  fail_file(q);
  const std::unique_ptr<Queue> other = q.open();
  std::thread carrier;
  {
    const BeforeRead meanwhile(q.path("journal/" + std::to_string(current) + ".fqj"), 4096, [&] {
      std::atomic<pid_t> id = 0;
      carrier = std::thread([&] {
        id = ::gettid();
        static_cast<void>(other->settle(acks));
      });
      while (id == 0) ::usleep(100);     // until the thread has told its id
      falls_asleep(task_of_thread(id));  // it has carried, and waits for us; or it has ended
    });
    q.push("now");
  }
  REQUIRE(carrier.joinable());
  carrier.join();
  CHECK(other->take_notices().empty());
  CHECK(q.door().schedules()->list({}, 20).value().schedules.size() == 6);
  q.check_clean();
}

TEST_CASE("what was seen in memory is not read from a file that failed, and was another one before") {
  SpoolFixture q;
  for (char each = 'a'; each <= 'h'; ++each) q.push(large(each));
  // The second is a file that was recycled: where its first message comes another one lay.
  {
    std::ifstream first(q.path("journal/1.fqj"), std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(first), std::istreambuf_iterator<char>()};
    const size_t payload = whole.find(large('a'));
    REQUIRE(payload != std::string::npos);
    const std::string magic(reinterpret_cast<const char*>(&kRecordMagic), sizeof kRecordMagic);
    const size_t record = whole.rfind(magic, payload);
    std::fstream second(q.path("journal/2.fqj"), std::ios::binary | std::ios::in | std::ios::out);
    second.seekp(kFirstRecordOffset);
    second.write(whole.data() + record, static_cast<std::streamsize>(payload + kLargeBytes + 64 - record));
  }
  q.push(large('i'), Durability::lazy);
  const std::unique_ptr<Queue> other = q.open();
  LeaseReply leased;
  {
    const BeforeRead meanwhile(q.path("journal/1.fqj"), 0, [&] {
      fail_file(q);
      q.push("o");
    });
    leased = q.lease_from(*other, {.want = 9, .hold = Hold::duration});
  }
  REQUIRE(std::filesystem::exists(q.path("journal/3.fqj")));
  REQUIRE(leased.deliveries.size() == 9);
  for (size_t i = 0; i < 9; ++i) CHECK(text_of(leased.deliveries[i])[0] == static_cast<char>('a' + i));
}

TEST_CASE("events are told while a failed file is left for another") {
  SpoolFixture q;
  push_unsynced(q);
  fail_file(q);
  const std::unique_ptr<Queue> other = q.open();
  EventPage page;
  {
    const BeforeRead meanwhile(q.path("journal/2.fqj"), 0, [&] { REQUIRE(other->events({}, page).ok()); });
    q.push("o");
  }
  CHECK(page.notices.empty());
  CHECK(page.events.size() == 15);
}

TEST_CASE("what was accepted lazily is there once a file takes it, however many have failed") {
  SpoolFixture q;
  push_unsynced(q);
  fail_file(q);
  q.write_header(offsetof(SegmentHeader, sync_failed), uint32_t{1});
  q.reopen();
  CHECK(q.door().take_notices().empty());
  uint64_t lost = 0;
  CHECK(serve_all(q, lost) == "abcdefghijklmn");
  CHECK(lost == 0);
  q.check_clean();
}

TEST_CASE("what only a segment held that is damaged, and whose file has failed, is told to be lost") {
  SpoolFixture q;
  q.push("a");
  q.push("b", Durability::lazy);
  q.poison();
  SECTION("the file has failed") {
    fail_file(q);
    q.reopen();
    CHECK(q.door().take_notices() ==
          std::vector<std::string>{"queue 'default': 104 bytes of its journal were in memory only and are lost, with "
                                   "what was accepted and not synced"});
  }
  SECTION("it has not") {
    q.reopen();
    CHECK(q.door().take_notices().empty());
  }
}

TEST_CASE("what a sync that was cut short has lost is not called durable where its segment ends") {
  SpoolFixture q;
  push_unsynced(q);
  q.close();  // all of it is written
  q.write_header(offsetof(SegmentHeader, sync_under_way), uint32_t{1});
  q.poison();
  const bool lost = GENERATE(false, true);
  // Its error was told to whoever died in it: what is read is what the disk has.
  if (lost) forget_from(q.path("journal/2.fqj"), large('j'));
  q.reopen();
  const std::vector<std::string> notices = q.door().take_notices();
  CHECK(notices.size() == (lost ? 1 : 0));
  if (lost) CHECK(notices.at(0).find(" bytes of its journal were in memory only and are lost") != std::string::npos);
  uint64_t unread = 0;
  CHECK(serve_all(q, unread) == (lost ? "abcdefghi" : "abcdefghijklmn"));
  CHECK(unread == 0);
  q.check_clean();
}

TEST_CASE("what a sync that was cut short has lost is a hole, and no more, where no file took the rest before") {
  SpoolFixture q;
  push_unsynced(q);
  q.close();
  q.write_header(offsetof(SegmentHeader, sync_under_way), uint32_t{1});
  q.write_header(offsetof(SegmentHeader, sync_failed), uint32_t{1});
  forget_from(q.path("journal/2.fqj"), large('j'));
  q.reopen();
  const std::vector<std::string> notices = q.door().take_notices();
  REQUIRE(!notices.empty());
  CHECK(notices.at(0).find(": records are damaged at byte ") != std::string::npos);
  uint64_t unread = 0;
  CHECK(serve_all(q, unread) == "abcdefghin");
}

}  // namespace fq::test
