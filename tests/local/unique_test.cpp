// unique_test - keys are written down: they hold after the loss of the segment, and when the files that told
// of them have been given back.

// System.
#include <thread>
// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

PushResult push_keyed(Queue& queue, const std::string& payload, const std::string& unique,
                      const std::string& debounce = "") {
  NewMessage message{.tenant = "t", .payload = as_bytes(payload)};
  message.unique = unique;
  message.debounce = debounce;
  message.quiet_ms = debounce.empty() ? 0 : 60'000;
  const Result<PushReply> reply = queue.push({&message, 1});
  INFO((reply.ok() ? std::string() : reply.error().text));
  REQUIRE(reply.ok());
  return reply->items.at(0);
}

void bury_next(SpoolFixture& q) {
  CHECK(q.settle(q.door(), {.receipt = q.lease().receipt, .verdict = Verdict::bury}) == SettleStatus::ok);
}

void kick_dead(SpoolFixture& q, uint64_t messages) {
  REQUIRE(q.door().mutate({.state = State::dead}, Action::kick, {}, 10)->changed == messages);
}

/// What comes next lies in another one.
void fill_a_file(SpoolFixture& q) {
  const std::string filler(60'000, 'f');
  for (int i = 0; i < 20; ++i) q.push(filler, Durability::lazy, "filler");
  REQUIRE(q.door().mutate({.tenant = "filler"}, Action::cancel, {}, 100)->changed == 20);
}

}  // namespace

