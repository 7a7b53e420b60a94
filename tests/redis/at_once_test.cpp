// at_once_test - batches of a queue of many shards go to all of them at the same time, and what is unusual
// about one is no matter of the others.
#include "tests/redis/on_cluster.h"
#include "tests/redis/relay.h"

// System.
#include <algorithm>
#include <array>
#include <map>
// fq, below us.
#include "core/redis/waits/awaiting.h"
#include "core/redis/sharded/sharded_queue.h"

namespace fq::test {

namespace {

/// Of a queue that is reached by a way which counts.
struct AtOnce {
  explicit AtOnce(Relay::Meddle meddle = {}) : relay(s.server, std::move(meddle)) {
    queue = open_on(real_time_engine(), relay.spool());
    // Four of each shard; and what is asked once is known.
    std::map<uint64_t, int> by_shard;
    for (int i = 0; names.size() < 4 * kShards; ++i) {
      std::string name = "t" + std::to_string(i);
      if (++by_shard[shard_of(push_one(*queue, name, "warm"))] <= 4) names.push_back(std::move(name));
    }
    for (std::vector<Settle> warm = verdicts(); !warm.empty(); warm = verdicts())
      answered(queue->settle(warm, nullptr));
  }
  std::vector<NewMessage> batch() const {
    std::vector<NewMessage> messages;
    for (const std::string& name : names) messages.push_back(message_for(name, name));
    return messages;
  }
  /// What is there is taken.
  std::vector<Settle> verdicts() {
    std::vector<Settle> verdicts;
    for (const Delivery& each : answered(queue->lease(for_a_minute(256))).deliveries)
      verdicts.emplace_back().receipt = each.receipt;
    return verdicts;
  }
  size_t waits_of(const std::function<void()>& run) const {
    const size_t before = relay.round_trips();
    run();
    return relay.round_trips() - before;
  }

