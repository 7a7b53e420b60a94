// lost_writes_test - a server dies with writes that its replica never got: what was said of them holds.
// System.
#include <atomic>
#include <set>
#include <string>
#include <vector>
// Tests.
#include "tests/redis/on_cluster.h"
#include "tests/redis/relay.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

/// More than the system keeps between two servers: without it a replica that stood still gets all.
void write_much_else(const TestServer& server, const std::string& tag) {
  const std::string megabyte(1'000'000, 'x');
  const size_t open = tag.find('{');
  const std::string key = "noise" + tag.substr(open, tag.find('}') - open + 1);
  for (int i = 0; i < 64; ++i) command(server, {"SET", key, megabyte});
  command(server, {"DEL", key});
}

std::set<std::string> served_to(Queue& queue) {
  LeaseRequest request = for_a_minute(9);
  request.wait = true;
  request.wait_ms = 20'000;
  std::set<std::string> served;
  for (const Delivery& each : answered(queue.lease(request)).deliveries) {
    served.insert(std::string(each.payload.bytes()));
    CHECK(ack(queue, each) == SettleStatus::ok);
  }
  return served;
}

}  // namespace

TEST_CASE("what only a dead server had is lost, as its level said: not what a replica had") {
  TestCluster cluster(3, 1);
  OnCluster s(1, cluster, "&timeout=2s");
  const auto async =
      answered(real_time_engine().open({s.location.spool + "&durability=async", "default"}, {}));
  push_one(*s.queue, "t", "done");
  push_one(*s.queue, "t", "kept");
  const std::string tag = s.tags().at(0);
  const size_t master = cluster.owner_of(tag), replica = master + 3;
  cluster.node(replica).stop();
  write_much_else(cluster.node(master), tag);
  const LeaseReply leased = answered(async->lease(for_a_minute()));
  REQUIRE(leased.deliveries.size() == 1);
  CHECK(ack(*async, leased.deliveries[0]) == SettleStatus::ok);
  push_one(*async, "t", "lost");
  const NewMessage message = message_for("t");
  CHECK(answered(s.queue->push({&message, 1})).items.at(0).status == PushStatus::unknown);

  cluster.node(master).kill();
  cluster.node(replica).go_on();
  const auto later = s.another_at_last();
  push_at_last(*later, "t");
  CHECK(cluster.owner_of(tag) == replica);
  const std::set<std::string> served = served_to(*later);
  CHECK(served.count("kept") == 1);
  CHECK(served.count("done") == 1);  // its end is lost, so it runs again
  CHECK(served.count("lost") == 0);  // else nothing was lost here, and all of this says little
  CHECK(ack(*async, leased.deliveries[0]) != SettleStatus::ok);
  CHECK(answered(later->check({})).findings.empty());
}

TEST_CASE("who met a master without a replica waits for one that came later, too") {
  TestCluster cluster(3, 1);
  OnCluster s(1, cluster, "&timeout=500ms");
  const size_t master = cluster.owner_of(s.tags().at(0)), replica = master + 3;
  cluster.node(replica).kill();
  cluster.wait_for_replicas(master, 0);
  const auto early = s.another();
  push_one(*early, "t", "alone");
  cluster.node(replica).start();
  cluster.wait_for_replicas(master, 1);
  cluster.node(replica).stop();
  const NewMessage message = message_for("t");
  PushStatus status = PushStatus::accepted;
  const int64_t end_ms = system_clock().boot_ms() + 10'000;  // it looks once a second
  while (status == PushStatus::accepted && system_clock().boot_ms() < end_ms)
    status = answered(early->push({&message, 1})).items.at(0).status;
  CHECK(status == PushStatus::unknown);
  cluster.node(replica).go_on();
}

TEST_CASE("a master without a replica that says nothing of use when it is looked at again is one without") {
  const TestServer server;
  const std::vector<std::string> answers = {"-NOPERM this user has no permissions\r\n", "*1\r\n*0\r\n",
                                            "$24\r\nconnected_slaves:many\r\nx\r\n"};
  std::atomic<size_t> looked = 0;
  const Relay relay(server, [&](const std::string& asked) {
    const bool looks = asked.find("INFO\r\n$11\r\nreplication\r\n") != std::string::npos;
    return looks && looked < answers.size() ? answers[looked++] : std::string();
  });
  const auto queue = open_on(real_time_engine(), relay.spool());
  uint64_t pushed = 0;
  wait_until([&] {  // it looks once a second
    push_one(*queue, "t", "x");
    ++pushed;
    return looked == answers.size();
  });
  push_one(*queue, "t", "x");
  CHECK(answered(queue->stats({})).rows.at(0).ready == pushed + 1);
  CHECK(queue->caps().level == "async");
}

TEST_CASE(
    "an ack that only a dead server had is made up for, though its client lives and the lease was copied") {
  TestCluster cluster(3, 1);
  OnCluster s(1, cluster, "&timeout=2s");
  const auto async =
      answered(real_time_engine().open({s.location.spool + "&durability=async", "default"}, {}));
  push_one(*s.queue, "t", "done");
  const std::string tag = s.tags().at(0);
  const size_t master = cluster.owner_of(tag), replica = master + 3;
  const LeaseReply leased = answered(async->lease({}));  // held by living
  REQUIRE(leased.deliveries.size() == 1);
  push_one(*s.queue, "t", "kept");  // a replica has all before it
  cluster.node(replica).stop();
  write_much_else(cluster.node(master), tag);
  CHECK(ack(*async, leased.deliveries[0]) == SettleStatus::ok);

  cluster.node(master).kill();
  cluster.node(replica).go_on();
  const auto later = s.another_at_last();
  push_at_last(*later, "t");
  std::set<std::string> served = served_to(*later);
  CHECK(served.count("kept") == 1);
  if (served.count("done") == 0) served = served_to(*later);
  CHECK(served.count("done") == 1);
  CHECK(answered(later->check({})).findings.empty());
}

}  // namespace fq::test
