// engines - the one place in tests/api that knows which engines there are.
//
// A new engine is one more row in `factories`; nothing else in this folder changes.
#include "tests/api/contract.h"

// System.
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
// Tests.
#include "tests/fakes/model_queue.h"
#ifdef FQ_HAVE_REDIS_ENGINE
#include "core/redis/redis_engine.h"
#include "core/redis/shard/rights.h"
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

#ifdef FQ_HAVE_LOCAL_ENGINE
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
  std::unique_ptr<Queue> open(Clock& clock) override {
    OpenOptions options;
    options.create = true;
    options.clock = &clock;
    auto queue = open_queue({directory_ + "/spool", "default"}, options);
    INFO((queue.ok() ? std::string() : queue.error().text));
    REQUIRE(queue.ok());
    return std::move(queue).value();
  }

 private:
  std::string directory_;
};

std::unique_ptr<Engine> make_local() { return std::make_unique<LocalEngine>(); }
#endif

#ifdef FQ_HAVE_REDIS_ENGINE
Result<std::string> no_password() { return std::string(); }

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

/// All queues are on one server, each below a prefix of its own.
class RedisContractEngine final : public Engine {
 public:
  RedisContractEngine() {
    static const LeastRights rights;
    static int count = 0;
    location_.spool = rights.server.spool("?prefix=test" + std::to_string(++count));
  }
  ~RedisContractEngine() override { static_cast<void>(engine().remove(location_)); }
  std::unique_ptr<Queue> open(Clock& clock) override {
    OpenOptions options;
    options.create = true;
    options.clock = &clock;
    auto queue = engine().open(location_, options);
    INFO((queue.ok() ? std::string() : queue.error().text));
    REQUIRE(queue.ok());
    return std::move(queue).value();
  }

 private:
  static const RedisEngine& engine() {
    static const RedisEngine engine(told_time_library(), no_password, true);
    return engine;
  }
  Location location_;
};

std::unique_ptr<Engine> make_redis() { return std::make_unique<RedisContractEngine>(); }
#endif

struct Factory {
  const char* name;
  std::unique_ptr<Engine> (*make)();
};

constexpr Factory factories[] = {
    {"model", make_model},
#ifdef FQ_HAVE_LOCAL_ENGINE
    {"local", make_local},
#endif
#ifdef FQ_HAVE_REDIS_ENGINE
    {"redis", make_redis},  // the last: it is left out where no server is installed
#endif
};

}  // namespace

size_t engine_count() {
#ifdef FQ_HAVE_REDIS_ENGINE
  if (server_program().empty()) return std::size(factories) - 1;
#endif
  return std::size(factories);
}
std::string engine_name(size_t engine) { return factories[engine].name; }
std::unique_ptr<Engine> make_engine(size_t engine) { return factories[engine].make(); }

}  // namespace fq::test
