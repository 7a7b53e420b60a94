// damaged_keys_test - whatever key of a queue is lost, damaged, cut, another's or of another type on the
// server: no command hangs or is told what is not so, and what is healthy is served.

// System.
#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
// Tests.
#include "tests/knobs.h"
#include "tests/redis/fixture.h"

namespace fq::test {

namespace {

enum class Damage { missing, garbage, other_type, cut };

/// A queue that has some of all that there is.
struct Full {
  FakeClock clock;
  TestServer server;
  std::unique_ptr<Queue> queue = open_on(told_time_engine(), server.spool(), &clock);
  std::unique_ptr<Queue> worker = open_on(told_time_engine(), server.spool(), &clock);
  std::map<std::string, std::string> keys;  // what they had, as the server dumps it
  std::vector<MessageId> ids;
  std::vector<std::string> refusals;  // by what was asked

  MessageId push(std::string_view tenant, const std::function<void(NewMessage&)>& change = {}) {
    NewMessage message;
    message.tenant = tenant;
    message.payload = as_bytes("payload");
    message.tags = {{"color", "red"}};
    if (change) change(message);
    ids.push_back(answered(queue->push({&message, 1})).items.at(0).id);
    return ids.back();
  }
  Delivery take(std::string_view tenant, Queue& by, Hold hold = Hold::duration) {
    LeaseRequest request = for_a_minute(1);
    request.tenant = tenant;
    request.hold = hold;
    LeaseReply reply = answered(by.lease(request));
    return std::move(reply.deliveries.at(0));
  }
  void policy(std::string_view path, PolicyKey key, int64_t number) {
    answered(queue->policy_set(path, {{{key, number, 0, {}}}, {}}));
  }

