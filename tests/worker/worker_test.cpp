// worker_test - what the worker's loop does for itself while its queue does not answer.

// System.
#include <future>
// fq, below us.
#include "core/base/clock.h"
#include "core/worker/worker.h"
// Tests.
#include "tests/fakes/model_queue.h"
#include "tests/worker/fixture.h"
#include "tests/worker/listener.h"

namespace fq::test {

TEST_CASE("a worker that has not heard of its queue yet tells its watchdog that it lives") {
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

}  // namespace fq::test