TEST_CASE("keys hold after the loss of the segment, in every state") {
  SpoolFixture q;
  const MessageId ready = push_keyed(q.door(), "ready", "k1").id;
  const MessageId acked = push_keyed(q.door(), "acked", "k2").id;
  CHECK(q.ack(q.lease()) == SettleStatus::ok);  // of "ready": the elder
  const MessageId debounced = push_keyed(q.door(), "1", "", "d").id;
  CHECK(push_keyed(q.door(), "2", "", "d").id == debounced);
  q.check_clean();
  for (int round = 0; round < 2; ++round) {
    CHECK(push_keyed(q.door(), "x", "k1").id == ready);
    CHECK(push_keyed(q.door(), "x", "k2").id == acked);
    CHECK(push_keyed(q.door(), "3", "", "d").id == debounced);
    if (round == 0) q.lose_segment();
    q.check_clean();
  }
  q.clock.advance(60'000);
  CHECK(q.drain() == "acked 3");
  q.clock.advance(3'600'000);
  q.lose_segment();
  CHECK(push_keyed(q.door(), "again", "k1").id != ready);
  q.check_clean();
}

TEST_CASE("keys of acked messages are carried forward when the file that tells of them goes") {
  SpoolFixture q;
  const MessageId acked = push_keyed(q.door(), "acked", "k").id;
  CHECK(q.ack(q.lease()) == SettleStatus::ok);
  const MessageId debounced = push_keyed(q.door(), "1", "", "d").id;
  push_keyed(q.door(), "2", "", "d");
  q.outlive_first_file();
  q.check_clean();
  q.lose_segment();
  CHECK(push_keyed(q.door(), "x", "k").id == acked);
  CHECK(push_keyed(q.door(), "3", "", "d").id == debounced);
  CHECK(q.history(number(debounced)) == "pushed replaced replaced");
  q.check_clean();
  q.clock.advance(3'600'000);
  CHECK(push_keyed(q.door(), "x", "k").id != acked);
}

TEST_CASE("a message pushed in an old file and acked in a new one keeps its key") {
  SpoolFixture q;
  const MessageId acked = push_keyed(q.door(), "acked", "k").id;
  const Delivery held = q.lease(3'600'000);
  push_keyed(q.door(), "other", "o");
  const std::string filler(60'000, 'f');
  for (int i = 0; i < 20; ++i) q.push(filler, Durability::lazy, "filler");
  CHECK(q.ack(held) == SettleStatus::ok);
  q.drain();
  q.outlive_first_file();
  q.lose_segment();
  CHECK(push_keyed(q.door(), "x", "k").id == acked);
  q.check_clean();
}

TEST_CASE("a message pushed in an old file, replaced in a newer one and acked keeps its key") {
  SpoolFixture q;
  const MessageId acked = push_keyed(q.door(), "first", "k").id;
  fill_a_file(q);
  NewMessage message{.tenant = "t", .unique = "k"};
  message.unique_mode = UniqueMode::replace;
  message.unique_for_ms = 3'600'000;
  REQUIRE(q.door().push({&message, 1})->items.at(0).status == PushStatus::replaced);
  CHECK(q.ack(q.lease()) == SettleStatus::ok);
  q.outlive_first_file();
  q.check_clean();
  q.lose_segment();
  CHECK(push_keyed(q.door(), "x", "k").id == acked);
  q.check_clean();
}

TEST_CASE("of two that were dead the one that has its key back has it also when its record comes last") {
  SpoolFixture q;
  const MessageId first = push_keyed(q.door(), "first", "k").id;
  bury_next(q);
  fill_a_file(q);
  REQUIRE(push_keyed(q.door(), "second", "k").status == PushStatus::accepted);
  bury_next(q);
  kick_dead(q, 2);
  q.outlive_first_file();  // the first one's record is behind that of the second now
  const Delivery one = q.lease();
  REQUIRE(one.id == first);
  SECTION("it is acked") { REQUIRE(q.ack(one) == SettleStatus::ok); }
  SECTION("it is dead again") {
    REQUIRE(q.settle(q.door(), {.receipt = one.receipt, .verdict = Verdict::bury}) == SettleStatus::ok);
  }
  q.check_clean();
}

TEST_CASE("what waits behind the holder of its key does so also where its record comes first") {
  SpoolFixture q;
  push_keyed(q.door(), "first", "k");
  const Delivery first = q.lease(3'600'000);
  fill_a_file(q);
  NewMessage message{.tenant = "t", .unique = "k"};
  message.unique_mode = UniqueMode::after;
  const MessageId second = q.door().push({&message, 1})->items.at(0).id;
  q.outlive_first_file();
  q.check_clean();
  q.lose_segment();
  CHECK(q.get(number(second)).state == State::held);
  REQUIRE(q.ack(first) == SettleStatus::ok);
  CHECK(q.get(number(second)).state == State::ready);
  CHECK(push_keyed(q.door(), "third", "k").id == second);
  q.check_clean();
}

TEST_CASE("what was kicked while another had its key has none, also when the other's record is gone") {
  SpoolFixture q;
  push_keyed(q.door(), "first", "k");
  bury_next(q);
  fill_a_file(q);
  const MessageId second = push_keyed(q.door(), "second", "k").id;
  const int its_file = q.journal_files().rbegin()->first;
  fill_a_file(q);
  q.outlive_first_file();  // the second one's record is before that of the first now
  REQUIRE(q.ack(q.lease()) == SettleStatus::ok);
  kick_dead(q, 1);
  SECTION("its key is carried forward") {
    q.outlive_file(its_file);
    q.check_clean();
    q.lose_segment();
    CHECK(push_keyed(q.door(), "third", "k").id == second);
  }
  SECTION("its key has run out") {
    q.clock.advance(3'600'000);
    q.outlive_file(its_file);
    q.check_clean();
    q.lose_segment();
    CHECK(push_keyed(q.door(), "third", "k").status == PushStatus::accepted);
  }
}

TEST_CASE("many who push with one key at once make one message", "[threads]") {
  SpoolFixture q;
  constexpr int kPushers = 8;
  std::vector<std::unique_ptr<Queue>> queues;
  for (int i = 0; i < kPushers; ++i) queues.push_back(q.open());
  std::vector<PushResult> results(kPushers);
  std::vector<std::thread> pushers;
  for (size_t i = 0; i < kPushers; ++i) {
    pushers.emplace_back([&, i] {
      NewMessage message{.tenant = "t", .payload = as_bytes("x")};
      message.unique = "k";
      auto reply = queues[i]->push({&message, 1});
      if (reply.ok()) results[i] = reply->items.at(0);
    });
  }
  for (std::thread& each : pushers) each.join();
  int accepted = 0;
  for (const PushResult& each : results) {
    CHECK(each.id == results[0].id);
    if (each.status == PushStatus::accepted) ++accepted;
  }
  CHECK(accepted == 1);
  CHECK(q.stats().ready == 1);
  queues.clear();
  q.check_clean();
}

TEST_CASE("the payload file of what was replaced goes, that of what replaces it stays") {
  SpoolFixture q;
  const auto blobs = [&] {
    size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(q.path("blobs"))) ++count;
    return count;
  };
  push_keyed(q.door(), std::string(100'000, 'a'), "", "d");
  CHECK(blobs() == 1);
  push_keyed(q.door(), std::string(100'000, 'b'), "", "d");
  CHECK(blobs() == 1);
  q.lose_segment();
  CHECK(blobs() == 1);
  push_keyed(q.door(), "short", "", "d");
  CHECK(blobs() == 0);
  q.clock.advance(60'000);
  CHECK(q.drain() == "short");
  q.check_clean();
}

TEST_CASE("a key is held no longer for a segment that was lost meanwhile") {
  SpoolFixture q;
  const MessageId acked = push_keyed(q.door(), "m", "k").id;
  CHECK(q.ack(q.lease()) == SettleStatus::ok);
  for (int i = 0; i < 3; ++i) {
    q.clock.advance(600'000);
    q.lose_segment();
  }
  CHECK(push_keyed(q.door(), "x", "k").id == acked);
  q.clock.advance(1'800'000);
  CHECK(push_keyed(q.door(), "x", "k").id != acked);
  q.check_clean();
}

TEST_CASE("a step of the wall clock moves no latest time of what is debounced") {
  constexpr int64_t kMinuteMs = 60'000;
  SpoolFixture q;
  const auto push = [&] {
    const std::string payload = "p";
    NewMessage message{.payload = as_bytes(payload)};
    message.debounce = "d";
    message.quiet_ms = 8 * kMinuteMs;
    message.max_wait_ms = 10 * kMinuteMs;
    const Result<PushReply> reply = q.door().push({&message, 1});
    REQUIRE(reply.ok());
    return number(reply->items.at(0).id);
  };
  const uint64_t id = push();
  const int64_t step_ms = GENERATE(180 * kMinuteMs, -180 * kMinuteMs);
  for (int i = 0; i < 2; ++i) {
    q.clock.advance(kMinuteMs);
    q.clock.set_wall_ms(q.clock.wall_ms() + step_ms);
    q.reopen();
    CHECK(push() == id);
  }
  q.clock.advance(3 * kMinuteMs);
  const bool rebuilt = GENERATE(false, true);
  if (rebuilt) q.lose_segment();
  const bool carried = GENERATE(false, true);
  if (carried) q.outlive_first_file();
  if (carried) q.lose_segment();
  CHECK(push() == id);
  q.clock.advance(5 * kMinuteMs - 1'000);
  CHECK(q.get(id).state == State::delayed);
  q.clock.advance(1'000);
  CHECK(q.get(id).state == State::ready);
  q.check_clean();
}

}  // namespace fq::test
