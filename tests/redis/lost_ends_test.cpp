// lost_ends_test - a server comes back without its last writes, and with them it has lost what a client gave
// back: nothing of that is kept for a client that lives.
#include "core/redis/shard/holdings.h"

// System.
#include <atomic>
#include <chrono>
#include <future>
// Tests.
#include "tests/redis/relay.h"
#include "tests/redis/sharded_fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

using What = FollowStep::What;

constexpr int64_t kHeardAgainMs = 20'000;  // a client says each 5 s what it has; on a busy machine

/// What is changed in a scope is lost at its end.
class LostWrites {
 public:
  explicit LostWrites(TestServer& server) : server_(server) { command(server, {"SAVE"}); }
  ~LostWrites() {
    server_.kill();
    server_.start();
  }
  LostWrites(const LostWrites&) = delete;
  LostWrites& operator=(const LostWrites&) = delete;

 private:
  TestServer& server_;
};

LeaseRequest held_by_living(size_t want) {
  LeaseRequest request;
  request.want = want;
  return request;
}

SettleReply ack_all(Queue& queue, std::span<const Delivery> deliveries) {
  std::vector<Settle> items(deliveries.size());
  for (size_t i = 0; i < items.size(); ++i) items[i].receipt = deliveries[i].receipt;
  return answered(queue.settle(items));
}

uint64_t leased(Queue& queue) { return answered(queue.stats({})).rows.at(0).leased; }

}  // namespace

TEST_CASE("what a server holds again for a living client, whose acks it lost, comes back; the rest stays") {
  const uint32_t shards = GENERATE(1U, 4U);
  Sharded s(shards);
  const auto worker = s.another();
  std::vector<NewMessage> messages;
  std::vector<std::string> tenants;
  for (int i = 0; i < 200; ++i) tenants.push_back("t" + std::to_string(i % 20));
  for (const std::string& tenant : tenants) messages.push_back(message_for(tenant));
  answered(s.queue->push(messages));
  const LeaseReply taken = answered(worker->lease(held_by_living(messages.size())));
  REQUIRE(taken.deliveries.size() == messages.size());
  const size_t kept = 3;
  {
    const LostWrites lost(s.server);
    ack_all(*worker, std::span(taken.deliveries).subspan(kept));
    REQUIRE(leased(*s.queue) == kept);
  }
  CHECK(leased(*s.queue) == messages.size());  // else nothing was lost
  wait_until([&] { return leased(*s.queue) == kept; });
  LeaseReply again = answered(s.queue->lease(held_by_living(messages.size())));
  CHECK(again.deliveries.size() == messages.size() - kept);
  for (const Delivery& each : again.deliveries) CHECK((each.attempt == 1 && each.crashes == 0));
  const SettleReply own = ack_all(*worker, std::span(taken.deliveries).first(kept));
  for (const SettleStatus each : own.items) CHECK(each == SettleStatus::ok);
  CHECK(answered(s.queue->check({})).findings.empty());
}

TEST_CASE(
    "a worker whose attendance a server has lost says it again, and so does one that has leased there "
    "since") {
  const bool leases = GENERATE(false, true);
  Sharded s(leases ? 4 : 1);
  const auto worker = s.another();
  push_one(*s.queue, "t", "x");
  {
    const LostWrites lost(s.server);
    REQUIRE(worker->attend({.slots = 3, .messages = 2}).ok());
    REQUIRE(answered(s.queue->attendees()).size() == 1);
  }
  CHECK(answered(s.queue->attendees()).empty());
  if (leases) REQUIRE(answered(worker->lease(held_by_living(1))).deliveries.size() == 1);
  const auto slots = [&] {
    const std::vector<Attendee> all = answered(s.queue->attendees());
    return all.empty() ? 0 : all.at(0).slots;
  };
  CHECK(slots() == 0);
  wait_until([&] { return slots() == 3; });
  CHECK(leased(*s.queue) == (leases ? 1 : 0));
}

