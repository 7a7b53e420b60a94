// journal_life_test - the journal of a living queue: order of lazy and durable, whole batches, ids given
// once, files that are given back, and what compaction carries along.

// fq, below us.
#include "core/local/flush/file_supply.h"
// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

/// Pushes and acks, in batches, so that journal files fill and empty.
void churn(SpoolFixture& q, size_t messages, size_t payload_bytes) {
  const std::string payload(payload_bytes, 'c');
  constexpr size_t kBatch = 500;
  for (size_t done = 0; done < messages; done += kBatch) {
    const size_t fit = std::min(kBatch, kBatchBytesMax / 2 / (payload_bytes + 64));
    for (size_t part = 0; part < kBatch; part += fit) {
      std::vector<NewMessage> batch(std::min(fit, kBatch - part));
      for (NewMessage& each : batch) each.tenant = "churn", each.payload = as_bytes(payload);
      REQUIRE(q.door().push(batch, {.durability = Durability::lazy}).ok());
    }
    const LeaseReply leased = q.lease_from(q.door(), {.want = kBatch, .tenant = "churn"});
    REQUIRE(leased.deliveries.size() == kBatch);
    std::vector<Settle> acks;
    for (const Delivery& each : leased.deliveries) acks.push_back({.receipt = each.receipt});
    const auto settled = q.door().settle(acks);
    REQUIRE(settled.ok());
    for (const SettleStatus status : settled->items) REQUIRE(status == SettleStatus::ok);
  }
}

}  // namespace

TEST_CASE("ids go on after the loss of the segment and are never given twice") {
  SpoolFixture q;
  uint64_t last = 0;
  for (int round = 0; round < 5; ++round) {
    const uint64_t id = q.push("m" + std::to_string(round));
    CHECK(id > last);
    // Lazily pushed and acked: hardly anything of it need be left.
    last = q.push("lazy", Durability::lazy);
    CHECK(last > id);
    q.drain();
    q.lose_segment();
  }
}