  explicit Full(bool by_rank = false) {
    if (by_rank) policy("", PolicyKey::scope, static_cast<int64_t>(Scope::queue));
    policy("", PolicyKey::retention, 60'000);
    policy("a", PolicyKey::concurrency, 5);
    for (const std::string_view tenant : {"living", "timed", "dead", "acked", "stepped"}) {
      push(tenant, [&](NewMessage& m) { m.unique = tenant; });
    }
    take("living", *worker, Hold::process);
    take("timed", *queue);
    Settle items[2];
    items[0].receipt = take("dead", *queue).receipt;
    items[0].verdict = Verdict::bury;
    items[1].receipt = take("acked", *queue).receipt;
    answered(queue->settle(items));
    const Delivery job = take("stepped", *queue);
    answered(queue->steps()->begin(job.receipt, "s", nullptr));
    answered(queue->steps()->keep(job.receipt, "s", as_bytes("kept")));
    push("a");
    push("a/b");
    push("delayed", [](NewMessage& m) { m.delay_ms = 10'000; });
    push("held", [this](NewMessage& m) { m.after.push_back(ids[0]); });
    push("batch", [](NewMessage& m) { m.priority = 3; });
    ScheduleDefinition definition;
    definition.name = "s";
    definition.spec = "every 1d";
    definition.message.payload = as_bytes("of s");
    answered(queue->schedules()->set(definition));
    answered(queue->schedules()->run("s"));
    Reply all = command(server, {"KEYS", "*"});
    for (const Reply& each : all.items) keys[each.text] = command(server, {"DUMP", each.text}).text;
  }

  void restore() {
    command(server, {"FLUSHALL"});
    for (const auto& [key, dump] : keys) command(server, {"RESTORE", key, "0", dump, "REPLACE"});
  }
  /// What `name` has of a hash is cut in the middle.
  void cut(const std::string& hash, const std::string& name) {
    const std::string was = command(server, {"HGET", hash, name}).text;
    command(server, {"HSET", hash, name, was.substr(0, was.size() / 2)});
  }
  /// What `key` has is cut in the middle, each part of it.
  void cut(const std::string& key, std::string_view type) {
    const auto half = [](const std::string& was) { return was.substr(0, was.size() / 2); };
    if (type == "string") command(server, {"SET", key, half(command(server, {"GET", key}).text)});
    if (type == "hash") {
      const Reply names = command(server, {"HKEYS", key});
      for (const Reply& each : names.items) cut(key, each.text);
    }
    if (type != "list" && type != "set" && type != "zset") return;
    const Reply was = type == "list"  ? command(server, {"LRANGE", key, "0", "-1"})
                      : type == "set" ? command(server, {"SMEMBERS", key})
                                      : command(server, {"ZRANGE", key, "0", "-1", "WITHSCORES"});
    command(server, {"DEL", key});
    for (size_t i = 0; i < was.items.size(); ++i) {
      const std::string part = half(was.items[i].text);
      if (type == "list") command(server, {"RPUSH", key, part});
      if (type == "set") command(server, {"SADD", key, part});
      if (type == "zset") command(server, {"ZADD", key, was.items[++i].text, part});
    }
  }
  /// All but `damaged` as it was; that is lost, has something that fq never wrote, is cut, or of another
  /// type.
  void restore_but(const std::string& damaged, Damage damage) {
    restore();
    const std::string type = command(server, {"TYPE", damaged}).text;
    if (damage == Damage::cut) return cut(damaged, type);
    if (damage != Damage::garbage) command(server, {"DEL", damaged});
    if (damage == Damage::missing) return;
    const bool is_text = (type == "string") == (damage == Damage::garbage);
    if (is_text) command(server, {"SET", damaged, "garbage"});
    if (!is_text && damage == Damage::other_type) command(server, {"RPUSH", damaged, "garbage"});
    if (damage == Damage::other_type) return;
    if (type == "zset") command(server, {"ZADD", damaged, "0", "garbage", "0", "", "0", "\xff"});
    if (type == "set") command(server, {"SADD", damaged, "garbage"});
    if (type == "hash") command(server, {"HSET", damaged, "garbage", "garbage"});
    if (type == "list") command(server, {"RPUSH", damaged, "garbage"});
  }

  template <class T>
  void note(std::string_view what, const Result<T>& result) {
    if (!result.ok()) refusals.push_back(std::string(what) + ": " + result.error().text);
  }
  Result<LeaseReply> lease(std::string_view tenant = {}) {
    LeaseRequest request = for_a_minute(1);
    request.tenant = tenant;
    return queue->lease(request);
  }
  Result<PushReply> push_another(std::string_view tenant) {
    NewMessage message;
    message.tenant = tenant;
    message.payload = as_bytes("another");
    return queue->push({&message, 1});
  }
  /// All that people ask for, and what time brings.
  void ask_for_all() {
    note("push", push_another("new"));
    note("peek", queue->peek({}, {}, 100));
    Filter red;
    red.tag = Tag{"color", "red"};
    note("peek by tag", queue->peek(red, {}, 100));
    note("ended", queue->ended({}, {}, 100));
    for (const MessageId id : ids) {
      note("get", queue->get(id));
      note("history", queue->history(id, {}, 100));
      note("steps", queue->steps()->list(id));
      note("export", queue->exported(id));
      ExplainRequest request;
      request.id = id;
      note("explain", queue->explain(request));
    }
    note("stats", queue->stats(StatsRequest()));
    note("workers", queue->attendees());
    note("settings", queue->policy_overrides({}, 100));
    note("schedules", queue->schedules()->list({}, 100));
    note("schedule run", queue->schedules()->run("s"));
    note("check", queue->check());
    for (int i = 0; i < 3; ++i) {
      note("lease", lease());
      clock.advance(70'000);
    }
    note("cancel", queue->mutate(std::span(ids), Action::cancel));
    note("compact", queue->compact());
  }
  void mend_and_serve() {
    answered(queue->check({.repair = true}));
    CHECK(answered(queue->check()).findings.lines == std::vector<std::string>{});
    answered(push_another("late"));
    CHECK(answered(lease("late")).deliveries.size() == 1);
  }
};

/// What is tried with each key: in one run a part, drawn anew for each; all with FQ_ALL.
class Drawn {
 public:
  std::vector<Damage> damages() {
    const std::vector<Damage> all = {Damage::missing, Damage::garbage, Damage::cut};
    return is_all_tried() ? all : std::vector<Damage>{all[random_() % all.size()]};
  }
  bool is_tried() { return is_all_tried() || random_() % 3 == 0; }
  uint64_t seed() const { return seed_; }

 private:
  uint64_t seed_ = seed_of_run();
  std::mt19937_64 random_{seed_};
};

/// Of the message, the schedule or the steps that are damaged themselves.
bool is_told_as_damaged(const std::string& refusal) {
  return refusal.find("its record cannot be read") != std::string::npos ||
         refusal.find("cannot be read; see fq check --repair") != std::string::npos ||
         refusal == "stats: tenants: are told in no order";
}

}  // namespace

TEST_CASE("whatever key is lost or damaged, all that does not need it goes on, and a repair mends the rest") {
  const bool by_rank = GENERATE(false, true);
  Full f(by_rank);
  Drawn drawn;
  for (const auto& [key, dump] : f.keys) {
    if (key.ends_with("}:h")) continue;  // without it there is no queue
    for (const Damage damage : drawn.damages()) {
      f.restore_but(key, damage);
      f.refusals.clear();
      CAPTURE(key, by_rank, static_cast<int>(damage), drawn.seed());
      f.ask_for_all();
      for (const std::string& refusal : f.refusals) {
        INFO(refusal);
        CHECK((damage != Damage::missing || refusal.starts_with("schedules: ")));
        CHECK(is_told_as_damaged(refusal));
        CHECK_FALSE(
            (refusal.starts_with("push") || refusal.starts_with("lease") || refusal.starts_with("peek: ")));
      }
      f.mend_and_serve();
    }
  }
}

TEST_CASE(
    "whatever a root has lost, nothing hangs: it goes on, or all that asks is told so and nothing is done") {
  const bool by_rank = GENERATE(false, true);
  Full f(by_rank);
  const auto found = std::find_if(f.keys.begin(), f.keys.end(),
                                  [](const auto& each) { return each.first.ends_with("}:h"); });
  const std::string root = found->first;
  Drawn drawn;
  const std::set<std::string> needed = {"schema", "n", "serial"}, read_whole = {"file", "set"};
  const Reply names = command(f.server, {"HKEYS", root});
  for (const Reply& name : names.items) {
    for (const Damage damage : drawn.damages()) {
      f.restore();
      if (damage == Damage::missing) command(f.server, {"HDEL", root, name.text});
      if (damage == Damage::garbage) command(f.server, {"HSET", root, name.text, "garbage"});
      if (damage == Damage::cut) f.cut(root, name.text);
      f.refusals.clear();
      CAPTURE(name.text, by_rank, static_cast<int>(damage), drawn.seed());
      f.ask_for_all();
      const bool is_told = !f.refusals.empty();
      // What is left of a number that is cut is a number.
      if (needed.contains(name.text) && damage != Damage::cut) CHECK(is_told);
      for (const std::string& refusal : f.refusals) {
        INFO(refusal);
        CHECK((needed.contains(name.text) || read_whole.contains(name.text)));
        CHECK((refusal.find("has lost the key") != std::string::npos ||
               refusal.find("what it keeps of this queue is of schema") != std::string::npos));
      }
      if (is_told) {
        command(f.server, {"RESTORE", root, "0", found->second, "REPLACE"});
        CHECK(answered(f.queue->check()).findings.lines == std::vector<std::string>{});
      }
      f.mend_and_serve();
    }
  }
}

TEST_CASE(
    "messages whose records stand under one another's names stop nothing, and a repair mends the rest") {
  const bool by_rank = GENERATE(false, true);
  Full f(by_rank);
  std::vector<std::string> records;
  for (const auto& [key, dump] : f.keys) {
    if (key.find("}:m:") != std::string::npos) records.push_back(key);
  }
  REQUIRE(records.size() > 5);
  Drawn drawn;
  for (const std::string& one : records) {
    for (const std::string& other : records) {
      if (one >= other || !drawn.is_tried()) continue;
      f.restore();
      command(f.server, {"RESTORE", one, "0", f.keys[other], "REPLACE"});
      command(f.server, {"RESTORE", other, "0", f.keys[one], "REPLACE"});
      f.refusals.clear();
      CAPTURE(one, other, by_rank, drawn.seed());
      f.ask_for_all();
      CHECK(f.refusals == std::vector<std::string>{});
      f.mend_and_serve();
    }
  }
}

TEST_CASE("a place that names a message which stands elsewhere by its record gives nothing away") {
  Full f;
  std::string tag, held;
  for (const auto& [key, dump] : f.keys) {
    if (key.ends_with("}:h")) tag = key.substr(0, key.size() - 1);
    if (key.find("}:l:") != std::string::npos) held = key;
  }
  const MessageId first = f.push("x");
  SECTION("the dead letters") {
    command(f.server, {"ZADD", tag + "d", "1", member_of(first)});
    f.policy("", PolicyKey::dead_retention, 1);
    CHECK(answered(f.lease("x")).deliveries.at(0).id == first);
  }
  SECTION("the timetable") {
    command(f.server, {"ZADD", tag + "t", "1", member_of(first)});
    CHECK(answered(f.lease("x")).deliveries.at(0).id == first);
  }
  SECTION("what is ready") {
    CHECK(f.take("x", *f.queue).id == first);
    f.push("x");
    command(f.server, {"ZADD", tag + "q:x", "0", "\xff" + member_of(first)});
    for (const Delivery& each : answered(f.lease("x")).deliveries) CHECK(each.id != first);
  }
  SECTION("what a session holds") {
    const Delivery timed = f.take("x", *f.queue);
    command(f.server, {"ZADD", held, "0", member_of(first)});
    f.worker.reset();
    f.clock.advance(30'000);
    CHECK(answered(f.queue->get(first))->state == State::leased);
  }
  SECTION("what one session holds, and another by living") {
    const Delivery living = f.take("x", *f.queue, Hold::process);
    command(f.server, {"ZADD", held, "0", member_of(first)});
    f.worker.reset();
    CHECK(answered(f.queue->get(first))->state == State::leased);
    CHECK(answered(f.queue->check()).findings.lines == std::vector<std::string>{});
  }
  answered(f.queue->check({.repair = true}));
  CHECK(answered(f.queue->check()).findings.lines == std::vector<std::string>{});
}

TEST_CASE(
    "what another program has put under a key of a queue is told as that, and its end can be repaired") {
  Full f;
  for (const auto& [key, dump] : f.keys) {
    if (key.ends_with("}:h")) continue;
    f.restore_but(key, Damage::other_type);
    f.refusals.clear();
    CAPTURE(key);
    f.note("push", f.push_another("new"));
    f.note("peek", f.queue->peek({}, {}, 100));
    f.note("lease", f.lease());
    f.note("cancel", f.queue->mutate(std::span(f.ids), Action::cancel));
    f.note("check", f.queue->check());
    for (const std::string& refusal : f.refusals) {
      INFO(refusal);
      CHECK(refusal.find("has something of another program under a key of fq's") != std::string::npos);
    }
    command(f.server, {"DEL", key});
    f.mend_and_serve();
  }
}

}  // namespace fq::test
