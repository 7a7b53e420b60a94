// killed_limits_test - workers that are killed while they hold leases of limited tenants and of members of a
// pool: each slot comes back with the message, none twice.
//
// FQ_LONG kills 10,000. Half of them are killed once they hold what they may, the others anywhere on their
// way.

// System.
#include <random>
// Tests.
#include "tests/knobs.h"
#include "tests/process/real_fq.h"

namespace fq::test {

namespace {

constexpr size_t kLimit = 3;
constexpr size_t kPoolLimit = 2;
constexpr size_t kAll = kLimit + kPoolLimit;

void set(Queue& queue, const std::string& tenant, PolicyKey key, int64_t number) {
  REQUIRE(queue.policy_set(tenant, {{{key, number, 0, {}}}, {}}).ok());
}

/// Takes all that it may, tells by a byte, and holds it.
class LimitedWorker {
 public:
  explicit LimitedWorker(const Spool& spool) {
    int ready[2];
    REQUIRE(::pipe2(ready, O_CLOEXEC) == 0);
    pid_ = ::fork();
    if (pid_ == 0) hold_all(spool.path(), ready[1]);
    ::close(ready[1]);
    ready_ = ready[0];
  }
  ~LimitedWorker() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(ready_);
  }
  LimitedWorker(const LimitedWorker&) = delete;
  LimitedWorker& operator=(const LimitedWorker&) = delete;

  /// How many it holds.
  int await() const {
    pollfd said{ready_, POLLIN, 0};
    REQUIRE(::poll(&said, 1, 20'000) == 1);
    char count = 0;
    REQUIRE(::read(ready_, &count, 1) == 1);
    return count;
  }

 private:
  [[noreturn]] static void hold_all(const std::string& spool, int ready) {
    auto queue = open_queue({spool, "default"}, {});
    LeaseRequest request;
    request.want = 100;
    const char count = static_cast<char>((*queue)->lease(request).value().deliveries.size());
    static_cast<void>(::write(ready, &count, 1));
    for (;;) ::pause();
  }

  pid_t pid_ = -1;
  int ready_ = -1;
};

/// Takes `count`, which must become free, sees that there are no more, and gives them back.
void take_all(Queue& queue, size_t count) {
  LeaseRequest request;
  request.want = 100;
  request.wait = true;
  request.wait_ms = 20'000;
  std::vector<Settle> items;
  while (items.size() < count) {
    const LeaseReply reply = queue.lease(request).value();
    REQUIRE_FALSE(reply.deliveries.empty());
    for (const Delivery& each : reply.deliveries) {
      items.emplace_back().receipt = each.receipt;
      items.back().verdict = Verdict::release;
    }
  }
  CHECK(items.size() == count);
  request.wait = false;
  CHECK(queue.lease(request).value().deliveries.empty());
  REQUIRE(queue.settle(items, nullptr).ok());
}

}  // namespace

TEST_CASE("workers killed with leases of limited tenants leave no slot taken") {
  const int rounds = is_long_form() ? 10'000 : 200;
  const uint64_t seed = seed_of_run();
  INFO("FQ_SEED=" << seed);
  std::mt19937_64 random(seed);
  Spool spool;
  spool.says({"queue", "create"});
  const std::unique_ptr<Queue> queue = spool.door();
  set(*queue, "acme", PolicyKey::concurrency, kLimit);
  set(*queue, "acme/a", PolicyKey::concurrency, 1);
  FileIdentity identity;
  identity.inode = 1;
  const Policy policy{
      {}, {{"m*", {{PolicyKey::pool, 0, 0, "p"}}}}, {{"p", {{PolicyKey::concurrency, kPoolLimit, 0, {}}}}}};
  REQUIRE(queue->policy_load(policy, identity).ok());
  for (int i = 0; i < 20; ++i) {
    NewMessage message;
    const std::string tenant = std::string(i < 12 ? "acme/" : "m") + "abc"[i % 3];
    message.tenant = tenant;
    message.attempts_max = 65'000;  // each death is an attempt
    REQUIRE(queue->push({&message, 1}, {.durability = Durability::lazy}).ok());
  }
  int held = 0;
  for (int round = 0; round < rounds; ++round) {
    {
      const LimitedWorker worker(spool);
      if (round % 2 == 0) {
        const int count = worker.await();
        REQUIRE(count == static_cast<int>(kAll));
        held += count;
      } else {
        ::usleep(static_cast<useconds_t>(random() % 3'000));  // anywhere on its way
      }
    }
    take_all(*queue, kAll);
  }
  CHECK(queue->check().value().findings.empty());
  CHECK(queue->stats({}).value().rows.at(0).leased == 0);
  std::printf("killed limits: FQ_SEED=%llu, %d kills, %d leases held by the killed\n",
              static_cast<unsigned long long>(seed), rounds, held);
}

}  // namespace fq::test
