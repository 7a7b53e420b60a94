// crash_states_test - every disk that a power cut may leave of a short story is recovered.
//
// A story's calls are recorded (tests/crash/recorder.h). For each prefix of them, with the sectors that no
// sync has proved torn apart every 512 bytes and every 4 KiB, all outcomes of a power cut are taken where
// they are few, else some at random; each disk is laid out in memory and opened by the engine as after a
// reboot. A run takes a random third of the stories, and fewer of those that are many or long; FQ_ALL takes
// all, FQ_LONG=1 every prefix and up to 2,000 random outcomes. FQ_SEED repeats a run, FQ_STORY=text takes the
// stories with this in their name, FQ_KEEP=directory leaves the disk of the last fault there.

// System.
#include <sys/stat.h>

#include <cstdio>
#include <random>
#include <unordered_set>
// Tests.
#include "tests/crash/crash_states.h"
#include "tests/knobs.h"
#include "tests/left_out.h"

namespace fq::test {

namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kFew = 4096;  // 12 pieces, each there or not

struct Limits {
  uint64_t few = 0;     // outcomes of one cut that are all taken
  uint64_t random = 0;  // outcomes taken where there are more
  uint64_t cuts = 0;    // of one story, at random; behind an answer the power is always cut
};

/// The bytes of a file that are not zero, by pages: a journal is mostly zeros.
std::vector<std::pair<uint64_t, std::string_view>> pages_of(const std::string& content) {
  static const std::string kZeros(kPageBytes, '\0');
  std::vector<std::pair<uint64_t, std::string_view>> pages;
  for (uint64_t at = 0; at < content.size(); at += kPageBytes) {
    const std::string_view page = std::string_view(content).substr(at, kPageBytes);
    if (page != std::string_view(kZeros).substr(0, page.size())) pages.emplace_back(at, page);
  }
  return pages;
}

uint64_t fingerprint(const Platter& disk) {
  uint64_t sum = 0;
  const auto add = [&](uint64_t value) { sum = (sum ^ value) * 0x9e3779b97f4a7c15ULL, sum ^= sum >> 29; };
  const std::hash<std::string_view> hash;
  for (const auto& [name, inode] : disk.names()) {
    add(hash(name));
    if (inode == Platter::kDirectory) continue;
    add(disk.content(inode).size());
    for (const auto& [at, page] : pages_of(disk.content(inode))) add(at), add(hash(page));
  }
  return sum;
}

void lay_out(const Platter& disk, const std::string& directory) {
  std::filesystem::remove_all(directory);
  std::filesystem::create_directory(directory);
  for (const auto& [name, inode] : disk.names()) {
    const std::string path = directory + "/" + name;
    if (inode == Platter::kDirectory) {
      REQUIRE(::mkdir(path.c_str(), 0700) == 0);
      continue;
    }
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    REQUIRE(file >= 0);
    const std::string& content = disk.content(inode);
    REQUIRE(::ftruncate(file, static_cast<off_t>(content.size())) == 0);
    for (const auto& [at, page] : pages_of(content)) {
      REQUIRE(::pwrite(file, page.data(), page.size(), static_cast<off_t>(at)) == ssize_t(page.size()));
    }
    ::close(file);
  }
}

/// What the book demands at this cut: the same disk may be right at one and wrong at another.
uint64_t demands(const Story& story, size_t cut) {
  std::string text;
  for (const auto& [payload, fate] : story.fates()) {
    text += static_cast<char>('0' + fate.must_be(cut) + 2 * fate.may_be(cut) + 4 * fate.has_state(cut));
  }
  return std::hash<std::string>()(text);
}

class CrashStates {
 public:
  CrashStates(const Workload& workload, const Limits& limits, uint64_t seed)
      : workload_(workload), limits_(limits), random_(seed) {}

  void explore() {
    workload_.tell(story_);
    const std::vector<FileCall>& calls = story_.recorder().calls();
    Platter disk = story_.recorder().base();
    disk.set_stale_bytes(stale_bytes());
    for (size_t cut = 0; cut <= calls.size(); ++cut) {
      if (cut > 0) Recorder::apply(disk, calls[cut - 1]);
      const bool answered = cut == calls.size() || (cut > 0 && calls[cut - 1].kind == FileCall::Kind::answer);
      const bool chosen = workload_.every_cut || random_() % (calls.size() + 1) < limits_.cuts;
      if (!answered && !chosen) continue;
      for (const uint64_t piece_bytes : {Platter::kSectorBytes, kPageBytes})
        explore_cut(disk, cut, piece_bytes);
    }
  }
  size_t states() const { return states_; }
  size_t faults() const { return faults_; }

 private:
  /// Records of an earlier life of the blocks: the worst that can lie in them.
  std::string stale_bytes() const {
    for (const auto& [name, inode] : story_.recorder().base().names()) {
      if (name.ends_with("/journal/1.fqj"))
        return story_.recorder().base().content(inode).substr(0, 64 * 1024);
    }
    return "stale";
  }

