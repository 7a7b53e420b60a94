// refused_place_test - places and limits in which fq cannot keep its word get a clear line and the right code.
//
// Read-only and foreign directories, symlinks and hard links in the way, a full disk, low limits of the
// process: the command is refused, what is in the queue stays there and can be taken as soon as there is a way.

// System.
#include <sys/stat.h>
#include <sys/mount.h>

// Tests.
#include "tests/process/real_fq.h"

namespace fq::test {

namespace {

/// fq as nobody, for what root may do anyway.
Outcome as_nobody(const Spool& spool, const std::string& words) {
  return spool.shell("cp $FQ $FQ_SPOOL/../fq && chmod 755 $FQ_SPOOL/../fq && exec setpriv --reuid=65534 --regid=65534 "
                     "--clear-groups timeout 10 $FQ_SPOOL/../fq " + words);
}

void is_refused(const Spool& spool, int code, const std::string& word) {
  for (const char* command : {"push --payload=x", "pop", "stats", "check"}) {
    const Outcome outcome = spool.shell(std::string("timeout 10 $FQ ") + command);
    INFO(command << ": exit " << outcome.exit << ": " << outcome.err);
    CHECK(outcome.exit == code);
    CHECK(contains(outcome.err + outcome.out, word));
  }
}

/// A file system of a few MB, or none where that is not permitted.
class SmallDisk {
 public:
  explicit SmallDisk(const Spool& beside, const std::string& size) : path_(beside.directory() + "/disk") {
    std::filesystem::create_directory(path_);
    if (!is_root()) return;
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", MS_NOSUID, ("mode=0700,size=" + size).c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }
  const std::string& path() const { return path_; }
  /// Leaves not one byte.
  void fill() const { shell("dd if=/dev/zero of=" + path_ + "/filler bs=4096 2>/dev/null"); }
  void make_room() const { std::filesystem::remove(path_ + "/filler"); }

 private:
  std::string path_;
  bool mounted_ = false;
};

/// Pushes until the disk is full: what was accepted. The first refusal has to be 75.
std::set<std::string> push_until_full(const Spool& spool) {
  std::set<std::string> accepted;
  const std::string tail(20'000, 'x');
  for (int i = 0; i < 2000; ++i) {
    const std::string payload = std::to_string(i) + tail;
    const Outcome outcome = spool.fq({"push"}, {.env = {}, .input = payload});
    if (outcome.exit == 0) {
      accepted.insert(payload);
      continue;
    }
    INFO("exit " << outcome.exit << " signal " << outcome.signal << ": " << outcome.err);
    CHECK(outcome.exit == 75);
    CHECK(contains(outcome.err, "queue 'default'"));
    return accepted;
  }
  FAIL("the disk never became full");
  return accepted;
}

}  // namespace

TEST_CASE("on a full disk pushes get 75, and all that was accepted is leased and acked with no byte free") {
  Spool beside;
  SmallDisk disk(beside, "4m");
  if (!disk.mounted()) {
    WARN("a small disk needs root: skipped");
    return;
  }
  Spool spool(disk.path() + "/spool");
  std::set<std::string> accepted = push_until_full(spool);
  CHECK(accepted.size() > 20);
  disk.fill();
  CHECK(spool.fq({"push"}, {.env = {}, .input = std::string(20'000, 'y')}).exit == 75);
  while (true) {
    const Outcome leased = spool.fq({"pop", "--lease", "1h"});
    if (leased.exit == 1) break;
    INFO("exit " << leased.exit << " signal " << leased.signal << ": " << leased.err);
    REQUIRE(leased.exit == 0);
    const std::string payload = leased.out.substr(leased.out.rfind('\t') + 1);
    CHECK(accepted.erase(payload.substr(0, payload.size() - 1)) == 1);
    const Outcome acked = spool.fq({"ack", leased.out.substr(0, leased.out.find('\t'))});
    INFO("ack: exit " << acked.exit << ": " << acked.err);
    REQUIRE(acked.exit == 0);
  }
  CHECK(accepted.empty());
  spool.check_clean();
  disk.make_room();
  CHECK(spool.fq({"push", "again"}).exit == 0);
}

TEST_CASE("a full disk without a segment: what was accepted is there as soon as there is room") {
  Spool beside;
  SmallDisk disk(beside, "4m");
  if (!disk.mounted()) {
    WARN("a small disk needs root: skipped");
    return;
  }
  Spool spool(disk.path() + "/spool");
  const std::set<std::string> accepted = push_until_full(spool);
  disk.fill();
  std::filesystem::remove(spool.queue("segment"));
  disk.fill();
  const Outcome refused = spool.fq({"push", "x"});
  CHECK(refused.exit == 75);
  disk.make_room();
  CHECK(spool.payloads() == accepted);
  spool.check_clean();
}

TEST_CASE("a spool that cannot be written to is refused with 77 and left alone") {
  if (!is_root()) {
    WARN("changing owners needs root: skipped");
    return;
  }
  Spool spool;
  spool.push("kept");
  ::chmod(spool.directory().c_str(), 0755);
  SECTION("foreign") {
    // A directory of another user: refused though root could write to it.
    REQUIRE(::chown(spool.queue().c_str(), 65534, 65534) == 0);
    is_refused(spool, 77, "another user");
    REQUIRE(::chown(spool.queue().c_str(), 0, 0) == 0);
  }
  SECTION("writable by others") {
    ::chmod(spool.queue().c_str(), 0777);
    is_refused(spool, 77, "chmod go-w");
    ::chmod(spool.queue().c_str(), 0700);
  }
  SECTION("read-only to its user") {
    REQUIRE(spool.shell("chown -R 65534:65534 $FQ_SPOOL && chmod -R a-w $FQ_SPOOL").exit == 0);
    for (const char* words : {"push --payload=x", "push --payload=x -q other", "pop"}) {
      const Outcome outcome = as_nobody(spool, words);
      INFO(words << ": " << outcome.err);
      CHECK(outcome.exit == 77);
    }
    REQUIRE(spool.shell("chown -R 0:0 $FQ_SPOOL && chmod -R u+w $FQ_SPOOL").exit == 0);
  }
  CHECK(spool.payloads() == std::set<std::string>{"kept"});
  spool.check_clean();
}

TEST_CASE("a symlink in the way is not followed: 69") {
  Spool spool;
  spool.push("kept");
  const std::string elsewhere = spool.directory() + "/elsewhere";
  const auto swap_for_link = [&](const std::string& name) {
    std::filesystem::rename(name, elsewhere);
    std::filesystem::create_symlink(elsewhere, name);
  };
  const auto swap_back = [&](const std::string& name) {
    std::filesystem::remove(name);
    std::filesystem::rename(elsewhere, name);
  };
  std::string queue = spool.queue();
  queue.pop_back();
  const std::string victims[] = {queue, spool.queue("segment"), spool.queue("lock"), spool.journal_files().front(),
                                 spool.queue("journal")};
  for (const std::string& victim : victims) {
    INFO("a symlink at " << victim.substr(spool.path().size()));
    swap_for_link(victim);
    const bool journal = contains(victim, "journal");
    if (journal) std::filesystem::remove(spool.queue("segment"));
    const Outcome outcome = spool.fq({"push", "x"});
    INFO("exit " << outcome.exit << ": " << outcome.err);
    CHECK(outcome.exit == 69);
    CHECK((contains(outcome.err, "symlink") || contains(outcome.err, "symbolic link")));
    swap_back(victim);
  }
  CHECK(spool.payloads() == std::set<std::string>{"kept"});
  spool.check_clean();
}

TEST_CASE("a journal file with a second name is not trusted: 69") {
  Spool spool;
  spool.push("kept");
  const std::string second = spool.directory() + "/second";
  std::filesystem::create_hard_link(spool.journal_files().front(), second);
  std::filesystem::remove(spool.queue("segment"));
  const Outcome outcome = spool.fq({"push", "x"});
  CHECK(outcome.exit == 69);
  CHECK(contains(outcome.err, "link"));
  std::filesystem::remove(second);
  CHECK(spool.payloads() == std::set<std::string>{"kept"});
}

TEST_CASE("low limits of the process are errors that name them, and lose nothing") {
  Spool spool;
  spool.push("kept");
  SECTION("address space") {
    const Outcome outcome = spool.shell("ulimit -v 200000; exec $FQ push x");
    CHECK(outcome.exit == 75);
    CHECK(contains(outcome.err, "ulimit -v"));
    CHECK(spool.payloads() == std::set<std::string>{"kept"});
  }
  SECTION("file size") {
    // In units of 1 KiB: the journal's bytes cannot be written at all.
    const Outcome outcome = spool.shell("ulimit -f 1; exec $FQ push x");
    INFO("exit " << outcome.exit << " signal " << outcome.signal << ": " << outcome.err);
    CHECK((outcome.exit == 74 || outcome.exit == 75));
    std::set<std::string> there = spool.payloads();
    CHECK(there.erase("kept") == 1);
    there.erase("x");  // unknown: it may be there or not
    CHECK(there.empty());
    CHECK(spool.fq({"push", "next"}).exit == 0);
  }
  SECTION("open files") {
    const Outcome outcome = spool.shell("ulimit -n 5; exec $FQ push x");
    CHECK((outcome.exit == 0 || outcome.exit == 75 || outcome.exit == 74));
    CHECK(outcome.signal == 0);
    CHECK(spool.payloads().count("kept") == 1);
  }
  spool.check_clean();
}

TEST_CASE("large payloads that cannot be opened stay where they are, whatever the limit of open files") {
  Spool spool;
  std::set<std::string> left;
  for (int i = 0; i < 4; ++i) {
    const std::string payload = std::to_string(i) + std::string(100 * 1024, 'x');
    spool.says({"push"}, {.env = {}, .input = payload});
    left.insert(payload);
  }
  // Each payload is a file of its own, so that a limit is met at the first, the second, ...
  for (int limit = 5; limit < 16; ++limit) {
    const Outcome outcome = spool.shell("ulimit -n " + std::to_string(limit) + "; exec $FQ pop -n 2");
    INFO("limit " << limit << ": exit " << outcome.exit << " signal " << outcome.signal << ": " << outcome.err);
    CHECK((outcome.exit == 0 || outcome.exit == 1 || outcome.exit == 75));
    for (const std::string& line : lines_of(outcome.out)) CHECK(left.erase(line) == 1);
    CHECK((spool.payloads() == left));
    for (const auto& [payload, seen] : spool.live()) CHECK(seen.attempts == 0);
  }
  CHECK(left.empty());
  spool.check_clean();
}

}  // namespace fq::test
