// rights_test - a user with the least rights does what fq does on its queues, and nothing else.
#include "core/redis/shard/rights.h"

// System.
#include <cstdlib>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <sstream>
// Tests.
#include "tests/redis/other_build.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

std::set<std::string> words_in(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::set<std::string> found;
  for (std::string word; words >> word;) found.insert(word);
  return found;
}

/// Some answers have it beside what was done.
template <class T>
std::optional<Error> fault_of(const Result<T>& result) {
  if (!result.ok()) return result.error();
  if constexpr (requires { result->error; }) return result->error;
  return std::nullopt;
}

/// A server whose usual user has the rights of fq, and another one, all of them.
struct Guarded {
  TestServer server;
  std::unique_ptr<Server> admin;
  RedisPlace place = answered(parse_redis_place(server.spool()));

  /// `options`: of the URL for which the rights are told.
  explicit Guarded(const std::string& options = {}) {
    answered(load_library(*connect(), redis_library()));
    run({"ACL", "SETUSER", "admin", "on", ">all", "~*", "&*", "+@all"}, *connect());
    RedisPlace as_admin = place;
    as_admin.user = "admin";
    admin = answered(Server::open(as_admin, "all"));
    allow(rights_of(answered(parse_redis_place(server.spool(options))), redis_library()));
  }
  std::unique_ptr<Server> connect() { return answered(Server::open(place, "")); }
  static Reply run(std::vector<std::string_view> words, Server& by) { return answered(by.call(words)); }
  Reply run(std::vector<std::string_view> words) { return run(std::move(words), *admin); }
  /// Each key, and what it has.
  std::string all_there_is() {
    std::set<std::string> found;
    for (const Reply& key : run({"KEYS", "*"}).items)
      found.insert(key.text + "=" + run({"DUMP", key.text}).text);
    std::string all;
    for (const std::string& each : found) all += each + "\n";
    return all;
  }
  void allow(const std::string& rules) {
    std::istringstream stream(rules);
    std::vector<std::string> parts;  // their order matters
    for (std::string part; stream >> part;) parts.push_back(part);
    std::vector<std::string_view> words = {"ACL", "SETUSER", "default"};
    words.insert(words.end(), parts.begin(), parts.end());
    REQUIRE(run(words).kind != Reply::Kind::error);
  }
};

/// Of several shards: what clients ask of all in one go.
Result<void> story_of_shards(const Location& location) {
  const RedisEngine& engine = real_time_engine();
  FQ_TRY(engine.create(location, {.shards = 2}));
  FQ_TRY_SET(std::unique_ptr<Queue> queue, engine.open(location, {}));
  FQ_TRY(queue->push(std::vector<NewMessage>(1)));
  LeaseRequest request = for_a_minute();
  request.watch = true;
  FQ_TRY(queue->lease(request));
  FQ_TRY(queue->lease(request));  // news of the one that it has
  FQ_TRY(queue->schedules()->get("none"));
  queue.reset();  // while it watches a lease, the queue stays
  return engine.remove(location);
}

/// What clients do without calling a function is among it.
Result<void> story(const std::string& spool) {
  const RedisEngine& engine = real_time_engine();
  OpenOptions making;
  making.create = true;
  static int count = 0;  // what was refused leaves something
  const std::string name = "story" + std::to_string(++count);
  const Location location{spool, name};
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, engine.open(location, making));
  NewMessage message;
  message.tenant = "t";
  FQ_TRY(queue->push({&message, 1}));
  FQ_TRY_SET(const LeaseReply leased, queue->lease(for_a_minute()));
  FQ_TRY(queue->policy_version());
  FQ_TRY(queue->check({}));
  FQ_TRY(engine.list(spool));
  FQ_TRY(engine.policy_text(spool));
  FQ_TRY_SET(const std::string version, engine.keep_policy_text(spool, "", {}));
  FQ_TRY(engine.rename(location, name + ".renamed"));
  // One under the name that another one had, and one whose removal was broken off.
  FQ_TRY(engine.create(location, {}));
  FQ_TRY(engine.remove(location));
  FQ_TRY(engine.remove({spool, name + ".renamed"}));
  return story_of_shards({spool, name + ".shards"});
}

