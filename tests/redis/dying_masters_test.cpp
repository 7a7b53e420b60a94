// dying_masters_test - a server has died and its replica has not taken over yet: what is made meanwhile waits
// for that, as a push does.

// System.
#include <string>
// Tests.
#include "tests/redis/on_cluster.h"

namespace fq::test {

namespace {

constexpr const char* kPatience = "&timeout=30s";

/// Of a queue that lies with a server.
std::string name_at(const TestCluster& cluster, const std::string& prefix, size_t node) {
  for (int i = 0;; ++i) {
    std::string name = "n" + std::to_string(i);
    if (cluster.owner_of("fq1:" + prefix + ":{" + name + "}:meta") == node) return name;
  }
}

ScheduleDefinition hourly(const std::string& name, const std::string& tenant) {
  ScheduleDefinition one;
  one.name = name;
  one.spec = "every 1h";
  one.message.payload = as_bytes("x");
  one.message.tenant = tenant;
  return one;
}

}  // namespace

TEST_CASE("a queue and a schedule that are made while a master is dead wait for who takes over") {
  TestCluster cluster(3, 1);
  const OnCluster s(16, cluster, kPatience);
  push_one(*s.queue, "t", "before");
  const size_t master = cluster.owner_of(s.tags().at(0));
  const size_t with = GENERATE(size_t{0}, size_t{1});  // the one that dies, or another
  const std::string name = name_at(cluster, s.prefix, (master + with) % 3);
  const auto other = s.another();
  cluster.node(master).kill();
  SECTION("a queue") {
    const Result<bool> created = real_time_engine().create({s.location.spool, name}, {});
    INFO((created ? "" : created.error().text));
    CHECK(created.ok());
  }
  SECTION("a schedule") {
    const Result<void> set = other->schedules()->set(hourly("own", "t"));
    INFO((set ? "" : set.error().text));
    CHECK(set.ok());
    CHECK(answered(other->schedules()->get("own")).has_value());
  }
}

TEST_CASE("a queue is told to be as safe as the least safe of its servers") {
  TestCluster cluster(3, 1);
  const OnCluster s(16, cluster);
  const auto level = [&] {
    const RedisEngine anew(redis_library(), no_password);  // a server that was met says no more of itself
    return std::string(answered(anew.open(s.location, {}))->caps().level);
  };
  for (size_t master = 0; master < 3; ++master) cluster.wait_for_replicas(master, 1);
  CHECK(level() == "replica");
  cluster.node(5).kill();
  cluster.wait_for_replicas(2, 0);
  for (int i = 0; i < 5; ++i) CHECK(level() == "async");
}

}  // namespace fq::test