TEST_CASE("nor is what a client was told to be over, by news or by an extension") {
  Sharded s(1);
  const auto worker = s.another();
  push_one(*s.queue, "t", "x");
  LeaseRequest request = held_by_living(1);
  request.watch = true;
  const LeaseReply taken = answered(worker->lease(request));
  const bool is_extended = GENERATE(false, true);
  {
    const LostWrites lost(s.server);
    const MessageId ids[] = {taken.deliveries.at(0).id};
    answered(s.queue->mutate(ids, Action::cancel));
    if (is_extended) {
      const Receipt receipts[] = {taken.deliveries[0].receipt};
      CHECK(answered(worker->extend(receipts, 1'000)).at(0).status == SettleStatus::gone);
    } else {
      request.want = 0;
      CHECK(answered(worker->lease(request)).changes.size() == 1);
    }
  }
  CHECK(leased(*s.queue) == 1);
  wait_until([&] { return leased(*s.queue) == 0; });
}

TEST_CASE("what a client is given while it says what it has is not taken back") {
  Sharded s(1);
  const auto calls = [&] { return command(s.server, {"HGET", tag_of(s.server, 0) + "h", "ops"}).text; };
  std::unique_ptr<Queue> worker;
  LeaseReply meanwhile;
  std::string calls_before;
  std::atomic<bool> has_said = false;
  const Relay relay(s.server, [&](const std::string& asked) {
    if (asked.find("\r\nholds\r\n") == std::string::npos || has_said) return std::string();
    meanwhile = answered(worker->lease(held_by_living(1)));
    calls_before = calls();
    has_said = true;
    return std::string();
  });
  worker = open_on(real_time_engine(), relay.spool());
  for (const std::string_view payload : {"before", "meanwhile"}) push_one(*s.queue, "t", payload);
  const LeaseReply before = answered(worker->lease(held_by_living(1)));
  wait_until([&] { return has_said && calls() != calls_before; });
  CHECK(leased(*s.queue) == 2);
  CHECK(ack_all(*worker, before.deliveries).items.at(0) == SettleStatus::ok);
  CHECK(ack_all(*worker, meanwhile.deliveries).items.at(0) == SettleStatus::ok);
  worker.reset();
}

TEST_CASE("a run and a call whose ends were lost are over; a run that goes on is not") {
  Sharded s(1);
  const auto worker = s.another(), caller = s.another();
  std::vector<MessageId> ids;
  std::vector<std::shared_ptr<RunOutput>> runs;
  const CallId call = answered(caller->begin_call("t"));
  for (const std::string_view tenant : {"ends", "goes on"}) {
    NewMessage message = message_for(tenant);
    message.call = call;
    ids.push_back(answered(s.queue->push({&message, 1})).items.at(0).id);
  }
  const LeaseReply taken = answered(worker->lease(held_by_living(2)));
  for (const Delivery& each : taken.deliveries) {
    runs.push_back(answered(worker->run_output(each, {})));
    answered(runs.back()->open());
  }
  auto follower = answered(caller->follow(ids[0], call));
  {
    const LostWrites lost(s.server);
    runs[0]->close();
    runs[0].reset();
    ack_all(*worker, std::span(taken.deliveries).first(1));
    follower.reset();
    CHECK(keys_of(s.server, "*}:ca").empty());
  }
  CHECK(keys_of(s.server, "*}:ca").size() == 1);
  const auto follows = [&](MessageId id) { return answered(s.queue->follow(id, {})); };
  const auto ended = follows(ids[0]), going_on = follows(ids[1]);
  CHECK(answered(ended->next({.wait_ms = 0})).what == What::run);
  CHECK(answered(going_on->next({.wait_ms = 0})).what == What::run);
  CHECK(answered(ended->next({.wait_ms = kHeardAgainMs})).what == What::broken_off);
  wait_until([&] { return keys_of(s.server, "*}:ca").empty(); });
  CHECK(answered(going_on->next({.wait_ms = 0})).what == What::timed_out);
  runs[1]->write(Channel::out, "still");
  CHECK(answered(going_on->next({.wait_ms = kHeardAgainMs})).bytes == "still");
}

TEST_CASE("a server is told again what there is when another one has heard of an end", "[threads]") {
  Holdings holdings;
  CHECK(!holdings.is_told("a"));
  holdings.note_lease(1, 10, true);
  holdings.note_lease(2, 11, true);
  holdings.note_lease(3, 12, false);
  const Holdings::Words words = holdings.begin_telling();
  CHECK(words.heard_serial == "12");
  CHECK(words.leases.size() == 32);
  holdings.end_telling("a");
  CHECK(holdings.is_told("a"));
  CHECK(!holdings.is_told("b"));

  holdings.end_lease(1, 9, "b");  // an older one of that message
  CHECK(holdings.is_told("a"));
  holdings.end_lease(1, 10, "a");
  CHECK(holdings.is_told("a"));
  holdings.end_lease(2, 11, "b");
  CHECK(!holdings.is_told("a"));

  SECTION("also where that ended while it was told") {
    holdings.begin_run("1:1");
    holdings.begin_telling();
    holdings.end_run("1:1", "b");
    holdings.end_telling("a");
    CHECK(!holdings.is_told("a"));
  }
  SECTION("what begins while it is told waits for the end of that, and is told the next time") {
    const bool is_heard = GENERATE(true, false);
    CHECK(holdings.begin_telling().runs.empty());
    auto begun = std::async(std::launch::async, [&] { holdings.begin_run("2:1"); });
    CHECK(begun.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
    holdings.end_telling(is_heard ? "a" : "");
    begun.get();
    CHECK(holdings.is_told("a") == is_heard);
    CHECK(holdings.begin_telling().runs == "2:1 ");
    holdings.end_telling("a");
  }
  SECTION("and where none has") {
    holdings.begin_call("7");
    CHECK(holdings.begin_telling().calls == "7 ");
    holdings.end_telling("a");
    holdings.end_call("7", "");
    CHECK(!holdings.is_told("a"));
    CHECK(holdings.begin_telling().calls.empty());
    holdings.end_telling("a");
    CHECK(holdings.is_told("a"));
  }
}

}  // namespace fq::test
