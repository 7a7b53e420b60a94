// hung_servers_test - servers of a cluster stand still: who lives on the others is heard there as before.

// System.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>
// fq, below us.
#include "core/base/descriptor.h"
#include "core/redis/guard/guard_words.h"
// Tests.
#include "tests/redis/on_cluster.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

constexpr int64_t kHangMs = 20'000;  // longer than a session lasts that nobody hears

struct Placed {
  std::string tag;
  size_t owner;
};

/// When the sessions of these shards are over.
std::vector<std::string> ends(const TestCluster& cluster, const std::vector<Placed>& shards) {
  std::vector<std::string> found;
  for (const auto& [tag, owner] : shards)
    found.push_back(command(cluster.node(owner), {"ZRANGE", tag + "s", "0", "-1", "WITHSCORES"}).at(1).text);
  return found;
}

/// So long the sessions of these shards have at least before they are over.
int64_t left_ms(const TestCluster& cluster, const std::vector<Placed>& shards) {
  int64_t least = INT64_MAX;
  for (const auto& [tag, owner] : shards) {
    const TestServer& server = cluster.node(owner);
    const Reply time = command(server, {"TIME"});
    const Reply sessions = command(server, {"ZRANGE", tag + "s", "0", "-1", "WITHSCORES"});
    if (sessions.items.size() < 2) return 0;
    const int64_t now_ms = std::stoll(time.at(0).text) * 1'000 + std::stoll(time.at(1).text) / 1'000;
    least = std::min(least, static_cast<int64_t>(std::stod(sessions.at(1).text)) - now_ms);
  }
  return least;
}

/// Those that answer are just enough for their cluster: one of them that is late for the others, on a machine
/// that has much to do, would make all refuse every call for seconds, and so no sign of life counts.
void give_nobody_up(const TestCluster& cluster) {
  for (size_t i = 0; i < cluster.size(); ++i)
    command(cluster.node(i), {"CONFIG", "SET", "cluster-node-timeout", "60000"});
}

}  // namespace

