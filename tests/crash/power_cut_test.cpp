// power_cut_test - the power of a real file system is cut while processes push, pop and ack.
//
// A spool on a small ext4 of its own, several processes at work, the ledger of what they were told outside.
// At a random moment the file system is shut down and everybody killed; it is mounted again, another boot,
// the segment as the cut left it. Then nothing accepted may be missing, nothing acked may be back, nothing
// may be there that was never pushed, and a torn tail may not be called damage. FQ_SEED repeats the choices
// (not the timing), FQ_LONG=1 makes 2,000 cuts of data=ordered and 1,000 of each other kind.

// System.
#include <cstdio>
#include <random>
// fq, below us.
#include "core/journal/journal.h"
// Tests.
#include "tests/crash/ledger.h"
#include "tests/crash/loop_disk.h"
#include "tests/knobs.h"
#include "tests/left_out.h"
#include "tests/process/real_fq.h"

namespace fq::test {

namespace {

constexpr size_t kAtWork = 4;
constexpr const char* kFreshQueue = "fresh";

struct CutFigures {
  uint64_t cuts = 0, accepted = 0, acked = 0, unanswered = 0, torn_tails = 0, first_pushes = 0;
};

class PowerCuts {
 public:
  PowerCuts(const std::string& options, uint64_t seed)
      : random_(seed), disk_(options), spool_(disk_.path() + "/spool") {
    spool_.says({"queue", "create"});
  }

  void run(uint64_t cuts) {
    for (uint64_t i = 0; i < cuts; ++i) {
      work_until_cut();
      disk_.power_on();
      recover();
      if (i % 20 == 19) drain();
    }
  }
  const CutFigures& figures() const { return figures_; }

 private:
  struct Doing {
    Child child;
    std::string kind;
    std::vector<std::string> payloads;
    bool lazy = false;
  };

  uint64_t below(uint64_t n) { return random_() % n; }

  void work_until_cut() {
    // Nothing durable in between leaves the more to tear apart.
    lazy_round_ = below(3) == 0;
    std::vector<Doing> doing;
    if (below(4) == 0) doing.push_back(push_to_fresh_queue());
    for (uint64_t left = 2 + below(20); left > 0; --left) {
      while (doing.size() < kAtWork) doing.push_back(begin());
      finish(doing.front());
      doing.erase(doing.begin());
    }
    ::usleep(static_cast<useconds_t>(below(3000)));  // the random moment of the cut
    if (below(2) == 0) write_back_some();
    disk_.cut_power(how());
    // What is still said after the cut was true when it was found to be, or it is a lie.
    for (const Doing& each : doing) each.child.send(SIGKILL);
    for (Doing& each : doing) finish(each);
    ++figures_.cuts;
  }

  /// Pages of the newest journal files, here and there: the kernel may do that at any time.
  void write_back_some() {
    for (const std::string& name : spool_.journal_files()) {
      const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
      if (file < 0) continue;  // recycled meanwhile
      for (int i = 0; i < 40; ++i) {
        ::sync_file_range(file, static_cast<off64_t>(below(128) * 4096), 4096, SYNC_FILE_RANGE_WRITE);
      }
      ::close(file);
    }
  }

  Cut how() {
    const uint64_t dice = below(10);
    return dice < 6 ? Cut::nothing_flushed : dice < 9 ? Cut::log_flushed : Cut::everything_flushed;
  }

  Doing begin() {
    const uint64_t dice = below(10);
    if (dice < 5 || lazy_round_) return push(below(20));
    if (dice < 8) return {spool_.start({"pop", "-n", std::to_string(1 + below(4))}), "pop", {}};
    if (dice < 9 || receipts_.empty())
      return {spool_.start({"pop", "--lease", "1h", "-n", "2"}), "lease", {}};
    const auto [receipt, payload] = receipts_.back();
    receipts_.pop_back();
    ledger_.may_be_acked(payload);
    return {spool_.start({"ack", receipt}), "ack", {payload}};
  }

  Doing push(uint64_t dice) {
    const size_t bytes = dice == 0 ? 100'000 : dice < 6 ? 20'000 : 10 + below(2000);
    const size_t count = dice > 16 ? 5 : 1;
    std::vector<std::string> words = {"push", "--lines", "-t", "t" + std::to_string(below(4))};
    const bool lazy = lazy_round_ || below(4) == 0;
    if (lazy) words.push_back("--lazy");
    Start how;
    std::vector<std::string> payloads;
    for (size_t i = 0; i < count; ++i) {
      payloads.push_back(ledger_.new_payload(bytes));
      how.input += payloads.back() + "\n";
    }
    return {spool_.start(words, how), "push", payloads, lazy};
  }

  /// The first push makes all directories; it is told like any other, of a queue of its own.
  Doing push_to_fresh_queue() {
    fresh_ = Ledger();
    const std::string payload = fresh_.new_payload(10);
    return {spool_.start({"push", "-q", kFreshQueue, payload}), "fresh", {payload}};
  }

