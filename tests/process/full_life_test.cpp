// full_life_test - a disk that is full at any moment of a long life: what was accepted is served and ended
// with no byte free, whatever state it is in, and when all of it has ended pushes work again, without any
// command.

// System.
#include <algorithm>
#include <array>
#include <cstdio>
// fq, below us.
#include "core/local/shared/journal_size.h"
// Tests.
#include "tests/knobs.h"
#include "tests/left_out.h"
#include "tests/process/small_disk.h"
#include "tests/local/life.h"

namespace fq::test {

namespace {

/// A queue on a disk of its own.
struct Small {
  explicit Small(const std::string& limits) : disk(beside, limits) {
    if (disk.mounted()) q = std::make_unique<SpoolFixture>(disk.path());
  }
  ~Small() { q.reset(); }

  bool possible() const { return q != nullptr; }
  Queue& door() { return q->door(); }
  /// Whether it was accepted; else the disk is full.
  bool push(std::span<const NewMessage> batch) {
    const auto pushed = door().push(batch, {.durability = Durability::lazy});
    if (!pushed.ok()) REQUIRE(pushed.error().kind == ErrorKind::later);
    if (pushed.ok()) last = number(pushed->items.back().id);
    return pushed.ok();
  }
  /// Serves and acks all, with no byte free; returns how many.
  uint64_t drain(size_t at_once = 1) {
    uint64_t done = 0;
    for (;;) {
      disk.fill();
      const auto leased = door().lease({.want = at_once});
      INFO(done << " are done; " << (leased.ok() ? "" : leased.error().text));
      REQUIRE(leased.ok());
      if (leased->deliveries.empty()) return done;
      std::vector<Settle> acks;
      for (const Delivery& each : leased->deliveries) acks.push_back({.receipt = each.receipt});
      const auto acked = door().settle(acks);
      REQUIRE(acked.ok());
      INFO((acked->error ? acked->error->text : ""));
      for (const SettleStatus status : acked->items) REQUIRE(status == SettleStatus::ok);
      done += acks.size();
    }
  }
  void goes_on() {
    const std::string text = "on it goes";
    const NewMessage message{.payload = as_bytes(text)};
    CHECK(push({&message, 1}));
    CHECK(drain() == 1);
    CHECK(q->journal_bytes() <= 8 * kMiB);
    disk.make_room();
    q->check_clean();
  }