TEST_CASE("a guard sees to its worker's messages on servers that answer while another hangs", "[threads]") {
  TestCluster cluster(3);
  give_nobody_up(cluster);
  OnCluster s(16, cluster);
  for (int i = 0; i < 60; ++i) push_one(*s.queue, "t" + std::to_string(i), "x");
  LeaseRequest by_living;
  by_living.want = 60;
  size_t held = 0;
  while (held < by_living.want) held += answered(s.queue->lease(by_living)).deliveries.size();
  const std::vector<std::string> tags = s.tags();
  const std::string nonce =
      command(cluster.node(cluster.owner_of(tags[0])), {"ZRANGE", tags[0] + "s", "0", "0"}).at(0).text;
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  Descriptor workers(ends[0]), guards(ends[1]);
  const std::string packet = packet_of(GuardedWorker{s.location.spool, "", nonce, tags, ::getpid()});
  REQUIRE(::send(workers.get(), packet.data(), packet.size(), 0) == static_cast<ssize_t>(packet.size()));
  auto guard = std::async(std::launch::async, [&] { return real_time_engine().guard(std::move(guards)); });
  const size_t victim = (cluster.owner_of(s.meta_key()) + 1) % 3;
  std::vector<Placed> there;
  for (const std::string& tag : tags) {
    if (const size_t owner = cluster.owner_of(tag); owner != victim) there.push_back({tag, owner});
  }
  cluster.node(victim).stop();
  workers.close();
  const int64_t ms = ms_of([&] {
    wait_until([&] {
      return std::none_of(there.begin(), there.end(), [&](const Placed& each) {
        return command(cluster.node(each.owner), {"EXISTS", each.tag + "s"}).number == 1;
      });
    });
  });
  CHECK(ms < 10'000);  // less than after what a server gives up a session by itself
  cluster.node(victim).go_on();
  CHECK(guard.get().ok());
}

TEST_CASE("who lives on servers that answer is heard by them while others of their cluster hang",
          "[threads]") {
  const std::string options = GENERATE("", "&timeout=20s&connect=20s");  // however long a call may take
  CAPTURE(options);
  TestCluster cluster(5);
  give_nobody_up(cluster);
  OnCluster s(16, cluster, options);
  std::vector<NewMessage> messages;
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back("t" + std::to_string(i));
  for (const std::string& name : names) messages.push_back(message_for(name));
  REQUIRE(!answered(s.queue->push(messages)).error);
  LeaseRequest by_living;
  by_living.want = messages.size();
  size_t held = 0;
  while (held < messages.size()) held += answered(s.queue->lease(by_living)).deliveries.size();
  const size_t home = cluster.owner_of(s.meta_key());
  const std::vector<size_t> victims = {(home + 1) % 5, (home + 2) % 5};
  std::vector<Placed> there;
  for (const std::string& tag : s.tags()) {
    const size_t owner = cluster.owner_of(tag);
    if (std::find(victims.begin(), victims.end(), owner) == victims.end()) there.push_back({tag, owner});
  }
  REQUIRE((!there.empty() && there.size() < s.tags().size()));
  // Once it is heard by itself, and so connected to all: it tells each what it holds, behind that.
  const std::vector<std::string> before = ends(cluster, there);
  wait_until([&] {
    const std::vector<std::string> now = ends(cluster, there);
    return std::equal(now.begin(), now.end(), before.begin(), std::not_equal_to<>());
  });
  for (const size_t victim : victims) cluster.node(victim).stop();
  int64_t least = INT64_MAX;
  const int64_t end_ms = system_clock().boot_ms() + kHangMs;
  while (system_clock().boot_ms() < end_ms) {
    least = std::min(least, left_ms(cluster, there));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  for (const size_t victim : victims) cluster.node(victim).go_on();
  // Of 15 s, for a sign each 5 s: 10. Where connecting may take long, two that hang cost a second each before
  // anything is said; and a machine that has much to do makes a sign late, but not by the time of another one.
  CHECK(least > 5'000);
}

TEST_CASE("who is back before it was told that it is away is not told to be") {
  TestCluster cluster(3);
  give_nobody_up(cluster);
  OnCluster s(16, cluster, "&timeout=1s&connect=1s");
  REQUIRE(s.queue->attend({}).ok());
  const size_t victim = (cluster.owner_of(s.meta_key()) + 1) % 3;
  cluster.node(victim).stop();
  CHECK(answered(s.queue->lease(for_a_minute())).partial);
  cluster.node(victim).go_on();
  wait_until([&] { return !answered(s.queue->lease(for_a_minute())).partial; });
  CHECK(s.queue->take_notices().empty());
}

TEST_CASE("who asks queue after queue waits for a server that hangs once, and not for each of them") {
  TestCluster cluster(3);
  give_nobody_up(cluster);
  const std::string spool = cluster.spool("?prefix=many&connect=1s&timeout=1s");
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back("q" + std::to_string(i));
  for (const std::string& name : names) {
    CreateOptions options;
    options.shards = 1;
    REQUIRE(answered(real_time_engine().create({spool, name}, options)));
  }
  const auto look = [&](const std::string& name) {
    const auto queue = real_time_engine().open({spool, name}, {});
    return queue.ok() && (*queue)->stats(StatsRequest{}).ok();
  };
  const size_t victim = cluster.owner_of("fq1:many:{q0}:meta");
  const auto elsewhere =
      static_cast<size_t>(std::count_if(names.begin(), names.end(), [&](const std::string& name) {
        return cluster.owner_of("fq1:many:{" + name + "}:meta") != victim;
      }));
  REQUIRE(elsewhere > 0);
  cluster.node(victim).stop();
  const int64_t once_ms = ms_of([&] { CHECK(!look("q0")); });
  size_t answering = 0;
  const int64_t all_ms = ms_of([&] {
    for (const std::string& name : names) answering += look(name);
  });
  cluster.node(victim).go_on();
  CHECK(answering == elsewhere);
  CHECK(all_ms < 2 * once_ms);
  // Who comes back is not taken for one that is away.
  wait_until([&] { return look("q0"); });
}

}  // namespace fq::test
