// lost_test - messages whose record in the journal cannot be read: they pin no file, and stay told as lost.

// fq, below us.
#include "core/base/step_count.h"
#include "core/journal/codec.h"
// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

std::string whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Changes the first byte of the payload where it lies in the journal. Whoever has read it before must not
/// know it any more. The byte is another one whatever it was: the names of blobs begin with any.
void hit(SpoolFixture& q, const std::string& payload, const std::string& name = "journal/1.fqj") {
  q.reopen();
  const std::string path = q.path(name);
  const size_t at = whole_file(path).find(payload);
  REQUIRE(at != std::string::npos);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(payload.front() ^ 1));
}

std::vector<std::string> findings(SpoolFixture& q) {
  auto report = q.door().check();
  REQUIRE(report.ok());
  return report->findings.lines;
}

void bury(SpoolFixture& q) {
  CHECK(q.settle(q.door(), {.receipt = q.lease().receipt, .verdict = Verdict::bury, .reason = "no use"}) ==
        SettleStatus::ok);
}

}  // namespace

TEST_CASE("a dead letter whose record is damaged pins no journal file, and is told as lost ever after") {
  SpoolFixture q;
  const NewMessage keyed{.tenant = "acme/mail",
                         .payload = as_bytes(std::string_view("to-be-hit")),
                         .priority = 7,
                         .attempts_max = 9,
                         .unique = "k"};
  REQUIRE(q.door().push({&keyed, 1}).ok());
  bury(q);
  const uint64_t sound = q.push("sound");
  bury(q);
  hit(q, "to-be-hit");
  q.outlive_first_file();
  for (const bool rebuilt : {false, true}) {
    INFO((rebuilt ? "rebuilt" : "alive"));
    if (rebuilt) q.lose_segment();
    const MessageInfo lost = q.get(1);
    CHECK(lost.state == State::dead);
    CHECK(lost.lost == "its payload is lost: damaged/: holds what is left of its record");
    CHECK(lost.tenant == "acme/mail");
    CHECK(lost.attempts_max == 9);
    REQUIRE(lost.last_error);
    CHECK(lost.last_error->reason == (rebuilt ? lost.lost : "no use"));
    CHECK_FALSE(lost.payload);
    CHECK(q.get(sound).payload == "sound");
    const std::vector<std::string> told = {
        "damage: message 1 of queue 'default': its payload damaged/: holds what is left of its record"};
    CHECK(findings(q) == told);
    // A kick has it served, and that buries it again. Its key it does not get back.
    const MessageId id{1};
    CHECK(q.door().mutate({&id, 1}, Action::kick)->changed == 1);
    CHECK(findings(q) == told);
    const LeaseReply none = q.lease_from(q.door(), {.tenant = "acme"});
    CHECK(none.deliveries.empty());
    CHECK(none.lost.size() == 1);
    CHECK(q.get(1).state == State::dead);
  }
  // What could be kept of its bytes is.
  CHECK(whole_file(q.path("damaged/1-0.bin")).find("uo-be-hit") != std::string::npos);
  // A repair cancels it.
  auto repaired = q.door().check({.repair = true});
  REQUIRE(repaired.ok());
  CHECK(repaired->messages_cancelled == 1);
  q.check_clean();
}

TEST_CASE("one that is not dead is buried first, and says so; one that is leased is left to its holder") {
  SpoolFixture q;
  const NewMessage later{.tenant = "acme",
                         .payload = as_bytes(std::string_view("to-be-hit")),
                         .delay_ms = 3'600'000'000,
                         .unique = "k"};
  REQUIRE(q.door().push({&later, 1}).ok());
  const NewMessage waits{
      .tenant = "acme", .payload = as_bytes(std::string_view("waits")), .after = {MessageId{1}}};
  REQUIRE(q.door().push({&waits, 1}).ok());
  hit(q, "to-be-hit");
  q.outlive_first_file();
  CHECK(q.get(1).state == State::dead);
  CHECK(q.get(1).last_error->reason.find("its record is damaged: journal/1.fqj") == 0);
  CHECK(q.get(2).state == State::dead);
  CHECK(q.get(2).payload == "waits");
  CHECK(findings(q).size() == 1);
  q.lose_segment();
  CHECK(findings(q).size() == 1);
  // Its key is free.
  const NewMessage again{.tenant = "acme", .payload = as_bytes(std::string_view("again")), .unique = "k"};
  CHECK(q.door().push({&again, 1})->items.at(0).status == PushStatus::accepted);
}

