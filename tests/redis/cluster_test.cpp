// cluster_test - a queue on several servers: who has what, shards that move, servers that are gone.
#include "tests/redis/impostor.h"
#include "tests/redis/on_cluster.h"
#include "tests/redis/sharded_fixture.h"
#include "tests/redis/waiter.h"

// System.
#include <algorithm>
#include <map>
#include <set>
// fq, below us.
#include "core/redis/wire/slots.h"

namespace fq::test {

TEST_CASE("slots are given to keys as servers give them") {
  TestCluster& cluster = three();
  for (const char* key : {"", "a", "fq1:p:{q:0:abcd}:h", "{}x", "a{b}c{d}", "{unclosed", "x{{y}z}"}) {
    INFO(key);
    CHECK(command(cluster.node(0), {"CLUSTER", "KEYSLOT", key}).number == slot_of(key));
  }
}

TEST_CASE("places of shards are not drawn twice") {
  std::set<std::string> drawn;
  for (int i = 0; i < 100; ++i) {
    for (const std::string& place : spread_shard_places("q", 4, true)) CHECK(drawn.insert(place).second);
  }
  CHECK(other_shard_place(*drawn.begin()) != *drawn.begin());
}

TEST_CASE("a queue on a cluster has 64 shards by itself, spread over its servers alike") {
  OnCluster s;
  CHECK(s.queue->caps().shards == 64);
  std::map<size_t, int> by_server;
  const std::vector<std::string> tags = s.tags();
  for (size_t shard = 0; shard < tags.size(); ++shard) {
    CHECK(slot_of(tags[shard]) == shard * kSlots / tags.size());
    ++by_server[s.cluster.owner_of(tags[shard])];
  }
  CHECK(by_server.size() == 3);
  for (const auto& [server, count] : by_server) CHECK((count == 21 || count == 22));
}

TEST_CASE(
    "what is pushed to a cluster is served from all of its servers, once, and removed without a key left") {
  OnCluster s;
  std::set<uint64_t> pushed;
  for (int i = 0; i < 100; ++i) pushed.insert(number(push_one(*s.queue, "t" + std::to_string(i), "x")));
  CHECK(answered(s.queue->check({})).findings.empty());
  const auto other = s.another();
  const LeaseReply leased = answered(other->lease(for_a_minute(200)));
  std::set<uint64_t> served;
  for (const Delivery& each : leased.deliveries) {
    served.insert(number(each.id));
    CHECK(ack(*s.queue, each) == SettleStatus::ok);
  }
  CHECK(served == pushed);
  CHECK(answered(s.queue->stats({})).rows.at(0).acked == 100);
  s.queue.reset();
  REQUIRE(real_time_engine().remove(s.location).ok());
  CHECK(all_keys(s.cluster, s.prefix).empty());
}

TEST_CASE("queues of one shard lie on whichever server has their name") {
  OnCluster s(1);
  CHECK(s.queue->caps().shards == 1);
  std::set<size_t> servers;
  for (int i = 0; i < 12; ++i) {
    const Location location{s.location.spool, "q" + std::to_string(i)};
    answered(real_time_engine().create(location, {.shards = 1}));
    servers.insert(s.cluster.owner_of("{" + location.queue + "}"));
    const auto queue = answered(real_time_engine().open(location, {}));
    push_one(*queue, "t", "x");
    CHECK(answered(queue->lease(for_a_minute())).deliveries.size() == 1);
  }
  CHECK(servers.size() == 3);
  CHECK(answered(real_time_engine().list(s.location.spool)).size() == 13);
  for (int i = 0; i < 12; ++i)
    REQUIRE(real_time_engine().remove({s.location.spool, "q" + std::to_string(i)}).ok());
}

/// Whoever says that it is one of a cluster is asked who else there is, and believed as far as that is an
/// address.
TEST_CASE("what a server says of its cluster that cannot be is passed over, and ends in time") {
  const std::string info =
      "# Server\r\nredis_version:7.0.15\r\nredis_mode:cluster\r\nrole:master\r\nrun_id:r\r\n"
      "maxmemory_policy:noeviction\r\nconnected_slaves:0\r\n";
  const auto slots = [](const std::string& from, const std::string& to, const std::string& host,
                        const std::string& port) {
    return "*1\r\n*3\r\n:" + from + "\r\n:" + to + "\r\n*3\r\n" + as_bulk(host) + ":" + port + "\r\n" +
           as_bulk("id");
  };
  const std::string told =
      GENERATE_COPY(slots("0", "16383", "/etc/passwd", "6379"), slots("0", "16383", "127.0.0.1", "0"),
                    slots("0", "16383", "127.0.0.1", "99999"), slots("9", "3", "127.0.0.1", "6379"),
                    slots("0", "16384", "127.0.0.1", "6379"), slots("-5", "3", "127.0.0.1", "6379"),
                    slots("0", "16383", "127.0.0.1", "1"), std::string("*0\r\n"), std::string("*1\r\n:5\r\n"),
                    std::string("+OK\r\n"), std::string("-ERR unknown command\r\n"), std::string("$-1\r\n"));
  const Impostor impostor(Impostor::Answer([&](const std::string& asked) {
    if (asked.find("INFO") != std::string::npos) return as_bulk(info);
    if (asked.find("CLUSTER") != std::string::npos) return told;
    return std::string("-MOVED 0 :0\r\n");
  }));
  const int64_t begin_ms = system_clock().boot_ms();
  CAPTURE(told);
  CHECK(!real_time_engine().list(impostor.spool("?timeout=300ms&connect=300ms")).ok());
  CHECK(system_clock().boot_ms() - begin_ms < 20'000);
}

TEST_CASE("a server that knows of no cluster is not taken for one without servers") {
  const std::string port = std::to_string(free_port());
  const TestServer lonely({"--cluster-enabled", "yes", "--port", port, "--bind", "127.0.0.1"});
  for (size_t i = 0; i < 3; ++i) command(three().node(i), {"FUNCTION", "FLUSH"});
  CHECK(answered(real_time_engine().load("redis://127.0.0.1:" + port + "," + three().address(0))));
  for (size_t i = 0; i < 3; ++i) CHECK(command(three().node(i), {"FUNCTION", "LIST"}).items.size() == 1);
  const Result<bool> alone = real_time_engine().load("redis://127.0.0.1:" + port);
  REQUIRE(!alone.ok());
  CHECK(alone.error().kind == ErrorKind::later);
}

TEST_CASE("a cluster has no databases") {
  const std::string spool = "redis://" + three().address(0) + "/3";
  const Result<std::vector<std::string>> queues = real_time_engine().list(spool);
  REQUIRE(!queues.ok());
  CHECK(queues.error().kind == ErrorKind::config);
}

TEST_CASE("one of the servers is enough to find all, and one that is gone is passed over") {
  OnCluster s;
  for (size_t i = 0; i < 3; ++i) {
    const std::string spool = "redis://127.0.0.1:1," + s.cluster.address(i) + "/?prefix=" + s.prefix;
    const auto queue = answered(real_time_engine().open({spool, "default"}, {}));
    for (int k = 0; k < 10; ++k) push_one(*queue, "t" + std::to_string(k), "x");
  }
  CHECK(answered(s.queue->lease(for_a_minute(60))).deliveries.size() == 30);
}

TEST_CASE("a policy holds on all servers, and schedules are found wherever they are") {
  OnCluster s;
  REQUIRE(s.queue->policy_load({{{PolicyKey::attempts, 2, 0, {}}}, {}, {}}, {.inode = 7}).ok());
  CHECK(answered(s.queue->policy_is_current({.inode = 7})));
  CHECK(answered(s.another()->settings()).attempts_max == 2);
  const PolicyText before = answered(real_time_engine().policy_text(s.location.spool));
  const std::string version =
      answered(real_time_engine().keep_policy_text(s.location.spool, "# mine\n", before.version));
  CHECK(answered(real_time_engine().policy_text(s.location.spool)).text == "# mine\n");
  CHECK(answered(s.queue->policy_version()) == version);
}

TEST_CASE("libraries that were flushed on one server are loaded there again") {
  OnCluster s;
  for (int i = 0; i < 30; ++i) push_one(*s.queue, "t" + std::to_string(i), "x");
  command(s.cluster.node(1), {"FUNCTION", "FLUSH"});
  CHECK(answered(s.queue->lease(for_a_minute(60))).deliveries.size() == 30);
}

/// A master that stands still is none that is dead: its replica takes over, and what it says later counts no
/// more.
TEST_CASE("a server that stands still is passed over once another has its place, and again when it goes on") {
  TestCluster cluster(3, 1);
  OnCluster s(8, cluster, "&timeout=1s");
  const MessageId one = push_one(*s.queue, "one", "x");
  const LeaseReply leased = answered(s.queue->lease(for_a_minute()));
  REQUIRE(leased.deliveries.size() == 1);
  const size_t master = cluster.owner_of(s.tag_of_id(one));
  cluster.node(master).stop();
  const MessageId two = push_at_last(*s.queue, "one");
  cluster.node(master).go_on();
  CHECK(ack(*s.queue, leased.deliveries[0]) == SettleStatus::ok);
  const LeaseReply later = answered(s.another()->lease(for_a_minute(5)));
  REQUIRE(later.deliveries.size() == 1);
  CHECK(later.deliveries[0].id == two);
}

TEST_CASE("where a server is gone for good, work goes on with the others, and says so") {
  TestCluster cluster(3);
  OnCluster s({}, cluster, "&timeout=500ms");
  std::map<std::string, MessageId> pushed;
  for (int i = 0; i < 60; ++i) {
    const std::string tenant = "t" + std::to_string(i);
    pushed[tenant] = push_one(*s.queue, tenant, "x");
  }
  const size_t victim = (cluster.owner_of(s.meta_key()) + 1) % 3;  // without that one nobody finds the queue
  size_t left = 0;
  std::string gone;
  for (const auto& [tenant, id] : pushed) {
    if (cluster.owner_of(s.tag_of_id(id)) == victim)
      gone = tenant;
    else
      ++left;
  }
  REQUIRE(left < 60);
  const auto is_there = [&](const auto& each) {
    return cluster.owner_of(s.tag_of_id(each.second)) != victim;
  };
  const std::string there = std::find_if(pushed.begin(), pushed.end(), is_there)->first;
  ScheduleDefinition nightly;
  nightly.name = "nightly", nightly.spec = "@daily", nightly.message = message_for(there);
  REQUIRE(s.queue->schedules()->set(nightly).ok());
  cluster.node(victim).kill();
  AwayList away;
  OpenOptions options;
  options.away = &away;
  s.queue = answered(real_time_engine().open(s.location, options));
  CHECK(answered(s.queue->policy_is_current({})));  // as each command asks first
  REQUIRE(s.queue->policy_load({{{PolicyKey::attempts, 2, 0, {}}}, {}, {}}, {.inode = 7}).ok());
  CHECK(answered(s.queue->policy_is_current({.inode = 7})));
  const StatsReply counts = answered(s.queue->stats({}));
  CHECK(counts.rows.at(0).ready == left);
  CHECK(parts_in(away) >= 21);
  CHECK(away.text().find(" of 64 shards cannot be reached (" + cluster.address(victim)) != std::string::npos);
  away.clear();
  CHECK(answered(s.queue->lease(for_a_minute(60))).deliveries.size() == left);
  CHECK(away.is_empty());  // who gets something misses nothing
  CHECK(answered(s.queue->lease(for_a_minute(60))).deliveries.empty());
  CHECK(parts_in(away) >= 21);
  CHECK(answered(s.queue->schedules()->pause("nightly", true)));
  CHECK(answered(s.queue->schedules()->get("nightly"))->paused);
  CHECK(!s.queue->schedules()->get("another").ok());  // nobody knows whether the one that is gone has it
  CHECK(s.queue->schedules()->load({}).ok());
  CHECK(s.queue->maintain(1).ok());
  CHECK(s.queue->compact().ok());
  CHECK(s.queue->begin_call(there).ok());
  CHECK(!s.queue->begin_call(gone).ok());
  const NewMessage message = message_for(gone);
  const Result<PushReply> refused = s.queue->push({&message, 1});
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::later);
  cluster.node(victim).start();
  cluster.wait_until_whole();
  // Back without its keys, it has nothing of another file.
  CHECK(answered(s.another()->policy_is_current({.inode = 7})));
}

TEST_CASE("what was asked for a replica has, too, before it is told as done") {
  TestCluster cluster(1, 1);
  OnCluster s(1, cluster, "&timeout=1s");
  const MessageId first = push_one(*s.queue, "t", "x"), second = push_one(*s.queue, "t", "x");
  const auto refusals = [&](MessageId id, int32_t number) {
    const auto told = [](const auto& result) { return result.ok() ? std::string() : result.error().text; };
    MessagePatch patch;
    patch.priority = number;
    ScheduleDefinition daily;
    daily.name = "s" + std::to_string(number);
    daily.spec = "@daily";
    daily.message = message_for("t");
    return std::vector<std::string>{
        told(s.queue->edit(id, patch)),
        told(s.queue->policy_set("t", {{{PolicyKey::weight, number * 1'000, 0, {}}}, {}})),
        told(s.queue->schedules()->set(daily)), told(s.queue->mutate({&id, 1}, Action::cancel))};
  };
  for (const std::string& each : refusals(first, 1)) CHECK(each == "");
  cluster.node(1).stop();
  for (const std::string& each : refusals(second, 2))
    CHECK(each.find("no replica has yet") != std::string::npos);
  cluster.node(1).go_on();
}

TEST_CASE(
    "what is accepted a replica has, where there is one; where it does not come that is said, and no ack "
    "waits") {
  TestCluster cluster(1, 1);
  // A server has a quarter of that to say that no replica came: on a busy machine too.
  OnCluster s(1, cluster, "&timeout=2s");
  const auto is_accepted = [](Queue& queue) {
    const NewMessage message = message_for("t");
    const Result<PushReply> pushed = queue.push({&message, 1});
    return pushed && !pushed->error;
  };
  CHECK(is_accepted(*s.queue));
  cluster.node(1).stop();
  const NewMessage message = message_for("t");
  const PushReply unknown = answered(s.queue->push({&message, 1}));
  REQUIRE(unknown.error);
  CHECK(unknown.error->kind == ErrorKind::io);
  CHECK(unknown.error->text.find("no replica has yet") != std::string::npos);
  CHECK(unknown.items.at(0).status == PushStatus::unknown);
  const LeaseReply leased = answered(s.queue->lease(for_a_minute(9)));
  REQUIRE(leased.deliveries.size() == 2);  // the master has it, once
  const uint64_t id = std::max(number(leased.deliveries[0].id), number(leased.deliveries[1].id));
  CHECK(unknown.error->text.find("has accepted it as message " + std::to_string(id) + ", and") !=
        std::string::npos);
  for (const Delivery& each : leased.deliveries) CHECK(ack(*s.queue, each) == SettleStatus::ok);
  const auto without =
      answered(real_time_engine().open({s.location.spool + "&durability=async", "default"}, {}));
  CHECK(is_accepted(*without));
  cluster.node(1).go_on();
  const auto again = s.another();
  CHECK(is_accepted(*again));
  const auto strict = real_time_engine().open({s.location.spool + "&durability=strict", "default"}, {});
  REQUIRE(!strict.ok());
  CHECK(strict.error().kind == ErrorKind::unusable);
  CHECK(strict.error().text.find("needs its appendonly") != std::string::npos);
}

TEST_CASE("a lazy push waits for no replica, to one shard or to several at once") {
  TestCluster cluster(1, 1);
  OnCluster s(4, cluster, "&timeout=2s");
  cluster.node(1).stop();
  std::vector<NewMessage> batch;
  for (const char* const tenant : {"a", "b", "c", "d", "e", "f", "g", "h"})
    batch.push_back(message_for(tenant));
  for (const size_t count : {size_t{1}, batch.size()}) {
    CAPTURE(count);
    const std::span<const NewMessage> some = std::span(batch).first(count);
    CHECK(ms_of([&] { CHECK(!answered(s.queue->push(some, {.durability = Durability::lazy})).error); }) <
          1'000);
    const Result<PushReply> pushed = s.queue->push(some);
    REQUIRE(pushed);
    REQUIRE(pushed->error);
    CHECK(pushed->error->text.find("no replica has yet") != std::string::npos);
  }
}

TEST_CASE(
    "a replica takes over from a server that was killed: what was accepted is served, and work goes on") {
  TestCluster cluster(3, 1);
  OnCluster s({}, cluster);
  std::set<uint64_t> accepted, served;
  for (int i = 0; i < 60; ++i) accepted.insert(number(push_one(*s.queue, "t" + std::to_string(i), "x")));
  const MessageId one = push_one(*s.queue, "one", "x");
  accepted.insert(number(one));
  const size_t master = cluster.owner_of(s.tag_of_id(one));
  const auto worker = s.another();  // which calls no shard that it knows nothing of
  REQUIRE(answered(worker->lease(for_a_minute())).deliveries.size() == 1);
  cluster.node(master).kill();
  accepted.insert(number(push_at_last(*s.queue, "one")));
  CHECK(cluster.owner_of(s.tag_of_id(one)) != master);
  cluster.wait_until_whole();
  LeaseRequest request = for_a_minute(100);
  request.wait = true;
  request.wait_ms = 1'000;
  for (int tries = 0; served.size() + 1 < accepted.size() && tries < 20; ++tries) {
    for (const Delivery& each : answered(worker->lease(request)).deliveries) {
      served.insert(number(each.id));
      CHECK(ack(*worker, each) == SettleStatus::ok);
    }
  }
  CHECK(served.size() + 1 == accepted.size());  // one was leased before
  CHECK(std::includes(accepted.begin(), accepted.end(), served.begin(), served.end()));
  CHECK(answered(s.queue->check({})).findings.empty());
}

}  // namespace fq::test