TEST_CASE("ids are never given twice where the files that tell their limit are lost") {
  SpoolFixture q;
  // The limit stands in the first file, and in what is opened after each of its steps.
  const std::string payload(50'000, 'p');
  while (q.journal_files().size() < 4) q.push(payload);
  uint64_t last = 0;
  for (int i = 0; i < 3; ++i) last = q.push("lazy", Durability::lazy);
  const uint64_t serial = q.lease().receipt.parts()->serial;
  const int newest = q.journal_files().rbegin()->first;
  const auto lose = [&](int number) {
    std::filesystem::remove(q.path("journal/" + std::to_string(number) + ".fqj"));
  };
  SECTION("the first one") { lose(1); }
  SECTION("the last one in use") { lose(newest - 1); }
  SECTION("both") {
    lose(1);
    lose(newest - 1);
  }
  SECTION("all but the one that is ready") {
    for (int number = 1; number < newest; ++number) lose(number);
  }
  SECTION("all, beside a payload that is left") {
    last = q.push(std::string(100'000, 'b'));
    for (int number = 1; number <= newest; ++number) lose(number);
  }
  q.lose_segment();
  CHECK(q.push("next") > last + 100'000);
  const LeaseReply leased = q.lease_from(q.door(), {});
  REQUIRE(leased.deliveries.size() == 1);
  CHECK(leased.deliveries[0].receipt.parts()->serial > serial + 100'000);
}

TEST_CASE("a lazy push behind a durable one, and a durable one behind lazy ones, are served in order") {
  SpoolFixture q;
  q.push("1", Durability::lazy);
  q.push("2");
  q.push("3", Durability::lazy);
  q.push("4", Durability::lazy);
  q.push("5");
  q.lose_segment();
  CHECK(q.drain() == "1 2 3 4 5");
}

TEST_CASE("a lazy message is served at once, and is there after an orderly end") {
  SpoolFixture q;
  q.push("lazy", Durability::lazy);
  const std::unique_ptr<Queue> other = q.open();
  CHECK(q.lease_from(*other, {.hold = Hold::duration, .hold_ms = 1}).deliveries.size() == 1);
  q.reopen();
  q.clock.advance(10);
  CHECK(q.drain() == "lazy");
}

TEST_CASE("a batch that is refused leaves nothing of itself") {
  SpoolFixture q;
  std::vector<NewMessage> batch(3);
  for (NewMessage& each : batch) each.payload = as_bytes("m");
  batch[2].tenant = "a//b";
  CHECK_FALSE(q.door().push(batch).ok());
  CHECK(q.stats().ready == 0);
  q.lose_segment();
  CHECK(q.stats().ready == 0);
}

TEST_CASE("a hundred thousand messages through the queue leave a journal of bounded size") {
  SpoolFixture q;
  uint64_t largest = 0;
  for (int round = 0; round < 10; ++round) {
    churn(q, 10'000, 100);
    largest = std::max(largest, q.journal_bytes());
  }
  CHECK(q.stats().acked == 100'000);
  // 100,000 messages of 100 bytes are 25 MB of records.
  CHECK(largest < 8 * 1024 * 1024);
  CHECK(q.stats().ready == 0);
  q.check_clean();
  q.lose_segment();
  CHECK(q.stats().acked == 100'000);
}

TEST_CASE("a journal file is at most a sixteenth of what the disk has free, but as large as a young one") {
  constexpr uint64_t kMiB = 1024 * 1024;
  CHECK(next_file_bytes(0, UINT64_MAX) == kYoungFileBytes);
  CHECK(next_file_bytes(10 * kMiB, UINT64_MAX) == 10 * kMiB);
  CHECK(next_file_bytes(10 * kMiB, 160 * kMiB) == 10 * kMiB);
  CHECK(next_file_bytes(10 * kMiB, 32 * kMiB) == 2 * kMiB);
  CHECK(next_file_bytes(10 * kMiB, 32 * kMiB + 16) == 2 * kMiB);  // whole pages
  CHECK(next_file_bytes(10 * kMiB, 0) == kYoungFileBytes);
  CHECK(next_file_bytes(1024 * kMiB, UINT64_MAX) == 64 * kMiB);
}

TEST_CASE("what is carried forward keeps its payload, however far apart its events lie") {
  SpoolFixture q;
  std::vector<uint64_t> kept;
  for (int i = 0; i < 80; ++i)
    kept.push_back(q.push("kept" + std::to_string(i), Durability::always, "kept/" + std::to_string(i)));
  // All lie in one block of the reader's cache; the events of each lie in another one.
  for (int i = 0; i < 80; ++i) {
    const LeaseReply leased = q.lease_from(q.door(), {.tenant = "kept/" + std::to_string(i)});
    const Settle release{.receipt = leased.deliveries.at(0).receipt, .verdict = Verdict::release};
    CHECK(q.settle(q.door(), release) == SettleStatus::ok);
    q.push(std::string(36'000, 'b'), Durability::lazy, "between");
  }
  q.outlive_first_file();
  for (const bool rebuilt : {false, true}) {
    if (rebuilt) q.lose_segment();
    for (size_t i = 0; i < kept.size(); ++i) {
      CHECK(q.get(kept[i]).payload == "kept" + std::to_string(i));
      CHECK(q.get(kept[i]).tenant == "kept/" + std::to_string(i));
    }
    q.check_clean();
  }
}

TEST_CASE("what pins old files is carried forward with its payload, error, history and counts") {
  SpoolFixture q;
  const uint64_t dead = q.push("dead");
  q.settle(q.door(), {.receipt = q.lease().receipt, .verdict = Verdict::retry, .reason = "busy"});
  q.settle(q.door(), {.receipt = q.lease().receipt, .verdict = Verdict::bury, .reason = "no use", .exit = 3});
  const uint64_t waiting = q.push("waiting");
  q.settle(q.door(), {.receipt = q.lease().receipt, .verdict = Verdict::release});
  const uint64_t untouched = q.push("untouched");
  const std::string before = q.history(dead);
  const std::string first = q.path("journal/1.fqj");
  for (int round = 0; round < 20 && std::filesystem::exists(first); ++round) churn(q, 2'000, 1'000);
  CHECK_FALSE(std::filesystem::exists(first));
  q.check_clean();
  for (const bool rebuilt : {false, true}) {
    if (rebuilt) q.lose_segment();
    const MessageInfo info = q.get(dead);
    CHECK(info.state == State::dead);
    CHECK(info.payload == "dead");
    CHECK(info.attempts == 1);
    CHECK(info.deliveries == 2);
    REQUIRE(info.last_error);
    CHECK(info.last_error->reason == "no use");
    CHECK(info.last_error->exit == 3);
    CHECK(q.history(dead) == before);
    CHECK(q.get(waiting).deliveries == 1);
    CHECK(q.get(untouched).payload == "untouched");
  }
  CHECK(q.drain() == "waiting untouched");
  q.check_clean();
}

TEST_CASE("why a message last failed is carried forward, however often it came back since") {
  SpoolFixture q;
  const auto come_back = [&](int times) {
    for (int i = 0; i < times; ++i)
      q.settle(q.door(), {.receipt = q.lease().receipt, .verdict = Verdict::release});
  };
  const auto reason = [&](uint64_t id) { return q.get(id).last_error.value_or(LastError{}).reason; };
  const auto outlive = [&] {
    const int first = q.journal_files().begin()->first;
    for (int round = 0; round < 20 && q.journal_files().begin()->first == first; ++round)
      churn(q, 2'000, 1'000);
    REQUIRE(q.journal_files().begin()->first != first);
  };
  const uint64_t id = q.push("m");
  q.settle(q.door(), {.receipt = q.lease().receipt, .verdict = Verdict::retry, .reason = "boom", .exit = 3});
  const int64_t failed_at = q.get(id).last_error->at_wall_ms;
  come_back(10);
  for (const std::string when : {"once", "twice", "with what it carries of others"}) {
    INFO("carried forward " << when);
    q.clock.advance(1'000);
    outlive();
    REQUIRE(q.get(id).last_error);
    CHECK(reason(id) == "boom");
    CHECK(q.get(id).last_error->exit == 3);
    CHECK(q.get(id).last_error->at_wall_ms == failed_at);
    CHECK(q.get(id).attempts == 1);
    if (when == "twice") come_back(5);
  }
  // Of a lease that ran out there is no record: also where the lease itself was carried.
  q.lease(600'000);
  outlive();
  CHECK(reason(id) == "boom");
  q.clock.advance(600'001);
  CHECK(reason(id) == "its lease ran out");
  const int64_t ran_out_at = q.get(id).last_error->at_wall_ms;
  outlive();
  CHECK(reason(id) == "its lease ran out");
  come_back(10);
  outlive();
  CHECK(reason(id) == "its lease ran out");
  CHECK(q.get(id).last_error->at_wall_ms == ran_out_at);
  // What never failed has nothing to tell.
  q.settle(q.door(), {.receipt = q.lease().receipt});
  const uint64_t sound = q.push("sound");
  come_back(10);
  outlive();
  CHECK_FALSE(q.get(sound).last_error);
  q.check_clean();
}

TEST_CASE("a delayed message comes at its time although the file that first told the clock is gone") {
  SpoolFixture q;
  for (int i = 0; i < 10; ++i) q.push(std::string(60'000, 'f'));
  NewMessage late{.payload = as_bytes("late"), .delay_ms = 60'000};
  const auto pushed = q.door().push({&late, 1});
  REQUIRE(pushed.ok());
  const uint64_t id = number(pushed->items.at(0).id);
  const std::optional<int64_t> due = q.get(id).due_at_wall_ms;
  q.drain();
  REQUIRE_FALSE(std::filesystem::exists(q.path("journal/1.fqj")));
  q.lose_segment();
  CHECK(q.get(id).due_at_wall_ms == due);
  q.clock.advance(61'000);
  CHECK(q.drain() == "late");
}

TEST_CASE("a journal whose files were recycled and moved again and again is the same after a rebuild") {
  SpoolFixture q;
  std::string expected;
  for (int i = 0; i < 5; ++i) {
    const std::string payload = "kept-" + std::to_string(i);
    q.push(payload, i % 2 == 0 ? Durability::lazy : Durability::always);
    expected += (i == 0 ? "" : " ") + payload;
    churn(q, 2'000, 1'000);
    if (i % 2 == 1) q.lose_segment();
    q.check_clean();
  }
  q.lose_segment();
  CHECK(q.drain() == expected);
}

// Room for what few messages have is made ahead where a plain one needs room, too: one of these periods is
// that in which a rebuild makes room.
TEST_CASE("a rebuild makes room for all kinds of messages ahead") {
  constexpr uint64_t kMessages = 1'200;  // more than the first chunk of anything holds
  const uint64_t period = GENERATE(5u, 9u, 17u, 33u, 65u);
  INFO("all have a key and wait but each " << period << "th");
  SpoolFixture q;
  const uint64_t first = q.push("first");
  for (uint64_t i = 1; i <= kMessages; ++i) {
    const std::string key = std::to_string(i);
    NewMessage message{.payload = as_bytes(key)};
    if (i % period != 0) {
      message.unique = key;
      message.after = {MessageId{first}};
    }
    REQUIRE(q.door().push({&message, 1}, {.durability = Durability::lazy}).ok());
  }
  q.lose_segment();
  CHECK(q.stats().held == kMessages - kMessages / period);
  CHECK(q.stats().ready == 1 + kMessages / period);
  q.check_clean();
}

TEST_CASE("policy that was loaded holds for every handle and is asked for anew after a rebuild") {
  SpoolFixture q;
  Settings settings;
  settings.lease_ms = 5'000;
  settings.attempts_max = 9;
  FileIdentity identity;
  identity.inode = 77;
  REQUIRE(q.door().policy_load({values_of(settings), {}, {}}, identity).ok());
  const std::unique_ptr<Queue> other = q.open();
  CHECK(other->settings().value() == settings);
  CHECK(other->policy_is_current(identity).value());
  identity.size = 1;
  CHECK_FALSE(other->policy_is_current(identity).value());
  q.push("m");
  const Delivery held = q.lease();
  CHECK(held.attempts_max == 9);
}

TEST_CASE("order key and priority hold after the loss of the segment") {
  SpoolFixture q;
  for (const auto& [payload, priority] :
       std::vector<std::pair<std::string, int32_t>>{{"low", -1}, {"high", 5}, {"mid", 0}}) {
    NewMessage message{.payload = as_bytes(payload), .priority = priority};
    REQUIRE(q.door().push({&message, 1}).ok());
  }
  q.lose_segment();
  CHECK(q.drain() == "high mid low");
}

TEST_CASE("the damage that a rebuild met is told once") {
  SpoolFixture q;
  const uint64_t lost = q.push("a payload that will be damaged");
  q.push("kept");
  const std::string file = q.path("journal/1.fqj");
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const size_t at = bytes.find("will be damaged");
  REQUIRE(at != std::string::npos);
  {
    std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(static_cast<std::streamoff>(at));
    out << 'W';
  }
  q.lose_segment();
  const std::vector<std::string> notices = q.door().take_notices();
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].find("journal/1.fqj") != std::string::npos);
  CHECK(q.door().take_notices().empty());
  CHECK_FALSE(q.door().get(MessageId{lost}).value().has_value());
  CHECK(q.drain() == "kept");
}

}  // namespace fq::test
