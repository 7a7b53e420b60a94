// storm_test - processes killed at random moments while many are at work, with the whole ledger checked.
//
// Pushes, batches, pops, leases and verdicts of eight tenants, several processes at once, each killed after 0
// to 5 ms or at a fault point inside a lock. The ledger knows of every message what was answered; at the end
// nothing answered may be missing, nothing may be there that was never pushed, nothing acked may be delivered
// again. The seed is printed; FQ_SEED repeats a storm, FQ_LONG=N makes it N times as long.

// System.
#include <cstdio>
#include <optional>
#include <random>
// Tests.
#include "tests/knobs.h"
#include "tests/process/real_fq.h"

namespace fq::test {

namespace {

enum class Known { sent, accepted };

struct Fate {
  Known pushed = Known::sent;
  std::optional<Clock_::time_point> acked_at;  // when an ack had been answered with 0
  bool may_be_acked = false;                   // a process that may have acked it got so far
};

struct Doing {
  Child child;
  std::string kind;
  std::vector<std::string> payloads;  // pushed, or acked
  double kill_after_ms = 0;
  Clock_::time_point started;
};

class Storm {
 public:
  explicit Storm(uint64_t seed) : random_(seed) {
    spool_.policy("lock_timeout = \"3s\"\nattempts = 60000");
    spool_.says({"queue", "create"});
  }

  void rage(int kills) {
    while (kills_ < kills) {
      while (doing_.size() < 6) doing_.push_back(begin());
      step();
      if (kills_ >= 50 * (probes_ + 1)) probe();
    }
    for (Doing& each : doing_) finish(each, each.child.end());
    doing_.clear();
  }

  /// Everything that is left, by healthy processes; then the ledger.
  void settle() {
    spool_.check_clean();
    recoveries_ = spool_.recoveries();
    // Leases of the storm are 20 ms long; the dead give theirs back at once.
    for (;;) {
      const auto started = Clock_::now();
      const Outcome rest = spool_.fq({"pop", "-n", "100000", "--wait=300ms"});
      CHECK_FALSE(rest.hung);
      if (rest.exit != 0) break;
      note_delivered(rest.out, started, true);
    }
    for (const auto& [payload, fate] : fates_) {
      INFO("message " << payload);
      // Accepted, nobody can have acked it, and yet it is gone.
      if (fate.pushed == Known::accepted && !fate.may_be_acked) CHECK(false);
    }
    spool_.check_clean();
    CHECK(spool_.payloads().empty());
  }

  uint64_t recoveries() const { return recoveries_; }
  int kills() const { return kills_; }
  int hung_count() const { return hung_; }
  double slowest_ms() const { return slowest_ms_; }
  size_t messages() const { return fates_.size(); }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }

  Doing begin() {
    Start how;
    // Half of them die at a named place inside a lock: random moments alone rarely hit one.
    static const char* const kInside[] = {"push.appended",   "push.committed", "lease.appended",
                                          "lease.committed", "event.appended", "event.committed",
                                          "flush.servable",  "flush.applied",  "pending.applied",
                                          "flush.written",   "repair.undone",  "reap.returned",
                                          "ended.written",   "ended.noted"};
    if (below(2) == 0) {
      how.env.push_back(std::string("FQ_KILL_AT=") + kInside[below(std::size(kInside))] + ":1");
    }
    std::vector<std::string> words;
    std::vector<std::string> payloads;
    std::string kind = "push";
    const uint64_t dice = below(10);
    const std::string tenant = "t" + std::to_string(below(8));
    if (dice < 3) {
      payloads = {next_payload(tenant)};
      words = {"push", "-t", tenant, payloads[0]};
      if (below(4) == 0) words.insert(words.begin() + 1, "--lazy");
      if (below(3) == 0) words.insert(words.begin() + 1, {"--keep", "1h"});
    } else if (dice < 4) {
      for (int i = 0; i < 5; ++i) payloads.push_back(next_payload(tenant));
      for (const std::string& each : payloads) how.input += each + "\n";
      words = {"push", "-t", tenant, "--lines"};
    } else if (dice < 7) {
      kind = "pop";
      words = {"pop", "-n", std::to_string(1 + below(4))};
    } else if (dice < 9 || receipts_.empty()) {
      kind = "lease";
      words = {"pop", "--lease", "20ms", "-n", std::to_string(1 + below(4))};
    } else {
      kind = "ack";
      const auto [receipt, payload] = receipts_.back();
      receipts_.pop_back();
      words = {below(4) == 0 ? "release" : "ack", receipt};
      if (words[0] == "ack") fates_[payload].may_be_acked = true;
      if (words[0] == "release") kind = "release";
      payloads = {payload};
    }
    return {spool_.start(words, how), kind, payloads, double(below(5000)) / 1000, Clock_::now()};
  }

