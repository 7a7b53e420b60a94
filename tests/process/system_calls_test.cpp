// system_calls_test - every system call of every command failed and killed once, on the binary that is
// shipped.
//
// Each command is traced once; then it is run again for each of its calls and each way in which that call can
// end badly. Exit 0 has to be true in the journal alone, exit 74 may mean either, any other exit means that
// nothing was done; what was there before is there, the next commands work at once, fq check finds nothing.
// The short form tries a sample (the seed is printed, FQ_SEED repeats it), FQ_ALL all of push and ack and a
// sample of the rest, FQ_LONG all. FQ_RELEASE names the binary.

// System.
#include <cstdio>
#include <numeric>
#include <random>
// Tests.
#include "tests/knobs.h"
#include "tests/process/kept_spool.h"
#include "tests/process/system_calls.h"

namespace fq::test {

namespace {

using Words = std::vector<std::string>;
/// What a queue holds, by payload. A queue that is not there holds one thing, kNoQueue.
using States = std::map<std::string, State>;
const std::string kNoQueue = "(no queue)";

const std::string kLarge(100 * 1024, 'x');

/// A command and the spool it is run in.
struct Scene {
  Spool spool;
  Words words;
  Start how;
};

struct Story {
  const char* name;
  void (*prepare)(Scene& scene);
  bool everyday = false;        // many of its cases are tried in the short form too
  bool lazy = false;            // exit 0 promises nothing about the disk
  bool takes = false;           // what it took may still look leased when it died
  bool said_is_done = false;    // what was said on stdout holds, though the command failed afterwards
  bool says_the_clock = false;  // digits on stdout differ from run to run
};

/// Two tenants, four messages, one of them leased, one buried, one that was acked.
void few(Scene& s) {
  s.spool.push("done", "a");
  s.spool.says({"pop"});
  s.spool.push("dead", "a");
  s.spool.says({"bury", s.spool.lease()});
  s.spool.push("held", "a");
  s.spool.lease();
  s.spool.push("ready", "a");
  s.spool.push("other", "b");
}
void with_receipt(Scene& s, Words words) {
  few(s);
  s.spool.push("mine", "c");
  const std::string line = s.spool.says({"pop", "--lease", "1h", "-t", "c"});
  words.insert(words.begin() + 1, line.substr(0, line.find('\t')));
  s.words = std::move(words);
}
void with_large(Scene& s) {
  few(s);
  s.spool.says({"push", "-t", "large"}, {.env = {}, .input = kLarge});
}

void push_first(Scene& s) { s.words = {"push", "new"}; }
void push(Scene& s) { few(s), s.words = {"push", "new"}; }
void push_lazy(Scene& s) { few(s), s.words = {"push", "--lazy", "new"}; }
void push_lines(Scene& s) { few(s), s.words = {"push", "--lines"}, s.how.input = "one\ntwo\nthree\n"; }
void push_large(Scene& s) { few(s), s.words = {"push"}, s.how.input = kLarge; }
void push_without_segment(Scene& s) {
  push(s);
  std::filesystem::remove(s.spool.queue("segment"));
}
/// Eight records of 60 KiB fill a young journal file: the next push goes to another.
void push_into_next_file(Scene& s) {
  few(s);
  for (int i = 0; i < 8; ++i) {
    s.spool.says({"push"}, {.env = {}, .input = std::to_string(i) + std::string(60 * 1024, 'y')});
  }
  s.words = {"push"};
  s.how.input = std::string(60 * 1024, 'z');
}
void pop(Scene& s) { few(s), s.words = {"pop"}; }
void pop_lease(Scene& s) { few(s), s.words = {"pop", "--lease", "1h"}; }
void pop_large(Scene& s) { with_large(s), s.words = {"pop", "-t", "large"}; }
void ack(Scene& s) { with_receipt(s, {"ack"}); }
void ack_kept(Scene& s) {
  few(s);
  s.spool.says({"push", "--keep", "1h", "-t", "c", "c1"});
  const std::string line = s.spool.says({"pop", "--lease", "1h", "-t", "c"});
  s.words = {"ack", line.substr(0, line.find('\t'))};
}
void retry(Scene& s) { with_receipt(s, {"retry"}); }
void release(Scene& s) { with_receipt(s, {"release"}); }
void bury(Scene& s) { with_receipt(s, {"bury"}); }
void extend(Scene& s) { with_receipt(s, {"extend", "2h"}); }
void kick(Scene& s) { few(s), s.words = {"kick", "--all"}; }
void limit(Scene& s) { few(s), s.words = {"tenant", "limit", "b", "--for", "1h"}; }
void cancel(Scene& s) { few(s), s.words = {"cancel", "-t", "b"}; }
void cancel_large(Scene& s) { with_large(s), s.words = {"cancel", "-t", "large"}; }
void peek(Scene& s) { with_large(s), s.words = {"peek", "--state", "all", "--json"}; }
void show(Scene& s) { few(s), s.words = {"show", "2"}; }
void stats(Scene& s) { few(s), s.words = {"stats", "--json"}; }
void stats_of_tenants(Scene& s) { few(s), s.words = {"stats", "--tenants", "--json"}; }
void check(Scene& s) { with_large(s), s.words = {"check"}; }
void wait(Scene& s) { few(s), s.words = {"wait", "1"}; }
void result(Scene& s) {
  few(s);
  s.words = {"result", s.spool.push("result", "c")};
  const std::unique_ptr<Queue> consumer = s.spool.door();
  LeaseRequest request;
  request.tenant = "c";
  const LeaseReply leased = consumer->lease(request).value();
  const JobOutput output{"out", "err", 3'600'000};
  Settle item;
  item.receipt = leased.deliveries.at(0).receipt;
  item.output = &output;
  REQUIRE(consumer->settle({&item, 1}).value().items.at(0) == SettleStatus::ok);
}
void queue_create(Scene& s) { s.words = {"queue", "create"}; }
void queue_list(Scene& s) { few(s), s.words = {"queue", "list"}; }
void queue_purge(Scene& s) { few(s), s.words = {"queue", "purge", "default", "--yes"}; }
void queue_remove(Scene& s) { few(s), s.words = {"queue", "remove", "default", "--yes"}; }
void queue_rename(Scene& s) {
  few(s);
  s.spool.says({"queue", "rename", "default", "aside"});
  s.words = {"queue", "rename", "aside", "default"};
}

const std::vector<Story> kStories = {
    {.name = "push", .prepare = push, .everyday = true, .said_is_done = true},
    {.name = "push --lazy", .prepare = push_lazy, .lazy = true, .said_is_done = true},
    {.name = "push --lines", .prepare = push_lines, .said_is_done = true},
    {.name = "push of a large payload", .prepare = push_large, .said_is_done = true},
    {.name = "push into a new spool", .prepare = push_first, .said_is_done = true},
    {.name = "push without a segment", .prepare = push_without_segment, .said_is_done = true},
    {.name = "push into the next file", .prepare = push_into_next_file, .said_is_done = true},
    {.name = "pop", .prepare = pop, .takes = true},
    {.name = "pop --lease", .prepare = pop_lease, .lazy = true},
    {.name = "pop of a large payload", .prepare = pop_large, .takes = true},
    {.name = "ack", .prepare = ack, .everyday = true},
    {.name = "ack of a kept one", .prepare = ack_kept, .everyday = true},
    {.name = "retry", .prepare = retry},
    {.name = "release", .prepare = release},
    {.name = "bury", .prepare = bury},
    {.name = "extend", .prepare = extend},
    {.name = "kick", .prepare = kick},
    {.name = "limit", .prepare = limit},
    {.name = "cancel", .prepare = cancel},
    {.name = "cancel of a large payload", .prepare = cancel_large},
    {.name = "peek", .prepare = peek},
    {.name = "show", .prepare = show},
    {.name = "stats", .prepare = stats, .says_the_clock = true},
    {.name = "stats --tenants", .prepare = stats_of_tenants, .says_the_clock = true},
    {.name = "check", .prepare = check, .says_the_clock = true},
    {.name = "wait", .prepare = wait},
    {.name = "result", .prepare = result},
    {.name = "queue create", .prepare = queue_create},
    {.name = "queue list", .prepare = queue_list},
    {.name = "queue purge", .prepare = queue_purge},
    {.name = "queue remove", .prepare = queue_remove},
    {.name = "queue rename", .prepare = queue_rename},
};

/// The binary that is shipped, for everything in its scope; the test build where the other was not built.
class ShippedBinary {
 public:
  ShippedBinary() : before_(fq_binary()) {
    const char* release = std::getenv("FQ_RELEASE");
    if (release == nullptr) leave_out("FQ_RELEASE is not set: the test build is tried instead");
    if (release != nullptr) ::setenv("FQ", release, 1);
  }
  ~ShippedBinary() { ::setenv("FQ", before_.c_str(), 1); }
  ShippedBinary(const ShippedBinary&) = delete;
  ShippedBinary& operator=(const ShippedBinary&) = delete;