  void finish(Doing& doing) {
    const Outcome end = doing.child.end();
    INFO(doing.kind << ": exit " << end.exit << " signal " << end.signal << ": " << end.err);
    CHECK_FALSE(end.hung);
    CHECK((end.signal == 0 || end.signal == SIGKILL));
    std::vector<std::string> lines = lines_of(end.out);
    if (!end.out.empty() && end.out.back() != '\n') lines.pop_back();  // cut by the kill
    const bool done = end.exit == 0;
    if (done && doing.kind == "push") CHECK(lines.size() == doing.payloads.size());
    if (!done && end.exit != 1) ++figures_.unanswered;
    if (doing.kind == "push" && !doing.lazy) {
      for (size_t i = 0; i < lines.size(); ++i) ledger_.accepted(doing.payloads.at(i)), ++figures_.accepted;
    }
    if (doing.kind == "fresh" && !lines.empty()) fresh_.accepted(doing.payloads[0]), ++figures_.first_pushes;
    if (doing.kind == "pop") note_popped(lines, done);
    if (doing.kind == "lease") note_leased(lines);
    if (doing.kind == "ack" && done) ledger_.acked(doing.payloads[0]), ++figures_.acked;
  }

  void note_popped(const std::vector<std::string>& payloads, bool done) {
    for (const std::string& each : payloads) {
      INFO("delivered: " << each.substr(0, 20));
      REQUIRE(ledger_.may_be_there(each));
      ledger_.may_be_acked(each);
      if (done) ledger_.acked(each), ++figures_.acked;
    }
  }

  void note_leased(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      const std::string payload = line.substr(line.rfind('\t') + 1);
      INFO("leased: " << payload.substr(0, 20));
      REQUIRE(ledger_.may_be_there(payload));
      receipts_.emplace_back(line.substr(0, line.find('\t')), payload);
    }
  }

  void recover() {
    receipts_.clear();  // of another boot
    look_at_journal();
    const Outcome first = spool_.fq({"stats"});
    INFO("cut " << figures_.cuts << ", recovery: exit " << first.exit << " signal " << first.signal << ": "
                << first.err);
    CHECK(first.exit == 0);
    CHECK(first.err.empty());
    CHECK(std::filesystem::is_empty(spool_.queue("damaged")));
    spool_.check_clean();
    CHECK(ledger_.fault_of(spool_.payloads()) == "");
    const std::string fresh = spool_.path() + "/queues/" + kFreshQueue;
    std::set<std::string> there;
    if (std::filesystem::exists(fresh)) {
      const Outcome popped = spool_.fq({"pop", "-q", kFreshQueue, "-n", "9"});
      for (const std::string& line : lines_of(popped.out)) there.insert(line);
      spool_.says({"queue", "remove", kFreshQueue, "--yes"});
    }
    CHECK(fresh_.fault_of(there) == "");
    fresh_ = Ledger();
  }

  /// How the journal's end was left, before anybody mends it.
  void look_at_journal() {
    const int directory = ::open(spool_.queue().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE(directory >= 0);
    const std::unique_ptr<Disk> disk = open_disk(directory, "queue");
    const Result<ScanResult> scan =
        scan_journal(*disk, [](const ScannedRecord&) -> Result<void> { return {}; });
    INFO((scan.ok() ? std::string() : scan.error().text));
    REQUIRE(scan.ok());
    for (const JournalDamage& damage : scan->damage) FAIL_CHECK("called damage: " << damage.what);
    if (!scan->clean_end) ++figures_.torn_tails;
  }

  void drain() {
    const Outcome rest = spool_.fq({"pop", "-n", "100000"});
    note_popped(lines_of(rest.out), rest.exit == 0);
    CHECK(spool_.payloads().empty());
  }

  std::mt19937_64 random_;
  LoopDisk disk_;
  Spool spool_;
  Ledger ledger_;
  Ledger fresh_;
  std::vector<std::pair<std::string, std::string>> receipts_;
  CutFigures figures_;
  bool lazy_round_ = false;
};

}  // namespace

TEST_CASE("a power cut of ext4 loses nothing accepted, returns nothing acked and is never called damage") {
  if (const std::string obstacle = LoopDisk::obstacle(); !obstacle.empty()) {
    leave_out("no power can be cut here: " + obstacle);
    return;
  }
  const bool long_form = is_long_form();
  const uint64_t seed = seed_of_run();
  INFO("FQ_SEED=" << seed);
  uint64_t accepted = 0;
  for (const char* options : {"data=ordered", "data=writeback", "data=ordered,nodelalloc"}) {
    const bool plain = std::string(options) == "data=ordered";
    PowerCuts cuts(options, seed);
    cuts.run(long_form ? (plain ? 2000 : 1000) : (plain ? 10 : 5));
    const CutFigures& seen = cuts.figures();
    std::printf(
        "power cuts: FQ_SEED=%llu, %s: %llu cuts, %llu accepted, %llu acked, %llu left without an answer, "
        "%llu first pushes, %llu torn tails\n",
        static_cast<unsigned long long>(seed), options, static_cast<unsigned long long>(seen.cuts),
        static_cast<unsigned long long>(seen.accepted), static_cast<unsigned long long>(seen.acked),
        static_cast<unsigned long long>(seen.unanswered), static_cast<unsigned long long>(seen.first_pushes),
        static_cast<unsigned long long>(seen.torn_tails));
    accepted += seen.accepted;
  }
  // Of one kind alone all cuts may come before the first push is through.
  CHECK(accepted > 0);
}

}  // namespace fq::test