void check_others_are_denied(Guarded& guarded) {
  std::set<std::string> allowed = words_in(redis_library().commands);
  allowed.merge(words_in(client_commands()));
  allowed.merge(std::set<std::string>{"auth", "hello", "reset", "quit"});  // which nobody can be denied
  allowed.insert("wait");                                                  // where there is a replica
  allowed.merge(std::set<std::string>{"spublish", "ssubscribe"});          // for who waits
  CHECK(guarded.run({"ACL", "DRYRUN", "default", "pubsub", "shardnumsub", "fq1:fq:x"}).text == "OK");
  for (const Reply& command : guarded.run({"COMMAND", "LIST"}).items) {
    if (command.text.find('|') != std::string::npos) continue;  // one of a command that is among them
    const int64_t words = guarded.run({"COMMAND", "INFO", command.text}).at(0).at(1).number;
    std::vector<std::string_view> tried = {"ACL", "DRYRUN", "default", command.text};
    tried.resize(3 + static_cast<size_t>(std::abs(words)), "fq1:fq:x");
    const std::string said = guarded.run(tried).text;
    CAPTURE(command.text, said);
    const bool is_denied = said.find("no permissions to run") != std::string::npos;
    CHECK(is_denied != (allowed.count(command.text) == 1 || said.starts_with("ERR")));
    CHECK((said != "OK" || allowed.count(command.text) == 1));
  }
  for (const std::string_view key : {"other", "fq1:", "fq1:shop:queues", "fq1:fqs"}) {
    const Reply tried = guarded.run({"ACL", "DRYRUN", "default", "hget", key, "x"});
    CAPTURE(std::string(key), tried.text);
    CHECK(tried.text.find("no permissions to access") != std::string::npos);
  }
  CHECK(guarded.run({"ACL", "DRYRUN", "default", "hget", "fq1:fq:queues", "x"}).text == "OK");
}

}  // namespace

TEST_CASE("the rights that are told are enough, and each of them is needed") {
  Guarded guarded;
  const Result<void> done = story(guarded.server.spool());
  INFO((done.ok() ? std::string() : done.error().text));
  REQUIRE(done.ok());
  for (const std::string& command : words_in(client_commands())) {
    guarded.allow("-" + command);
    const Result<void> refused = story(guarded.server.spool());
    CAPTURE(command);
    REQUIRE(!refused.ok());
    CHECK(refused.error().kind == ErrorKind::denied);
    CHECK(refused.error().text.find("fq-redis acl URL tells what it needs") != std::string::npos);
    guarded.allow("+" + command);
  }
  CHECK(story(guarded.server.spool()).ok());
}

