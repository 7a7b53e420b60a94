// much_due_test - one shard has more due than servers do in many calls: that is no matter of the others.

// System.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <future>
#include <set>
// fq, below us.
#include "core/base/descriptor.h"
#include "core/redis/guard/guard_words.h"
#include "core/redis/guard/packet.h"
// Tests.
#include "tests/redis/relay.h"
#include "tests/redis/sharded_fixture.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

constexpr int64_t kLeastMs = 5'000;  // of the 15 s of a session, for who is heard each 5 s: 10, and no less
                                     // than this where a machine is slow for as long as that

/// Of servers that do so much in a call of what is due.
template <int kFired>
const RedisEngine& engine_of() {
  static const std::string text = [] {
    const std::string_view line = "local FIRED = 64";
    std::string all(redis_library().text);
    return all.replace(all.find(line), line.size(), "local FIRED = " + std::to_string(kFired));
  }();
  static const fq::Library library{redis_library().name, text, redis_library().commands};
  static const RedisEngine engine(library, no_password, false, nullptr, a_command_key);
  return engine;
}

/// That never come to an end of it.
const RedisEngine& slow_engine() { return engine_of<0>(); }

/// Two shards, and a message in each that somebody holds by living; then more is due in the second one for
/// ever.
struct MuchDue {
  MuchDue() {
    for (size_t shard = 0; shard < accounts.size(); ++shard) accounts.at(shard) = account_in(*s.queue, shard);
    for (const std::string& account : accounts) held.push_back(push_one(*s.queue, account, "held"));
  }

