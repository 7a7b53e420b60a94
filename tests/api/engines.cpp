// engines - the one place in tests/api that knows which engines there are.
//
// A new engine is one more row in `factories`; nothing else in this folder changes.
#include "tests/api/contract.h"

// System.
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
};

constexpr Factory factories[] = {
    {"model", make_model},
    {"local", make_local},
#ifdef FQ_HAVE_REDIS_ENGINE
    {"redis", make_redis},  // the last ones: they are left out where no server is installed
    {"redis of 16 shards", make_redis_16},
    {"cluster of 3 and 3, 64 shards", make_cluster},  // where it is asked for: it takes minutes
#endif
};

}  // namespace

std::vector<size_t> engines_of_this_test() {
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
    engines.push_back(i);
  }
  return engines;
}
std::string engine_name(size_t engine) { return factories[engine].name; }
std::unique_ptr<Engine> make_engine(size_t engine) { return factories[engine].make(); }

}  // namespace fq::test
