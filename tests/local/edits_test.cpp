// edits_test - what is told of a message that was edited often: each edit also carries what came before it.
//
// Counted is what is looked at (core/base/step_count.h), so the tests know no clock.

// fq, below us.
#include "core/base/step_count.h"
// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

#ifdef FQ_FAULT_POINTS
/// Of an event that is told: its record, and the one before an edit, which carries as much.
constexpr uint64_t kStepsOfEvent = 4;

uint64_t steps_of(const std::function<void()>& act) {
  const uint64_t before = StepCount::steps;
  act();
  return StepCount::steps - before;
}
#endif

void edit(SpoolFixture& q, uint64_t id, int32_t priority) {
  MessagePatch patch;
  patch.priority = priority;
  const auto edited = q.door().edit(MessageId{id}, patch);
  INFO((edited.ok() ? std::string() : edited.error().text));
  REQUIRE(edited.ok());
  REQUIRE(*edited == SettleStatus::ok);
}

/// One that has failed once and waits for its next run.
uint64_t push_failed(SpoolFixture& q) {
  const uint64_t id = q.push("m");
  Settle retry{.receipt = q.lease().receipt, .verdict = Verdict::retry, .reason = "no luck"};
  retry.delay_ms = 3'600'000;
  REQUIRE(q.settle(q.door(), retry) == SettleStatus::ok);
  return id;
}

std::string edits(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += " edited";
  return text;
}

}  // namespace

TEST_CASE("a message is edited however many are due before it, and nobody is said to change it") {
  SpoolFixture q;
  q.sync_lazily();
  constexpr size_t kMany = 210'000, kBatch = 1'000;
  std::vector<NewMessage> batch(kBatch);
  for (NewMessage& each : batch) each.delay_ms = 1'000;
  for (size_t pushed = 0; pushed < kMany; pushed += kBatch)
    REQUIRE(q.door().push(batch, {.durability = Durability::lazy}).ok());
  q.clock.advance(1'000);
  edit(q, kMany, 5);
  CHECK(q.get(kMany).priority == 5);
}

#ifdef FQ_FAULT_POINTS
TEST_CASE("a message that was edited often is told of, and edited once more, in steps as many as its edits") {
  SpoolFixture q;
  const uint64_t id = push_failed(q);
  std::string history;
  for (uint64_t n = 1; n <= 90; ++n) {
    const uint64_t to_edit = steps_of([&] { edit(q, id, static_cast<int32_t>(n)); });
    const uint64_t to_get = steps_of([&] { CHECK(q.get(id).last_error->reason == "no luck"); });
    const uint64_t to_tell = steps_of([&] { history = q.history(id); });
    INFO(n << " edits: the last " << to_edit << " steps, to get it " << to_get << ", its history "
           << to_tell);
    // An edit carries 16 events, and knows besides what it holds of order and limits.
    REQUIRE(to_edit <= 16 * kStepsOfEvent + 64);
    REQUIRE(to_get <= (n + 4) * kStepsOfEvent);
    REQUIRE(to_tell <= (n + 4) * kStepsOfEvent);
  }
  CHECK(history == "pushed leased retried" + edits(90));
  const uint64_t to_compact = steps_of([&] { REQUIRE(q.door().compact().ok()); });
  CHECK(to_compact <= 16 * kStepsOfEvent + 4'096);
}
#endif

TEST_CASE("what was edited is told by its edits, each event once, where older records are gone") {
  SpoolFixture q;
  const uint64_t id = push_failed(q);
  const auto before = GENERATE(size_t{0}, size_t{1}, size_t{5});
  for (size_t i = 0; i < before; ++i) edit(q, id, static_cast<int32_t>(i + 1));
  // Its item moves with each edit, so that no copy forward stands between its edits and what they carry.
  const std::string first = q.path("journal/1.fqj");
  const std::string payload(20'000, 'c');
  size_t after = 0;
  for (int i = 0; i < 2'000 && std::filesystem::exists(first); ++i) {
    q.push(payload, Durability::lazy, "churn");
    if (i % 100 == 50) edit(q, id, static_cast<int32_t>(100 + ++after));
    const LeaseReply leased = q.lease_from(q.door(), {.tenant = "churn"});
    REQUIRE(q.ack(leased.deliveries.at(0)) == SettleStatus::ok);
    REQUIRE(q.door().maintain(0).ok());
  }
  REQUIRE_FALSE(std::filesystem::exists(first));
  REQUIRE(after + before + 2 <= 16);
  CHECK(q.history(id) == "pushed leased retried" + edits(before + after));
  CHECK(q.get(id).last_error->reason == "no luck");
  q.lose_segment();
  CHECK(q.history(id) == "pushed leased retried" + edits(before + after));
  q.check_clean();
}

TEST_CASE("an edit carries why a message last failed, however often it came back since") {
  SpoolFixture q;
  const uint64_t id = push_failed(q);
  const auto come_back = [&] {
    for (int i = 0; i < 10; ++i)
      q.settle(q.door(), {.receipt = q.lease().receipt, .verdict = Verdict::release});
  };
  // The first file has the failure alone, and all that comes after it the next: that file goes with nothing
  // of it copied, and as many events as the edit carries are there without those before them.
  const std::string first = q.path("journal/1.fqj");
  for (int i = 0; i < 12; ++i) q.push(std::string(50'000, 'c'), Durability::always, "churn");
  q.clock.advance(3'600'000);
  const LeaseReply others = q.lease_from(q.door(), {.want = 12, .tenant = "churn"});
  come_back();
  edit(q, id, 1);
  for (const Delivery& other : others.deliveries) REQUIRE(q.ack(other) == SettleStatus::ok);
  for (int i = 0; i < 100 && std::filesystem::exists(first); ++i) REQUIRE(q.door().maintain(0).ok());
  REQUIRE_FALSE(std::filesystem::exists(first));
  CHECK(q.get(id).last_error.value_or(LastError{}).reason == "no luck");
  come_back();
  edit(q, id, 2);
  CHECK(q.get(id).last_error.value_or(LastError{}).reason == "no luck");
  q.lose_segment();
  CHECK(q.get(id).last_error.value_or(LastError{}).reason == "no luck");
  CHECK(q.get(id).attempts == 1);
  q.check_clean();
}

}  // namespace fq::test