  void hold(Queue& by) const {
    LeaseRequest by_living;
    by_living.want = held.size();
    for (size_t count = 0; count < held.size();) count += by.lease(by_living).value().deliveries.size();
  }
  /// In a process that is dead then.
  void hold_and_die() const {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto queue = s.another();
      hold(*queue);
      ::_exit(0);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
  }
  std::string nonce() const {
    const Reply sessions = command(s.server, {"ZRANGE", tag_of(s.server, 0) + "s", "0", "-1"});
    REQUIRE(sessions.items.size() == 1);
    return sessions.at(0).text;
  }
  void begin() {
    NewMessage late = message_for(accounts[1]);
    late.delay_ms = 1;
    REQUIRE(!answered(s.queue->push({&late, 1})).error);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  /// So long the session has at least on the other shard, in so much time.
  int64_t least_left_ms(int64_t watch_ms) const {
    const std::string sessions = tag_of(s.server, 0) + "s", nonce = this->nonce();
    int64_t least = INT64_MAX;
    for (const int64_t end_ms = system_clock().boot_ms() + watch_ms; system_clock().boot_ms() < end_ms;) {
      const Reply time = command(s.server, {"TIME"});
      const Reply end = command(s.server, {"ZSCORE", sessions, nonce});
      if (!end.is_text()) return 0;
      const int64_t now_ms = std::stoll(time.at(0).text) * 1'000 + std::stoll(time.at(1).text) / 1'000;
      least = std::min(least, static_cast<int64_t>(std::stod(end.text)) - now_ms);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return least;
  }

  Sharded s{2, slow_engine()};
  std::array<std::string, 2> accounts;
  std::vector<MessageId> held;
};

}  // namespace

TEST_CASE("who lives is heard on each shard while one of them has much that is due") {
  MuchDue m;
  std::atomic<int> holds{0};
  const Relay relay(m.s.server, [&](const std::string& asked) {
    for (size_t at = 0; (at = asked.find("holds", at)) != std::string::npos; ++at) ++holds;
    return std::string();
  });
  const auto queue = open_on(slow_engine(), relay.spool());
  m.hold(*queue);
  m.begin();
  CHECK(m.least_left_ms(14'000) > kLeastMs);
  CHECK(holds >= 3);  // one to the other shard, and one in each round to this, which cannot hear it yet
  command(m.s.server, {"FLUSHALL"});
}

TEST_CASE("what a dead worker's job has left stays its own while another shard has much that is due") {
  MuchDue m;
  m.hold_and_die();
  m.begin();
  int ends[2], job[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  REQUIRE(::pipe2(job, O_CLOEXEC) == 0);
  Descriptor workers(ends[0]), guards(ends[1]), its(job[0]), jobs(job[1]);
  const GuardedWorker worker{
      m.s.server.spool(), "", m.nonce(), {tag_of(m.s.server, 0), tag_of(m.s.server, 1)}, ::getpid()};
  answered(send_packet(workers, packet_of(worker), -1));
  answered(send_packet(workers, packet_of({&m.held[0], 1}, {}), its.get()));
  its.close();
  const pid_t guard = ::fork();
  if (guard == 0) {
    workers.close();
    jobs.close();
    static_cast<void>(slow_engine().guard(std::move(guards)));
    ::_exit(0);
  }
  workers.close();
  CHECK(m.least_left_ms(17'000) > kLeastMs);
  CHECK(::waitpid(guard, nullptr, WNOHANG) == 0);  // it is at it still, and would be until servers have given up
  ::kill(guard, SIGKILL);
  ::waitpid(guard, nullptr, 0);
}

TEST_CASE("all verdicts of other shards are given while one of them has much that is due", "[threads]") {
  MuchDue m;
  constexpr size_t kMany = 1'100;  // more than one call takes
  const std::vector<NewMessage> messages(kMany / 2, message_for(m.accounts[0]));
  for (int i = 0; i < 2; ++i) REQUIRE(!answered(m.s.queue->push(messages)).error);
  std::vector<Settle> verdicts;
  for (const size_t account : {size_t{1}, size_t{0}}) {  // the busy one first
    LeaseRequest request = for_a_minute(2 * kMany);
    request.tenant = m.accounts[account];
    for (const Delivery& each : answered(m.s.queue->lease(request)).deliveries) {
      verdicts.emplace_back().receipt = each.receipt;
    }
  }
  REQUIRE(verdicts.size() == 2 + kMany);
  m.begin();
  const std::string index = tag_of(m.s.server, 0) + "i";
  const int64_t left = command(m.s.server, {"ZCARD", index}).number - static_cast<int64_t>(1 + kMany);
  auto settles = std::async(std::launch::async, [&] { return m.s.queue->settle(verdicts); });
  wait_until([&] { return command(m.s.server, {"ZCARD", index}).number == left; });
  command(m.s.server, {"FLUSHALL"});
  static_cast<void>(settles.get());
}

/// On a queue of one shard or of several.
void check_that_life_goes_on(uint32_t shards) {
  const Sharded s{shards, slow_engine()};
  const auto push = [&](std::string_view payload, auto change) {
    NewMessage message = message_for("a", payload);
    change(message);
    return answered(s.queue->push({&message, 1})).items.at(0);
  };
  const auto as_it_is = [](NewMessage&) {};
  const auto once = [](NewMessage& message) { message.unique = "k"; };
  const auto once_and_short = [&](NewMessage& message) {
    once(message);
    message.ttl_ms = 1;
  };
  push("held", as_it_is);
  push("held too long", as_it_is);
  const Receipt held = answered(s.queue->lease(for_a_minute())).deliveries.at(0).receipt;
  LeaseRequest for_a_moment = for_a_minute();
  for_a_moment.hold_ms = 1;
  const Receipt over = answered(s.queue->lease(for_a_moment)).deliveries.at(0).receipt;
  const MessageId expired = push("expired", once_and_short).id;
  push("late", [](NewMessage& message) { message.delay_ms = 1; });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));

  const int64_t ms = ms_of([&] {
    const PushResult again = push("again", once);
    CHECK(again.status == PushStatus::accepted);
    CHECK(again.id != expired);
    CHECK(push("and again", once).status == PushStatus::duplicate);
    const std::vector<Settle> verdicts = {{.receipt = held}, {.receipt = over}};
    const SettleReply said = answered(s.queue->settle(verdicts));
    CHECK(said.items.at(0) == SettleStatus::ok);
    CHECK(said.items.at(1) == SettleStatus::stale);
    CHECK(answered(s.queue->extend({&over, 1}, 1'000)).at(0).status == SettleStatus::stale);
    const std::vector<Delivery> taken = answered(s.queue->lease(for_a_minute(4))).deliveries;
    REQUIRE(taken.size() == 2);
    CHECK(answered(taken[0].payload.read_all()) == "held too long");
    CHECK(answered(taken[1].payload.read_all()) == "again");
    const auto worker = s.another();  // which leaves, too, and gives back what it has
    CHECK(answered(worker->settings()).attempts_max == 5);
    push("of a worker", [](NewMessage& message) { message.tenant = "b"; });
    LeaseRequest by_living;
    by_living.tenant = "b";
    CHECK(answered(worker->lease(by_living)).deliveries.size() == 1);
  });
  CHECK(ms < kSoonMs);
}

TEST_CASE("what needs nothing that is due is done while there is more than servers do") {
  SECTION("of the only shard") { check_that_life_goes_on(1); }
  SECTION("of one of several") { check_that_life_goes_on(2); }
}

TEST_CASE("who comes for what is due waits for it") {
  const Sharded s{1, engine_of<1>()};
  NewMessage message = message_for("a");
  message.ttl_ms = 1;
  const std::vector<NewMessage> expired(1'000, message);
  for (int i = 0; i < 10; ++i) REQUIRE(!answered(s.queue->push(expired)).error);
  message = message_for("b");
  message.delay_ms = 1;  // behind all of them
  const MessageId late = answered(s.queue->push({&message, 1})).items.at(0).id;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const std::vector<Delivery> taken = answered(s.queue->lease(for_a_minute())).deliveries;
  REQUIRE(taken.size() == 1);
  CHECK(taken[0].id == late);
}

TEST_CASE("who looks for work is served by all shards while one has much that is due") {
  MuchDue m;
  m.hold(*m.s.queue);
  const MessageId busy = push_one(*m.s.queue, m.accounts[1], "beside what is due");
  const MessageId ready = push_one(*m.s.queue, m.accounts[0], "ready");
  m.begin();
  std::set<MessageId> taken;
  const auto take = [&] {
    for (const Delivery& each : answered(m.s.queue->lease(for_a_minute(2))).deliveries) taken.insert(each.id);
  };
  CHECK(ms_of(take) < kSoonMs);
  CHECK(taken == std::set{busy, ready});
}

TEST_CASE("who looks for work is served by the other shards while one has much that is due") {
  MuchDue m;
  m.hold(*m.s.queue);
  const MessageId ready = push_one(*m.s.queue, m.accounts[0], "ready");
  m.begin();
  LeaseReply reply;
  CHECK(ms_of([&] { reply = answered(m.s.queue->lease(for_a_minute(2))); }) < kSoonMs);
  REQUIRE(reply.deliveries.size() == 1);
  CHECK(reply.deliveries[0].id == ready);
}

}  // namespace fq::test