TEST_CASE("a lost payload beside the journal is not taken for nobody's") {
  SpoolFixture q;
  const uint64_t long_one = q.push(std::string(100'000, 'l'));
  bury(q);
  q.reopen();
  // Its name in the journal.
  const std::string name = std::filesystem::directory_iterator(q.path("blobs"))->path().filename();
  std::string raw;
  for (size_t i = 0; i < name.size(); i += 2)
    raw += static_cast<char>(std::stoi(name.substr(i, 2), nullptr, 16));
  hit(q, raw);
  q.outlive_first_file();
  CHECK_FALSE(q.get(long_one).lost.empty());
  REQUIRE(q.door().compact().ok());
  q.lose_segment();
  REQUIRE(q.door().compact().ok());
  CHECK(std::filesystem::exists(q.path("blobs/" + name)));
  // A repair keeps it.
  REQUIRE(q.door().check({.repair = true}).ok());
  CHECK(std::filesystem::exists(q.path("damaged/" + name + ".blob")));
  q.check_clean();
}

namespace {

/// One that was replaced, whose new record is in the second file and whose first in the first, leased for an
/// hour and damaged. Everything else has ended, and the journal is larger than it is to be.
uint64_t hold_what_is_lost(SpoolFixture& q) {
  NewMessage keyed{.tenant = "acme", .payload = as_bytes(std::string_view("the-first")), .unique = "k"};
  const uint64_t id = number(q.door().push({&keyed, 1})->items.at(0).id);
  const std::string filling(60'000, 'f');
  while (q.journal_files().size() < 3) q.push(filling, Durability::always, "filling");
  keyed.payload = as_bytes(std::string_view("to-be-hit"));
  keyed.unique_mode = UniqueMode::replace;
  REQUIRE(q.door().push({&keyed, 1})->items.at(0).status == PushStatus::replaced);
  REQUIRE(q.lease_from(q.door(), {.hold = Hold::duration, .hold_ms = 3'600'000, .tenant = "acme"})
              .deliveries.size() == 1);
  hit(q, "to-be-hit", "journal/2.fqj");
  std::vector<MessageId> others;
  for (uint64_t n = id + 1; n < id + 20; ++n) others.push_back(MessageId{n});
  for (int i = 0; i < 60; ++i) others.push_back(MessageId{q.push(filling, Durability::lazy, "filling")});
  REQUIRE(q.door().mutate(others, Action::cancel)->changed >= 60);
  REQUIRE(q.stats().ready == 0);
  return id;
}

}  // namespace

TEST_CASE("a damaged message that is held keeps its file, and no ack tries a thousand times to free it") {
  SpoolFixture q;
  const uint64_t id = hold_what_is_lost(q);
  for (int i = 0; i < 3; ++i) {
    q.push("next", Durability::lazy, "filling");
    const LeaseReply leased = q.lease_from(q.door(), {.tenant = "filling"});
    const uint64_t before = StepCount::steps;
    CHECK(q.ack(leased.deliveries.at(0)) == SettleStatus::ok);
    REQUIRE(q.door().maintain(0).ok());
    REQUIRE(StepCount::steps - before < 1'000);
  }
  CHECK(q.journal_files().contains(1));
  SECTION("compaction says which it is") {
    const Result<CompactReport> compacted = q.door().compact();
    REQUIRE(compacted.ok());
    CHECK(compacted->messages_unreadable == 1);
    const std::vector<std::string> told = q.door().take_notices();
    REQUIRE(told.size() == 1);
    CHECK(
        told[0].ends_with(": is leased and its record cannot be read; until it ends it keeps journal files"));
  }
  SECTION("a repair cancels it") {
    auto repaired = q.door().check({.repair = true});
    REQUIRE(repaired.ok());
    CHECK(repaired->messages_cancelled == 1);
    CHECK(q.get(id).state == State::cancelled);
    CHECK_FALSE(q.journal_files().contains(1));
  }
  SECTION("with its end the file goes") {
    q.clock.advance(3'600'001);
    CHECK(q.lease_from(q.door(), {.tenant = "acme"}).lost.size() == 1);
    CHECK(q.get(id).state == State::dead);
    q.outlive_first_file();
  }
}

TEST_CASE("a journal file that lost its opening record keeps what one flush has put there") {
  SpoolFixture q;
  for (int i = 0; i < 9; ++i) q.push(std::string(60'000, static_cast<char>('a' + i)));
  q.close();
  const std::string second = q.path("journal/2.fqj");
  REQUIRE(whole_file(second).find(std::string(60'000, 'i')) != std::string::npos);
  REQUIRE(whole_file(second).find(std::string(60'000, 'h')) == std::string::npos);
  {
    std::fstream file(second, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(kFileHeaderBytes);
    file << std::string(kOpenedBytes, 'x');
  }
  q.lose_segment();
  CHECK(whole_file(q.path("damaged/2-4096.bin")) == std::string(kOpenedBytes, 'x'));
  CHECK(q.stats().ready == 9);
  q.push("next");
  q.lose_segment();
  CHECK(q.stats().ready == 10);
}

}  // namespace fq::test
