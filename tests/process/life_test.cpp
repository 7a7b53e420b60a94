// life_test - a long ordinary life in short: processes that do everything there is, at full speed, on a small
// disk that fills up; killed at any moment, and reboots in between.
//
// Every message has a number, and of each number memory that all processes share says what was told of it:
// accepted, about to be ended, ended. At each quiet moment nothing that was accepted and not ended is missing,
// nothing is there twice, nothing that was ended is there, and fq check finds the segment equal to a rebuild.
// The seed is printed. FQ_OPERATIONS asks for more (tests/torture/life.sh: ten million).

// System.
#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <random>
// Tests.
#include "tests/knobs.h"
#include "tests/process/left_ring.h"
#include "tests/process/small_disk.h"

namespace fq::test {

namespace {

constexpr size_t kWorkers = 4;
constexpr size_t kLivelyMax = 3'000;  // more than that are not pushed to
constexpr int64_t kLeaseMs = 300;
constexpr int kTenants = 60;

// Set before it is asked for, or after it was answered: so who is killed leaves the weaker one.
enum class Told : uint8_t { nothing, accepted, may_be_gone, gone };

/// What all processes share, for as long as the test.
struct Ledger {
  std::atomic<uint64_t> operations;
  std::atomic<uint64_t> numbers;
  std::atomic<uint64_t> doubled;
  std::atomic<uint64_t> refused;  // 75 and 74
  std::atomic<uint64_t> ended;
  std::atomic<uint32_t> moments;
  struct Number {
    std::atomic<Told> told;
    std::atomic<uint8_t> seen;      // at this quiet moment
    std::atomic<uint32_t> gone_at;  // by `moments`
  };
  Number each[1];