  Sharded s;
  Relay relay;
  std::unique_ptr<Queue> queue;
  std::vector<std::string> names;
};

std::set<uint64_t> shards_of(const PushReply& reply) {
  std::set<uint64_t> shards;
  for (const PushResult& each : reply.items) shards.insert(shard_of(each.id));
  return shards;
}

size_t count_of(const PushReply& reply, PushStatus status) {
  return static_cast<size_t>(std::count_if(reply.items.begin(), reply.items.end(),
                                           [&](const PushResult& each) { return each.status == status; }));
}

std::map<std::string, int> payloads(Queue& queue) {
  std::map<std::string, int> found;
  const MessagePage page = answered(queue.peek({}, {}, 1'000));
  for (const MessageInfo& each : page.messages) ++found[each.payload.value_or("")];
  return found;
}

}  // namespace

TEST_CASE("a push and verdicts over many shards wait for one answer's time, in the order of the list") {
  AtOnce a;
  PushReply pushed;
  CHECK(a.waits_of([&] { pushed = answered(a.queue->push(a.batch())); }) == 1);
  REQUIRE(shards_of(pushed).size() == kShards);
  for (size_t i = 0; i < a.names.size(); ++i)
    CHECK(answered(a.queue->get(pushed.items.at(i).id))->tenant == a.names[i]);
  std::vector<Settle> verdicts = a.verdicts();
  REQUIRE(verdicts.size() == a.names.size());
  verdicts[5].receipt = Receipt("nonsense");
  verdicts[7].verdict = Verdict::bury;
  verdicts[9].receipt = verdicts[8].receipt;
  SettleReply settled;
  CHECK(a.waits_of([&] { settled = answered(a.queue->settle(verdicts, nullptr)); }) == 1);
  for (size_t i = 0; i < verdicts.size(); ++i) {
    CAPTURE(i);
    const SettleStatus expected = i == 5   ? SettleStatus::invalid
                                  : i == 9 ? SettleStatus::gone
                                           : SettleStatus::ok;
    CHECK(settled.items.at(i) == expected);
  }
}

TEST_CASE("leases of many shards are extended in one answer's time, in the order of the list") {
  AtOnce a;
  answered(a.queue->push(a.batch()));
  std::vector<Receipt> receipts;
  for (const Settle& each : a.verdicts()) receipts.push_back(each.receipt);
  REQUIRE(receipts.size() == a.names.size());
  receipts[5] = Receipt("nonsense");
  REQUIRE(
      answered(a.queue->settle(std::array<Settle, 1>{Settle{.receipt = receipts[7]}}, nullptr)).items.at(0) ==
      SettleStatus::ok);
  std::vector<ExtendResult> extended;
  CHECK(a.waits_of([&] { extended = answered(a.queue->extend(receipts, 60'000)); }) == 1);
  for (size_t i = 0; i < receipts.size(); ++i) {
    CAPTURE(i);
    CHECK((extended.at(i).status == SettleStatus::ok) == (i != 5 && i != 7));
    CHECK((extended.at(i).deadline_wall_ms > 0) == (i != 5 && i != 7));
  }
}

TEST_CASE("a call whose output is to be read is told to the shard of its tenant only") {
  AtOnce a;
  CHECK(a.waits_of([&] { answered(a.queue->begin_call("t")); }) == 1);
  CHECK(command(a.s.server, {"KEYS", "*:ca"}).items.size() == 1);
}

TEST_CASE("who waits for what happens in many shards is noted down in all of them in one answer's time") {
  AtOnce a;
  auto& queue = dynamic_cast<ShardedQueue&>(*a.queue);
  std::set<Shard*> all;
  for (const std::string& name : a.names) all.insert(&queue.shard_of(name));
  const std::vector<Shard*> shards(all.begin(), all.end());
  REQUIRE(shards.size() == kShards);
  Awaiting awaiting;
  const Awaited idle = {.what = Awaited::What::idle};
  REQUIRE(awaiting.listen(shards, idle) == Awaiting::State::anew);  // with bells that were not heard before
  const auto noted = [&] {
    int64_t count = 0;
    for (Shard* const shard : shards) count += command(a.s.server, {"ZCARD", shard->tag() + "bi"}).number;
    return count;
  };
  CHECK(noted() == kShards);
  CHECK(a.waits_of([&] { CHECK(awaiting.listen(shards, idle) == Awaiting::State::heard); }) == 0);
  CHECK(a.waits_of([&] { awaiting.leave(); }) == 1);
  CHECK(noted() == 0);
  CHECK(a.waits_of([&] { CHECK(awaiting.listen(shards, idle) == Awaiting::State::anew); }) == 1);
  CHECK(noted() == kShards);
}

TEST_CASE("a shard that has no room for its part says so, and the others take theirs") {
  AtOnce a;
  const std::string full = a.names[20];
  REQUIRE(a.queue->policy_set(full, {{{PolicyKey::max_messages, 1, 0, {}}}, {}}).ok());
  push_one(*a.queue, full, "before");
  const PushReply pushed = answered(a.queue->push(a.batch()));
  REQUIRE(pushed.error);
  CHECK(pushed.error->kind == ErrorKind::later);
  CHECK(pushed.error->text.find("max_messages") != std::string::npos);
  const auto refused = static_cast<size_t>(a.names.size()) - count_of(pushed, PushStatus::accepted);
  CHECK(refused == count_of(pushed, PushStatus::invalid));
  CHECK(pushed.items.at(20).status == PushStatus::invalid);
  // All of its shard, and nothing else.
  const std::map<std::string, int> there = payloads(*a.queue);
  for (size_t i = 0; i < a.names.size(); ++i)
    CHECK(there.contains(a.names[i]) == (pushed.items.at(i).status == PushStatus::accepted));
  CHECK(refused == 4);
}

TEST_CASE("a payload that is too long for the queue keeps its whole batch out of all shards") {
  AtOnce a;
  REQUIRE(a.queue->policy_set("", {{{PolicyKey::max_payload, 4, 0, {}}}, {}}).ok());
  std::vector<NewMessage> messages = a.batch();
  messages[33].payload = as_bytes("12345");
  const Result<PushReply> pushed = a.queue->push(messages);
  REQUIRE(!pushed.ok());
  CHECK(pushed.error().kind == ErrorKind::bad_data);
  CHECK(pushed.error().text == "payload: has 5 bytes, the limit is 4 (max_payload)");
  CHECK(payloads(*a.queue).empty());
  messages[33].payload = as_bytes("1234");
  CHECK(count_of(answered(a.queue->push(messages)), PushStatus::accepted) == messages.size());
}

TEST_CASE("where no shard takes its part, nothing was pushed, and that is said") {
  AtOnce a;
  REQUIRE(a.queue->policy_set("", {{{PolicyKey::draining, 1, 0, {}}}, {}}).ok());
  const Result<PushReply> pushed = a.queue->push(a.batch());
  REQUIRE(!pushed.ok());
  CHECK(pushed.error().text.find("draining") != std::string::npos);
  CHECK(payloads(*a.queue).empty());
}

TEST_CASE("who waits for room gets in by parts what is more than a limit by itself, and nothing twice") {
  AtOnce a;
  REQUIRE(a.queue->policy_set("many", {{{PolicyKey::max_messages, 2, 0, {}}}, {}}).ok());
  std::vector<NewMessage> messages = a.batch();
  for (const char* const payload : {"m1", "m2", "m3", "m4"}) messages.push_back(message_for("many", payload));
  PushOptions options;
  options.block = true;
  options.wait_ms = 100;
  const PushReply pushed = answered(a.queue->push(messages, options));
  REQUIRE(pushed.error);
  CHECK(pushed.error->kind == ErrorKind::later);
  for (const auto& [payload, times] : payloads(*a.queue))
    CHECK((times == 1 && payload != "m3" && payload != "m4"));
  CHECK(pushed.items.at(64).status == PushStatus::accepted);
  CHECK(pushed.items.at(65).status == PushStatus::accepted);
  CHECK(pushed.items.at(67).status == PushStatus::invalid);
}

TEST_CASE("a batch that may be refused for what only its shard knows asks no other before") {
  AtOnce a;
  const MessageId first = push_one(*a.queue, "a", "first");
  std::vector<NewMessage> messages = a.batch();
  const std::array<MessageId, 1> nowhere = {MessageId{number(first) + 1024 * 1000}};
  NewMessage& later = messages.emplace_back(message_for("a", "later"));
  later.after = {nowhere.begin(), nowhere.end()};
  const Result<PushReply> refused = a.queue->push(messages);
  REQUIRE(!refused.ok());
  CHECK(refused.error().item == messages.size() - 1);
  CHECK(payloads(*a.queue).size() == 1);
}

TEST_CASE("which message is refused is told by its place in the whole batch, not in its shard's part") {
  AtOnce a;
  const MessageId first = push_one(*a.queue, "a", "first");
  const auto is_elsewhere = [&](const std::string& name) {
    return shard_of(push_one(*a.queue, name, "there")) != shard_of(first);
  };
  const std::string elsewhere = *std::find_if(a.names.begin(), a.names.end(), is_elsewhere);
  const MessageId other = push_one(*a.queue, elsewhere, "there");
  std::vector<NewMessage> messages = {message_for("a", "fine"), message_for(elsewhere, "one"),
                                      message_for("a", "two"), message_for(elsewhere, "late")};
  messages[0].after = {first};
  messages[3].after = {MessageId{number(other) + 1024 * 1000}};
  const PushReply pushed = answered(a.queue->push(messages));
  CHECK(is_accepted(pushed.items.at(0).status));
  CHECK(is_accepted(pushed.items.at(2).status));
  CHECK_FALSE(is_accepted(pushed.items.at(3).status));
  REQUIRE(pushed.error);
  CHECK(pushed.error->item == 3u);
  // And of what it may not come after, since that lies in another shard.
  messages[3].after = {first};
  const Result<PushReply> apart = a.queue->push(messages);
  REQUIRE(!apart.ok());
  CHECK(apart.error().item == 3u);
}

TEST_CASE("a library that is lost is loaded, and each batch of a shard is put once") {
  AtOnce a;
  command(a.s.server, {"FUNCTION", "FLUSH"});
  const PushReply pushed = answered(a.queue->push(a.batch()));
  CHECK(count_of(pushed, PushStatus::accepted) == a.names.size());
  command(a.s.server, {"FUNCTION", "FLUSH"});
  const std::map<std::string, int> there = payloads(*a.queue);
  CHECK(there.size() == a.names.size());
  const std::vector<Settle> verdicts = a.verdicts();
  command(a.s.server, {"FUNCTION", "FLUSH"});
  for (const SettleStatus each : answered(a.queue->settle(verdicts, nullptr)).items)
    CHECK(each == SettleStatus::ok);
  CHECK(answered(a.queue->check({})).findings.empty());
}

TEST_CASE("many are on their way at a time, and not all of them") {
  const TestServer server;
  const Location location{server.spool(), "default"};
  REQUIRE(answered(real_time_engine().create(location, {.shards = 256})));
  const auto queue = answered(real_time_engine().open(location, {}));
  std::vector<std::string> names;
  for (int i = 0; i < 1'000; ++i) names.push_back("t" + std::to_string(i));
  std::vector<NewMessage> messages;
  for (const std::string& name : names) messages.push_back(message_for(name, name));
  const PushReply pushed = answered(queue->push(messages));
  CHECK(count_of(pushed, PushStatus::accepted) == names.size());
  CHECK(shards_of(pushed).size() > 200);
  for (size_t i = 0; i < names.size(); i += 111)
    CHECK(answered(queue->get(pushed.items.at(i).id))->tenant == names[i]);
}

TEST_CASE("what one server of a cluster does not answer is no matter of what the others did") {
  TestCluster cluster(3);
  OnCluster s(16, cluster, "&timeout=500ms");
  std::vector<std::string> names;
  for (int i = 0; i < 64; ++i) names.push_back("t" + std::to_string(i));
  std::vector<NewMessage> messages;
  for (const std::string& name : names) messages.push_back(message_for(name, name));
  const PushReply before = answered(s.queue->push(messages));
  REQUIRE(!before.error);
  const LeaseReply leased = answered(s.queue->lease(for_a_minute(256)));
  REQUIRE(leased.deliveries.size() == names.size());
  const size_t victim = (cluster.owner_of(s.meta_key()) + 1) % 3;
  const auto is_away = [&](MessageId id) { return cluster.owner_of(s.tag_of_id(id)) == victim; };
  cluster.node(victim).stop();
  std::vector<Settle> verdicts;
  for (const Delivery& each : leased.deliveries) verdicts.emplace_back().receipt = each.receipt;
  const SettleReply settled = answered(s.queue->settle(verdicts, nullptr));
  const PushReply pushed = answered(s.queue->push(messages));
  cluster.node(victim).go_on();
  REQUIRE(settled.error);
  size_t away = 0;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    const bool is_lost = is_away(leased.deliveries[i].id);
    away += is_lost ? 1 : 0;
    CHECK(settled.items.at(i) == (is_lost ? SettleStatus::unknown : SettleStatus::ok));
  }
  CHECK((away > 0 && away < names.size()));
  REQUIRE(pushed.error);
  for (size_t i = 0; i < names.size(); ++i)
    CHECK((pushed.items.at(i).status == PushStatus::accepted) == !is_away(before.items.at(i).id));
}

}  // namespace fq::test
