// segment_loss_test - the segment is a cache: gone, garbage, of another boot, place or namespace, it is made
// anew from the journal, and nothing accepted is lost.

// System.
#include <sys/stat.h>

#include <cstddef>
#include <cstring>
#include <random>
// fq, below us.
#include "core/local/shared/layout.h"
// Tests.
#include "tests/knobs.h"
#include "tests/left_out.h"
#include "tests/process/real_fq.h"

namespace fq::test {

namespace {

/// Some of every state, and what has to be left of it.
std::set<std::string> fill_many(const Spool& spool) {
  spool.push("acked");
  spool.says({"pop"});
  spool.push("dead");
  spool.says({"bury", spool.lease(), "--reason", "no use"});
  spool.push("leased");
  spool.lease();
  spool.says({"push", "--delay", "1h", "delayed"});
  spool.push("ready", "a");
  return {"dead", "leased", "delayed", "ready"};
}

void expect_states(const Spool& spool) {
  const auto seen = spool.live();
  CHECK(seen.at("dead").state == State::dead);
  CHECK(seen.at("leased").state == State::leased);
  CHECK(seen.at("delayed").state == State::delayed);
  CHECK(seen.at("ready").state == State::ready);
}

bool may_unshare(const std::string& options) {
  return shell("unshare " + options + " true 2>/dev/null").exit == 0;
}

}  // namespace

TEST_CASE("a queue goes on as it was after its segment was deleted") {
  Spool spool;
  const auto expected = fill_many(spool);
  const uint64_t last_id = std::stoull(spool.push("last"));
  std::filesystem::remove(spool.queue("segment"));
  CHECK(std::stoull(spool.push("next")) > last_id);
  std::set<std::string> there = spool.payloads();
  CHECK(there.erase("last") + there.erase("next") == 2);
  CHECK(there == expected);
  expect_states(spool);
  spool.check_clean();
}

TEST_CASE("a segment of garbage, of any length, is made anew") {
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{4096}, kFirstChunkOffset - 1,
                               kFirstChunkOffset, kFirstChunkOffset + 70'000}) {
    INFO("bytes of garbage: " << bytes);
    Spool spool;
    const auto expected = fill_many(spool);
    std::mt19937_64 random(bytes);
    std::string garbage(bytes, '\0');
    for (char& each : garbage) each = static_cast<char>(random());
    std::ofstream(spool.queue("segment"), std::ios::binary | std::ios::trunc) << garbage;
    const Outcome next = spool.fq({"stats"});
    CHECK(next.exit == 0);
    CHECK(spool.payloads() == expected);
    spool.check_clean();
  }
}

TEST_CASE("a segment cut at its end is made anew") {
  Spool spool;
  const auto expected = fill_many(spool);
  std::filesystem::resize_file(spool.queue("segment"),
                               std::filesystem::file_size(spool.queue("segment")) - 4096);
  CHECK(spool.payloads() == expected);
  spool.check_clean();
}

TEST_CASE(
    "a segment whose pages are lost under a command ends it with a line, and the next one makes it anew") {
  Spool spool;
  const auto expected = fill_many(spool);
  Child popping = spool.start_stopping_at("lease.appended:1", {"pop"});
  REQUIRE(popping.stopped());
  // What a file system does that was shut down: the page cannot be had.
  std::filesystem::resize_file(spool.queue("segment"), 0);
  popping.send(SIGCONT);
  const Outcome end = popping.end();
  CHECK(end.exit == 74);
  CHECK(end.signal == 0);
  CHECK(end.out.empty());
  CHECK(end.err.substr(0, 15) == "fq: I/O error: ");
  CHECK(lines_of(end.err).size() == 1);
  CHECK(spool.payloads() == expected);
  spool.check_clean();
}

TEST_CASE("each field that ties a segment to its layout, boot and place makes it anew when it differs") {
  for (size_t offset = 0; offset < sizeof(SegmentIdentity) + sizeof(uint32_t); offset += 4) {
    INFO("byte " << offset);
    Spool spool;
    spool.push("kept");
    std::string byte = read_whole(spool.queue("segment")).substr(offset, 1);
    byte[0] = static_cast<char>(byte[0] ^ 0x41);
    write_at(spool.queue("segment"), offset, byte);
    const Outcome next = spool.fq({"push", "next"});
    CHECK(next.exit == 0);
    CHECK(next.ms < 1000);
    CHECK(spool.payloads() == std::set<std::string>{"kept", "next"});
    spool.check_clean();
  }
}

