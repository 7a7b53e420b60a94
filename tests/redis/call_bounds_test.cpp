// call_bounds_test - one call of the server's program does so much and no more, however much there is to do:
// nobody else is answered meanwhile.

// Tests.
#include "tests/redis/dead_client.h"
#include "tests/redis/sharded_fixture.h"

namespace fq::test {

namespace {

const std::string kBounded = "fq1:fq:{default:0:0}:";
constexpr int64_t kStepsOfCall = 1'024;  // of messages that came after others: see ends.lua
constexpr int64_t kHeldOfCall = 256;     // of sessions that are over: see calls.lua

int64_t members_of(const TestServer& server, const std::string& list) {
  return command(server, {"ZCARD", kBounded + list}).number;
}

/// One call of a client that does nothing but that, by its own hand: a queue would go on until all is done.
Reply call_bounded(const TestServer& server, FakeClock& clock, std::vector<std::string> words) {
  command(server, {"HSET", kBounded + "h", "clock", std::to_string(clock.boot_ms())});
  const std::string run = command(server, {"HGET", kBounded + "h", "run"}).text;
  std::vector<std::string> all = {
      "FCALL", std::string(told_time_library().name) + "_change", "2", kBounded + "h", kBounded + "c", run};
  all.insert(all.end(), words.begin(), words.end());
  const Reply reply = command(server, {all.begin(), all.end()});
  REQUIRE(reply.kind != Reply::Kind::error);
  return reply;
}

void push_copies(Queue& queue, size_t count, const NewMessage& message) {
  const std::vector<NewMessage> batch(500, message);
  for (size_t pushed = 0; pushed < count; pushed += batch.size())
    answered(queue.push({batch.data(), std::min(batch.size(), count - pushed)}));
}

}  // namespace

TEST_CASE("a call settles so many that came after others, however many ids it is given") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  constexpr int64_t kChildren = 3 * kStepsOfCall;
  const MessageId parent = push_one(*queue, "p", "parent");
  std::vector<std::string> cancel = {"nonce123456", "cancel", "-1", std::to_string(number(parent))};
  for (int i = 0; i < 64; ++i) cancel.push_back(std::to_string(number(push_one(*queue, "o", "other"))));
  NewMessage child = message_for("c");
  child.after = {parent};
  push_copies(*queue, kChildren, child);
  REQUIRE(members_of(server, "hd") == kChildren);
  call_bounded(server, clock, cancel);
  CHECK(members_of(server, "d") == kStepsOfCall);
  // Of what has ended only that is kept for the next call that others wait for.
  CHECK(command(server, {"HSTRLEN", kBounded + "h", "ended"}).number == 8);
  call_bounded(server, clock, {"nonce123456", "cancel", "-1"});
  CHECK(members_of(server, "d") == 2 * kStepsOfCall);
  CHECK(answered(queue->lease(for_a_minute())).deliveries.empty());  // that goes on until all is done
  CHECK(members_of(server, "d") == kChildren);
  CHECK(members_of(server, "hd") == 0);
  CHECK(answered(queue->check()).findings.lines.empty());
}

TEST_CASE("a call holds so many again that died with one that lives again") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  constexpr int64_t kChildren = 2 * kStepsOfCall + 10;
  NewMessage child = message_for("c");
  child.after = {push_one(*queue, "p", "parent")};
  push_copies(*queue, kChildren, child);
  Settle verdict;
  verdict.receipt = answered(queue->lease(for_a_minute())).deliveries.at(0).receipt;
  verdict.verdict = Verdict::bury;
  answered(queue->settle({&verdict, 1}));
  CHECK(answered(queue->lease(for_a_minute())).deliveries.empty());
  REQUIRE(members_of(server, "d") == kChildren + 1);
  call_bounded(server, clock, {"nonce123456", "kick", "-1", std::to_string(number(child.after[0]))});
  CHECK(members_of(server, "hd") == kStepsOfCall);
  call_bounded(server, clock, {"nonce123456", "cancel", "-1"});
  CHECK(members_of(server, "hd") == 2 * kStepsOfCall);
  CHECK(answered(queue->lease(for_a_minute())).deliveries.size() == 1);
  CHECK(members_of(server, "hd") == kChildren);
  CHECK(members_of(server, "d") == 0);
  CHECK(answered(queue->check()).findings.lines.empty());
}

TEST_CASE("a call looks at so many that died with another as well, and goes on behind them") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  constexpr int64_t kChildren = 2 * kStepsOfCall + 10;
  const auto bury_first = [&] {
    Settle verdict;
    verdict.receipt = answered(queue->lease(for_a_minute())).deliveries.at(0).receipt;
    verdict.verdict = Verdict::bury;
    answered(queue->settle({&verdict, 1}));
  };
  NewMessage child = message_for("c");
  child.after = {push_one(*queue, "p", "one"), push_one(*queue, "p", "other")};
  push_copies(*queue, kChildren, child);
  bury_first();
  bury_first();
  CHECK(answered(queue->lease(for_a_minute())).deliveries.empty());
  REQUIRE(members_of(server, "d") == kChildren + 2);
  const auto name_of = [&](size_t parent) { return std::to_string(number(child.after.at(parent))); };
  const auto looked_at_by = [&](size_t parent) { return members_of(server, "y:" + name_of(parent)); };
  call_bounded(server, clock, {"nonce123456", "kick", "-1", name_of(0)});
  CHECK(looked_at_by(0) == kChildren - kStepsOfCall);
  call_bounded(server, clock, {"nonce123456", "cancel", "-1"});
  CHECK(looked_at_by(0) == kChildren - 2 * kStepsOfCall);
  CHECK(answered(queue->stats({})).rows.at(0).dead == kChildren + 1);
  CHECK(answered(queue->mutate({&child.after.at(1), 1}, Action::kick)).changed == 1);
  CHECK(answered(queue->lease(for_a_minute(3))).deliveries.size() == 2);
  CHECK(members_of(server, "hd") == kChildren);
  CHECK(looked_at_by(0) + looked_at_by(1) == 0);
  CHECK(answered(queue->check()).findings.lines.empty());
}

