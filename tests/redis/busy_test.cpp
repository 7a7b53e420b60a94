// busy_test - a server runs somebody's script, or reads its data: who comes meanwhile waits, as long as a
// call may.

// System.
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
// Tests.
#include "tests/redis/on_cluster.h"
#include "tests/redis/relay.h"

namespace fq::test {

namespace {

/// Keeps a server busy until it is ended.
class Script {
 public:
  explicit Script(const TestServer& server) : admin_(connected(server)) {
    runs_ = std::thread([&server] { command(server, {"EVAL", "while true do end", "0"}); });
    while (!is_refused()) std::this_thread::yield();
  }
  ~Script() {
    static_cast<void>(admin_->call(std::array<std::string_view, 2>{"SCRIPT", "KILL"}));
    runs_.join();
  }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

 private:
  static std::unique_ptr<Server> connected(const TestServer& server) {
    RedisPlace place;
    place.socket = server.socket();
    return answered(Server::open(place, ""));
  }
  bool is_refused() {
    const Reply reply = answered(admin_->call(std::array<std::string_view, 1>{"PING"}));
    return reply.kind == Reply::Kind::error && reply.text.starts_with("BUSY");
  }

  std::unique_ptr<Server> admin_;
  std::thread runs_;
};

/// So that what is called meets the script, and lives longer than it.
template <class Call>
void call_beside(std::unique_ptr<Script> script, Call call) {
  std::future<void> called = std::async(std::launch::async, call);
  CHECK(called.wait_for(std::chrono::milliseconds(300)) == std::future_status::timeout);
  script.reset();
  called.get();
}

const std::vector<std::string> kSoonBusy = {"--busy-reply-threshold", "20"};

}  // namespace

TEST_CASE("who comes while somebody's script runs is served behind it") {
  const TestServer server(kSoonBusy);
  const auto queue = open_on(real_time_engine(), server.spool());
  const auto push = [](Queue& to) {
    const NewMessage message = message_for("t", "x");
    answered(to.push({&message, 1}));
  };
  call_beside(std::make_unique<Script>(server), [&] { push(*queue); });
  call_beside(std::make_unique<Script>(server), [&] { push(*open_on(real_time_engine(), server.spool())); });
  CHECK(answered(queue->stats({})).rows.at(0).ready == 2);
  // Each command asks for the policy, too.
  call_beside(std::make_unique<Script>(server), [&] { answered(queue->policy_version()); });
}

TEST_CASE("who has waited for somebody's script as long as a call may is told, and nothing was done") {
  const TestServer server(kSoonBusy);
  const auto queue = open_on(real_time_engine(), server.spool("?timeout=200ms"));
  Clock& clock = system_clock();
  Result<PushReply> pushed = PushReply();
  Result<std::vector<std::string>> listed = std::vector<std::string>();
  int64_t took_ms = 0;
  {
    const Script script(server);
    const int64_t begin_ms = clock.boot_ms();
    const NewMessage message = message_for("t", "x");
    pushed = queue->push({&message, 1});
    took_ms = clock.boot_ms() - begin_ms;
    listed = real_time_engine().list(server.spool("?timeout=200ms"));
  }
  REQUIRE(!pushed.ok());
  CHECK(pushed.error().kind == ErrorKind::later);
  CHECK(pushed.error().text.find("is busy with somebody's script") != std::string::npos);
  CHECK(took_ms >= 200);
  REQUIRE(!listed.ok());
  CHECK(listed.error().kind == ErrorKind::later);
  CHECK(listed.error().text.find("is busy with somebody's script") != std::string::npos);
  CHECK(answered(queue->stats({})).rows.at(0).ready == 0);
}

TEST_CASE("a server that reads its data is waited for") {
  const TestServer server;
  std::atomic<int> refused = 0;
  const Relay relay(server, [&](const std::string& asked) {
    if (asked.find("_push\r\n") == std::string::npos || refused == 3) return std::string();
    ++refused;
    return std::string("-LOADING it reads\r\n");
  });
  push_one(*open_on(real_time_engine(), relay.spool()), "t", "x");
  CHECK(refused == 3);
}

}  // namespace fq::test