TEST_CASE("a segment of another layout in use by another build is not taken from it") {
  Spool spool;
  spool.push("kept");
  Child waiter = spool.start({"pop", "--wait", "-t", "nobody"});
  REQUIRE(waiter.asleep_in_futex());
  write_at(spool.queue("segment"), offsetof(SegmentIdentity, layout_hash), "another!");
  const Outcome refused = spool.fq({"push", "next"});
  CHECK(refused.exit == 69);
  CHECK(contains(refused.err, "another build"));
  CHECK(contains(refused.err, std::to_string(waiter.pid())));
  waiter.killed();
  CHECK(spool.fq({"push", "next"}).exit == 0);
  CHECK(spool.payloads() == std::set<std::string>{"kept", "next"});
}

TEST_CASE("bodies of segments with random bytes overwritten never hang, crash or lose a message") {
  const uint64_t seed = seed_of_run();
  INFO("FQ_SEED=" << seed);
  std::mt19937_64 random(seed);
  const int rounds = is_long_form() ? 2000 : 60;
  for (int round = 0; round < rounds; ++round) {
    Spool spool;
    const auto expected = fill_many(spool);
    const uint64_t size = std::filesystem::file_size(spool.queue("segment"));
    const uint64_t from = sizeof(SegmentIdentity) + sizeof(uint32_t);
    const uint64_t offset = from + random() % (round % 2 == 0 ? 4096 : size - from);
    const uint64_t garbage = random();
    INFO("round " << round << " byte " << offset);
    write_at(spool.queue("segment"), offset, {reinterpret_cast<const char*>(&garbage), 8});
    const Outcome next = spool.fq({"pop", "--lease", "1h"});
    CHECK_FALSE(next.hung);
    INFO("exit " << next.exit << " signal " << next.signal << ": " << next.err);
    CHECK(next.signal == 0);
    // The journal was not touched by any of it.
    std::filesystem::remove(spool.queue("segment"));
    CHECK(spool.payloads() == expected);
  }
}

TEST_CASE("dead letters are not thrown away by a time that no policy says") {
  for (const int64_t garbage : {int64_t{-1}, int64_t{0}, INT64_MIN, int64_t{1} << 62}) {
    CAPTURE(garbage);
    Spool spool;
    const auto expected = fill_many(spool);
    const size_t offset = offsetof(SegmentHeader, settings) + offsetof(SharedSettings, dead_retention_ms);
    write_at(spool.queue("segment"), offset, {reinterpret_cast<const char*>(&garbage), sizeof garbage});
    CHECK(spool.fq({"pop", "--lease", "1h"}).exit == 0);
    std::filesystem::remove(spool.queue("segment"));
    CHECK(spool.payloads() == expected);
  }
}