 private:
  std::string before_;
};

States states_of(const Spool& spool) {
  if (!std::filesystem::exists(spool.queue())) return {{kNoQueue, State::ready}};
  States states;
  for (const auto& [payload, seen] : spool.live()) states[payload] = seen.state;
  return states;
}

/// With each number as one '#'.
std::string without_numbers(const std::string& text) {
  std::string plain;
  for (const char each : text) {
    const bool in_number = (each >= '0' && each <= '9') || (each == '.' && plain.ends_with('#'));
    if (!in_number) plain += each;
    if (in_number && !plain.ends_with('#')) plain += '#';
  }
  return plain;
}

enum class Demand { before, after, either };

/// One command under test: what was there, what is there when all goes well, and what it then says.
class Trials {
 public:
  explicit Trials(const Story& story) : story_(story) {
    story.prepare(scene_);
    command_ = scene_.words;
    command_.insert(command_.begin(), fq_binary());
    kept_ = std::make_unique<KeptSpool>(scene_.spool);
    before_ = image_states();
    calls_ = calls_of(command_, scene_.spool.with(scene_.how));
    after_ = states_of(scene_.spool);
    kept_->put_back();
    said_ = run(command_, scene_.spool.with(scene_.how));
  }

  const std::vector<CallCount>& calls() const { return calls_; }
  const std::map<int, int>& exits() const { return exits_; }
  size_t killed() const { return killed_; }