  Spool beside;
  SmallDisk disk;
  std::unique_ptr<SpoolFixture> q;
  uint64_t last = 0;
};

/// Whether the journal has all the room that ends of what was accepted may need.
bool keeps_room(const SpoolFixture& q) {
  std::string segment = read_whole(q.path("segment"));
  return JournalSize(*reinterpret_cast<SegmentHeader*>(segment.data())).can_spare(0);
}

/// Whether there is room in the journal for another record of this kind.
bool leaves_room(const SpoolFixture& q, Purpose purpose) {
  std::string segment = read_whole(q.path("segment"));
  return JournalSize(*reinterpret_cast<SegmentHeader*>(segment.data())).leaves_room(purpose, 128);
}

/// So that one journal file is ready and no other can be made, and of the current one about so many bytes are
/// left.
void leave_last_file(Small& small, uint64_t bytes) {
  small.disk.fill();
  const auto push = [&](size_t payload_bytes) {
    const std::string payload(payload_bytes, 'f');
    const NewMessage message{.tenant = "filler", .payload = as_bytes(payload)};
    REQUIRE(small.push({&message, 1}));
  };
  const auto room = [&] {
    std::string segment = read_whole(small.q->path("segment"));
    SegmentHeader& header = *reinterpret_cast<SegmentHeader*>(segment.data());
    return std::pair(JournalSize(header).ready_files(), JournalTable(header).current_room());
  };
  while (room().first > 1 || room().second > 30'000) push(4'000);
  const uint64_t before = room().second;
  push(100);
  const uint64_t beside_payload = before - room().second - 100;
  push(room().second - bytes - beside_payload);
  const uint64_t left = room().second;
  CHECK(left <= bytes + 8);
  CHECK(left + 8 >= bytes);
  REQUIRE(room().first == 1);
}

}  // namespace

TEST_CASE("a repair on a full disk gives away no room that ends need") {
  Small small("size=12m");
  if (!small.possible()) {
    leave_out("a small disk needs root");
    return;
  }
  // Beside their file is one that is ready, which is smaller than what ends and copies of all of them take.
  const std::string large(60'000, 'x');
  for (const std::string& payload : {std::string("to-be-hit"), large, large, large, large, large}) {
    const NewMessage message{.payload = as_bytes(payload)};
    REQUIRE(small.push({&message, 1}));
  }
  for (int i = 0; i < 20; ++i) REQUIRE(small.push(std::vector<NewMessage>(100)));
  for (const char* each : {"durable", "says so"}) small.q->push(each);
  REQUIRE(small.q->journal_files().size() == 2);
  const std::string file = small.q->path("journal/1.fqj");
  write_at(file, read_whole(file).find("to-be-hit"), "?");
  small.disk.fill(400 * 1024);
  REQUIRE(keeps_room(*small.q));
  const auto repaired = small.door().check({.repair = true});
  REQUIRE(!repaired.ok());
  CHECK(repaired.error().kind == ErrorKind::later);
  CHECK(keeps_room(*small.q));
  CHECK(small.drain() == 2'007);
  small.disk.make_room();
  REQUIRE(small.door().check({.repair = true}).ok());
  small.q->check_clean();
}

TEST_CASE("a full disk with messages that wait for others is drained") {
  Small small("size=12m");
  if (!small.possible()) {
    leave_out("a small disk needs root");
    return;
  }
  const std::string text = "child";
  const NewMessage parent{.payload = as_bytes(text)};
  REQUIRE(small.push({&parent, 1}));
  const MessageId id{small.last};
  uint64_t accepted = 1;
  for (;; accepted += 100) {
    // Served from all files alike, so that none of them is empty before the end.
    std::vector<NewMessage> batch(100);
    for (size_t i = 0; i < batch.size(); ++i) {
      batch[i].payload = as_bytes(text);
      batch[i].after = {id};
      batch[i].priority = static_cast<int32_t>(i % 10);
    }
    if (!small.push(batch)) break;
  }
  CHECK(accepted > 5'000);
  CHECK(small.drain() == accepted);
  small.goes_on();
}

TEST_CASE("leases and releases without end leave on a full disk what acks and cancels need") {
  Small small("size=12m");
  if (!small.possible()) {
    leave_out("a small disk needs root");
    return;
  }
  small.q->sync_lazily();
  const std::string text(100, 'p');
  NewMessage delayed{.payload = as_bytes(text), .delay_ms = 1'000'000'000};
  REQUIRE(small.push({&delayed, 1}));
  const MessageId id{small.last};
  const NewMessage ready{.payload = as_bytes(text)};
  REQUIRE(small.push({&ready, 1}));
  const uint64_t rounds = is_long_form() ? 2'500'000 : 100'000;
  for (uint64_t i = 0; i < rounds; ++i) {
    if (i % 1'000 == 0) small.disk.fill();
    const Delivery held = small.q->lease();
    REQUIRE(small.q->settle(small.door(), {.receipt = held.receipt, .verdict = Verdict::release}) ==
            SettleStatus::ok);
  }
  small.disk.fill();
  CHECK(small.door().mutate(std::span(&id, 1), Action::cancel).value().changed == 1);
  CHECK(small.drain() == 1);
  small.goes_on();
}

TEST_CASE("what is written in several records goes on in the file that the first of them has opened") {
  Small small("size=12m");
  if (!small.possible()) {
    leave_out("a small disk needs root");
    return;
  }
  small.q->sync_lazily();
  SECTION("a step and the message that it pushes") {
    const NewMessage message{.payload = as_bytes("parent")};
    REQUIRE(small.push({&message, 1}));
    const Delivery held = small.q->lease();
    // The segment grows for it now, and not on the full disk.
    REQUIRE(small.door().steps()->keep(held.receipt, "first", as_bytes("done")).ok());
    leave_last_file(small, 60);
    const std::string name(kStepNameBytesMax, 'n');
    const auto pushed = small.door().steps()->push(held.receipt, name, {.payload = as_bytes("child")});
    INFO((pushed.ok() ? "" : pushed.error().text));
    REQUIRE(pushed.ok());
    CHECK(pushed->receipt == SettleStatus::ok);
  }
  SECTION("those that are held again behind what was kicked") {
    std::array<MessageId, 2> parents;
    for (MessageId& parent : parents) {
      const NewMessage message{.payload = as_bytes("parent")};
      REQUIRE(small.push({&message, 1}));
      parent = MessageId{small.last};
      NewMessage child{.payload = as_bytes("child")};
      child.after = {parent};
      REQUIRE(small.push({&child, 1}));
      const Delivery held = small.q->lease();
      REQUIRE(small.q->settle(small.door(), {.receipt = held.receipt, .verdict = Verdict::bury}) ==
              SettleStatus::ok);
    }
    REQUIRE(small.q->stats().dead == 4);
    leave_last_file(small, 100);
    CHECK(small.door().mutate(parents, Action::kick)->changed == 2);
    CHECK(small.q->stats().held == 2);
  }
  small.q->check_clean();
}

TEST_CASE("on a full disk what sleeps is given back beside what is acked") {
  Small small("size=12m");
  if (!small.possible()) {
    leave_out("a small disk needs root");
    return;
  }
  small.q->sync_lazily();
  const std::vector<NewMessage> jobs(40, NewMessage{.payload = as_bytes("job")});
  REQUIRE(small.push(jobs));
  std::vector<Settle> acks;
  for (const Delivery& each : small.q->lease_from(small.door(), {.want = jobs.size()}).deliveries)
    acks.push_back({.receipt = each.receipt});
  REQUIRE(acks.size() == jobs.size());
  for (size_t i = 1; i < acks.size(); ++i)
    REQUIRE(small.door().steps()->sleep(acks[i].receipt, "s", 1'000'000, 0)->receipt == SettleStatus::ok);
  small.disk.fill();
  // By somebody else: who settles has not met the full disk.
  const std::unique_ptr<Queue> other = small.q->open();
  const NewMessage filler{.tenant = "filler", .payload = as_bytes("f")};
  REQUIRE(other->push({&filler, 1}).ok());
  leave_last_file(small, 60);
  for (int i = 0; i < 4'000 && leaves_room(*small.q, Purpose::event); ++i) {
    const auto held = other->lease({.tenant = "filler"});
    REQUIRE(held->deliveries.size() == 1);
    const Settle back{.receipt = held->deliveries[0].receipt, .verdict = Verdict::release};
    REQUIRE(other->settle({&back, 1}).ok());
  }
  REQUIRE_FALSE(leaves_room(*small.q, Purpose::event));
  const auto settled = small.door().settle(acks);
  REQUIRE(settled.ok());
  CHECK_FALSE(settled->error);
  INFO((settled->error ? settled->error->text : ""));
  for (size_t i = 1; i < acks.size(); ++i) CHECK(settled->items.at(i) == SettleStatus::slept);
  CHECK(small.q->stats().delayed == 39);
  CHECK(keeps_room(*small.q));
  small.q->check_clean();
}

TEST_CASE("after a full disk neither a setting nor a held key makes a refusal last") {
  const bool with_keys = GENERATE(false, true);
  Small small("size=12m");
  if (!small.possible()) {
    leave_out("a small disk needs root");
    return;
  }
  small.q->sync_lazily();
  const std::string text(100, 'p');
  std::vector<std::string> keys;
  for (int i = 0; i < 3; ++i) keys.push_back("key " + std::to_string(i));
  uint64_t accepted = 0;
  if (with_keys) {
    for (const std::string& key : keys) {
      NewMessage message{.payload = as_bytes(text)};
      message.unique = key;
      message.unique_for_ms = 3'600'000;
      REQUIRE(small.push({&message, 1}));
      REQUIRE(small.q->ack(small.q->lease()) == SettleStatus::ok);
    }
  } else {
    REQUIRE(small.door().policy_set("acme", {.set = {{PolicyKey::weight, 2'000, 0, {}}}}).ok());
  }
  for (;; accepted += 50) {
    const std::vector<NewMessage> batch(50, NewMessage{.payload = as_bytes(text)});
    if (!small.push(batch)) break;
  }
  CHECK(small.drain(20) == accepted);
  small.goes_on();
}

TEST_CASE("pushes that are cancelled or replaced are never refused on a small disk") {
  Small small("size=12m");
  if (!small.possible()) {
    leave_out("a small disk needs root");
    return;
  }
  const std::string text(20'000, 'p');
  SECTION("cancelled") {
    for (int i = 0; i < 2'000; ++i) {
      const NewMessage message{.payload = as_bytes(text)};
      REQUIRE(small.push({&message, 1}));
      const MessageId id{small.last};
      REQUIRE(small.door().mutate(std::span(&id, 1), Action::cancel).ok());
    }
  }
  SECTION("debounced") {
    for (int i = 0; i < 2'000; ++i) {
      NewMessage message{.payload = as_bytes(text)};
      message.debounce = "key";
      message.quiet_ms = 1'000'000;
      REQUIRE(small.push({&message, 1}));
    }
  }
  small.q->check_clean();
}

TEST_CASE("whenever in a random life the disk becomes full, all of it can be ended, and pushes work again") {
  const uint64_t seed = seed_of_run();
  const uint64_t lives = number_of("FQ_LIVES", is_long_form() ? 200 : 6);
  std::printf("full lives: FQ_SEED=%llu, %llu lives\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(lives));
  uint64_t refused = 0;
  for (uint64_t i = 0; i < lives; ++i) {
    INFO("FQ_SEED=" << seed + i << " FQ_LIVES=1");
    Spool beside;
    SmallDisk disk(beside, "size=64m");
    if (!disk.mounted()) {
      leave_out("a small disk needs root");
      return;
    }
    Life life(seed + i, disk.path());
    std::mt19937_64 random(seed + i);
    life.live(static_cast<int>(random() % 800));
    // For a while there is little room, and then none.
    life.on_a_full_disk(true);
    disk.fill(random() % (4 * kMiB));
    life.live(static_cast<int>(random() % 800));
    disk.fill();
    // Until something was refused.
    for (int round = 0; round < 200 && life.refused() == 0; ++round) life.live(50);
    disk.fill();
    life.drain();
    refused += life.refused();
    disk.make_room();
    life.fixture().check_clean();
  }
  CHECK(refused > 0);
}

}  // namespace fq::test
