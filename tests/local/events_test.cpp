// events_test - the log of the local engine where it is hard: files that are given back, copies forward, a
// ring that moves on, damage, and a segment that is made anew.
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/journal/codec.h"
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

struct Log {
  std::string text;  // "pushed:1:acme "...
  std::vector<std::string> notices;
  Cursor next;
};

Log read_log(Queue& queue, EventRequest request = {}) {
  Log log;
  EventPage page;
  do {
    REQUIRE(queue.events(request, page).ok());
    for (const Event& event : page.events) {
      log.text.append(event.event).append(":").append(std::to_string(number(event.id))).append(":");
      log.text.append(event.tenant).append(" ");
    }
    for (const std::string& notice : page.notices) log.notices.push_back(notice);
    request.from = page.next;
  } while (!page.at_end);
  log.next = page.next;
  return log;
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

void flip(const std::string& path, size_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  const char byte = static_cast<char>(file.get() ^ 4);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(byte);
}

size_t find_in(const std::string& path, const std::string& text) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  return bytes.find(text);
}

}  // namespace

TEST_CASE("a message that was copied forward is no event twice, and whose it is stays known") {
  SpoolFixture q;
  const uint64_t live = q.push("keep me", Durability::always, "acme");
  q.outlive_first_file();
  const Log log = read_log(q.door());
  CHECK(count(log.text, "moved") == 0);
  CHECK(count(log.text, ":" + std::to_string(live) + ":") == 0);  // its push was given back
  CHECK(log.notices.empty());
  const auto leased = q.lease_from(q.door(), {.hold = Hold::duration, .tenant = "acme"});
  REQUIRE(q.ack(leased.deliveries.at(0)) == SettleStatus::ok);
  const std::string its = ":" + std::to_string(live) + ":acme ";
  CHECK(read_log(q.door(), {.from = log.next}).text == "leased" + its + "acked" + its);
  // Another reader has only the copy to know it from.
  const auto other = q.open();
  CHECK(read_log(*other, {.tenant = "acme"}).text == "leased" + its + "acked" + its);
}

TEST_CASE("a reader whose next file was given back says so and goes on at the oldest") {
  SpoolFixture q;
  q.push("first");
  EventPage page;
  REQUIRE(q.door().events({.n = 1}, page).ok());
  const Cursor behind_first = page.next;
  const uint64_t live = q.push("second", Durability::always, "acme");
  q.drain();
  q.outlive_first_file();
  const Log log = read_log(q.door(), {.from = behind_first});
  REQUIRE(log.notices.size() == 1);
  CHECK(log.notices[0].find("was freed") != std::string::npos);
  CHECK(count(log.text, ":" + std::to_string(live) + ":") == 0);
  CHECK(log.text == read_log(*q.open()).text);
}