  void explore_cut(const Platter& disk, size_t cut, uint64_t piece_bytes) {
    const std::vector<Platter::Open> open = disk.open(piece_bytes);
    uint64_t count = 1;
    for (const Platter::Open& each : open) count = std::min<uint64_t>(count * each.outcomes, kFew * 1000);
    std::vector<uint32_t> outcomes(open.size(), 0);
    if (count <= limits_.few) {
      for (uint64_t i = 0; i < count; ++i) {
        try_state(disk, cut, open, outcomes, piece_bytes);
        for (size_t at = 0; at < open.size() && ++outcomes[at] == open[at].outcomes; ++at) outcomes[at] = 0;
      }
      return;
    }
    try_state(disk, cut, open, outcomes, piece_bytes);
    for (size_t i = 0; i < open.size(); ++i) outcomes[i] = open[i].outcomes - 1;
    try_state(disk, cut, open, outcomes, piece_bytes);
    for (uint64_t i = 0; i < limits_.random; ++i) {
      // Each thing arrived with a chance that itself differs from case to case.
      const uint64_t chance = random_() % 101;
      for (size_t at = 0; at < open.size(); ++at) {
        const bool arrived = random_() % 100 < chance;
        outcomes[at] = arrived ? 1 + static_cast<uint32_t>(random_() % (open[at].outcomes - 1)) : 0;
      }
      try_state(disk, cut, open, outcomes, piece_bytes);
    }
  }

  void try_state(const Platter& disk, size_t cut, const std::vector<Platter::Open>& open,
                 const std::vector<uint32_t>& outcomes, uint64_t piece_bytes) {
    const Platter left = disk.after_cut(open, outcomes, piece_bytes);
    if (!seen_.insert(fingerprint(left) ^ demands(story_, cut)).second) return;
    ++states_;
    const std::string directory = story_.spool().directory() + "-state";
    lay_out(left, directory);
    const std::string fault = fault_of(story_, cut, directory + "/spool");
    std::filesystem::remove_all(directory);
    if (fault.empty()) return;
    ++faults_;
    if (faults_ > 3) return;
    if (const char* keep = std::getenv("FQ_KEEP")) lay_out(left, keep);
    std::string text = workload_.name + ": " + fault + "\n  cut behind";
    for (size_t i = cut > 6 ? cut - 6 : 0; i < cut; ++i)
      text += "\n    " + story_.recorder().calls()[i].describe();
    text += "\n  arrived:";
    static const char* const kWhat[] = {"name", "length", "stale blocks", "sector"};
    for (size_t i = 0; i < open.size(); ++i) {
      if (outcomes[i] == 0) continue;
      text += std::string(" ") + kWhat[static_cast<size_t>(open[i].what)] + " " +
              std::to_string(open[i].inode) + ":" + std::to_string(open[i].index) + "=" +
              std::to_string(outcomes[i]);
    }
    FAIL_CHECK(text);
  }

  const Workload& workload_;
  const Limits limits_;
  std::mt19937_64 random_;
  Story story_;
  std::unordered_set<uint64_t> seen_;
  size_t states_ = 0;
  size_t faults_ = 0;
};

/// Which stories are told. FQ_PART=1/4: every fourth, from the second on.
class Choice {
 public:
  explicit Choice(uint64_t seed) : random_(seed) {
    const char* part = std::getenv("FQ_PART");
    if (part != nullptr) REQUIRE(std::sscanf(part, "%zu/%zu", &part_, &parts_) == 2);
  }
  bool takes(const std::string& name) {
    const bool mine = told_++ % parts_ == part_;
    const char* wanted = std::getenv("FQ_STORY");
    if (wanted != nullptr) return mine && contains(name, wanted);
    if (is_all_tried()) return mine;
    // Those that differ by the moment of a kill only are many, and others are long: of them there are fewer.
    const bool one_of_many = contains(name, "killed at change") || contains(name, "out of the ring");
    return mine && random_() % (one_of_many ? 18 : 3) == 0;
  }

 private:
  std::mt19937_64 random_;
  size_t part_ = 0;
  size_t parts_ = 1;
  size_t told_ = 0;
};

}  // namespace

TEST_CASE("every disk that a power cut may leave is recovered: nothing lost, invented or called damaged") {
  if (!Recorder::is_possible()) {
    leave_out("nobody may trace here");
    return;
  }
  const bool long_form = is_long_form();
  const Limits limits = long_form ? Limits{kFew, 2000, UINT64_MAX} : Limits{4, 2, 8};
  const uint64_t seed = seed_of_run();
  INFO("FQ_SEED=" << seed);
  size_t states = 0, stories = 0, faults = 0;
  Choice choice(seed);
  for (const Workload& workload : workloads()) {
    if (!choice.takes(workload.name)) continue;
    CrashStates explored(workload, limits, seed);
    explored.explore();
    if (long_form)
      std::printf("  %6zu states  %s\n", explored.states(), workload.name.c_str()), std::fflush(stdout);
    states += explored.states();
    faults += explored.faults();
    ++stories;
  }
  CHECK(states >= stories);
  std::printf("crash states: FQ_SEED=%llu, %zu stories, %zu distinct states, %zu faults\n",
              static_cast<unsigned long long>(seed), stories, states, faults);
}

}  // namespace fq::test
