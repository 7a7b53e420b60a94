// segment_size_test - a segment that its queue has outgrown is replaced by a small one, and nobody can tell:
// how messages ended, what was counted and measured, what lives and in which order is as before.

// System.
#include <sys/stat.h>
// Tests.
#include "tests/process/inflated.h"
#include "tests/local/life.h"

namespace fq::test {

namespace {

constexpr uint64_t kMany = 200'000, kPerBatch = 500, kRemembered = 65'536;
constexpr uint64_t kSmall = 16 * kMiB;

uint64_t segment_bytes(const SpoolFixture& q) {
  struct stat status{};
  REQUIRE(::stat(q.path("segment").c_str(), &status) == 0);
  return static_cast<uint64_t>(status.st_blocks) * 512;
}

void push_many(SpoolFixture& q, uint64_t count) {
  for (uint64_t done = 0; done < count; done += kPerBatch) {
    std::vector<NewMessage> batch(kPerBatch);
    for (NewMessage& each : batch) each.payload = as_bytes("p");
    push_lazily(q.door(), batch);
  }
}

void ack_many(SpoolFixture& q, uint64_t count) {
  for (uint64_t done = 0; done < count; done += kPerBatch) {
    q.clock.advance(1);
    const LeaseReply leased =
        q.lease_from(q.door(), {.want = kPerBatch, .hold = Hold::duration, .hold_ms = 5'000});
    REQUIRE(leased.deliveries.size() == kPerBatch);
    std::vector<Settle> acks;
    for (const Delivery& each : leased.deliveries) acks.push_back({.receipt = each.receipt});
    REQUIRE(q.door().settle(acks).ok());
  }
}

/// What anybody can be told of a queue that is at rest.
std::string told(SpoolFixture& q, std::initializer_list<uint64_t> ids) {
  std::string text;
  for (const uint64_t id : ids) {
    const auto got = q.door().get(MessageId{id});
    REQUIRE(got.ok());
    text += std::to_string(id) + ": ";
    text += *got ? std::to_string(static_cast<int>((*got)->state)) + " after " + std::to_string((*got)->attempts) +
                       " " + q.history(id)
                 : "unknown";
    text += "\n";
  }
  const StatsRow row = q.stats();
  for (const uint64_t each : {row.ready, row.delayed, row.dead, row.pushed, row.popped, row.acked, row.cancelled,
                              row.buried, row.recoveries, row.wait_ms.count, row.wait_ms.sum_ms, row.run_ms.count})
    text += std::to_string(each) + " ";
  for (const auto& each : {row.wait_ms.p50, row.wait_ms.max, row.run_ms.p99})
    text += std::to_string(each.value_or(-1)) + " ";
  return text + std::to_string(row.acked_per_s->m15);
}

size_t files_in(const std::string& directory) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(directory), {}));
}

/// The handle is closed while another one is there, so that its end gives nothing back.
void close_beside_another(SpoolFixture& q) {
  const std::unique_ptr<Queue> other = q.open();
  q.reopen();
}

}  // namespace

TEST_CASE("an emptied queue's segment gives its pages back, and what ended is told as before") {
  SpoolFixture q;
  q.sync_lazily();
  push_many(q, kMany);
  const uint64_t peak = segment_bytes(q);
  CHECK(peak > kSmall);
  ack_many(q, kMany);
  const uint64_t last = q.push("cancelled", Durability::lazy);
  const MessageId cancelled{last};
  REQUIRE(q.door().mutate(std::span(&cancelled, 1), Action::cancel).ok());
  const auto ids = {last, last - 1, last - kRemembered + 1, last - kRemembered, uint64_t{1}};
  const std::string before = told(q, ids);
  CHECK(segment_bytes(q) >= peak);
  q.reopen();
  CHECK(segment_bytes(q) <= 9 * kMiB);
  CHECK(told(q, ids) == before);
  CHECK(q.door().take_notices().empty());
  q.check_clean();
  // What ends now takes the place of the oldest end.
  CHECK(q.push("on it goes") == last + 1);
  CHECK(q.drain() == "on it goes");
  CHECK(q.get(last + 1).state == State::acked);
  CHECK_FALSE(q.door().get(MessageId{last - kRemembered + 1}).value().has_value());
  CHECK(q.get(last - kRemembered + 2).state == State::acked);
  push_many(q, kMany);
  ack_many(q, kMany);
  q.reopen();
  CHECK(segment_bytes(q) <= 9 * kMiB);
  q.check_clean();
}

TEST_CASE("a segment that others use is not replaced, and is once they have gone") {
  SpoolFixture q;
  q.push("a");
  q.reopen();
  {
    // As one is left by whoever is killed: too large, and nobody attached.
    q.close();
    inflate(q.path("segment"), 20 * kMiB);
    q.reopen();
    CHECK(segment_bytes(q) < 2 * kMiB);
  }
  {
    const std::unique_ptr<Queue> other = q.open();
    inflate(q.path("segment"), 20 * kMiB);
    close_beside_another(q);
    CHECK(segment_bytes(q) >= 20 * kMiB);
    CHECK(q.push("b") == 2);
  }
  q.reopen();
  CHECK(segment_bytes(q) < 2 * kMiB);
  CHECK(q.drain() == "a b");
  q.check_clean();
}