TEST_CASE("whose an event is that lies before the copy of its message is asked of the schedule") {
  SpoolFixture q;
  q.push("x", Durability::always, "acme");
  // Nearly as much as makes a journal worth compacting, so that the lease lies in a late file.
  const std::string payload(20'000, 'p');
  for (int i = 0; i < 150; ++i) {
    q.push(payload, Durability::lazy, "churn");
    const LeaseReply churn = q.lease_from(q.door(), {.tenant = "churn"});
    REQUIRE(q.ack(churn.deliveries.at(0)) == SettleStatus::ok);
  }
  const LeaseReply leased = q.lease_from(q.door(), {.hold = Hold::duration, .tenant = "acme"});
  REQUIRE(q.settle(q.door(), {.receipt = leased.deliveries.at(0).receipt, .verdict = Verdict::release}) ==
          SettleStatus::ok);
  q.outlive_first_file();
  const Log log = read_log(*q.open(), {.id = MessageId{1}});
  CHECK(log.text == "leased:1:acme released:1:acme ");
}

TEST_CASE("what was read to its end is told alike from the files and from the ring") {
  SpoolFixture q;
  for (int i = 0; i < 300; ++i)
    q.push(std::string(3'000, 'x'), Durability::lazy, "t" + std::to_string(i % 7));
  const std::string fresh = read_log(q.door()).text;
  CHECK(count(fresh, "pushed") == 300);
  q.lose_segment();
  CHECK(read_log(q.door()).text == fresh);
}

TEST_CASE("who asks for the last ones is told these as if all had been read, each with its tenant") {
  SpoolFixture q;
  // Old messages whose ends lie files behind their pushes, among others that come and go: nearly as much as
  // makes a journal worth compacting.
  for (int i = 0; i < 40; ++i) q.push("old", Durability::lazy, "old-" + std::to_string(i % 5));
  for (int i = 0; i < 80; ++i) {
    q.push(std::string(20'000, 'p'), Durability::lazy, "churn");
    const LeaseReply churn = q.lease_from(q.door(), {.tenant = "churn"});
    REQUIRE(q.ack(churn.deliveries.at(0)) == SettleStatus::ok);
    if (i % 5 != 0) continue;
    const LeaseReply old = q.lease_from(q.door(), {.tenant = "old-" + std::to_string(i / 5 % 5)});
    REQUIRE(q.ack(old.deliveries.at(0)) == SettleStatus::ok);
  }
  REQUIRE(std::filesystem::exists(q.path("journal/3.fqj")));
  for (const std::string tenant : {"", "churn", "old-3", "nobody"}) {
    const std::string all = read_log(*q.open(), {.tenant = tenant}).text;
    const size_t events = count(all, " ");
    for (const uint64_t last : {uint64_t{1}, uint64_t{2}, uint64_t{90}, uint64_t{500}, UINT64_MAX}) {
      const Log log = read_log(*q.open(), {.tenant = tenant, .last = last});
      INFO(tenant << " " << last);
      CHECK(log.notices.empty());
      CHECK(all.ends_with(log.text));
      CHECK(count(log.text, " ") == std::min<uint64_t>(last, events));
    }
  }
  // And it is not all of them that are read: the first files could be missing.
  std::filesystem::rename(q.path("journal/1.fqj"), q.path("journal/1.away"));
  const Log log = read_log(*q.open(), {.last = 3});
  CHECK(log.notices.empty());
  CHECK(log.text.ends_with("pushed:120:churn leased:120:churn acked:120:churn "));
  std::filesystem::rename(q.path("journal/1.away"), q.path("journal/1.fqj"));
}

TEST_CASE("damage costs the log what was hit, says where, and the rest is told") {
  SpoolFixture q;
  for (int i = 1; i <= 9; ++i) q.push("payload-number-" + std::to_string(i));
  const std::string file = q.path("journal/1.fqj");
  flip(file, find_in(file, "payload-number-5"));
  const Log log = read_log(*q.open());
  CHECK(count(log.text, "pushed") == 8);
  CHECK(count(log.text, "pushed:5:") == 0);
  REQUIRE(log.notices.size() == 1);
  CHECK(log.notices[0].find("journal/1.fqj") != std::string::npos);
  CHECK(read_log(*q.open(), {.last = 2}).text == "pushed:8:default pushed:9:default ");
  q.lose_segment();
  CHECK(read_log(q.door()).text == log.text);
}

TEST_CASE("damage that leaves no event is told to who asks for the last ones, too") {
  SpoolFixture q;
  q.push("the-only-payload");
  const std::string file = q.path("journal/1.fqj");
  flip(file, find_in(file, "the-only-payload"));
  const Log log = read_log(*q.open(), {.last = 2});
  CHECK(log.text.empty());
  CHECK(log.notices.size() == 1);
}

TEST_CASE("a reader goes on where it was when the segment was made anew") {
  SpoolFixture q;
  q.push("a");
  const Log before = read_log(q.door());
  q.lose_segment();
  q.push("b", Durability::always, "late");
  const Log after = read_log(q.door(), {.from = before.next});
  CHECK(count(after.text, "pushed") == 1);
  CHECK(count(after.text, ":late ") == 1);
  CHECK(after.notices.empty());
}

TEST_CASE("cursors of another engine are refused") {
  SpoolFixture q;
  EventPage page;
  for (const char* bad : {"x", "1", "1.", ".1", "1.x", "-1.0", "1.0.0", "99999999999999999999.0"}) {
    const Result<void> read = q.door().events({.from = {bad}}, page);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().kind == ErrorKind::usage);
  }
}

TEST_CASE("the last ones are told while the files before them are given back", "[threads]") {
  SpoolFixture q;
  q.push("first");
  std::atomic<bool> done = false;
  std::thread others([&done, queue = q.open()]() mutable {
    const std::string large(2'000, 'x');
    std::vector<NewMessage> batch;
    static const std::string tenants[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 100; ++i) batch.push_back({.tenant = tenants[i % 4], .payload = as_bytes(large)});
    while (!done) {
      queue->push(batch, {.durability = Durability::lazy}).value();
      const Result<LeaseReply> taken = queue->lease({.want = 90});
      std::vector<Settle> acks;
      for (const Delivery& each : taken->deliveries)
        acks.push_back({.receipt = each.receipt, .verdict = Verdict::ack});
      queue->settle(acks, nullptr).value();
      queue->compact().value();
    }
    queue.reset();  // what it holds it holds by this thread
  });
  std::string wrong;
  for (int i = 0; i < 60; ++i) {
    // Its first page alone: who follows a flood that is faster than it comes to no end.
    EventPage page;
    const Result<void> read = q.open()->events({.last = 50}, page);
    if (!read.ok() && read.error().kind != ErrorKind::later) wrong = read.error().text;
  }
  done = true;
  others.join();
  CHECK(wrong == "");
}

}  // namespace fq::test
