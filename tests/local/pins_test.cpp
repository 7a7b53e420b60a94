// pins_test - what only old records tell is carried forward as long as it is there, and costs nothing once it
// is gone.

// System.
#include <cstddef>
#include <fstream>
// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

constexpr size_t kPinned = 2'000;  // of each kind
constexpr size_t kAtOnce = 500;

void push_all(SpoolFixture& q, const std::function<void(NewMessage&, const std::string&)>& shape) {
  for (size_t done = 0; done < kPinned; done += kAtOnce) {
    std::vector<std::string> texts(kAtOnce);
    std::vector<NewMessage> batch(kAtOnce);
    for (size_t i = 0; i < kAtOnce; ++i) {
      texts[i] = std::to_string(done + i);
      batch[i].tenant = "t";
      batch[i].payload = as_bytes(texts[i]);
      shape(batch[i], texts[i]);
    }
    REQUIRE(q.door().push(batch, {.durability = Durability::lazy}).ok());
  }
}

void drain(SpoolFixture& q) {
  for (;;) {
    const LeaseReply leased = q.lease_from(q.door(), {.want = kAtOnce});
    if (leased.deliveries.empty()) return;
    std::vector<Settle> acks;
    for (const Delivery& each : leased.deliveries) acks.push_back({.receipt = each.receipt});
    REQUIRE(q.door().settle(acks).ok());
  }
}

void set_concurrency(SpoolFixture& q, size_t tenant, bool is_set) {
  PolicyPatch patch;
  if (is_set) patch.set = {{PolicyKey::concurrency, 5, 0, {}}};
  if (!is_set) patch.unset = {PolicyKey::concurrency};
  REQUIRE(q.door().policy_set("s" + std::to_string(tenant), patch).ok());
}

/// Whether old files are kept for what is told by none that is newer.
bool is_pinned(const SpoolFixture& q, size_t pin) {
  std::ifstream segment(q.path("segment"), std::ios::binary);
  uint64_t record = 0;
  segment.seekg(static_cast<std::streamoff>(pin + offsetof(Pin, record)));
  REQUIRE(segment.read(reinterpret_cast<char*>(&record), sizeof(record)));
  return record != 0;
}

/// Writes, and ends, as much as makes it worth while.
void compact(SpoolFixture& q) {
  for (int i = 0; i < 20; ++i) q.push(std::string(30'000, 'p'), Durability::lazy);
  drain(q);
  REQUIRE(q.door().compact().ok());
}

/// Once what `life` leaves behind is gone, nothing is looked through for it any more.
void check_unpinned(size_t pin, const std::function<void(SpoolFixture&)>& begin,
                    const std::function<void(SpoolFixture&)>& end) {
  SpoolFixture q;
  begin(q);
  for (int round = 0; round < 6; ++round) compact(q);
  const bool is_there = is_pinned(q, pin);
  end(q);
  for (int round = 0; round < 6; ++round) compact(q);
  CHECK(is_there);
  CHECK_FALSE(is_pinned(q, pin));
  q.check_clean();
  q.lose_segment();
  q.check_clean();
}

}  // namespace

TEST_CASE("what old records told and is gone keeps no file, and is looked for no more") {
  SECTION("keys") {
    check_unpinned(
        offsetof(SegmentHeader, kept_keys),
        [](SpoolFixture& q) {
          push_all(q, [](NewMessage& each, const std::string& own) {
            each.unique = own;
            each.unique_for_ms = 60'000;
          });
          drain(q);
        },
        [](SpoolFixture& q) { q.clock.advance(61'000); });
  }
  SECTION("settings") {
    check_unpinned(
        offsetof(SegmentHeader, run_time_settings),
        [](SpoolFixture& q) {
          for (size_t i = 0; i < 1'000; ++i) set_concurrency(q, i, true);
        },
        [](SpoolFixture& q) {
          for (size_t i = 0; i < 1'000; ++i) set_concurrency(q, i, false);
        });
  }
}

TEST_CASE("payloads that replaced others keep no file once they are written anew") {
  SpoolFixture q;
  for (int twice = 0; twice < 2; ++twice)
    push_all(q,
             [](NewMessage& each, const std::string& own) { each.debounce = own, each.quiet_ms = 60'000; });
  constexpr size_t kPin = offsetof(SegmentHeader, replaced);
  CHECK(is_pinned(q, kPin));
  for (int round = 0; round < 6; ++round) compact(q);
  CHECK_FALSE(is_pinned(q, kPin));
  q.check_clean();
  q.lose_segment();
  q.check_clean();
  q.clock.advance(61'000);
  drain(q);
  CHECK(q.stats().acked == kPinned + 6 * 20);
}

}  // namespace fq::test
