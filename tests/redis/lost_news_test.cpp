// lost_news_test - what a lease was told of, and given, is not lost with an answer or with what fails behind
// it.

// System.
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>
// Tests.
#include "tests/redis/command_fixture.h"
#include "tests/redis/relay.h"
#include "tests/redis/sharded_fixture.h"

namespace fq::test {

namespace {

constexpr size_t kGivenByOne = 64;   // deliveries of one call
constexpr size_t kToldByOne = 1024;  // changes

/// A queue by a way on which a test does something to calls that lease.
struct Meddled {
  explicit Meddled(uint32_t shards) : s(shards) {}

  std::string meddle(const std::string& asked) {
    if (asked.find("_work\r\n") == std::string::npos) return "";
    if (!refused_tag.empty()) return asked.find(refused_tag) != std::string::npos ? refusal : "";
    if (after > 0 && --after == 0) return refusal;
    if (!is_lost.exchange(false)) return "";
    do_unheard(s.server, asked);
    relay.cut();
    return "";
  }
  Result<LeaseReply> look() const {
    LeaseRequest request = watching();
    request.want = 0;
    return queue->lease(request);
  }
  static LeaseRequest watching() {
    LeaseRequest request;
    request.want = 100;
    request.watch = true;
    return request;
  }

  Sharded s;
  const std::string refusal = "-NOPERM it may not\r\n";
  std::string refused_tag = {};
  std::atomic<bool> is_lost = false;  // the next answer is
  std::atomic<int> after = 0;         // so many calls, the last of which is refused
  Relay relay{s.server, [this](const std::string& asked) { return meddle(asked); }};
  std::unique_ptr<Queue> queue = open_on(real_time_engine(), relay.spool());
};

std::set<std::string> cancelled(const LeaseReply& reply) {
  std::set<std::string> found;
  for (const LeaseChange& each : reply.changes) {
    if (each.what == LeaseChange::What::cancelled) found.insert(each.receipt.text());
  }
  return found;
}

}  // namespace

TEST_CASE("that a lease was cancelled is told again where the answer that told it was lost") {
  Meddled m(GENERATE(1U, 4U));
  const MessageId id = push_one(*m.s.queue, "a", "x");
  const LeaseReply leased = answered(m.queue->lease(Meddled::watching()));
  REQUIRE(leased.deliveries.size() == 1);
  REQUIRE(answered(m.s.queue->mutate({&id, 1}, Action::cancel)).changed == 1);
  m.is_lost = true;
  CHECK(cancelled(answered(m.look())) == std::set{leased.deliveries[0].receipt.text()});
  CHECK(!m.is_lost);
  CHECK(answered(m.look()).changes.empty());
}

TEST_CASE("what others made of a lease is told once, in order, however often it is looked") {
  Meddled m(GENERATE(1U, 4U));
  std::vector<MessageId> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(push_one(*m.s.queue, "a", "x"));
  std::vector<std::string> receipts;
  for (const Delivery& each : answered(m.queue->lease(Meddled::watching())).deliveries)
    receipts.push_back(each.receipt.text());
  REQUIRE(receipts.size() == ids.size());
  std::vector<std::string> told;
  for (size_t i = 0; i < ids.size(); i += 2) {
    const size_t count = std::min<size_t>(2, ids.size() - i);
    answered(m.s.queue->mutate({&ids[i], count}, Action::cancel));
    for (const LeaseChange& each : answered(m.look()).changes) told.push_back(each.receipt.text());
  }
  CHECK(told == receipts);
  CHECK(answered(m.look()).changes.empty());
  CHECK(command(m.s.server, {"KEYS", "*:sw:*"}).items.empty());
}

TEST_CASE("what one shard has told of leases is told again where another fails behind it") {
  Meddled m(4);
  std::string other;
  const auto [first, second] = two_apart(*m.s.queue, other);
  std::set<std::string> receipts;
  for (const Delivery& each : answered(m.queue->lease(Meddled::watching())).deliveries)
    receipts.insert(each.receipt.text());
  REQUIRE(answered(m.s.queue->mutate(std::array{first, second}, Action::cancel)).changed == 2);
  m.refused_tag = tag_of(m.s.server, std::max(shard_of(first), shard_of(second)));
  CHECK(!m.look());
  m.refused_tag.clear();
  const std::set<std::string> heard = cancelled(answered(m.look()));
  CHECK(heard.size() == 2);
  CHECK(std::includes(receipts.begin(), receipts.end(), heard.begin(), heard.end()));
}

TEST_CASE("of more changes than one answer tells the others are told by the next, and that there are some") {
  Meddled m(GENERATE(1U, 4U));
  const std::vector<NewMessage> many(kToldByOne / 2 + 50, message_for("a"));
  for (int i = 0; i < 2; ++i) answered(m.s.queue->push(many));
  std::vector<Settle> acks;
  while (acks.size() < 2 * many.size()) {
    for (const Delivery& each : answered(m.queue->lease(Meddled::watching())).deliveries)
      acks.emplace_back().receipt = each.receipt;
  }
  for (const SettleStatus each : answered(m.s.queue->settle(acks)).items) CHECK(each == SettleStatus::ok);
  LeaseReply reply = answered(m.look());
  CHECK(reply.changes.size() == kToldByOne);
  CHECK(reply.more_changes);
  reply = answered(m.look());
  CHECK(reply.changes.size() == 100);
  CHECK(!reply.more_changes);
}

TEST_CASE("who comes for news alone is told of all shards, whichever had some before") {
  Meddled m(4);
  std::string other;
  const auto [first, second] = two_apart(*m.s.queue, other);
  const MessageId third = push_one(*m.s.queue, "a", "x");
  REQUIRE(answered(m.queue->lease(Meddled::watching())).deliveries.size() >= 3);
  answered(m.s.queue->mutate(std::array{first}, Action::cancel));
  CHECK(cancelled(answered(m.look())).size() == 1);
  answered(m.s.queue->mutate(std::array{second, third}, Action::cancel));
  CHECK(cancelled(answered(m.look())).size() == 2);
}

TEST_CASE("what the first calls of a lease gave is not lost where a later one fails") {
  Meddled m(GENERATE(1U, 4U));
  for (size_t i = 0; i < kGivenByOne + 6; ++i) push_one(*m.s.queue, "a", "x");
  m.after = 2;
  const LeaseReply reply = answered(m.queue->lease(Meddled::watching()));
  CHECK(m.after == 0);
  CHECK(reply.deliveries.size() == kGivenByOne);
  CHECK(answered(m.queue->lease(Meddled::watching())).deliveries.size() == 6);
}

TEST_CASE("verdicts that were given are told as that where the lease behind them fails") {
  Meddled m(GENERATE(1U, 4U));
  for (int i = 0; i < 2; ++i) push_one(*m.s.queue, "a", "x");
  const LeaseReply leased = answered(m.queue->lease(for_a_minute()));
  REQUIRE(leased.deliveries.size() == 1);
  Settle ack;
  ack.receipt = leased.deliveries.at(0).receipt;
  LeaseRequest next = for_a_minute();
  next.wait = true;
  next.wait_ms = 1'000;
  m.after = 2;
  const SettleReply reply = answered(m.queue->settle({&ack, 1}, &next));
  CHECK(reply.items.at(0) == SettleStatus::ok);
  REQUIRE(reply.error);
  CHECK(!reply.next);
}

TEST_CASE("a command that is not genuine, and could not be buried when it was met, is buried later") {
  Commands c;
  bool is_refused = true;
  Relay relay(c.server, [&](const std::string& asked) {
    const bool is_it = is_refused && asked.find("is not signed") != std::string::npos;
    return is_it ? std::string("-NOPERM it may not\r\n") : std::string();
  });
  const MessageId id = c.push();
  c.plant(id, command_message());
  OpenOptions options;
  options.clock = &c.clock;
  const auto queue = answered(told_time_engine().open({relay.spool(), "default"}, options));
  CHECK(!queue->lease(Meddled::watching()));
  is_refused = false;
  const LeaseReply reply = answered(queue->lease(Meddled::watching()));
  CHECK(reply.deliveries.empty());
  CHECK(reply.lost.size() == 1);
  CHECK(answered(c.queue->get(id)).value().state == State::dead);
}

}  // namespace fq::test