TEST_CASE("what a rate has left is the same behind a smaller segment, which waits for that") {
  constexpr int64_t kHourMs = 3'600'000;
  SpoolFixture q;
  q.sync_lazily();
  REQUIRE(q.door().policy_set("a", {{{PolicyKey::rate, 1, kHourMs, {}}}, {}}).ok());
  q.push("one", Durability::lazy, "a");
  CHECK(q.ack(q.lease()) == SettleStatus::ok);
  // The record of that lease goes with the journal's first files.
  push_many(q, kMany);
  ack_many(q, kMany);
  q.push("two", Durability::lazy, "a");
  q.reopen();
  CHECK(q.lease_from(*q.open(), {.hold = Hold::duration}).deliveries.empty());
  CHECK(segment_bytes(q) > kSmall);
  q.clock.advance(kHourMs);
  q.reopen();
  CHECK(segment_bytes(q) <= 9 * kMiB);
  CHECK(q.drain() == "two");
  q.check_clean();
}

TEST_CASE("where no smaller segment can be made the queue goes on with the one that is there") {
  SpoolFixture q;
  q.push("a");
  q.close();
  inflate(q.path("segment"), 20 * kMiB);
  const std::string in_the_way = q.path("segment.new");
  std::filesystem::create_directories(in_the_way + "/and its contents");
  q.reopen();
  CHECK(q.door().take_notices().empty());
  CHECK(q.push("b") == 2);
  q.reopen();
  CHECK(segment_bytes(q) >= 20 * kMiB);
  std::filesystem::remove_all(in_the_way);
  q.reopen();
  CHECK(segment_bytes(q) < 2 * kMiB);
  CHECK(q.drain() == "a b");
  q.check_clean();
}

TEST_CASE("a segment stays large while its journal is longer than what is quickly replayed") {
  SpoolFixture q;
  q.push("a");
  const size_t first_file = offsetof(SegmentHeader, files) + 1 * sizeof(JournalSlot) + offsetof(JournalSlot, bytes);
  const uint64_t bytes = q.journal_files().at(1);
  q.close();
  inflate(q.path("segment"), 20 * kMiB);
  q.write_header(first_file, uint64_t{257 * kMiB});
  q.reopen();
  CHECK(segment_bytes(q) >= 20 * kMiB);
  q.write_header(first_file, bytes);
  q.reopen();
  CHECK(segment_bytes(q) < 2 * kMiB);
  CHECK(q.drain() == "a");
  q.check_clean();
}

TEST_CASE("what lives, waits and is held is the same in the smaller segment") {
  SpoolFixture q;
  const std::string payload = "p";
  NewMessage late{.tenant = "late", .payload = as_bytes(payload), .delay_ms = 5'000};
  NewMessage keyed{.tenant = "keyed", .payload = as_bytes(payload)};
  keyed.unique = "k";
  keyed.unique_for_ms = 3'600'000;
  push_lazily(q.door(), {&late, 1});
  push_lazily(q.door(), {&keyed, 1});
  NewMessage after{.tenant = "after", .payload = as_bytes(payload)};
  after.after = {MessageId{2}};
  push_lazily(q.door(), {&after, 1});
  for (const char* each : {"first", "second", "third"}) q.push(each, Durability::lazy, "t");
  REQUIRE(q.door().policy_set("t", {.set = {{PolicyKey::weight, 2'000, 0, {}}}}).ok());
  const LeaseReply leased =
      q.lease_from(q.door(), {.hold = Hold::duration, .hold_ms = 5'000, .tenant = "keyed"});
  const Receipt held = leased.deliveries.at(0).receipt;
  q.close();
  inflate(q.path("segment"), 20 * kMiB);
  q.reopen();
  // What is leased may be settled by who has the receipt: it stays as it is.
  CHECK(segment_bytes(q) >= 20 * kMiB);
  CHECK(q.settle(q.door(), {.receipt = held, .verdict = Verdict::release}) == SettleStatus::ok);
  const std::string before = told(q, {1, 2, 3, 4, 5, 6, 7});
  q.reopen();
  CHECK(segment_bytes(q) < 2 * kMiB);
  q.check_clean();
  CHECK(told(q, {1, 2, 3, 4, 5, 6, 7}) == before);
  CHECK(push_lazily(q.door(), {&keyed, 1}).items.at(0).status == PushStatus::duplicate);
  CHECK(q.door().policy_overrides({}, 10).value().overrides.size() == 1);
  q.clock.advance(10'000);
  CHECK(q.stats().held == 1);
  CHECK(q.drain() != "");
  CHECK(q.stats().ready + q.stats().held + q.stats().delayed == 0);
}

TEST_CASE("a segment that was made smaller often leaves no descriptor and no file behind") {
  SpoolFixture q;
  q.push("a");
  q.reopen();
  const size_t files = files_in("/proc/self/fd");
  size_t names = 0;
  for (int i = 0; i < 100; ++i) {
    q.close();
    inflate(q.path("segment"), 20 * kMiB);
    q.reopen();
    REQUIRE(segment_bytes(q) < 2 * kMiB);
    if (i == 0) names = files_in(q.path(""));
  }
  CHECK(files_in("/proc/self/fd") == files);
  CHECK(files_in(q.path("")) == names);
  CHECK(q.stats().recoveries == 0);
  CHECK(q.drain() == "a");
}

}  // namespace fq::test
