// durable - durable pushes from 1, 4 and 16 processes against a bare group commit into a prewritten file.
#include "tests/bench/bench.h"

// System.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace fq::bench {

namespace {

constexpr int kRounds = 5;
constexpr size_t kRecord = 128;
constexpr size_t kFileBytes = 8 << 20;
constexpr size_t kRingBytes = 1 << 20;

/// Append under a mutex, one leader writes and syncs for all.
class GroupCommit {
 public:
  explicit GroupCommit(const std::string& path)
      : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    const std::vector<char> zeros(kFileBytes);
    const bool written = ::pwrite(file_, zeros.data(), zeros.size(), 0) == static_cast<ssize_t>(zeros.size());
    if (!written || ::fsync(file_) != 0) std::abort();
    void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    shared_ = static_cast<Shared*>(memory);
    pthread_mutexattr_t mutex;
    ::pthread_mutexattr_init(&mutex);
    ::pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    ::pthread_mutex_init(&shared_->mutex, &mutex);
    pthread_condattr_t condition;
    ::pthread_condattr_init(&condition);
    ::pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    ::pthread_cond_init(&shared_->moved, &condition);
  }
  ~GroupCommit() {
    ::munmap(shared_, sizeof(Shared));
    ::close(file_);
  }
  GroupCommit(const GroupCommit&) = delete;
  GroupCommit& operator=(const GroupCommit&) = delete;

  void push() {
    ::pthread_mutex_lock(&shared_->mutex);
    std::memset(shared_->ring + shared_->tail % kRingBytes, 'x', kRecord);
    const uint64_t own = shared_->tail += kRecord;
    while (shared_->durable < own) {
      if (shared_->leading) {
        ::pthread_cond_wait(&shared_->moved, &shared_->mutex);
        continue;
      }
      shared_->leading = true;
      const uint64_t from = shared_->durable, to = shared_->tail;
      ::pthread_mutex_unlock(&shared_->mutex);
      write_and_sync(from, to);
      ::pthread_mutex_lock(&shared_->mutex);
      shared_->durable = to;
      shared_->leading = false;
      ::pthread_cond_broadcast(&shared_->moved);
    }
    ::pthread_mutex_unlock(&shared_->mutex);
  }

 private:
  void write_and_sync(uint64_t from, uint64_t to) {
    while (from < to) {
      const uint64_t bytes = std::min(to - from, kRingBytes - from % kRingBytes);
      const auto place = static_cast<off_t>(from % kFileBytes);
      if (::pwrite(file_, shared_->ring + from % kRingBytes, bytes, place) < 0) std::abort();
      from += bytes;
    }
    if (::fdatasync(file_) != 0) std::abort();
  }

  struct Shared {
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    uint64_t tail;
    uint64_t durable;
    bool leading;
    char ring[kRingBytes];
  };
  int file_;
  Shared* shared_ = nullptr;
};

struct Rate {
  double all = 0;       // a second
  double fairness = 0;  // slowest by fastest
};

/// Pushes from `count` processes for `ns` of time. `prepare` makes each one's push.
Rate rate_of(size_t count, int64_t ns, const std::function<std::function<void()>()>& prepare) {
  const int64_t start = now_ns() + 30'000'000;  // everybody is ready by then
  const auto figures = in_processes(count, 1, [&](size_t) -> std::vector<double> {
    const std::function<void()> push = prepare();
    while (now_ns() < start) ::usleep(200);  // all begin at once; a spin would take cores from those starting
    double pushed = 0;
    for (; now_ns() < start + ns; ++pushed) push();
    return {pushed};
  });
  const auto [least, most] = std::minmax_element(figures.begin(), figures.end());
  const double all = std::accumulate(figures.begin(), figures.end(), 0.0,
                                     [](double sum, const auto& own) { return sum + own[0]; });
  return {all * 1e9 / static_cast<double>(ns), (*most)[0] == 0 ? 0 : (*least)[0] / (*most)[0]};
}

}  // namespace

void bench_durable(const Setup& setup) {
  section("Durable pushes of 64 bytes from several processes (a second)");
  const auto ns = static_cast<int64_t>(700e6 * setup.scale);
  const std::string spool = fresh_spool(setup, "durable");
  open(spool, Sync::always);  // makes it, and lets go of it again
  GroupCommit floor(setup.place + "/floor.group");
  const auto floor_push = [&] { return [&floor] { floor.push(); }; };
  const auto fq_push = [&]() -> std::function<void()> {
    std::shared_ptr<Queue> queue = must(open_queue({spool, "default"}));
    return [queue, payload = payload_of(64)] { must(queue->push(messages(0, 1, payload))); };
  };
  for (const size_t count : {size_t{1}, size_t{4}, size_t{16}}) {
    std::vector<double> floors, rates, ratios, fairness;
    for (int round = 0; round < kRounds; ++round) {
      floors.push_back(rate_of(count, ns, floor_push).all);
      const Rate rate = rate_of(count, ns, fq_push);
      rates.push_back(rate.all);
      ratios.push_back(rate.all / floors.back());
      fairness.push_back(rate.fairness);
    }
    const double ratio = median(ratios);
    const std::string who = std::to_string(count) + (count == 1 ? " process" : " processes");
    line("floor: bare group commit, " + who, with_unit(median(floors), "/s"));
    line("fq push, " + who, with_unit(median(rates), "/s"), ratio_of(ratio, "group commit"),
         verdict_of(ratio, {Sense::at_least, 0.85}));
    if (count == 1) continue;
    line("  its slowest process by its fastest", with_unit(median(fairness), ""), "",
         verdict_of(median(fairness), {Sense::at_least, 0.5}));
  }
}

}  // namespace fq::bench