TEST_CASE("a call takes back so much of sessions that are over, and the next ones the rest") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  constexpr size_t kTaken = 3 * kHeldOfCall - 10;
  push_copies(*queue, kTaken, message_for("t"));
  take_and_die(server, clock, kTaken / 2);
  take_and_die(server, clock, kTaken - kTaken / 2);
  REQUIRE(members_of(server, "lv") == kTaken);
  time_goes_by(server, clock, 15'000);
  call_bounded(server, clock, {"nonce123456", "cancel", "-1"});
  CHECK(members_of(server, "lv") == kTaken - kHeldOfCall);
  call_bounded(server, clock, {"nonce123456", "cancel", "-1"});
  CHECK(members_of(server, "lv") == kTaken - 2 * kHeldOfCall);
  CHECK(answered(queue->lease({.want = 0})).deliveries.empty());
  CHECK(members_of(server, "lv") == 0);
  CHECK(answered(queue->check()).findings.lines.empty());
}

TEST_CASE("all that a client held comes back when it says that it leaves, however much that is") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  constexpr size_t kTaken = 2 * kHeldOfCall + 10;
  push_copies(*queue, kTaken, message_for("t"));
  auto other = open_on(told_time_engine(), server.spool(), &clock);
  while (!answered(other->lease({.want = kTaken})).deliveries.empty()) continue;
  REQUIRE(members_of(server, "lv") == kTaken);
  other.reset();
  CHECK(members_of(server, "lv") == 0);
  CHECK(answered(queue->attendees()).empty());
  CHECK(answered(queue->check()).findings.lines.empty());
}

TEST_CASE("a push behind very many timers that come due at one moment waits for them, and is not refused") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  constexpr size_t kTimers = 7'000;  // more than a hundred calls do
  NewMessage later = message_for("a");
  later.delay_ms = 10'000;
  push_copies(*queue, kTimers, later);
  clock.advance(10'000);
  push_one(*queue, "b", "now");
  CHECK(members_of(server, "t") == 0);
  CHECK(members_of(server, "q:a") == kTimers);
}

TEST_CASE("a group that has as many as a call takes is served at once, and the others gather on") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  PolicyValues values = {{PolicyKey::linger, 3'600'000, 0, {}}};
  if (GENERATE(true, false)) values.push_back({PolicyKey::batch, 5'000, 0, {}});
  answered(queue->policy_load({values, {}, {}}, {.inode = 1}));
  LeaseRequest grouped = for_a_minute();
  grouped.grouped = true;
  push_copies(*queue, 4'095, message_for("t"));
  CHECK(answered(queue->lease(grouped)).deliveries.empty());
  push_copies(*queue, 2, message_for("t"));
  CHECK(answered(queue->lease(grouped)).deliveries.size() == 4'096);
  CHECK(answered(queue->lease(grouped)).deliveries.empty());
}

TEST_CASE(
    "a check and a repair of messages that wait for many look at so many places in one call, and at all") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  constexpr int64_t kHeld = 1'000, kWaits = 64, kPlacesOfCall = 2'048;  // see check.lua
  NewMessage child = message_for("c");
  for (int i = 0; i < kWaits; ++i) child.after.push_back(push_one(*queue, "p", "parent"));
  push_copies(*queue, kHeld, child);
  REQUIRE(members_of(server, "hd") == kHeld);
  const auto scores_of_calls = [&](bool repair) {
    command(server, {"CONFIG", "RESETSTAT"});
    CHECK(answered(queue->check({.repair = repair})).findings.empty());
    const std::string stats = command(server, {"INFO", "commandstats"}).text;
    const auto count = [&](const std::string& name) {
      const size_t at = stats.find("cmdstat_" + name + ":calls=");
      return at == std::string::npos ? 0 : std::strtoll(stats.c_str() + stats.find('=', at) + 1, nullptr, 10);
    };
    return std::pair(count("zscore"), repair ? count("fcall") : count("fcall_ro"));
  };
  const bool repair = GENERATE(false, true);
  const auto [scores, calls] = scores_of_calls(repair);
  CHECK(scores >= kHeld * kWaits);
  CHECK(calls >= kHeld * kWaits / kPlacesOfCall);
  // One that was lost behind the first page is found.
  const std::string id = std::to_string(number(child.after.back()));
  const std::string member = command(server, {"ZRANGE", kBounded + "w:" + id, "-1", "-1"}).items.at(0).text;
  command(server, {"ZREM", kBounded + "w:" + id, member});
  CHECK(answered(queue->check()).findings.lines.size() == 1);
  CHECK(answered(queue->check({.repair = true})).findings.empty());
  CHECK(answered(queue->check()).findings.empty());
}

}  // namespace fq::test
