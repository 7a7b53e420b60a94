// long_life_test - a long ordinary life: whatever is done, the journal takes at most four times what lives
// and 8 MiB, without any command, and what was emptied comes down to 8 MiB.
//
// What lives is what the test itself pushed and did not end: payloads and what was pushed with them, 128
// bytes a message, 40 a key that is held, a record for each setting. FQ_SEED=n runs one random life again.

// System.
#include <algorithm>
#include <map>
#include <random>
#include <set>
// Tests.
#include "tests/knobs.h"
#include "tests/spool/fixture.h"

namespace fq::test {

namespace {

constexpr uint64_t kMiB = 1024 * 1024;

uint64_t bound(uint64_t live_bytes) { return 4 * live_bytes + 8 * kMiB; }

/// What is pushed lazily is served at once, and a life is long.
PushReply push_all(Queue& queue, std::span<const NewMessage> batch) {
  auto pushed = queue.push(batch, {.durability = Durability::lazy});
  INFO((pushed.ok() ? std::string() : pushed.error().text));
  REQUIRE(pushed.ok());
  return std::move(pushed).value();
}

void push_and_ack(SpoolFixture& q, int times, size_t payload_bytes = 3'000) {
  const std::string payload(payload_bytes, 'p');
  for (int i = 0; i < times; ++i) {
    const NewMessage message{.tenant = "pair", .payload = as_bytes(payload)};
    push_all(q.door(), {&message, 1});
    const LeaseReply leased = q.lease_from(q.door(), {.tenant = "pair"});
    REQUIRE(q.ack(leased.deliveries.at(0)) == SettleStatus::ok);
  }
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
    push_all(q.door(), batch);
    const LeaseReply leased = q.lease_from(q.door(), {.want = kBatch});
    std::vector<Settle> acks;
    for (const Delivery& each : leased.deliveries) acks.push_back({.receipt = each.receipt});
    REQUIRE(q.door().settle(acks).ok());
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
  CHECK(push_all(q.door(), {&again, 1}).items.at(0).status == PushStatus::duplicate);
}

TEST_CASE("run-time settings of thousands of tenants do not make the journal grow with each message") {
  SpoolFixture q;
  q.sync_lazily();
  constexpr int kTenants = 5'000;
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
  push_all(q.door(), {&delayed, 1});
  push_and_ack(q, 1);
  const std::string payload(10'000, 'p');
  for (int round = 0; round < 200; ++round) {
    std::vector<NewMessage> batch(10);
    for (NewMessage& each : batch) each.payload = as_bytes(payload);
    push_all(q.door(), batch);
    const LeaseReply leased = q.lease_from(q.door(), {.want = 10});
    std::vector<Settle> acks;
    for (const Delivery& each : leased.deliveries) acks.push_back({.receipt = each.receipt});
    REQUIRE(q.door().settle(acks).ok());
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
    push_all(q.door(), {&message, 1});
    for (int i = 0; i < 60'000; ++i) {
      q.settle(q.door(), {.receipt = q.lease().receipt, .verdict = Verdict::release});
      if (i % 1'000 == 0) REQUIRE(q.journal_bytes() <= bound(payload.size() + 128));
    }
  }
  SECTION("pushed and cancelled") {
    for (int i = 0; i < 1'000; ++i) {
      const NewMessage message{.payload = as_bytes(payload)};
      const MessageId id = push_all(q.door(), {&message, 1}).items.at(0).id;
      REQUIRE(q.door().mutate(std::span(&id, 1), Action::cancel).ok());
      REQUIRE(q.journal_bytes() <= bound(0));
    }
  }
  SECTION("debounced") {
    for (int i = 0; i < 1'000; ++i) {
      NewMessage message{.payload = as_bytes(payload)};
      message.debounce = "key";
      message.quiet_ms = 1'000'000;
      push_all(q.door(), {&message, 1});
      REQUIRE(q.journal_bytes() <= bound(payload.size() + 128));
    }
  }
  q.check_clean();
}

TEST_CASE(
    "a message that was replaced is there after the file of its push was given back and the segment is "
    "lost") {
  SpoolFixture q;
  q.sync_lazily();
  const std::string first = q.path("journal/1.fqj");
  NewMessage message{.tenant = "kept", .payload = as_bytes(first)};
  message.unique = "key";
  message.unique_mode = UniqueMode::replace;
  const uint64_t id = number(push_all(q.door(), {&message, 1}).items.at(0).id);
  // What came before the replacement is not forgotten with the file of the push either.
  const LeaseReply leased = q.lease_from(q.door(), {.tenant = "kept"});
  q.settle(q.door(), {.receipt = leased.deliveries.at(0).receipt, .verdict = Verdict::retry});
  const std::string history = q.history(id);
  push_and_ack(q, 200, 1'000);
  message.payload = as_bytes("the newest");
  CHECK(push_all(q.door(), {&message, 1}).items.at(0).status == PushStatus::replaced);
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
    push_all(q.door(), {&command, 1});
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
    push_all(q.door(), {&message, 1});
  }
  const uint64_t peak = q.journal_bytes();
  CHECK(peak > 60 * kMiB);
  CHECK(peak <= bound(1'200 * payload.size()));
  for (int i = 0; i < 1'200; ++i) REQUIRE(q.ack(q.lease()) == SettleStatus::ok);
  CHECK(q.journal_bytes() <= 8 * kMiB);
  q.check_clean();
}

namespace {

/// A life of random operations, with what of it lives.
class Life {
 public:
  explicit Life(uint64_t seed) : random_(seed) { q_.sync_lazily(); }

  void live(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      INFO("step " << i << ": " << done_);
      REQUIRE(q_.journal_bytes() <= bound(live_bytes_ + key_bytes_ + setting_bytes_));
    }
  }

  /// All that can be ended is ended.
  void end() {
    for (;;) {
      q_.clock.advance(100'000'000);
      std::vector<MessageId> ids;
      for (const auto& [id, bytes] : sizes_) ids.push_back(MessageId{id});
      if (ids.empty()) break;
      REQUIRE(q_.door().mutate(ids, Action::cancel).ok());
      sizes_.clear();
    }
    REQUIRE(q_.drain().empty());
    CHECK(q_.journal_bytes() <= 8 * kMiB + 4 * setting_bytes_);
    q_.check_clean();
    q_.lose_segment();
    CHECK(q_.stats().ready == 0);
    q_.push("on it goes");
    CHECK(q_.drain() == "on it goes");
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  size_t size() { return static_cast<size_t>(1) << below(17) >> (below(4) == 0 ? 0 : 1); }

  void step() {
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
        return push();
      case 3:
      case 4:
      case 5:
      case 6:
        return settle();
      case 7:
        return change(Action::cancel);
      case 8:
        return change(Action::kick);
      case 9: {
        done_ = "setting";
        const std::string tenant = "t" + std::to_string(below(50));
        const Result<void> set = q_.door().policy_set(
            tenant, {.set = {{PolicyKey::weight, static_cast<int64_t>(1'000 + below(9'000)), 0, {}}}});
        REQUIRE(set.ok());
        setting_bytes_ = 50 * 128;
        return;
      }
      default:
        done_ = "time";
        q_.clock.advance(static_cast<int64_t>(below(20'000)));
    }
  }

  void push() {
    done_ = "push";
    std::vector<NewMessage> batch(1 + below(6));
    std::vector<std::string> payloads, tenants;
    const std::string unique = "k" + std::to_string(below(1'000));
    for (size_t i = 0; i < batch.size(); ++i) {
      payloads.push_back(std::string(std::min<size_t>(size(), 200'000 / batch.size()), 'p'));
    }
    for (size_t i = 0; i < batch.size(); ++i) tenants.push_back("t" + std::to_string(below(20)));
    for (size_t i = 0; i < batch.size(); ++i) {
      batch[i].tenant = tenants[i];
      batch[i].payload = as_bytes(payloads[i]);
      if (below(10) == 0) batch[i].delay_ms = static_cast<int64_t>(1 + below(1'000'000));
      if (below(20) == 0 && last_id_ != 0) batch[i].after_any = {MessageId{last_id_}};
      if (below(10) == 0)
        batch[i].command =
            JobCommand{.argv = {"true"}, .cwd = "/", .env = {"A=" + std::string(size() / 4, 'e')}};
    }
    if (below(4) == 0) {
      batch.resize(1);
      batch[0].unique = unique;
      batch[0].unique_for_ms = 3'600'000;
      key_bytes_ = 1'000 * 40;
    }
    const PushReply pushed = push_all(q_.door(), batch);
    for (size_t i = 0; i < batch.size(); ++i) {
      if (pushed.items[i].status != PushStatus::accepted) continue;
      last_id_ = number(pushed.items[i].id);
      const uint64_t command = batch[i].command ? batch[i].command->env[0].size() : 0;
      add(last_id_, batch[i].payload.size() + command + 128);
    }
  }

  void settle() {
    done_ = "settle";
    const LeaseReply leased =
        q_.lease_from(q_.door(), {.want = 1 + below(8), .hold = Hold::duration, .hold_ms = 5'000});
    std::vector<Settle> verdicts;
    const std::string text(below(4'000), 'e');
    for (const Delivery& each : leased.deliveries) {
      Settle& one = verdicts.emplace_back(Settle{.receipt = each.receipt});
      const uint64_t kind = below(12);
      if (kind == 9) one.verdict = Verdict::retry;
      if (kind == 10) one.verdict = Verdict::bury;
      if (kind == 11) one.verdict = Verdict::release;
      if (kind == 9 || kind == 10) one.stderr_tail = text;
    }
    const auto settled = q_.door().settle(verdicts);
    REQUIRE(settled.ok());
    for (size_t i = 0; i < verdicts.size(); ++i) {
      const uint64_t id = number(leased.deliveries[i].id);
      if (settled->items[i] == SettleStatus::ok && verdicts[i].verdict == Verdict::ack) take(id);
      // What was said of its last failure lives with it.
      if (!verdicts[i].stderr_tail.empty() && sizes_.count(id) != 0 && failed_.insert(id).second) {
        sizes_[id] += text.size();
        live_bytes_ += text.size();
      }
    }
  }

  void change(Action action) {
    done_ = action == Action::cancel ? "cancel" : "kick";
    if (sizes_.empty()) return;
    auto at = sizes_.lower_bound(below(last_id_ + 1));
    if (at == sizes_.end()) at = sizes_.begin();
    const MessageId id{at->first};
    const auto changed = q_.door().mutate(std::span(&id, 1), action);
    REQUIRE(changed.ok());
    if (action == Action::cancel && changed->changed == 1) take(number(id));
  }

  void add(uint64_t id, uint64_t bytes) {
    sizes_[id] = bytes;
    live_bytes_ += bytes;
  }
  void take(uint64_t id) {
    live_bytes_ -= sizes_[id];
    sizes_.erase(id);
    failed_.erase(id);
  }

  SpoolFixture q_;
  std::mt19937_64 random_;
  std::map<uint64_t, uint64_t> sizes_;
  std::set<uint64_t> failed_;
  uint64_t live_bytes_ = 0, key_bytes_ = 0, setting_bytes_ = 0, last_id_ = 0;
  std::string done_;
};

}  // namespace

TEST_CASE("in random lives the journal is never larger than its bound") {
  const uint64_t seed = seed_of_run();
  const uint64_t lives = number_of("FQ_LIVES", 3);
  for (uint64_t i = 0; i < lives; ++i) {
    INFO("FQ_SEED=" << seed + i);
    Life life(seed + i);
    life.live(2'500);
    life.end();
  }
}

}  // namespace fq::test
