// worker_test - what the worker's loop does for itself while its queue does not answer.

// System.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>
// fq, below us.
#include "core/base/clock.h"
#include "core/worker/worker.h"
// Tests.
#include "tests/fakes/model_queue.h"
#include "tests/worker/far_run.h"
#include "tests/worker/fixture.h"
#include "tests/worker/listener.h"

namespace fq::test {

namespace {

/// How its jobs have ended.
struct Ends {
  size_t acked = 0;
  uint64_t longest_us = 0, kept_bytes = 0;
};

/// What its jobs write goes to a server.
class FarQueue final : public ModelQueue {
 public:
  FarQueue(std::shared_ptr<ModelStore> store, FarServer& server, Ends& ends)
      : ModelQueue(std::move(store)), server_(server), ends_(ends) {}
  Result<std::shared_ptr<RunOutput>> run_output(const Delivery&, const RunTerms&) override {
    return std::shared_ptr<RunOutput>(std::make_shared<FarRun>(server_));
  }
  Result<SettleReply> settle(std::span<const Settle> items, const LeaseRequest* next) override {
    for (const Settle& item : items) {
      if (item.verdict == Verdict::ack) ++ends_.acked;
      ends_.longest_us = std::max(ends_.longest_us, item.run_us.value_or(0));
      ends_.kept_bytes +=
          item.output != nullptr && item.output->run ? item.output->run->kept_bytes(Channel::out) : 0;
    }
    return ModelQueue::settle(items, next);
  }

 private:
  FarServer& server_;
  Ends& ends_;
};

/// Its disk is slow when a verdict is given: until then the worker has been told to leave at once.
class SlowQueue final : public ModelQueue {
 public:
  using ModelQueue::ModelQueue;
  Result<SettleReply> settle(std::span<const Settle> items, const LeaseRequest* next) override {
    for (int i = 0; i < 2; ++i) {
      ::kill(::getpid(), SIGTERM);
      std::this_thread::sleep_for(std::chrono::milliseconds(300));  // longer than it then waits
    }
    return ModelQueue::settle(items, next);
  }
};

/// As in a worker, for threads that are begun meanwhile: it is read, and interrupts nobody.
class BlockedTerm {
 public:
  BlockedTerm() {
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &term, &before_);
  }
  ~BlockedTerm() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

Voice quiet_voice(Voice voice) {
  voice.refresh_policy = [](const std::string&, Queue&) { return Result<void>(); };
  voice.spoken = [](std::string_view) { return std::string(); };
  return voice;
}

/// All of so many messages, once, with so much time each.
Ends drain(FarServer& server, Options options, size_t messages) {
  options.stay = Stay::drain;
  options.output = OutputPolicy::keep;
  options.slots_min = options.slots_max = static_cast<uint32_t>(messages);
  options.attempts = 1;
  options.grace_ms = 100;
  const Surroundings around(options);
  const auto store = std::make_shared<ModelStore>(system_clock());
  const std::vector<NewMessage> pushed(messages, NewMessage{.tenant = "a"});
  const std::unique_ptr<Queue> pushing = std::make_unique<ModelQueue>(store);
  REQUIRE(pushing->push(pushed).ok());
  Ends ends;
  std::vector<Source> sources;
  sources.push_back({"default", std::make_unique<FarQueue>(store, server, ends)});
  CHECK(work(std::move(sources), options, quiet_voice(around.voice)).ok());
  return ends;
}

}  // namespace

TEST_CASE("a job whose caller reads just when its worker finds no room goes on", "[threads]") {
  FarServer server;
  server.be_read_meanwhile();
  Options options;
  options.command = {"head", "-c", "5000000", "/dev/zero"};
  options.timeout_ms = 10'000;
  const Ends ends = drain(server, options, 1);
  CHECK(ends.acked == 1);
  CHECK(ends.kept_bytes == 5'000'000);
}

TEST_CASE("time limits hold however slowly a server takes what the jobs write", "[threads]") {
  FarServer server(100);
  Options options;
  options.command = {"yes"};
  options.timeout_ms = 300;
  const Ends ends = drain(server, options, 12);
  CHECK(ends.longest_us < 1'500'000);
  CHECK(ends.kept_bytes == server.text().size());
}

TEST_CASE("a time limit that does not fit is none", "[threads]") {
  FarServer server;
  Options options;
  options.command = {"true"};
  options.timeout_ms = INT64_MAX;
  const Ends ends = drain(server, options, 1);
  CHECK(ends.acked == 1);
}

TEST_CASE("a worker that has not heard of its queue yet tells its watchdog that it lives", "[threads]") {
  const Listener systemd("@fq-worker-test-" + std::to_string(::getpid()));
  Options options;
  options.stay = Stay::drain;
  options.command = {"true"};
  options.notify_socket = systemd.name();
  options.watchdog_us = "20000";
  Surroundings around(options);
  std::promise<void> answers;
  around.voice.refresh_policy = [answer = answers.get_future().share()](const std::string&, Queue&) {
    answer.wait();
    return Result<void>();
  };
  std::vector<Source> sources;
  sources.push_back({"default", std::make_unique<ModelQueue>(std::make_shared<ModelStore>(system_clock()))});
  std::future<Result<End>> ended =
      std::async(std::launch::async, [&] { return work(std::move(sources), options, around.voice); });
  CHECK(systemd.heard(20'000) == "READY=1");
  std::string lives;
  while (lives != "WATCHDOG=1" && !(lives = systemd.heard(5'000)).empty()) {
  }
  CHECK(lives == "WATCHDOG=1");
  answers.set_value();
  CHECK(ended.get().ok());
}

TEST_CASE("a verdict that is on its way when a worker is to leave is told, and so is what it says", "[threads]") {
  const BlockedTerm blocked;
  Options options;
  options.command = {"false"};
  options.attempts = 1;
  const Surroundings around(options);
  Voice voice = quiet_voice(around.voice);
  std::string said;
  voice.spoken = [&](std::string_view text) {
    said += text;
    return std::string();
  };
  const auto store = std::make_shared<ModelStore>(system_clock());
  ModelQueue pushing(store);
  REQUIRE(pushing.push(std::vector{NewMessage{.tenant = "a"}}, {}).ok());
  std::vector<Source> sources;
  sources.push_back({"default", std::make_unique<SlowQueue>(store)});
  const Result<End> end = work(std::move(sources), options, voice);
  REQUIRE(end.ok());
  CHECK(*end == End::killed);
  CHECK(said.find("exit 1; buried") != std::string::npos);
}

}  // namespace fq::test
