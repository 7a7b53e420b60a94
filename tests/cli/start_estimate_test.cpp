// start_estimate_test - about when a message starts, and when nothing can be said.
#include "cli/views/start_estimate.h"

// Tests.
#include "tests/catch.h"

namespace fq::cli {

namespace {

constexpr int64_t kNow = 1'000'000;

Explanation at_place(uint64_t place) {
  Explanation of;
  of.id = MessageId{7};
  of.tenant = "acme";
  of.place = place;
  return of;
}

/// Two workers with two slots each, and runs of 10 s.
Measured four_slots(uint64_t busy) { return {{2, 4, busy}, 10, 100'000}; }

std::string told(const Explanation& of, const Measured& measured) {
  const std::optional<StartEstimate> start = estimate_start(of, measured, kNow);
  return start ? std::to_string(start->at_wall_ms - kNow) + ": " + start->ground : "nothing";
}

Reason rate_of(const std::string& node, int64_t interval_ms) {
  Reason reason;
  reason.kind = Reason::Kind::rate;
  reason.node = node;
  reason.interval_ns = interval_ms * 1'000'000;
  reason.until_wall_ms = kNow + 500;
  return reason;
}

}  // namespace

TEST_CASE("a message for which a slot is free starts now") {
  CHECK(told(at_place(1), four_slots(3)) == "0: a slot is free");
  CHECK(told(at_place(4), four_slots(0)) == "0: a slot is free");
  CHECK(told(at_place(1), {{2, 0, 0, 2}, 10, 100'000}) == "nothing");  // of those that are stopped none is
}

TEST_CASE("those before it are run by all slots, as long as runs took on average") {
  CHECK(told(at_place(1), four_slots(4)) == "2500: 0 before it, 4 slots, 10s a run");
  CHECK(told(at_place(8), four_slots(4)) == "20000: 7 before it, 4 slots, 10s a run");
  CHECK(told(at_place(8), four_slots(0)) == "10000: 7 before it, 4 slots, 10s a run");
  Explanation far = at_place(0);
  far.place.reset();
  far.place_max = 1000;
  CHECK(told(far, four_slots(4)) == "2500000: at most 999 before it, 4 slots, 10s a run");
}

TEST_CASE("where there is no ground nothing is estimated") {
  CHECK(told(at_place(5), {{0, 0, 0}, 10, 100'000}) == "nothing");
  CHECK(told(at_place(5), {{2, 4, 4}, 2, 20'000}) == "nothing");
  CHECK(told(at_place(UINT64_MAX), four_slots(4)) == "nothing");
  Explanation of = at_place(5);
  of.limited = true;
  CHECK(told(of, four_slots(4)) == "nothing");
  of = at_place(5);
  of.state = State::delayed;
  CHECK(told(of, four_slots(4)) == "nothing");
  of = at_place(5);
  of.reasons.emplace_back().kind = Reason::Kind::paused;
  of.ahead = 0;
  CHECK(told(of, four_slots(0)) == "nothing");
}

TEST_CASE("its tenant's own rate tells, where it is all that keeps it") {
  Explanation of = at_place(0);
  of.place.reset();
  of.ahead = 3;
  of.reasons = {rate_of("acme", 60'000)};
  CHECK(told(of, four_slots(0)) == "180500: 3 before it in its tenant, by its rate");
  of.reasons = {rate_of("acme", 60'000), rate_of("", 1'000)};
  CHECK(told(of, four_slots(0)) == "nothing");
  of.reasons = {rate_of("acme", 60'000)};
  of.ahead = UINT64_MAX - 1;
  CHECK(told(of, four_slots(0)) == "nothing");
}

TEST_CASE("who works is told with how many slots are busy") {
  CHECK(hands_text({}) == "no worker attached");
  CHECK(hands_text({1, 1, 0}) == "1 worker, its one slot free");
  CHECK(hands_text({1, 1, 1}) == "1 worker, its one slot busy");
  CHECK(hands_text({2, 4, 1}) == "2 workers, 1 of 4 slots busy");
  CHECK(hands_text({2, 4, 4}) == "2 workers, all 4 slots busy");
  CHECK(hands_text({3, 2, 1, 1}) == "3 workers (1 stopped), 1 of 2 slots busy");
  CHECK(hands_text({1, 0, 0, 1}) == "1 worker, stopped");
  CHECK(hands_text({2, 0, 0, 2}) == "2 workers, all stopped");
}

}  // namespace fq::cli
