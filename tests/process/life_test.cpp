// life_test - a long ordinary life in short: processes that do everything there is, at full speed, on a small
// disk that fills up; killed at any moment, and reboots in between.
//
// Every message has a number, and life_ledger.h knows of each what was told of it. At each quiet moment
// nothing that was accepted and not ended is missing, nothing is there twice, nothing that was ended is
// there, fq check finds the segment equal to a rebuild, and the queue's files are within their bounds, which
// follow from what lives. At its end the queue is about as fast as at its beginning. The seed is printed.
// FQ_OPERATIONS asks for more (tests/torture/life.sh: ten million).

// Tests.
#include "tests/knobs.h"
#include "tests/left_out.h"
#include "tests/process/left_ring.h"
#include "tests/process/life_pace.h"
#include "tests/process/life_worker.h"
#include "tests/process/small_disk.h"

namespace fq::test {

namespace {

constexpr size_t kWorkers = 4;
constexpr unsigned kHungAfterS = 120;  // a process that takes so long ends itself, and is told
constexpr uint64_t kMebibyte = 1024 * 1024;
constexpr uint64_t kSettingBytes = 128;
constexpr uint64_t kKeyBytes = 40;
constexpr uint64_t kMoreAtWorkBytes = 16 * kMebibyte;  // promised are 64, where files may be as large
constexpr uint64_t kEndedBytesMax = 24 * kMebibyte;    // 10,000 records of this life, and a file more

/// What a directory's files take of the disk.
uint64_t disk_bytes(const std::string& directory) {
  uint64_t bytes = 0;
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator(directory, ignored)) {
    struct stat about {};
    if (::stat(each.path().c_str(), &about) == 0) bytes += static_cast<uint64_t>(about.st_blocks) * 512;
  }
  return bytes;
}

/// What was largest in a life: in parts of its bound, and in bytes.
struct Largest {
  double of_bound = 0;
  uint64_t at_work = 0;
  uint64_t drained = 0;
  uint64_t orphans = 0;
  uint64_t ended = 0;
};

class CrowdedLife {
 public:
  CrowdedLife(uint64_t seed, uint64_t operations)
      : disk_(beside_, "size=64m,nr_inodes=4000"),
        spool_(disk_.path() + "/spool"),
        random_(seed),
        operations_(operations),
        ledger_(operations * 8 + 1'000'000) {}

  bool possible() const { return disk_.mounted(); }
  const Ledger& ledger() const { return *ledger_; }
  const Largest& largest() const { return largest_; }
  int kills() const { return kills_; }
  int reboots() const { return reboots_; }
  /// Before and after.
  const Pace& young() const { return young_; }
  const Pace& old() const { return old_; }

  /// All of it; between two quiet moments some processes are killed and others take their place.
  void live() {
    spool_.policy(some_policy());
    spool_.says({"queue", "create"});
    young_ = pace();
    for (int quiet = 1; ledger_->operations < operations_; ++quiet) {
      INFO("quiet moment " << quiet);
      rage(quiet % 3 == 0);
      if (quiet % 4 == 0) reboot();
      look();
      if (quiet % 8 == 0) drain(quiet % 16 == 0);
    }
    drain(true);
    old_ = pace();
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }

  std::string some_policy() {
    const char* orders[] = {"priority", "fifo", "key"};
    const char* costs[] = {"turns", "bytes", "time"};
    std::string text = "lock_timeout = \"20s\"\norder = \"" + std::string(orders[below(3)]) +
                       "\"\nfair_by = \"" + costs[below(3)] + "\"\n";
    if (below(4) == 0) text += "linger = \"200ms\"\nbatch = 10\n";
    if (below(2) == 0) {
      text += "[queue.\"*\".tenant.\"t" + std::to_string(below(7)) + "\"]\nmax_messages = ";
      text += std::to_string(20 + below(200));
    }
    return text;
  }

