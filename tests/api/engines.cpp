// engines - the one place in tests/api that knows which engines there are.
//
// A new engine is one more row in `factories`; nothing else in this folder changes.
#include "tests/api/contract.h"

// System.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
// Tests.
#include "tests/fakes/model_queue.h"
#ifdef FQ_HAVE_REDIS_ENGINE
#include "core/redis/redis_engine.h"
#include "core/redis/shard/rights.h"
#include "core/redis/wire/server.h"
#include "tests/left_out.h"
#include "tests/servers/cluster.h"
#include "tests/servers/servers.h"
#include "tests/servers/told_time_library.h"
#endif

namespace fq::test {

namespace {

class ModelEngine final : public Engine {
 public:
  std::unique_ptr<Queue> open(Clock& clock) override {
    if (!store_) store_ = std::make_shared<ModelStore>(clock);
    return std::make_unique<ModelQueue>(store_);
  }

 private:
  std::shared_ptr<ModelStore> store_;
};

std::unique_ptr<Engine> make_model() { return std::make_unique<ModelEngine>(); }

class LocalEngine final : public Engine {
 public:
  LocalEngine() {
    const char* base = std::getenv("TMPDIR");
    directory_ = std::string(base != nullptr ? base : "/tmp") + "/fq-contract-XXXXXX";
    REQUIRE(::mkdtemp(directory_.data()) != nullptr);
  }
  ~LocalEngine() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  std::unique_ptr<Queue> open(Clock& clock) override { return opened(clock, "default"); }
  std::unique_ptr<Queue> open_other(Clock& clock) override { return opened(clock, "other"); }

 private:
  std::unique_ptr<Queue> opened(Clock& clock, const std::string& name) const {
    OpenOptions options;
    options.create = true;
    options.clock = &clock;
    auto queue = open_queue({directory_ + "/spool", name}, options);
    INFO((queue.ok() ? std::string() : queue.error().text));
    REQUIRE(queue.ok());
    return std::move(queue).value();
  }

  std::string directory_;
};

std::unique_ptr<Engine> make_local() { return std::make_unique<LocalEngine>(); }

#ifdef FQ_HAVE_REDIS_ENGINE
Result<std::string> no_password() { return std::string(); }
Result<std::string> a_command_key() { return std::string("a key that only tests have"); }

/// Whose clients have no more rights than fq says that they need.
struct LeastRights {
  TestServer server;
  LeastRights() {
    auto place = parse_redis_place(server.spool());
    REQUIRE(place.ok());
    place->prefix = "test*";
    auto admin = fq::Server::open(*place, "");
    REQUIRE(admin.ok());
    REQUIRE(load_library(**admin, told_time_library()).ok());
    std::istringstream rights("ACL SETUSER default " + rights_of(*place, told_time_library()));
    std::vector<std::string> parts{std::istream_iterator<std::string>(rights), {}};
    const std::vector<std::string_view> words(parts.begin(), parts.end());
    const auto answer = (*admin)->call(words);
    REQUIRE(answer.ok());
    REQUIRE(answer->text == "OK");
  }
};

/// Each queue has a prefix of its own.
class RedisContractEngine : public Engine {
 public:
  explicit RedisContractEngine(uint32_t shards) : RedisContractEngine(shards, guarded()) {}
  ~RedisContractEngine() override {
    static_cast<void>(engine().remove(other_));
    static_cast<void>(engine().remove(location_));
  }
  std::unique_ptr<Queue> open(Clock& clock) override { return opened(clock, location_); }
  std::unique_ptr<Queue> open_other(Clock& clock) override {
    other_ = {location_.spool, "other"};
    REQUIRE(engine().create(other_, {.shards = shards_}).ok());
    std::unique_ptr<Queue> queue = opened(clock, other_);
    REQUIRE(queue->maintain(10).ok());  // which tells it the time
    return queue;
  }

 protected:
  template <class Servers>
  RedisContractEngine(uint32_t shards, const Servers& servers) : shards_(shards) {
    static int count = 0;
    const std::string prefix = "test" + std::to_string(++count);
    location_.spool = servers.spool("?prefix=" + prefix);
    if (shards == 1) return;
    REQUIRE(engine().create(location_, {.shards = shards}).ok());
    // Each run spreads tenants alike: where turns are bounded only, a test that would rest on them fails
    // always.
    const std::string meta = "fq1:" + prefix + ":{default}:meta", key(32, '7');
    command(server_of(servers, meta), {"HSET", meta, "spread", key});
  }