  std::string next_payload(const std::string& tenant) {
    std::string payload = tenant + "-" + std::to_string(++sent_);
    fates_[payload] = {};
    return payload;
  }

  /// Ends the process that has stood longest: killed if its time has come while it still runs.
  void step() {
    Doing doing = std::move(doing_.front());
    doing_.erase(doing_.begin());
    const double left_ms = doing.kill_after_ms - ms_since(doing.started);
    if (left_ms > 0) ::usleep(static_cast<useconds_t>(left_ms * 1000));  // the random moment of the kill
    doing.child.send(SIGKILL);                                           // no effect on one that has ended
    finish(doing, doing.child.end());
  }

  /// Whatever the dead have left, a healthy process is not kept waiting for a second.
  void probe() {
    ++probes_;
    const std::string payload = next_payload("probe");
    const Outcome end = spool_.fq({"push", "-t", "probe", payload});
    INFO("push in the storm: exit " << end.exit << ": " << end.err);
    CHECK(end.exit == 0);
    CHECK(end.ms < 1'000);
    slowest_ms_ = std::max(slowest_ms_, end.ms);
    fates_[payload].pushed = Known::accepted;
  }

  void finish(const Doing& doing, const Outcome& end) {
    if (end.hung) ++hung_;
    if (end.signal != 0) ++kills_;
    INFO(doing.kind << ": exit " << end.exit << " signal " << end.signal << ": " << end.err);
    CHECK((end.signal == 0 || end.signal == SIGKILL));
    CHECK((end.signal != 0 || end.exit == 0 || end.exit == 1));  // 1: nothing there, or the lease is over
    const bool done = end.exit == 0;
    if (doing.kind == "push") {
      // An id that was printed is an answer, though the process died right after.
      const size_t answered = done ? doing.payloads.size() : complete_lines(end.out);
      for (size_t i = 0; i < answered; ++i) fates_[doing.payloads[i]].pushed = Known::accepted;
    }
    if (doing.kind == "pop") note_delivered(end.out, doing.started, done);
    if (doing.kind == "lease") note_leased(end.out, doing.started);
    if (doing.kind == "ack" && done) note_acked(fates_[doing.payloads[0]]);
  }

  static size_t complete_lines(const std::string& text) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  Fate& fate_of(const std::string& payload) {
    const auto found = fates_.find(payload);
    INFO("never pushed: '" << payload << "'");
    REQUIRE(found != fates_.end());
    return found->second;
  }

  static void note_acked(Fate& fate) {
    if (!fate.acked_at) fate.acked_at = Clock_::now();
  }

  /// Nothing that began after an ack was answered may see its message.
  void check_not_acked(const std::string& payload, Clock_::time_point started) {
    const Fate& fate = fate_of(payload);
    INFO("delivered after an ack was answered: " << payload);
    CHECK_FALSE((fate.acked_at && *fate.acked_at < started));
  }

  void note_delivered(const std::string& out, Clock_::time_point started, bool acked) {
    std::vector<std::string> lines = lines_of(out);
    if (lines.size() > complete_lines(out)) lines.pop_back();  // cut by the kill
    for (const std::string& payload : lines) {
      check_not_acked(payload, started);
      Fate& fate = fate_of(payload);
      fate.may_be_acked = true;
      if (acked) note_acked(fate);
    }
  }

  void note_leased(const std::string& out, Clock_::time_point started) {
    std::vector<std::string> lines = lines_of(out);
    if (lines.size() > complete_lines(out)) lines.pop_back();
    for (const std::string& line : lines) {
      const std::string payload = line.substr(line.rfind('\t') + 1);
      check_not_acked(payload, started);
      receipts_.emplace_back(line.substr(0, line.find('\t')), payload);
    }
  }

  Spool spool_;
  std::mt19937_64 random_;
  std::vector<Doing> doing_;
  std::map<std::string, Fate> fates_;
  std::vector<std::pair<std::string, std::string>> receipts_;
  int sent_ = 0;
  int kills_ = 0;
  int hung_ = 0;
  int probes_ = 0;
  double slowest_ms_ = 0;
  uint64_t recoveries_ = 0;
};

}  // namespace

TEST_CASE("a storm of kills loses nothing that was accepted and repeats nothing that was acked") {
  const uint64_t seed = seed_of_run();
  INFO("FQ_SEED=" << seed);
  Storm storm(seed);
  storm.rage(static_cast<int>((is_all_tried() ? 1500 : 500) * number_of("FQ_LONG", 1)));
  storm.settle();
  CHECK(storm.hung_count() == 0);
  CHECK(storm.recoveries() > 0);
  std::printf(
      "storm: FQ_SEED=%llu, %d kills, %llu of them inside the state lock, %zu messages, %.0f ms the slowest "
      "push\n",
      static_cast<unsigned long long>(seed), storm.kills(),
      static_cast<unsigned long long>(storm.recoveries()), storm.messages(), storm.slowest_ms());
}

}  // namespace fq::test