  static size_t bytes(uint64_t numbers) { return sizeof(Ledger) + numbers * sizeof(Number); }
};

class CrowdedLife {
 public:
  explicit CrowdedLife(uint64_t seed, uint64_t operations)
      : disk_(beside_, "size=64m,nr_inodes=4000"),
        spool_(disk_.path() + "/spool"),
        random_(seed),
        operations_(operations),
        numbers_max_(operations * 8 + 1'000'000) {
    void* shared = ::mmap(nullptr, Ledger::bytes(numbers_max_), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    ledger_ = static_cast<Ledger*>(shared);
  }
  ~CrowdedLife() { ::munmap(ledger_, Ledger::bytes(numbers_max_)); }
  CrowdedLife(const CrowdedLife&) = delete;
  CrowdedLife& operator=(const CrowdedLife&) = delete;

  bool possible() const { return disk_.mounted(); }
  const Ledger& ledger() const { return *ledger_; }
  int kills() const { return kills_; }
  int reboots() const { return reboots_; }

  /// All of it; between two quiet moments some processes are killed and others take their place.
  void live() {
    spool_.policy("lock_timeout = \"20s\"");
    spool_.says({"queue", "create"});
    for (int quiet = 0; ledger_->operations < operations_; ++quiet) {
      rage();
      look();
      if (quiet % 4 == 3) reboot();
    }
    look();
  }

 private:
  /// A worker for some milliseconds; the last of a rage end by themselves.
  void rage() {
    std::vector<pid_t> workers;
    for (size_t i = 0; i < 6 * kWorkers; ++i) {
      if (workers.size() == kWorkers) {
        const size_t victim = random_() % kWorkers;
        ::usleep(static_cast<useconds_t>(random_() % 40'000));  // the random moment of its death
        ::kill(workers[victim], SIGKILL);
        ::waitpid(workers[victim], nullptr, 0);
        workers.erase(workers.begin() + static_cast<ptrdiff_t>(victim));
        ++kills_;
      }
      const uint64_t seed = random_();
      const pid_t child = ::fork();
      REQUIRE(child >= 0);
      if (child == 0) ::_exit(work(seed));
      workers.push_back(child);
    }
    for (const pid_t each : workers) {
      int status = 0;
      ::waitpid(each, &status, 0);
      INFO("a worker left with " << status);
      CHECK(status == 0);
    }
  }

  int work(uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](uint64_t n) { return random() % n; };
    const auto queue = open_queue({spool_.path(), "default"}, {});
    if (!queue.ok()) return queue.error().kind == ErrorKind::later ? 0 : 1;
    for (int i = 0; i < 300; ++i) {
      const uint64_t dice = below(100);
      if (dice < 40) push(**queue, random);
      if (dice >= 40 && dice < 88) serve(**queue, random);
      if (dice >= 88 && dice < 92) count((*queue)->mutate(Filter{.state = State::dead}, Action::kick, {}, 50));
      if (dice >= 92 && dice < 95) cancel(**queue, random);
      if (dice >= 95 && dice < 97) set(**queue, random);
      if (dice == 97) count((*queue)->maintain(1));
      if (dice == 98 && below(4) == 0) count((*queue)->compact());
      ++ledger_->operations;
    }
    return 0;
  }

  template <class Value>
  bool count(const Result<Value>& result) {
    if (!result.ok()) ++ledger_->refused;
    return result.ok();
  }
  std::atomic<Told>& told(uint64_t number) { return ledger_->each[number].told; }
  static std::string tenant_of(uint64_t n) { return "t" + std::to_string(n % 7) + "/" + std::to_string(n); }

  void push(Queue& queue, std::mt19937_64& random) {
    const auto below = [&](uint64_t n) { return random() % n; };
    const auto stats = queue.stats({});
    if (!count(stats) || stats->rows.empty()) return;
    const StatsRow& row = stats->rows[0];
    if (row.ready + row.delayed + row.leased + row.dead + row.held > kLivelyMax) return;
    const size_t messages = 1 + (below(3) == 0 ? below(40) : 0);
    const uint64_t first = ledger_->numbers.fetch_add(messages);
    const bool large = below(60) == 0;
    std::vector<std::string> payloads, tenants, keys;
    std::vector<NewMessage> batch(messages);
    for (size_t i = 0; i < messages; ++i) {
      const size_t bytes = large ? 66'000 + below(60'000) : 10 + below(below(10) == 0 ? 20'000 : 800);
      payloads.push_back(std::to_string(first + i) + ".");
      payloads.back().resize(std::max(bytes, payloads.back().size()), 'p');
      tenants.push_back(tenant_of(below(kTenants)));
      keys.push_back("k" + std::to_string(below(2'000)));
      if (large) break;
    }
    batch.resize(payloads.size());
    bool replaces = false;
    for (size_t i = 0; i < batch.size(); ++i) {
      batch[i].payload = as_bytes(payloads[i]);
      batch[i].tenant = tenants[i];
      const uint64_t dice = below(100);
      if (dice < 10) batch[i].delay_ms = static_cast<int64_t>(below(2'000));
      if (dice >= 10 && dice < 20) batch[i].unique = keys[i], batch[i].unique_for_ms = 5'000;
      if (dice >= 20 && dice < 25 && batch.size() == 1)
        batch[i].debounce = keys[i], batch[i].quiet_ms = 200, replaces = true;
      if (dice >= 25 && dice < 30 && last_id_ != 0) batch[i].after = {MessageId{last_id_}};
    }
    const bool lazy = below(4) == 0;
    // Of what another payload replaces, or may replace, nothing is known.
    const auto pushed = queue.push(batch, {.durability = lazy ? Durability::lazy : Durability::always});
    if (!count(pushed)) return;
    if (pushed->error) ++ledger_->refused;
    for (size_t i = 0; i < pushed->items.size(); ++i) {
      if (pushed->items[i].status != PushStatus::accepted) continue;
      last_id_ = number(pushed->items[i].id);
      last_number_ = first + i;
      // A killed process takes the ring with it only if all do: lazy ones survive kills.
      if (!pushed->error && !replaces && !lazy) {
        Told expected = Told::nothing;
        told(first + i).compare_exchange_strong(expected, Told::accepted);
      }
    }
  }

  void serve(Queue& queue, std::mt19937_64& random) {
    const auto below = [&](uint64_t n) { return random() % n; };
    const bool by_life = below(2) == 0;
    const uint32_t before = ++ledger_->moments;
    const auto leased = queue.lease({.want = 1 + below(30),
                                     .hold = by_life ? Hold::process : Hold::duration,
                                     .hold_ms = kLeaseMs,
                                     .tenant = below(8) == 0 ? "t3" : ""});
    if (!count(leased)) return;
    std::vector<Settle> verdicts;
    std::vector<uint64_t> numbers;
    for (const Delivery& each : leased->deliveries) {
      const auto payload = each.payload.read_all();
      if (!count(payload)) continue;
      const uint64_t its = std::strtoull(payload->c_str(), nullptr, 10);
      // Ended since, by somebody who got it when our lease was over: that is no second delivery.
      if (told(its) == Told::gone && ledger_->each[its].gone_at < before) ++ledger_->doubled;
      Settle& verdict = verdicts.emplace_back();
      verdict.receipt = each.receipt;
      const uint64_t dice = below(100);
      if (dice >= 80 && dice < 86) verdict.verdict = Verdict::retry, verdict.delay_ms = dice % 2 == 0 ? 0 : 100;
      if (dice >= 86 && dice < 96) verdict.verdict = Verdict::release;
      if (dice >= 96 && dice < 98) verdict.verdict = Verdict::bury;
      if (dice == 98) count(queue.extend(std::span(&each.receipt, 1), 2 * kLeaseMs));
      if (verdict.verdict == Verdict::ack) told(its) = Told::may_be_gone;
      numbers.push_back(its);
    }
    const auto settled = queue.settle(verdicts);
    if (!count(settled)) return;
    if (settled->error) ++ledger_->refused;
    for (size_t i = 0; i < verdicts.size(); ++i) {
      if (verdicts[i].verdict != Verdict::ack || settled->items[i] != SettleStatus::ok) continue;
      ledger_->each[numbers[i]].gone_at = ++ledger_->moments;
      told(numbers[i]) = Told::gone;
      ++ledger_->ended;
    }
  }

  void cancel(Queue& queue, std::mt19937_64& random) {
    if (last_id_ == 0 || random() % 2 == 0) return;
    const MessageId id{std::exchange(last_id_, 0)};
    told(last_number_) = Told::may_be_gone;
    count(queue.mutate({&id, 1}, Action::cancel));
  }

  void set(Queue& queue, std::mt19937_64& random) {
    PolicyPatch patch;
    patch.set.push_back({.key = PolicyKey::weight, .number = static_cast<int64_t>(1 + random() % 5)});
    count(queue.policy_set(tenant_of(random() % kTenants), patch));
  }

  /// Nobody is at work: what is there is what it must be.
  void look() {
    spool_.check_clean();
    const uint64_t numbers = ledger_->numbers;
    for (uint64_t n = 0; n < numbers; ++n) ledger_->each[n].seen = 0;
    CHECK(in_child([&] { return see(); }) == 0);
    uint64_t lost = 0, twice = 0, back = 0;
    for (uint64_t n = 0; n < numbers; ++n) {
      const int seen = ledger_->each[n].seen;
      lost += told(n) == Told::accepted && seen == 0;
      back += told(n) == Told::gone && seen != 0;
      twice += seen > 1;
    }
    CHECK(lost == 0);
    CHECK(back == 0);
    CHECK(twice == 0);
    CHECK(ledger_->doubled == 0);
  }

  /// This process never opens the queue itself: what it forks begins like any other process.
  template <class Work>
  static int in_child(Work work) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(work());
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }
  int see() {
    const auto queue = open_queue({spool_.path(), "default"}, {});
    if (!queue.ok()) return 1;
    Cursor from;
    do {
      const auto page = (*queue)->peek(Filter{}, from, 1000);
      if (!page.ok()) return 2;
      for (const MessageInfo& info : page->messages) {
        if (!info.payload) return 3;
        ++ledger_->each[std::strtoull(info.payload->c_str(), nullptr, 10)].seen;
      }
      from = page->next;
    } while (!from.text.empty());
    return 0;
  }

  void reboot() {
    write_at(spool_.queue("segment"), offsetof(SegmentIdentity, boot_id), "another boot" + std::to_string(++reboots_));
  }

  const Spool beside_;
  SmallDisk disk_;
  const Spool spool_;
  std::mt19937_64 random_;
  const uint64_t operations_;
  const uint64_t numbers_max_;
  Ledger* ledger_ = nullptr;
  uint64_t last_id_ = 0;
  uint64_t last_number_ = 0;
  int kills_ = 0;
  int reboots_ = 0;
};

}  // namespace

TEST_CASE("a life of everything at once, with kills and reboots on a small disk: nothing lost, nothing twice") {
  const uint64_t seed = seed_of_run();
  const uint64_t operations = number_of("FQ_OPERATIONS", 30'000);
  INFO("FQ_SEED=" << seed);
  CrowdedLife life(seed, operations);
  if (!life.possible()) {
    WARN("a small disk needs root: skipped");
    return;
  }
  life.live();
  CHECK(life.ledger().ended > operations / 10);
  std::printf("life: FQ_SEED=%llu, %llu operations, %llu messages, %llu ended, %llu refused, %d kills, %d reboots\n",
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(life.ledger().operations),
              static_cast<unsigned long long>(life.ledger().numbers),
              static_cast<unsigned long long>(life.ledger().ended),
              static_cast<unsigned long long>(life.ledger().refused), life.kills(), life.reboots());
}

}  // namespace fq::test