 private:
  static std::unique_ptr<Queue> opened(Clock& clock, const Location& location) {
    OpenOptions options;
    options.create = true;
    options.clock = &clock;
    auto queue = engine().open(location, options);
    INFO((queue.ok() ? std::string() : queue.error().text));
    REQUIRE(queue.ok());
    return std::move(queue).value();
  }
  static const TestServer& guarded() {
    static const LeastRights rights;
    return rights.server;
  }
  static const TestServer& server_of(const TestServer& server, std::string_view) { return server; }
  static const TestServer& server_of(const TestCluster& cluster, std::string_view key) {
    return cluster.node(cluster.owner_of(key));
  }
  static const RedisEngine& engine() {
    static const RedisEngine engine(told_time_library(), no_password, true, nullptr, a_command_key);
    return engine;
  }
  uint32_t shards_;
  Location location_, other_;
};

/// All queues are on one cluster, each below a prefix of its own.
class ClusterContractEngine final : public RedisContractEngine {
 public:
  ClusterContractEngine() : RedisContractEngine(64, cluster()) {}

 private:
  static TestCluster& cluster() {
    static TestCluster three_and_three(3, 1);
    return three_and_three;
  }
};

std::unique_ptr<Engine> make_cluster() { return std::make_unique<ClusterContractEngine>(); }
std::unique_ptr<Engine> make_redis() { return std::make_unique<RedisContractEngine>(1); }
std::unique_ptr<Engine> make_redis_16() { return std::make_unique<RedisContractEngine>(16); }
#endif

struct Factory {
  const char* name;
  std::unique_ptr<Engine> (*make)();
  bool is_sharded = false;
};

/// Tests that are not for an engine whose queues have several shards, and why. All else holds for it.
struct Off {
  const char* test;
  const char* why;
};
constexpr const char* kTurns = "turns between accounts of other shards are bounded, not exact";
constexpr const char* kIds = "ids do not count up over the queue";
constexpr const char* kAfter = "what comes after a message of another shard is refused";
constexpr const char* kWhole = "what holds for accounts of several shards is refused";
constexpr const char* kClock =
    "a server has one clock: a wall clock set apart from it is seen by the next call only";
constexpr Off kOffOverShards[] = {
    {"a tenant's row counts its own messages", kTurns},
    {"a high priority takes no turn from another tenant", kTurns},
    {"what comes back jumps no ring", kTurns},
    {"a clock that is set forward makes what it has passed, one that is set back makes nothing twice",
     kClock},
    {"a group of thousands is taken whole", kTurns},
    {"a tenant filter takes that tenant and what is below it", kTurns},
    {"a node's own messages are one more child of it", kTurns},
    {"a path of eight levels is served like any other", kTurns},
    {"the tenant of an edited message keeps its turn", kTurns},
    {"the dead are told among what has ended, who died last first", kTurns},
    {"who asks for the last ones is told at least these, and nothing out of its order", kTurns},
    {"an event says why", kTurns},
    {"what waits for its turn only has a place", kTurns},
    {"each thing that is in the way is told, and none of them alone is enough", kTurns},
    {"what is told to come next is what is served next", kTurns},
    {"who waits for a limit that those before it use up comes behind all that can start", kTurns},
    {"the turns of an account go to those of it that can start", kWhole},
    {"an account's limit is used up by all that is below it, and so is a pool by its members", kWhole},
    {"by bytes, long payloads have as many bytes as short ones", kTurns},
    {"by time, long runs have as much time as short ones", kTurns},
    {"by time, whatever ends a run pays for it, and who measures it better is believed", kTurns},
    {"by time, a lease that runs out is paid", kTurns},
    {"by time, what was charged before a tenant was made level does not come back to it", kTurns},
    {"another cost holds at once, for what is queued, and evens out what was ahead", kTurns},
    {"without linger a group is all that one tenant has, not of those below it", kTurns},
    {"groups are whole until enough messages are reached or passed", kTurns},
    {"a group is cut by a limit of its tenant, or by bytes, and the rest gathers anew", kTurns},
    {"each message of a group costs its tenant a turn", kTurns},
    {"a lease takes as many as are wanted, in the order of turns", kTurns},
    {"peek by state shows the delayed by due time", kTurns},
    {"what failed is found by a part of the reason, what expired too", kTurns},
    {"the classic example is served in turns", kTurns},
    {"one message of B and one of C are served second and third behind 1000 of A", kTurns},
    {"a tenant that comes anew joins at the end of the ring", kTurns},
    {"an account that splits its work over many tenants gains no turns", kTurns},
    {"peek shows the order of serving and changes nothing", kTurns},
    {"peek goes on from its cursor where the page before ended", kTurns},
    {"peek shows the order of serving, however far", kTurns},
    {"peek shows what has no turns behind all others, by tenant, however much that is", kTurns},
    {"a page may be asked for by another process than the one before", kTurns},
    {"two who go through a queue with one handle do not get in each other's way", kTurns},
    {"peek shows what is limited, behind all others", kTurns},
    {"a second push with a key pushes nothing and tells the id of the first", kTurns},
    {"events are told oldest first, each with its message and its tenant", kIds},
    {"events of one tenant are those of all below it too, and of no other", kIds},
    {"events of one message, and of none that never was", kIds},
    {"events since a time are those at it and after it", kIds},
    {"a cursor goes on behind its page, also inside a batch and in another handle", kIds},
    {"whose a message is is known where a page begins behind its push", kIds},
    {"who has read to the end goes on with what happens then", kIds},
    {"events of one tag are those of all messages that have it", kIds},
    {"what is exported is in another queue what it was", kIds},
    {"ids rise and stay below 2^53", kIds},
    {"what comes after a message that dies or is cancelled is buried, and so what comes after that", kAfter},
    {"who was buried while held and is kicked waits behind those that have waited meanwhile", kAfter},
    {"an edit brings no delay back that a kick has ended, though a step holds the message", kAfter},
    {"what is delayed, held or dead says so, and what keeps its tenant as well", kAfter},
    {"what a job that sleeps ends with is no verdict, and no attempt", kAfter},
    {"a job waits until messages have ended, and is told how, in each later run", kAfter},
    {"a job that has waited is told how all have ended by then: one that was kicked meanwhile was acked",
     kAfter},
    {"that one was not acked is told by the wait for it, and by no other one", kAfter},
    {"a job waits for all that its steps have pushed, however many", kAfter},
    {"what has ended is not waited for; what is unknown, or the message itself, is refused", kAfter},
    {"a step pushes one message, however often its job is run, as long as its own message lives", kAfter},
    {"a step pushes what a push would take, under a receipt that holds and a name of its own", kAfter},
    {"a queue's own concurrency holds for all tenants together", kTurns},
    {"tenants in one pool run no more at once than it allows, and no slot is lost", kTurns},
    {"a rule puts tenants into a pool", kTurns},
    {"one order for the whole queue: the highest priority of all goes first, and equals take turns", kWhole},
    {"one order for the whole queue: the smallest key of all goes first", kWhole},
    {"one order for the whole queue goes with fifo as if it were not there", kWhole},
    {"one order for the whole queue: equal keys take turns, however they are typed", kWhole},
    {"who takes the turns of one tenant uses up none that others have by age, and has its own", kWhole},
    {"random histories end as in the model", kTurns},  // see tests/redis/history_test.cpp
    {"random histories of schedules end as the model's do", kClock},
};

constexpr Factory factories[] = {
    {"model", make_model},
    {"local", make_local},
#ifdef FQ_HAVE_REDIS_ENGINE
    {"redis", make_redis},  // the last ones: they are left out where no server is installed
    {"redis of 16 shards", make_redis_16, true},
    {"cluster of 3 and 3, 64 shards", make_cluster, true},  // where it is asked for: it takes minutes
#endif
};

}  // namespace

std::vector<size_t> engines_of_this_test() {
  const std::string test = Catch::getResultCapture().getCurrentTestName();
  const bool is_off = std::any_of(std::begin(kOffOverShards), std::end(kOffOverShards),
                                  [&](const Off& each) { return test == each.test; });
  std::vector<size_t> engines;
  for (size_t i = 0; i < std::size(factories); ++i) {
#ifdef FQ_HAVE_REDIS_ENGINE
    const bool is_cluster = factories[i].make == make_cluster;
    const bool needs_server =
        is_cluster || factories[i].make == make_redis || factories[i].make == make_redis_16;
    if (needs_server && server_program().empty()) {
      leave_out("no redis-server");
      continue;
    }
    if (is_cluster && std::getenv("FQ_TEST_CLUSTER") == nullptr) continue;
#endif
    if (!factories[i].is_sharded || !is_off) engines.push_back(i);
  }
  return engines;
}
std::string engine_name(size_t engine) { return factories[engine].name; }
std::unique_ptr<Engine> make_engine(size_t engine) { return factories[engine].make(); }

}  // namespace fq::test
