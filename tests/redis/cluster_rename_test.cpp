// cluster_rename_test - a queue on a cluster gets another name, in parts; one that was broken off is brought
// to its end.
#include "tests/redis/on_cluster.h"

// System.
#include <set>

namespace fq::test {

namespace {

/// Queues of names that lie on other servers than the one that it is made with.
struct Renamed {
  explicit Renamed(uint32_t shards = 4) : s(shards) {
    for (int i = 0; name.empty(); ++i) {
      const std::string other = "r" + std::to_string(i);
      if (s.cluster.owner_of(meta_of(other)) != s.cluster.owner_of(s.meta_key())) name = other;
    }
    ids = {push_one(*s.queue, "a", "x"), push_one(*s.queue, "b", "y")};
  }
  ~Renamed() { static_cast<void>(real_time_engine().remove(later())); }
  Location later() const { return {s.location.spool, name}; }
  std::string meta_of(const std::string& queue) const { return "fq1:" + s.prefix + ":{" + queue + "}:meta"; }
  std::string set() const { return "fq1:" + s.prefix + ":queues"; }
  Reply at(const std::string& key, std::initializer_list<std::string_view> words) const {
    return command(s.cluster.node(s.cluster.owner_of(key)), words);
  }
  void copy_meta() const {
    const Reply fields = at(s.meta_key(), {"HGETALL", s.meta_key()});
    const std::string there = meta_of(name);
    for (size_t i = 0; i + 1 < fields.items.size(); i += 2) {
      const bool is_word = fields.at(i).text == "to";
      at(there,
         {"HSET", there, is_word ? "was" : fields.at(i).text, is_word ? "default" : fields.at(i + 1).text});
    }
  }
  /// All that it had is there, and nowhere else.
  void is_over() const {
    CHECK(answered(real_time_engine().list(s.location.spool)) == std::vector{name});
    CHECK(at(s.meta_key(), {"EXISTS", s.meta_key()}).number == 0);
    const auto queue = answered(real_time_engine().open(later(), {}));
    for (const MessageId id : ids) CHECK(answered(queue->get(id))->state == State::ready);
    CHECK(answered(queue->check({})).findings.empty());
    for (const char* const word : {"to", "was"}) {
      CHECK(at(meta_of(name), {"HEXISTS", meta_of(name), word}).number == 0);
    }
    const Result<std::unique_ptr<Queue>> old = real_time_engine().open(s.location, {});
    REQUIRE(!old.ok());
    CHECK(old.error().kind == ErrorKind::missing);
  }

  OnCluster s;
  std::string name;
  std::vector<MessageId> ids;
};

}  // namespace

TEST_CASE("a queue on a cluster gets another name, and keeps what it has beside one that has its old name") {
  const uint32_t shards = GENERATE(1U, 4U, 64U);
  Renamed r(shards);
  REQUIRE(real_time_engine().rename(r.s.location, r.name).ok());
  r.is_over();
  CHECK(real_time_engine().rename(r.s.location, "x").error().kind == ErrorKind::missing);
  REQUIRE(answered(real_time_engine().create(r.s.location, {.shards = shards})));
  const auto anew = answered(real_time_engine().open(r.s.location, {}));
  CHECK(!answered(anew->get(r.ids[0])));
  for (int i = 0; i < 20; ++i) push_one(*anew, "t" + std::to_string(i), "z");
  const auto old = answered(real_time_engine().open(r.later(), {}));
  CHECK(answered(old->select({}, {}, 100)).ids.size() == 2);
  for (const std::string& name : {r.name, std::string("default")}) {
    const Result<void> refused = real_time_engine().rename(r.later(), name);
    REQUIRE(!refused.ok());
    CHECK(refused.error().kind == ErrorKind::usage);
  }
}

TEST_CASE("a queue on a cluster keeps its name while a process is attached to any of its shards") {
  Renamed r;
  const LeaseReply held = answered(r.s.queue->lease({}));
  REQUIRE(held.deliveries.size() == 1);
  const Result<void> refused = real_time_engine().rename(r.s.location, r.name);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::later);
  CHECK(answered(real_time_engine().list(r.s.location.spool)) == std::vector<std::string>{"default"});
  Settle release;
  release.receipt = held.deliveries[0].receipt;
  release.verdict = Verdict::release;
  answered(r.s.queue->settle({&release, 1}));
}

TEST_CASE("a rename that was broken off anywhere is brought to its end by whoever uses either name") {
  Renamed r;
  const std::string old = r.s.meta_key();
  const int steps = GENERATE(1, 2, 3, 4, 5);
  CAPTURE(steps);
  r.at(old, {"HSET", old, "to", r.name});
  if (steps > 1) r.at(r.set(), {"SADD", r.set(), r.name});
  if (steps > 2) r.copy_meta();
  if (steps > 3) r.at(r.set(), {"SREM", r.set(), "default"});
  if (steps > 4) r.at(old, {"DEL", old});
  const int how = GENERATE(0, 1, 2, 3);
  CAPTURE(how);
  const RedisEngine& engine = real_time_engine();
  if (how == 0) CHECK(!engine.open(r.s.location, {}).ok());
  if (how == 1) CHECK(!engine.rename(r.s.location, "other").ok());
  // Before it is made there is none of that name, but for who knows the old one.
  if (how > 1 && steps < 3) CHECK(!engine.open(r.s.location, {}).ok());
  if (how == 2) CHECK(engine.open(r.later(), {}).ok());
  if (how == 3) REQUIRE(engine.rename(r.later(), "default").ok());
  if (how == 3) REQUIRE(engine.rename(r.s.location, r.name).ok());
  CHECK(!engine.open(r.s.location, {}).ok());
  r.is_over();
}

TEST_CASE("a rename to a name that another has taken meanwhile is left off") {
  Renamed r;
  const std::string old = r.s.meta_key();
  REQUIRE(answered(real_time_engine().create(r.later(), {.shards = 4})));
  r.at(old, {"HSET", old, "to", r.name});
  const auto queue = answered(real_time_engine().open(r.s.location, {}));
  CHECK(answered(queue->select({}, {}, 10)).ids.size() == 2);
  CHECK(r.at(old, {"HEXISTS", old, "to"}).number == 0);
  CHECK(answered(answered(real_time_engine().open(r.later(), {}))->select({}, {}, 10)).ids.empty());
}

TEST_CASE("a queue that was removed while it got another name is not there under either") {
  Renamed r;
  const std::string old = r.s.meta_key();
  r.at(old, {"HSET", old, "to", r.name});
  const bool by_old = GENERATE(true, false);
  if (by_old) CHECK(real_time_engine().remove(r.s.location).error().kind == ErrorKind::missing);
  if (!by_old) CHECK(!real_time_engine().open(r.s.location, {}).ok());
  REQUIRE(real_time_engine().remove(r.later()).ok());
  r.s.queue.reset();
  CHECK(all_keys(r.s.cluster, r.s.prefix).empty());
}

}  // namespace fq::test
