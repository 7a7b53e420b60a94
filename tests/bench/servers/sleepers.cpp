#include "tests/bench/servers/sleepers.h"

// System.
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace fq::bench {

namespace {

constexpr size_t kStackBytes = 256 * 1024;

struct Sleeper {
  std::unique_ptr<Queue> queue;
  std::string tenant;
};

void* sleep_on(void* of) {
  auto& sleeper = *static_cast<Sleeper*>(of);
  LeaseRequest request;
  request.wait = true;
  request.tenant = sleeper.tenant;
  const Result<LeaseReply> reply = sleeper.queue->lease(request);
  std::fprintf(stderr, "sleepers: one is back: %s\n", reply ? "something came" : reply.error().text.c_str());
  ::_exit(1);
}

/// A socket and two connections each are more than a process has by itself.
void allow_many_files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

[[noreturn]] void sleep_all(std::vector<Sleeper>& sleepers) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  for (Sleeper& each : sleepers) {
    pthread_t thread{};
    if (::pthread_create(&thread, &attributes, sleep_on, &each) != 0) ::_exit(1);
  }
  for (;;) ::pause();
}

}  // namespace

Sleepers::Sleepers(size_t count, const Open& open, const std::function<std::string(size_t)>& tenant_of) {
  pid_ = ::fork();
  if (pid_ != 0) return;
  allow_many_files();
  std::vector<Sleeper> sleepers;
  for (size_t i = 0; i < count; ++i) sleepers.push_back({open(), tenant_of(i)});
  sleep_all(sleepers);
}

Sleepers::~Sleepers() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

}  // namespace fq::bench
