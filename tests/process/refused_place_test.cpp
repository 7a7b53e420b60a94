// refused_place_test - places and limits in which fq cannot keep its word get a clear line and the right
// code.
//
// Read-only and foreign directories, symlinks and hard links in the way, file systems that machines share,
// low limits of the process (a full disk has a test of its own): the command is refused, what is in the queue stays there and can be taken as
// soon as there is a way.

// System.
#include <sys/stat.h>

// Tests.
#include "tests/left_out.h"
#include "tests/process/system_calls.h"

namespace fq::test {

namespace {

/// fq as nobody, for what root may do anyway.
Outcome as_nobody(const Spool& spool, const std::string& words) {
  return spool.shell(
      "cp $FQ $FQ_SPOOL/../fq && chmod 755 $FQ_SPOOL/../fq && exec setpriv --reuid=65534 --regid=65534 "
      "--clear-groups timeout 10 $FQ_SPOOL/../fq " +
      words);
}

void is_refused(const Spool& spool, int code, const std::string& word) {
  for (const char* command : {"push --payload=x", "pop", "stats", "check"}) {
    const Outcome outcome = spool.shell(std::string("timeout 10 $FQ ") + command);
    INFO(command << ": exit " << outcome.exit << ": " << outcome.err);
    CHECK(outcome.exit == code);
    CHECK(contains(outcome.err + outcome.out, word));
  }
}

/// fq push where the kernel says that the spool lies on a file system with this magic number.
Outcome push_onto(const Spool& spool, uint64_t magic) {
  std::string number;  // as it lies in memory
  for (int byte = 0; byte < 8; ++byte) {
    for (const int shift : {4, 0}) number += "0123456789abcdef"[magic >> (8 * byte + shift) & 0xf];
  }
  return run_with({.call = "statfs", .n = 1, .what = "poke_exit=@arg2=" + number},
                  {fq_binary(), "push", "here"}, spool.with());
}

}  // namespace

TEST_CASE("a spool that cannot be written to is refused with 77 and left alone") {
  if (!is_root()) {
    leave_out("changing owners needs root");
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
  const std::string victims[] = {queue, spool.queue("segment"), spool.queue("lock"),
                                 spool.journal_files().front(), spool.queue("journal")};
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

TEST_CASE("a file system that machines share, or that decides itself what a sync is, is refused by its name") {
  if (!have_strace()) {
    leave_out("strace is not installed");
    return;
  }
  const std::pair<uint64_t, const char*> refused[] = {
      {0x6969, "NFS"},     {0xff534d42, "CIFS"}, {0xfe534d42, "SMB"},    {0x517b, "SMB"},     {0x01021997, "9p"},
      {0x5346414f, "AFS"}, {0x00c36400, "Ceph"}, {0x0bd00bd0, "Lustre"}, {0x65735546, "FUSE"}, {0x73757245, "Coda"}};
  for (const auto& [magic, name] : refused) {
    const Spool spool;
    const Outcome outcome = push_onto(spool, magic);
    INFO(name << ": exit " << outcome.exit << ": " << outcome.err);
    CHECK(outcome.exit == 69);
    CHECK(contains(outcome.err, "lies on " + std::string(name)));
    CHECK(contains(outcome.err, "set FQ_SPOOL"));
    CHECK(spool.journal_files().empty());
  }
  const Spool spool;
  constexpr uint64_t kExt4 = 0xef53;
  CHECK(push_onto(spool, kExt4).exit == 0);
  CHECK(spool.payloads() == std::set<std::string>{"here"});
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
    INFO("limit " << limit << ": exit " << outcome.exit << " signal " << outcome.signal << ": "
                  << outcome.err);
    CHECK((outcome.exit == 0 || outcome.exit == 1 || outcome.exit == 75));
    for (const std::string& line : lines_of(outcome.out)) CHECK(left.erase(line) == 1);
    CHECK((spool.payloads() == left));
    for (const auto& [payload, seen] : spool.live()) CHECK(seen.attempts == 0);
  }
  CHECK(left.empty());
  spool.check_clean();
}

}  // namespace fq::test