  void run_one(const Fault& fault) {
    kept_->put_back();
    const Outcome end = run_with(fault, command_, scene_.spool.with(scene_.how));
    INFO(story_.name << " with " << fault.text() << ": exit " << end.exit << " signal " << end.signal << ": "
                     << end.err);
    ++exits_[end.signal != 0 ? -end.signal : end.exit];
    killed_ += end.signal == SIGKILL;
    check_end(fault, end);
    const Demand demand = demand_of(end);
    {
      INFO("from the journal alone");
      check_states(image_states(), story_.lazy && demand == Demand::after ? Demand::either : demand, true);
    }
    check_goes_on();
    check_states(states_of(scene_.spool), demand, false);
    if (!end.out.empty() || !story_.takes) return;
    INFO("taken and never written");
    check_states(states_of(scene_.spool), Demand::before, false);
  }

 private:
  void check_end(const Fault& fault, const Outcome& end) const {
    CHECK_FALSE(end.hung);
    if (end.signal != 0) {
      CHECK(fault.kills());
      CHECK(end.signal == SIGKILL);
      return;
    }
    CHECK(end.exit != 70);
    // What check finds, a payload that cannot be read too, is its output.
    const bool found = end.exit == 65 && command_[1] == "check";
    if (found) CHECK(end.out.find("damage: ") != std::string::npos);
    // What a job wrote on its stderr comes first, where the command tells it.
    const size_t of_jobs = end.err.rfind(said_.err, 0) == 0 ? said_.err.size() : 0;
    if (end.exit != 0 && !found) CHECK(end.err.compare(of_jobs, 4, "fq: ") == 0);
    if (end.exit != 0) return;
    if (story_.says_the_clock) CHECK(without_numbers(end.out) == without_numbers(said_.out));
    if (!story_.says_the_clock) CHECK(end.out == said_.out);
  }

  Demand demand_of(const Outcome& end) const {
    if (end.exit == 0 || (story_.said_is_done && end.out == said_.out)) return Demand::after;
    return end.signal != 0 || end.exit == 74 ? Demand::either : Demand::before;
  }

