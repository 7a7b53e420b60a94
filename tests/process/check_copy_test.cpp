// check_copy_test - fq check beside work at full speed: it comes to an end, and tells no damage that is not
// there.
#include "tests/process/steps_scene.h"

// System.
#include <atomic>
#include <chrono>
#include <thread>
// Tests.
#include "tests/process/real_fq.h"

namespace fq::test {

namespace {

constexpr int kLivesMax = 1'000;

/// Work of all kinds through a handle of its own, on a clock that others read too: until it is told to stop.
class Busy {
 public:
  Busy(SpoolFixture& fixture, uint64_t seed) : clock_(fixture.clock), queue_(fixture.open()), state_(seed) {}
  Busy(Busy&&) = default;

  void work(const std::atomic<bool>& stop) {
    while (!stop && trouble_.empty()) step();
  }
  size_t done() const { return done_; }
  const std::string& trouble() const { return trouble_; }

 private:
  unsigned random(unsigned n) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<unsigned>(state_ >> 33) % n;
  }

  void push() {
    std::vector<NewMessage> batch;
    std::vector<std::string> tenants, keys;
    const size_t count = 1 + random(20);
    tenants.reserve(count);
    keys.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      tenants.push_back("t" + std::to_string(random(300)) + (random(2) != 0 ? "/sub" : ""));
      keys.push_back("k" + std::to_string(random(500)));
      NewMessage message{.tenant = tenants.back(), .payload = as_bytes(keys.back())};
      message.priority = static_cast<int>(random(4));
      if (random(4) == 0) message.delay_ms = 1 + random(5);
      if (random(4) == 0) message.unique = keys.back();
      if (random(100) == 0) message.ttl_ms = 5;
      batch.push_back(message);
    }
    lives_ += static_cast<int>(count);
    ok(queue_->push(batch, {.durability = Durability::lazy}));
  }
  void serve() {
    auto leased = queue_->lease({.want = 1 + random(60), .hold = Hold::duration, .hold_ms = 50});
    ok(leased);
    lives_ -= static_cast<int>(leased->deliveries.size());
    if (leased->deliveries.empty()) lives_ = 0;
    std::vector<Settle> verdicts;
    for (Delivery& each : leased->deliveries) {
      const unsigned kind = random(40);
      if (kind == 0) continue;
      const Verdict verdict = kind > 2 ? Verdict::ack : kind > 1 ? Verdict::retry : Verdict::release;
      verdicts.push_back({.receipt = std::move(each.receipt), .verdict = verdict});
    }
    ok(queue_->settle(verdicts));
  }
  void step() {
    // The queue stays of one size.
    if (lives_ < kLivesMax && random(2) == 0) {
      push();
    } else {
      serve();
    }
    clock_.advance(1);
    ++done_;
  }
  /// No assertion of the test's own: these are for one thread.
  template <class T>
  void ok(const Result<T>& result) {
    if (!result.ok() && trouble_.empty()) trouble_ = result.error().text;
  }

  FakeClock& clock_;
  std::unique_ptr<Queue> queue_;
  uint64_t state_;
  int lives_ = 0;  // about
  size_t done_ = 0;
  std::string trouble_;
};

}  // namespace

TEST_CASE("a check beside heavy work comes to an end and finds nothing", "[threads]") {
  Scene scene;
  scene.n = 5'000;
  scene.q.sync_lazily();
  scene.push(500);
  std::atomic<bool> stop{false};
  std::vector<Busy> busy;
  for (uint64_t i = 0; i < 2; ++i) busy.emplace_back(scene.q, 17 + i);
  std::vector<std::thread> threads;
  for (Busy& each : busy) threads.emplace_back([&] { each.work(stop); });
  std::vector<std::string> told;
  int done = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 10 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(3); ++i) {
    const auto report = scene.door().check();
    // Where the processors are busy with others the journal may go faster than it can be read: said, not guessed.
    const bool too_fast = !report.ok() && report.error().kind == ErrorKind::later;
    if (!report.ok() && !too_fast) told.push_back(report.error().text);
    done += report.ok() ? 1 : 0;
    if (report.ok()) told.insert(told.end(), report->findings.lines.begin(), report->findings.lines.end());
  }
  stop = true;
  for (std::thread& each : threads) each.join();
  for (const std::string& line : told) UNSCOPED_INFO(line);
  CHECK(told.empty());
  CHECK(done > 0);
  for (const Busy& each : busy) {
    CHECK(each.trouble() == "");
    CHECK(each.done() > 10);
  }
  scene.q.check_clean();
}

TEST_CASE("the files that a check or a backup reads stay for it, and go when it has ended, however it did") {
  Spool spool;
  std::string lines;
  for (int i = 0; i < 40; ++i) lines += std::string(50'000, 'x') + "\n";
  const auto work = [&] {
    for (int i = 0; i < 3; ++i) {
      spool.says({"push", "--lazy", "--lines"}, {.env = {}, .input = lines});
      spool.says({"pop", "-n", "40"});
    }
  };
  work();
  const std::string first = spool.journal_files().front();
  const bool is_check = GENERATE(true, false);
  Child reads = is_check
                    ? spool.start_stopping_at("check.copying:1", {"check"})
                    : spool.start_stopping_at("backup.journal:1", {"backup", spool.directory() + "/copy"});
  REQUIRE(reads.stopped());
  work();
  CHECK(std::filesystem::exists(first));
  const bool is_killed = GENERATE(true, false);
  if (is_killed) reads.killed();
  if (!is_killed) {
    reads.send(SIGCONT);
    CHECK(reads.end().exit == 0);
  }
  // Where it died the next one gives them back.
  if (is_killed) work();
  CHECK_FALSE(std::filesystem::exists(first));
  spool.check_clean();
}

TEST_CASE("a file that a process gave back and died over while a check looked is no damage") {
  const Spool spool;
  std::string lines;
  for (int i = 0; i < 40; ++i) lines += std::string(50'000, 'x') + "\n";
  spool.says({"push", "--lazy", "--lines"}, {.env = {}, .input = lines});
  spool.says({"push", "after them"});
  const std::string first = spool.journal_files().front();
  Child check = spool.start_stopping_at("check.copied:1", {"check"});
  REQUIRE(check.stopped());
  spool.says({"pop", "-n", "40"});
  REQUIRE(std::filesystem::exists(first));
  spool.fq({"compact"}, {.env = {"FQ_KILL_AT=compaction.removed:1"}, .input = {}});
  REQUIRE_FALSE(std::filesystem::exists(first));
  check.send(SIGCONT);
  const Outcome outcome = check.end();
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit == 0);
}

}  // namespace fq::test
