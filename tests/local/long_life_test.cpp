// long_life_test - a long ordinary life: whatever is done, the journal takes at most four times what lives
// and 8 MiB, without any command, and what was emptied comes down to 8 MiB.
//
// What lives is what the test itself pushed and did not end: payloads and what was pushed with them, 128
// bytes a message, 40 a key that is held, a record for each setting. FQ_SEED=n runs one random life again.

// System.
#include <algorithm>
#include <utility>
// Tests.
#include "tests/knobs.h"
#include "tests/local/life.h"

namespace fq::test {

namespace {

void push_and_ack(SpoolFixture& q, int times, size_t payload_bytes = 3'000) {
  const std::string payload(payload_bytes, 'p');
  for (int i = 0; i < times; ++i) {
    const NewMessage message{.tenant = "pair", .payload = as_bytes(payload)};
    push_lazily(q.door(), {&message, 1});
    const LeaseReply leased = q.lease_from(q.door(), {.tenant = "pair"});
    REQUIRE(q.ack(leased.deliveries.at(0)) == SettleStatus::ok);
  }
}

/// As many as are served at once of `want`; returns their number.
size_t ack_some(SpoolFixture& q, size_t want) {
  std::vector<Settle> acks;
  for (const Delivery& each : q.lease_from(q.door(), {.want = want}).deliveries)
    acks.push_back({.receipt = each.receipt});
  REQUIRE_FALSE(acks.empty());
  REQUIRE(q.door().settle(acks).ok());
  return acks.size();
}

}  // namespace

TEST_CASE("held keys by the ten thousand do not make the journal grow with each message") {
  SpoolFixture q;
  q.sync_lazily();
  constexpr int kKeys = 20'000, kBatch = 500;
  std::vector<std::string> keys;
  for (int i = 0; i < kKeys; ++i) keys.push_back("key " + std::to_string(i));
  for (int from = 0; from < kKeys; from += kBatch) {
    std::vector<NewMessage> batch(kBatch);
    for (int i = 0; i < kBatch; ++i) {
      batch[static_cast<size_t>(i)].payload = as_bytes(keys[static_cast<size_t>(from + i)]);
      batch[static_cast<size_t>(i)].unique = keys[static_cast<size_t>(from + i)];
      batch[static_cast<size_t>(i)].unique_for_ms = 3'600'000;
    }
    push_lazily(q.door(), batch);
    ack_some(q, kBatch);
  }
  uint64_t most = 0;
  for (int round = 0; round < 40; ++round) {
    push_and_ack(q, 50);
    most = std::max(most, q.journal_bytes());
  }
  CHECK(most <= bound(uint64_t{kKeys} * 40));
  CHECK(q.door().compact().ok());
  q.check_clean();
  q.lose_segment();
  NewMessage again{.payload = as_bytes("again")};
  again.unique = keys[7];
  again.unique_for_ms = 3'600'000;
  CHECK(push_lazily(q.door(), {&again, 1}).items.at(0).status == PushStatus::duplicate);
}

TEST_CASE("run-time settings of thousands of tenants do not make the journal grow with each message") {
  SpoolFixture q;
  q.sync_lazily();
  constexpr int kTenants = 10'000;
  for (int i = 0; i < kTenants; ++i) {
    REQUIRE(q.door()
                .policy_set("tenant-" + std::to_string(i), {.set = {{PolicyKey::weight, 2'000, 0, {}}}})
                .ok());
  }
  uint64_t most = 0;
  for (int round = 0; round < 40; ++round) {
    push_and_ack(q, 50);
    most = std::max(most, q.journal_bytes());
  }
  CHECK(most <= bound(uint64_t{kTenants} * 128));
  q.check_clean();
  q.lose_segment();
  CHECK(q.door().policy_overrides({}, 10).value().overrides.size() == 10);
}

TEST_CASE("batches whose number of acks is never even leave the journal as small as others do") {
  SpoolFixture q;
  const std::string pin = "pin";
  NewMessage delayed{.payload = as_bytes(pin), .delay_ms = 1'000'000'000};
  push_lazily(q.door(), {&delayed, 1});
  push_and_ack(q, 1);
  const std::string payload(10'000, 'p');
  for (int round = 0; round < 200; ++round) {
    std::vector<NewMessage> batch(10);
    for (NewMessage& each : batch) each.payload = as_bytes(payload);
    push_lazily(q.door(), batch);
    ack_some(q, 10);
    REQUIRE(q.journal_bytes() <= bound(200));
  }
  q.check_clean();
}

TEST_CASE("messages that only come back, or are only cancelled, or only replaced leave a small journal") {
  SpoolFixture q;
  q.sync_lazily();
  const std::string payload(20'000, 'p');
  SECTION("released again and again") {
    const NewMessage message{.payload = as_bytes(payload)};
    push_lazily(q.door(), {&message, 1});
    for (int i = 0; i < 60'000; ++i) {
      q.settle(q.door(), {.receipt = q.lease().receipt, .verdict = Verdict::release});
      if (i % 1'000 == 0) REQUIRE(q.journal_bytes() <= bound(payload.size() + 128));
    }
  }
  SECTION("pushed and cancelled") {
    for (int i = 0; i < 1'000; ++i) {
      const NewMessage message{.payload = as_bytes(payload)};
      const MessageId id = push_lazily(q.door(), {&message, 1}).items.at(0).id;
      REQUIRE(q.door().mutate(std::span(&id, 1), Action::cancel).ok());
      REQUIRE(q.journal_bytes() <= bound(0));
    }
  }
  SECTION("debounced") {
    for (int i = 0; i < 1'000; ++i) {
      NewMessage message{.payload = as_bytes(payload)};
      message.debounce = "key";
      message.quiet_ms = 1'000'000;
      push_lazily(q.door(), {&message, 1});
      REQUIRE(q.journal_bytes() <= bound(payload.size() + 128));
    }
  }
  q.check_clean();
}

TEST_CASE(
    "a message that was replaced is there after the file of its push was given back and the segment is "
    "lost") {
  SpoolFixture q;
  const std::string first = q.path("journal/1.fqj");
  NewMessage message{.tenant = "kept", .payload = as_bytes(first)};
  message.unique = "key";
  message.unique_mode = UniqueMode::replace;
  const uint64_t id = number(push_lazily(q.door(), {&message, 1}).items.at(0).id);
  // What came before the replacement is not forgotten with the file of the push either.
  const LeaseReply leased = q.lease_from(q.door(), {.tenant = "kept"});
  q.settle(q.door(), {.receipt = leased.deliveries.at(0).receipt, .verdict = Verdict::retry});
  const std::string history = q.history(id);
  push_and_ack(q, 100, 8'000);
  message.payload = as_bytes("the newest");
  CHECK(push_lazily(q.door(), {&message, 1}).items.at(0).status == PushStatus::replaced);
  for (int i = 0; i < 100 && std::filesystem::exists(first); ++i) push_and_ack(q, 50, 10'000);
  REQUIRE_FALSE(std::filesystem::exists(first));
  q.check_clean();
  q.lose_segment();
  CHECK(q.get(id).attempts == 1);
  CHECK(q.history(id).starts_with(history));
  CHECK(q.drain() == "the newest");
}

TEST_CASE("commands with long environments are not copied forward again and again") {
  SpoolFixture q;
  q.sync_lazily();
  const std::string value = "NAME=" + std::string(12'000, 'v');
  constexpr uint64_t kCommands = 1'000;
  for (uint64_t i = 0; i < kCommands; ++i) {
    NewMessage command{.tenant = "long"};
    command.command = JobCommand{.argv = {"true"}, .cwd = "/", .env = {value}};
    push_lazily(q.door(), {&command, 1});
  }
  const std::string first = q.path("journal/1.fqj");
  push_and_ack(q, 500, 1'000);
  CHECK(std::filesystem::exists(first));
  CHECK(q.journal_bytes() <= bound(kCommands * (value.size() + 256)));
}

TEST_CASE("an emptied queue's journal comes down to 8 MiB by itself") {
  SpoolFixture q;
  q.sync_lazily();
  const std::string payload(50'000, 'p');
  for (int i = 0; i < 1'200; ++i) {
    const NewMessage message{.payload = as_bytes(payload)};
    push_lazily(q.door(), {&message, 1});
  }
  const uint64_t peak = q.journal_bytes();
  CHECK(peak > 60 * kMiB);
  CHECK(peak <= bound(1'200 * payload.size()));
  for (int i = 0; i < 1'200; ++i) REQUIRE(q.ack(q.lease()) == SettleStatus::ok);
  CHECK(q.journal_bytes() <= 8 * kMiB);
  q.check_clean();
}

TEST_CASE("a queue of small messages that is emptied batch by batch leaves no large journal file behind") {
  SpoolFixture q;
  q.sync_lazily();
  constexpr uint64_t kMessages = 20'000;
  const std::string payload(GENERATE(size_t{2'000}, size_t{4'000}), 'p');
  for (uint64_t pushed = 0; pushed < kMessages; pushed += 50)
    push_lazily(q.door(), std::vector<NewMessage>(50, NewMessage{.payload = as_bytes(payload)}));
  const size_t per_batch = GENERATE(size_t{37}, size_t{1'000});
  INFO(payload.size() << " bytes each, by " << per_batch);
  for (uint64_t left = kMessages; left > 0;) {
    left -= ack_some(q, per_batch);
    INFO(left << " left");
    REQUIRE(q.journal_bytes() <= bound(left * (payload.size() + 128)));
  }
  CHECK(q.lease_from(q.door(), {}).deliveries.empty());
  q.check_clean();
}

TEST_CASE("what a queue of many small messages kept free is given back when it is empty") {
  SpoolFixture q;
  q.sync_lazily();
  const std::string payload = "small";
  for (int i = 0; i < 200; ++i) {
    const std::vector<NewMessage> batch(1'000, NewMessage{.payload = as_bytes(payload)});
    push_lazily(q.door(), batch);
  }
  CHECK(q.journal_bytes() <= bound(200'000 * 128));
  for (uint64_t left = 200'000; left > 0;) left -= ack_some(q, 1'000);
  CHECK(q.journal_bytes() <= 8 * kMiB);
  q.check_clean();
}

TEST_CASE("a queue that has grown does not go on with the small files of its youth") {
  SpoolFixture q;
  q.sync_lazily();
  constexpr size_t kBatch = 200;
  const std::string payload(1'000, 'p');
  std::vector<NewMessage> batch(kBatch);
  for (NewMessage& each : batch) each.payload = as_bytes(payload);
  const auto push = [&](int batches) {
    for (int i = 0; i < batches; ++i) push_lazily(q.door(), batch);
  };
  push(100);
  const int grown = q.journal_files().rbegin()->first;
  // The oldest files go while 4 MB are queued, which ask for files of 2.75.
  for (int i = 0; i < 80; ++i) ack_some(q, kBatch);
  push(50);
  const auto files = q.journal_files();
  CHECK(files.rbegin()->first > grown);
  for (const auto& [number, bytes] : files) {
    INFO("journal file " << number);
    if (number > grown) CHECK(bytes >= 1'300'000);
  }
}

TEST_CASE("in random lives the journal is never larger than its bound") {
  const uint64_t seed = seed_of_run();
  const uint64_t lives = number_of("FQ_LIVES", 3);
  for (uint64_t i = 0; i < lives; ++i) {
    INFO("FQ_SEED=" << seed + i);
    Life life(seed + i);
    if (i % 3 == 0) life.with_floods();  // which take most of the time
    life.live(1'500);
    life.end();
  }
}

namespace {

NewMessage a_command() {
  NewMessage message;
  message.command = JobCommand{.argv = {"echo", "hello"}, .cwd = "/", .env = {}};
  return message;
}

/// By an ack, and by being cancelled.
std::pair<uint64_t, uint64_t> end_two_commands(SpoolFixture& q) {
  const NewMessage command = a_command();
  const MessageId acked = push_lazily(q.door(), {&command, 1}).items.at(0).id;
  REQUIRE(q.ack(q.lease()) == SettleStatus::ok);
  const MessageId cancelled = push_lazily(q.door(), {&command, 1}).items.at(0).id;
  REQUIRE(q.door().mutate({&cancelled, 1}, Action::cancel).ok());
  return {number(acked), number(cancelled)};
}

}  // namespace

TEST_CASE("what ended 66,000 messages ago is told as if it were yesterday, with its history") {
  SpoolFixture q;
  q.sync_lazily();
  const auto [acked, cancelled] = end_two_commands(q);
  const std::vector<NewMessage> batch(1'000);
  for (int i = 0; i < 66; ++i) {
    push_lazily(q.door(), batch);
    ack_some(q, batch.size());
  }
  CHECK(q.get(acked).state == State::acked);
  CHECK(q.get(acked).command->argv.at(0) == "echo");
  CHECK(q.history(acked) == "pushed leased acked");
  CHECK(q.get(cancelled).state == State::cancelled);
  CHECK(q.history(cancelled) == "pushed cancelled");
}

TEST_CASE("the history of what has ended is the same whatever of it the journal still holds") {
  SpoolFixture q;
  q.sync_lazily();
  const auto [acked, cancelled] = end_two_commands(q);
  const NewMessage command = a_command();
  const uint64_t late = number(push_lazily(q.door(), {&command, 1}).items.at(0).id);
  const Delivery held = q.lease(86'400'000);
  const std::string payload(1'000, 'p');
  const std::vector<NewMessage> batch(200, NewMessage{.payload = as_bytes(payload)});
  for (int i = 0; i < 40; ++i) {
    push_lazily(q.door(), batch);
    ack_some(q, batch.size());
    if (i == 20) REQUIRE(q.ack(held) == SettleStatus::ok);
    INFO("after " << i << " batches, the journal begins with file " << q.journal_files().begin()->first);
    REQUIRE(q.history(acked) == "pushed leased acked");
    REQUIRE(q.history(cancelled) == "pushed cancelled");
    REQUIRE(q.history(late) == (i < 20 ? "pushed leased" : "pushed leased acked"));
  }
  CHECK(q.journal_files().begin()->first > 2);
}

}  // namespace fq::test