  /// Workers for some milliseconds; the last of a rage end by themselves. The disk may fill up meanwhile.
  void rage(bool is_full) {
    std::vector<pid_t> workers;
    for (size_t i = 0; i < 6 * kWorkers; ++i) {
      if (is_full && i == 2 * kWorkers) disk_.fill_about(below(3) * kMebibyte);
      if (is_full && i == 5 * kWorkers) disk_.make_room();
      if (workers.size() == kWorkers) {
        const size_t victim = below(kWorkers);
        ::usleep(static_cast<useconds_t>(below(40'000)));  // the random moment of its death
        ::kill(workers[victim], SIGKILL);
        ::waitpid(workers[victim], nullptr, 0);
        workers.erase(workers.begin() + static_cast<ptrdiff_t>(victim));
        ++kills_;
        at_work_ = std::max(at_work_, disk_bytes(spool_.queue("journal")));
      }
      const uint64_t seed = random_();
      const pid_t child = ::fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        ::alarm(kHungAfterS);
        ::_exit(work(seed));
      }
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
    const auto queue = open_queue({spool_.path(), "default"}, {});
    if (!queue.ok()) return queue.error().kind == ErrorKind::later ? 0 : 1;
    LifeWorker(**queue, *ledger_, seed).work(300);
    return 0;
  }

  /// Nobody is at work: what is there is what it must be, and takes what it may.
  void look() {
    const uint64_t journal_bytes = disk_bytes(spool_.queue("journal"));
    const uint64_t blob_bytes = disk_bytes(spool_.queue("blobs"));
    spool_.policy(some_policy());
    spool_.check_clean();
    for (uint64_t n = first_; n < ledger_->numbers; ++n) ledger_->each[n].seen = 0;
    REQUIRE(in_child([&](Queue& queue) { return see(queue); }) == 0);
    settle_accounts();
    CHECK(ledger_->doubled == 0);
    CHECK(ledger_->failed == 0);
    CHECK(ledger_->alarms == 0);

    const uint64_t bound = 4 * live_bytes() + 8 * kMebibyte;
    INFO(ledger_->there << " messages of " << ledger_->live_bytes << " bytes");
    CHECK(journal_bytes <= bound);
    check_at_work(std::max(bound, bound_));
    bound_ = bound;
    largest_.of_bound =
        std::max(largest_.of_bound, static_cast<double>(journal_bytes) / static_cast<double>(bound));
    const uint64_t ended = disk_bytes(spool_.queue("ended")) + disk_bytes(spool_.queue("output"));
    CHECK(ended <= kEndedBytesMax);
    largest_.ended = std::max(largest_.ended, ended);
    largest_.orphans =
        std::max(largest_.orphans, blob_bytes - std::min<uint64_t>(blob_bytes, ledger_->live_blob_bytes));
  }

  void check_at_work(uint64_t bound) {
    CHECK(at_work_ <= bound + kMoreAtWorkBytes);
    largest_.at_work = std::max(largest_.at_work, at_work_);
    at_work_ = 0;
  }

  /// Messages, keys and settings; nothing else is in the journal.
  uint64_t live_bytes() const {
    return ledger_->live_bytes + (ledger_->keys + kLifeImports) * kKeyBytes +
           (kLifeTenants + 1) * kSettingBytes;
  }

  /// What was told, against what is there; from now on both are known of all.
  void settle_accounts() {
    uint64_t lost = 0, twice = 0, back = 0;
    for (uint64_t n = first_; n < ledger_->numbers; ++n) {
      Ledger::Number& each = ledger_->each[n];
      if (each.told == Told::accepted && each.seen == 0) {
        ++lost;
        std::fprintf(stderr, "life: lost: number %llu\n", static_cast<unsigned long long>(n));
      }
      back += each.told == Told::gone && each.seen != 0;
      twice += each.seen > 1;
      if (each.seen == 0 && each.told != Told::gone) each.gone_at = ++ledger_->moments;
      each.told = each.seen == 0 ? Told::gone : each.loose ? Told::nothing : Told::accepted;
    }
    while (first_ < ledger_->numbers && ledger_->each[first_].told == Told::gone) ++first_;
    CHECK(lost == 0);
    CHECK(back == 0);
    CHECK(twice == 0);
  }

  int see(Queue& queue) {
    ledger_->there = ledger_->live_bytes = ledger_->live_blob_bytes = 0;
    Cursor from;
    do {
      const auto page = queue.peek(Filter{}, from, 1000);
      if (!page.ok()) return 2;
      for (const MessageInfo& info : page->messages) {
        if (!info.payload) return 3;
        char* dot = nullptr;
        const uint64_t number = std::strtoull(info.payload->c_str(), &dot, 10);
        if (*dot != '.' || std::strtoull(dot + 1, nullptr, 10) != info.payload->size()) return 4;
        ++ledger_->each[number].seen;
        weigh(info);
      }
      from = page->next;
    } while (!from.text.empty());
    // What was pushed lazily is durable with it, and known to be there.
    const std::string text = "on it goes";
    const NewMessage message{.payload = as_bytes(text)};
    const auto pushed = queue.push({&message, 1}, {.durability = Durability::always});
    if (!pushed.ok() || pushed->error) return 5;
    const MessageId id = pushed->items[0].id;
    return queue.mutate({&id, 1}, Action::cancel).ok() ? 0 : 6;
  }

  void weigh(const MessageInfo& info) {
    uint64_t bytes = 128 + info.key.size() + 8 * info.after.size();
    for (const Tag& tag : info.tags) bytes += tag.name.size() + tag.value.size();
    if (info.command)
      bytes += info.command->argv[0].size() + info.command->cwd.size() + info.command->env[0].size();
    if (info.last_error) bytes += info.last_error->reason.size() + info.last_error->stderr_tail.size();
    if (info.payload->size() <= kInlinePayloadBytesMax)
      bytes += info.payload->size();
    else
      ledger_->live_blob_bytes += (info.payload->size() + 4095) / 4096 * 4096;
    ledger_->live_bytes += bytes;
    ++ledger_->there;
  }

  /// All is ended, with no byte free or on a roomy disk; it goes down to what an empty queue may take.
  void drain(bool is_full) {
    const uint64_t there = ledger_->there;
    if (is_full) disk_.fill();
    CHECK(in_child([&](Queue& queue) {
            const auto drained = LifeWorker::drain(queue);
            if (!drained) return 1;
            return *drained == there ? 0 : 2;
          }) == 0);
    const uint64_t journal_bytes = disk_bytes(spool_.queue("journal"));
    const uint64_t all_bytes = journal_bytes + disk_bytes(spool_.queue("blobs"));
    CHECK(all_bytes <= 8 * kMebibyte + 4 * (live_bytes() - ledger_->live_bytes));
    largest_.drained = std::max(largest_.drained, all_bytes);
    disk_.make_room();
    for (uint64_t n = first_; n < ledger_->numbers; ++n) ledger_->each[n].told = Told::gone;
    look();
    CHECK(ledger_->there == 0);
  }

  /// Of the emptied queue, by the same policy each time.
  Pace pace() {
    spool_.policy("");
    spool_.check_clean();
    REQUIRE(in_child([&](Queue& queue) {
              if (!LifeWorker::unset_all(queue)) return 2;
              const std::optional<Pace> pace = pace_of(queue, is_long_form() ? 100'000 : 15'000);
              if (pace) ledger_->pace = *pace;
              return pace ? 0 : 1;
            }) == 0);
    return ledger_->pace;
  }

  /// This process never opens the queue itself: what it forks begins like any other process.
  template <class Work>
  int in_child(Work work) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(kHungAfterS);
      const auto queue = open_queue({spool_.path(), "default"}, {});
      ::_exit(queue.ok() ? work(**queue) : 100);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
  }

  void reboot() {
    write_at(spool_.queue("segment"), offsetof(SegmentIdentity, boot_id),
             "another boot" + std::to_string(++reboots_));
  }

  const Spool beside_;
  SmallDisk disk_;
  const Spool spool_;
  std::mt19937_64 random_;
  const uint64_t operations_;
  const SharedLedger ledger_;
  uint64_t first_ = 0;  // that is not gone
  Largest largest_;
  uint64_t at_work_ = 0;            // since the last quiet moment
  uint64_t bound_ = 8 * kMebibyte;  // of the journal at that one
  int kills_ = 0;
  int reboots_ = 0;
  Pace young_, old_;
};

/// What the second takes, in parts of the first.
struct Slower {
  Slower(const Pace& young, const Pace& old)
      : steps(static_cast<double>(old.steps) / static_cast<double>(young.steps)),
        time(old.floors / young.floors) {}
  double steps, time;
};

}  // namespace

TEST_CASE(
    "a life of everything at once, with kills and reboots on a small disk: nothing lost, nothing twice") {
  const uint64_t seed = seed_of_run();
  const uint64_t operations = number_of("FQ_OPERATIONS", 30'000);
  INFO("FQ_SEED=" << seed);
  CrowdedLife life(seed, operations);
  if (!life.possible()) {
    leave_out("a small disk needs root");
    return;
  }
  life.live();
  const Slower slower(life.young(), life.old());
  CHECK(slower.steps <= kSlowerMax);
  // Of a short time chance has a large part.
  if (is_long_form()) CHECK(slower.time <= kSlowerMax);
  const Ledger& ledger = life.ledger();
  CHECK(ledger.ended > operations / 10);
  const auto whole = [](uint64_t n) { return static_cast<unsigned long long>(n); };
  const auto mib = [](uint64_t bytes) { return static_cast<double>(bytes) / kMebibyte; };
  std::printf(
      "life: FQ_SEED=%llu, %llu operations, %d kills, %d reboots, %llu messages, %llu ended, %llu refused, "
      "journal at "
      "rest at most %.0f %% of its bound, at work %.1f MiB, drained %.1f MiB; orphans %.1f MiB, ended %.1f "
      "MiB; at the end %.2f of the steps and %.2f of the processor's time of the beginning\n",
      whole(seed), whole(ledger.operations), life.kills(), life.reboots(), whole(ledger.numbers),
      whole(ledger.ended), whole(ledger.refused), 100 * life.largest().of_bound, mib(life.largest().at_work),
      mib(life.largest().drained), mib(life.largest().orphans), mib(life.largest().ended), slower.steps,
      slower.time);
}

}  // namespace fq::test