TEST_CASE("whoever lacks a right that functions need is told which, and nothing is done") {
  Guarded guarded;
  const auto queue = open_on(real_time_engine(), guarded.server.spool());
  const MessageId first = push_one(*queue, "t", "x");
  push_one(*queue, "t", "y");
  const LeaseReply leased = answered(queue->lease(for_a_minute()));
  const Settle ack{leased.deliveries.at(0).receipt, Verdict::ack};
  NewMessage message;
  message.tenant = "t";
  const PolicyPatch patch{{{PolicyKey::weight, 2'000, 0, {}}}, {}};
  const std::function<std::optional<Error>()> changes[] = {
      [&] {
        return fault_of(queue->push({&message, 1}));
      },
      [&] { return fault_of(queue->lease(for_a_minute())); },
      [&] {
        return fault_of(queue->settle({&ack, 1}, nullptr));
      },
      [&] {
        return fault_of(queue->mutate({&first, 1}, Action::cancel));
      },
      [&] { return fault_of(queue->policy_set("t", patch)); },
      [&] { return fault_of(queue->check({.repair = true})); },
  };
  for (const std::string& command : words_in(redis_library().commands)) {
    guarded.allow("-" + command);
    const std::string before = guarded.all_there_is();
    CAPTURE(command);
    for (size_t i = 0; i < std::size(changes); ++i) {
      CAPTURE(i);
      const std::optional<Error> fault = changes[i]();
      REQUIRE(fault);
      CHECK(fault->kind == ErrorKind::denied);
      // A check asks so who has the keys that it looks through.
      const std::string what = command == "exists" && i == 5 ? "EXISTS: does not let this user do it"
                                                             : "does not let this user run '" + command + "'";
      CHECK(fault->text.find(what + "; fq-redis acl URL tells") != std::string::npos);
      CHECK(guarded.all_there_is() == before);
    }
    guarded.allow("+" + command);
  }
  push_one(*queue, "t", "x");
}

TEST_CASE("no other command is allowed, nor a key of others, at any level") {
  for (const char* const options : {"", "?durability=replica", "?durability=strict"}) {
    CAPTURE(options);
    Guarded guarded(options);
    check_others_are_denied(guarded);
    CHECK(guarded.run({"CONFIG", "SET", "masterauth", "M4sterS3cret"}).text == "OK");
    const Reply read = guarded.run({"CONFIG", "GET", "masterauth"}, *guarded.connect());
    CHECK(read.kind == Reply::Kind::error);
    CHECK(read.text.starts_with("NOPERM"));
  }
}

TEST_CASE("with these rights a strict server is used, and refused for what it says of itself") {
  Guarded guarded("?durability=strict");
  const std::string spool = guarded.server.spool("?durability=strict");
  const auto set = [&](std::string_view name, std::string_view value) {
    REQUIRE(guarded.run({"CONFIG", "SET", name, value}).kind != Reply::Kind::error);
  };
  const auto refusal = [&]() -> std::string {
    const RedisEngine anew(redis_library(), no_password);  // a server that was met says no more of itself
    const Result<bool> made = anew.create({spool, "q"}, {});
    return made ? "" : made.error().text;
  };
  const auto durability = [&] {
    for (DoctorRow& each : real_time_engine().examine(spool, {})) {
      if (each.about == "durability") return each;
    }
    return DoctorRow();
  };
  CHECK(refusal().find("needs its appendonly to be yes") != std::string::npos);
  set("appendonly", "yes");
  CHECK(refusal().find("needs its min-replicas-to-write to be 1 or more") != std::string::npos);
  const uint16_t port = free_port();
  const std::string port_text = std::to_string(port);
  set("port", port_text);
  const TestServer replica({"--repl-diskless-sync-delay", "0", "--masteruser", "admin", "--masterauth", "all",
                            "--replicaof", "127.0.0.1 " + port_text});
  wait_until([&] { return guarded.run({"INFO"}).text.find("state=online") != std::string::npos; });
  set("min-replicas-to-write", "1");
  CHECK(refusal() == "");
  set("min-replicas-max-lag", "0");  // with which nothing asks for replicas
  CHECK(refusal().find("and its min-replicas-max-lag") != std::string::npos);
  set("min-replicas-max-lag", "10");
  const auto queue = answered(real_time_engine().open({spool, "q"}, {}));
  CHECK(answered(queue->push(std::vector<NewMessage>(1))).items.at(0).status == PushStatus::accepted);
  // What it cannot know it does not say.
  CHECK(durability().health == Health::warning);
  CHECK(durability().found.find("where its appendfsync is always, which it does not tell this user") !=
        std::string::npos);
  guarded.allow("+config|get");
  CHECK(refusal().find("needs its appendfsync to be always") != std::string::npos);
  set("appendfsync", "always");
  CHECK(durability().health == Health::ok);
}

TEST_CASE("who may not load functions is told who has to") {
  Guarded guarded;
  guarded.run({"FUNCTION", "FLUSH"});
  const Result<bool> made = real_time_engine().create({guarded.server.spool(), "q"}, {});
  REQUIRE(!made.ok());
  CHECK(made.error().kind == ErrorKind::unusable);
  CHECK(made.error().text.find("an administrator must run fq-redis load URL") != std::string::npos);
  CHECK(answered(load_library(*guarded.admin, redis_library())));
  CHECK(!answered(load_library(*guarded.admin, redis_library())));
  CHECK(real_time_engine().create({guarded.server.spool(), "q"}, {}).ok());
}

TEST_CASE("who may not delete functions is told so, and old ones stay") {
  FakeClock clock;
  Guarded guarded;
  const OtherBuild old('a');
  guarded.allow("+function");
  push_one(*open_on(old.engine(), guarded.server.spool(), &clock), "t",
           "x");  // long ago by the server's clock
  guarded.allow("-function");
  const auto queue = open_on(real_time_engine(), guarded.server.spool());
  for (const char* const more : {"+ping", "+function|list"}) {
    guarded.allow(more);
    CHECK(!answered(queue->compact()).libraries_gone);
    CHECK(guarded.run({"FUNCTION", "LIST"}).items.size() == 2);
  }
  guarded.allow("+function|delete");
  CHECK(answered(queue->compact()).libraries_gone == 1);
  CHECK(guarded.run({"FUNCTION", "LIST"}).items.size() == 1);
}

TEST_CASE("a database other than the first is among the rights where the URL names one") {
  const RedisPlace place = answered(parse_redis_place("redis+unix:///s?db=3&prefix=shop"));
  const std::string rules = rights_of(place, redis_library());
  CHECK(rules.find(" ~fq1:shop:* ") != std::string::npos);
  CHECK(rules.find(" &fq1:shop:* ") != std::string::npos);
  CHECK(words_in(rules).count("+select") == 1);
  const RedisPlace first = answered(parse_redis_place("redis+unix:///s?prefix=shop"));
  CHECK(words_in(rights_of(first, redis_library())).count("+select") == 0);
}

TEST_CASE("a server is asked about no command that is not whole") {
  const std::set<std::string> others = {"time", "info", "scan", "fcall",
                                        "fcall_ro"};  // they begin with no key
  const std::string text(redis_library().text);
  const size_t begin = text.find("local BEHIND = {"), end = text.find('}', begin);
  REQUIRE(end != std::string::npos);
  std::map<std::string, int64_t> behind;
  const std::regex each("(\\w+) = (\\d)");
  const auto from = text.begin() + static_cast<std::ptrdiff_t>(begin);
  for (std::sregex_iterator at(from, text.begin() + static_cast<std::ptrdiff_t>(end), each), none; at != none;
       ++at)
    behind[(*at)[1]] = std::stoll((*at)[2]);
  Guarded s;
  std::set<std::string> commands = words_in(redis_library().commands);
  commands.merge(words_in(client_commands()));
  for (const std::string& command : commands) {
    if (others.contains(command)) continue;
    CAPTURE(command);
    const int64_t arity = s.run({"COMMAND", "INFO", command}).at(0).at(1).number;
    const int64_t words = 2 + behind[command];
    CHECK((arity > 0 ? words == arity : words >= -arity));
  }
}

}  // namespace fq::test