  void check_states(const States& there, Demand demand, bool at_once) const {
    std::set<std::string> names;
    for (const States* each : {&before_, &after_, &there}) {
      for (const auto& [payload, state] : *each) names.insert(payload);
    }
    for (const std::string& name : names) {
      const auto state_in = [&](const States& states) {
        const auto found = states.find(name);
        return found == states.end() ? -1 : static_cast<int>(found->second);
      };
      // A queue that is only half made is none, and harms nobody.
      if (name == kNoQueue && state_in(after_) < 0 && demand != Demand::after) continue;
      const int now = state_in(there);
      const bool was = now == state_in(before_) && demand != Demand::after;
      const bool is = now == state_in(after_) && demand != Demand::before;
      const bool in_dead_hands = at_once && story_.takes && demand != Demand::after &&
                                 now == static_cast<int>(State::leased) &&
                                 state_in(before_) != state_in(after_);
      INFO("message '" << name.substr(0, 20) << "' is in state " << now << " (-1: none), before "
                       << state_in(before_) << ", after " << state_in(after_) << ", demanded "
                       << (demand == Demand::before  ? "before"
                           : demand == Demand::after ? "after"
                                                     : "either"));
      CHECK((was || is || in_dead_hands));
    }
  }

  /// What the journal alone says: a copy is another spool, so its segment is made anew.
  States image_states() const {
    namespace fs = std::filesystem;
    const Spool image(scene_.spool.directory() + "/image");
    fs::remove_all(image.path());
    if (fs::exists(scene_.spool.path())) {
      fs::copy(scene_.spool.path(), image.path(), fs::copy_options::recursive);
      fs::remove(image.queue("segment"));
    }
    const States states = states_of(image);
    if (fs::exists(image.queue())) image.check_clean();
    return states;
  }

  void check_goes_on() const {
    const bool there = std::filesystem::exists(scene_.spool.queue());
    if (!there) return;
    for (const Words& words :
         {Words{"push", "-t", "probe", "--payload=probe"}, Words{"pop", "-t", "probe"}}) {
      const Outcome next = scene_.spool.fq(words);
      INFO("the next " << words[0] << ": exit " << next.exit << " signal " << next.signal << ": "
                       << next.err);
      CHECK(next.exit == 0);
      CHECK(next.ms < 1000);
      if (words[0] == "pop") CHECK(next.out == "probe\n");
    }
    scene_.spool.check_clean();
  }

  const Story& story_;
  Scene scene_;
  Words command_;
  std::unique_ptr<KeptSpool> kept_;
  std::vector<CallCount> calls_;
  States before_, after_;
  Outcome said_;
  std::map<int, int> exits_;
  size_t killed_ = 0;
};

size_t most_cases_of(const Story& story) {
  if (is_long_form() || (story.everyday && is_all_tried())) return SIZE_MAX;
  return story.everyday ? 40 : 6;
}

}  // namespace

TEST_CASE(
    "a command with any of its system calls failed or killed says nothing that is not so, and loses "
    "nothing") {
  if (!have_strace()) {
    leave_out("strace is not installed");
    return;
  }
  const ShippedBinary shipped;
  const char* only = std::getenv("FQ_STORY");
  const uint64_t seed = seed_of_run();
  INFO("FQ_SEED=" << seed);
  std::mt19937_64 random(seed);
  size_t tried = 0, kills = 0, killed = 0;
  for (const Story& story : kStories) {
    if (only != nullptr && only != std::string(story.name)) continue;
    Trials trials(story);
    for (const std::string& call : unknown_calls(trials.calls())) FAIL_CHECK(story.name << " calls " << call);
    std::vector<Fault> faults = faults_of(trials.calls());
    std::shuffle(faults.begin(), faults.end(), random);
    faults.resize(std::min(faults.size(), most_cases_of(story)));
    for (const Fault& fault : faults) trials.run_one(fault);
    tried += faults.size();
    kills += static_cast<size_t>(std::ranges::count_if(faults, &Fault::kills));
    killed += trials.killed();
    std::string ends;
    for (const auto& [exit, times] : trials.exits())
      ends += " " + std::to_string(exit) + "x" + std::to_string(times);
    if (is_long_form()) std::printf("%s: %zu cases, exits%s\n", story.name, faults.size(), ends.c_str());
  }
  std::printf("system calls: FQ_SEED=%llu, %zu cases of %zu commands, %zu of %zu kills came\n",
              static_cast<unsigned long long>(seed), tried, kStories.size(), killed, kills);
  // A call that is made at some times only is not always there to be killed at.
  CHECK(killed * 10 >= kills * 9);
}

}  // namespace fq::test