TEST_CASE("whoever makes a segment with faults anew may die at it: payloads of no message are kept") {
  Spool spool;
  const std::string input = spool.directory() + "/long";
  std::ofstream(input) << std::string(100'000, 'l');
  const std::string id = spool.says({"push", "--file", input});
  const std::filesystem::path blob = *std::filesystem::directory_iterator(spool.queue("blobs"));
  std::filesystem::copy_file(blob, input + ".blob");
  REQUIRE(spool.fq({"cancel", id}).exit == 0);
  // What is left of a message whose record is lost with all behind it, which nobody sees but the segment.
  std::filesystem::copy_file(input + ".blob", blob);
  spool.push("ready");
  const uint32_t count = 77;
  write_at(spool.queue("segment"),
           offsetof(SegmentHeader, schedule) + offsetof(ScheduleRoot, counts) +
               offsetof(decltype(ScheduleRoot::counts), delayed),
           {reinterpret_cast<const char*>(&count), sizeof count});
  const char* point = GENERATE("rebuild.retired:1", "rebuild.renamed:1");
  INFO(point);
  Child repair = spool.start_stopping_at(point, {"check", "--repair"});
  REQUIRE(repair.stopped());
  repair.killed();
  const bool by_repair = GENERATE(true, false);
  CHECK(
      spool
          .fq(by_repair ? std::vector<std::string>{"check", "--repair"} : std::vector<std::string>{"compact"})
          .exit == 0);
  CHECK(std::filesystem::exists(spool.queue("damaged/" + blob.stem().string() + ".blob")));
  CHECK(spool.payloads() == std::set<std::string>{"ready"});
}

TEST_CASE("after a reboot leases are void, no attempt is counted and no id is used again") {
  if (!is_root() || !may_unshare("-m")) {
    leave_out("another boot_id needs root and unshare -m");
    return;
  }
  Spool spool;
  spool.push("leased");
  const std::string receipt = spool.lease();
  const uint64_t last_id = std::stoull(spool.push("ready"));
  // Locks held too, as a power cut leaves them.
  spool.fq_killed_at("push.appended:1", {"push", "unanswered"});
  const Outcome rebooted = spool.shell(
      "unshare -m /bin/bash -c 'echo 00000000-1111-2222-3333-444444444444 >$FQ_SPOOL/boot_id && "
      "mount --bind $FQ_SPOOL/boot_id /proc/sys/kernel/random/boot_id && "
      "timeout 10 $FQ push next && timeout 10 $FQ pop --json -n 9 --lease 1h; timeout 10 $FQ ack " +
      receipt + "; echo ack $?; timeout 10 $FQ check >&2; echo check $?'");
  INFO(rebooted.out << rebooted.err);
  const std::vector<std::string> lines = lines_of(rebooted.out);
  REQUIRE(lines.size() >= 4);
  CHECK(std::stoull(lines[0]) > last_id);
  CHECK(contains(rebooted.out, "\"payload\":\"leased\""));
  CHECK(contains(rebooted.out, "\"attempts\":0"));
  CHECK_FALSE(contains(rebooted.out, "\"attempts\":1"));
  CHECK(contains(rebooted.out, "ack 1"));
  CHECK(contains(rebooted.out, "check 0"));
}

TEST_CASE("a spool copied while idle is another spool: both go on by themselves") {
  Spool spool;
  const auto expected = fill_many(spool);
  Spool copy(spool.directory() + "/copy");
  std::filesystem::copy(spool.path(), copy.path(), std::filesystem::copy_options::recursive);
  CHECK(copy.payloads() == expected);
  copy.push("only in the copy");
  spool.push("only in the original");
  CHECK(copy.payloads().count("only in the original") == 0);
  CHECK(spool.payloads().count("only in the copy") == 0);
  spool.check_clean();
  copy.check_clean();
}

TEST_CASE("a spool copied with its locks held is usable at once, and so is the original") {
  Spool spool;
  const auto expected = fill_many(spool);
  Child stopped = spool.start_stopping_at("push.appended:1", {"push", "later"});
  REQUIRE(stopped.stopped());
  Spool copy(spool.directory() + "/copy");
  std::filesystem::copy(spool.path(), copy.path(), std::filesystem::copy_options::recursive);
  const Outcome next = copy.fq({"stats"});
  CHECK(next.exit == 0);
  CHECK(next.ms < 1000);
  CHECK(copy.payloads() == expected);
  stopped.send(SIGCONT);
  CHECK(stopped.end().exit == 0);
  CHECK(spool.payloads().count("later") == 1);
  CHECK(copy.payloads().count("later") == 0);
  spool.check_clean();
  copy.check_clean();
}

TEST_CASE("a second pid namespace is refused while the first is at work and takes over afterwards") {
  if (!is_root() || !may_unshare("-pf --mount-proc")) {
    leave_out("a second pid namespace needs root and unshare -p");
    return;
  }
  Spool spool;
  spool.push("kept");
  const std::string inside = "unshare -pf --mount-proc timeout 10 $FQ ";
  {
    Child waiter = spool.start({"pop", "--wait", "-t", "nobody"});
    REQUIRE(waiter.asleep_in_futex());
    const Outcome refused = spool.shell(inside + "push next");
    CHECK(refused.exit == 69);
    CHECK(contains(refused.err, "namespace"));
    waiter.killed();
  }
  const Outcome taken = spool.shell(inside + "push next");
  INFO(taken.err);
  CHECK(taken.exit == 0);
  CHECK(spool.payloads() == std::set<std::string>{"kept", "next"});
  spool.check_clean();
}

TEST_CASE("a time namespace is refused where the time since boot is another, and only there") {
  if (!is_root() || !may_unshare("-Tf --boottime 100000")) {
    leave_out("a second time namespace needs root and unshare -T");
    return;
  }
  Spool spool;
  spool.push("kept");
  {
    Child waiter = spool.start({"pop", "--wait", "-t", "nobody"});
    REQUIRE(waiter.asleep_in_futex());
    const Outcome refused = spool.shell("unshare -Tf --boottime 100000 timeout 10 $FQ push next");
    CHECK(refused.exit == 69);
    CHECK(contains(refused.err, "namespace"));
    CHECK(spool.shell("unshare -Tf --boottime 0 timeout 10 $FQ push same").exit == 0);
    waiter.killed();
  }
  CHECK(spool.shell("unshare -Tf --boottime 100000 timeout 10 $FQ push next").exit == 0);
  CHECK(spool.payloads() == std::set<std::string>{"kept", "next", "same"});
  spool.check_clean();
}

}  // namespace fq::test
