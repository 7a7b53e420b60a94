// unreadable_test - pages of the journal and of payloads beside it that the disk does not give back (EIO).

// System.
#include <cerrno>
// Tests.
#include "tests/local/bad_pages.h"
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

constexpr uint64_t kBytes = 20'000;  // of a payload: some pages

std::string payload(char of) { return std::string(kBytes, of); }

/// Some bytes in the middle of the payload that is all `of`, where it lies in the first file.
uint64_t middle_of(SpoolFixture& q, char of) {
  std::ifstream file(q.path("journal/1.fqj"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const size_t at = whole.find(payload(of));
  REQUIRE(at != std::string::npos);
  return at + kBytes / 2;
}

std::vector<std::string> findings(Queue& queue) {
  auto report = queue.check();
  INFO((report.ok() ? std::string() : report.error().text));
  REQUIRE(report.ok());
  return report->findings.lines;
}

}  // namespace

TEST_CASE("a message that the disk does not give back is buried and told, and the others are served") {
  SpoolFixture q;
  for (const char each : {'a', 'b', 'c'}) q.push(payload(each));
  q.reopen();
  const BadPages bad(q.path("journal/1.fqj"), middle_of(q, 'b'), 1);
  const LeaseReply leased = q.lease_from(q.door(), {.want = 3, .hold = Hold::duration});
  CHECK(leased.lost.size() == 1);
  REQUIRE(leased.deliveries.size() == 2);
  CHECK(text_of(leased.deliveries[0]) == payload('a'));
  CHECK(text_of(leased.deliveries[1]) == payload('c'));
  CHECK(q.get(2).state == State::dead);
  CHECK(q.get(2).last_error->reason.find("its record is damaged: journal/1.fqj at byte ") == 0);
  REQUIRE(q.door().take_notices().size() == 1);
  const std::vector<std::string> found = findings(q.door());
  REQUIRE(!found.empty());
  CHECK(found[0].find("damage: journal/1.fqj: records cannot be read at byte ") == 0);
  auto repaired = q.door().check({.repair = true});
  INFO((repaired.ok() ? std::string() : repaired.error().text));
  REQUIRE(repaired.ok());
  CHECK(repaired->messages_cancelled == 1);
  CHECK(repaired->findings.lines.empty());
  CHECK_FALSE(q.journal_files().contains(1));
  CHECK(q.get(3).state == State::leased);
  q.lose_segment();
  CHECK(q.get(3).payload == payload('c'));
}

TEST_CASE("a queue whose journal the disk does not give back says where, and is opened by a repair") {
  SpoolFixture q;
  for (const char each : {'a', 'b', 'c'}) q.push(payload(each));
  q.close();
  const BadPages bad(q.path("journal/1.fqj"), middle_of(q, 'b'), 1);
  std::filesystem::remove(q.path("segment"));
  OpenOptions options;
  const Result<std::unique_ptr<Queue>> refused = q.try_open(options);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::io);
  CHECK(refused.error().text.find("/journal/1.fqj: read at byte ") != std::string::npos);
  CHECK(refused.error().text.ends_with(": Input/output error; fq check --repair goes on without it"));
  options.repair = true;
  const Result<std::unique_ptr<Queue>> opened = q.try_open(options);
  INFO((opened.ok() ? std::string() : opened.error().text));
  REQUIRE(opened.ok());
  const std::vector<std::string> notices = (*opened)->take_notices();
  REQUIRE(!notices.empty());
  CHECK(notices[0].find("journal/1.fqj: records cannot be read at byte ") != std::string::npos);
  REQUIRE((*opened)->check({.repair = true}).ok());
  CHECK(findings(**opened).empty());
  // The file is gone, and with it what nobody could read.
  q.reopen();
  const std::string served = q.drain();
  CHECK(served == payload('a') + " " + payload('c'));
}

TEST_CASE("a payload beside the journal that the disk does not give back costs its message") {
  SpoolFixture q;
  q.push(std::string(100'000, 'l'));
  q.push("next");
  const std::string blob = std::filesystem::directory_iterator(q.path("blobs"))->path().filename();
  const BadPages bad(q.path("blobs/" + blob), 50'000, 1);
  const LeaseReply leased = q.lease_from(q.door(), {.want = 2, .hold = Hold::duration});
  CHECK(leased.lost.size() == 1);
  REQUIRE(leased.deliveries.size() == 1);
  CHECK(text_of(leased.deliveries[0]) == "next");
  CHECK(q.get(1).state == State::dead);
  CHECK(q.get(1).last_error->reason ==
        "its payload is damaged: blobs/" + blob + ": read at byte 49152: Input/output error");
  CHECK(findings(q.door()).size() == 1);
  auto repaired = q.door().check({.repair = true});
  REQUIRE(repaired.ok());
  CHECK(repaired->messages_cancelled == 1);
  CHECK(std::filesystem::exists(q.path("damaged/" + blob + ".blob")));
  CHECK(findings(q.door()).empty());
}

TEST_CASE("the log passes what the disk does not give back, and tells of it") {
  SpoolFixture q;
  for (const char each : {'a', 'b', 'c'}) q.push(payload(each));
  q.reopen();
  const BadPages bad(q.path("journal/1.fqj"), middle_of(q, 'b'), 1);
  std::vector<uint64_t> ids;
  std::vector<std::string> notices;
  EventRequest request;
  EventPage page;
  do {
    auto read = q.door().events(request, page);
    INFO((read.ok() ? std::string() : read.error().text));
    REQUIRE(read.ok());
    for (const Event& event : page.events) ids.push_back(number(event.id));
    notices.insert(notices.end(), page.notices.begin(), page.notices.end());
    request.from = page.next;
  } while (!page.at_end);
  CHECK(ids == std::vector<uint64_t>{1, 3});
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].ends_with(" cannot be read; see fq check"));
}

TEST_CASE("a backup of what the disk does not give back is none, and names a way to one") {
  SpoolFixture q;
  for (const char each : {'a', 'b', 'c'}) q.push(payload(each));
  q.push(std::string(100'000, 'l'));
  const std::string blob = std::filesystem::directory_iterator(q.path("blobs"))->path().filename();
  const std::string copy = q.path("../../../copy");
  const BackupRequest request{copy, std::nullopt, nullptr};
  for (const std::string& name : {std::string("journal/1.fqj"), "blobs/" + blob}) {
    INFO(name);
    const BadPages bad(q.path(name), name[0] == 'j' ? middle_of(q, 'b') : 50'000, 1);
    const auto made = back_up(q.path("../.."), request);
    REQUIRE(!made.ok());
    CHECK(made.error().kind == ErrorKind::io);
    CHECK(made.error().text.find("/" + name + ": read at byte ") != std::string::npos);
    CHECK(made.error().text.ends_with("; fq check --repair goes on without it"));
    CHECK_FALSE(std::filesystem::exists(copy));
    REQUIRE(q.door().check({.repair = true}).ok());
  }
  CHECK(back_up(q.path("../.."), request).ok());
}

}  // namespace fq::test
