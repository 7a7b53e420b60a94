// interleaving_test - two who do what only one may do, or what undoes what the other does, in forced order.
//
// Two rebuilders, a rebuild beside a consumer that holds messages by living, and `queue remove` against push.

// System.
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>
// fq, below us.
#include "core/local/files/process_info.h"
// Tests.
#include "tests/process/held_message.h"
#include "tests/process/poisoned.h"

namespace fq::test {

namespace {

using Payloads = std::set<std::string>;

/// Waits until the child has a file of that name open, as who waits for its lock has. False: 10 s were over.
bool has_open(const Child& child, const std::string& name) {
  const std::string descriptors = "/proc/" + std::to_string(child.pid()) + "/fd";
  const auto begin = Clock_::now();
  for (; ms_since(begin) < 10'000; ::usleep(200)) {  // between two looks: nothing tells of an opened file
    std::error_code gone;
    for (const auto& each : std::filesystem::directory_iterator(descriptors, gone)) {
      if (std::filesystem::read_symlink(each.path(), gone).filename() == name) return true;
    }
  }
  return false;
}

/// Waits until the child has let go of `lock`, which it has while it looks for the segment: who rebuilds
/// beside that trusts nobody, and raises the generation once more. False: 10 s were over.
bool lets_go_of_lock(const Child& child, const Spool& spool) {
  struct stat lock {};
  REQUIRE(::stat(spool.queue("lock").c_str(), &lock) == 0);
  const auto begin = Clock_::now();
  for (; ms_since(begin) < 10'000; ::usleep(200)) {  // between two looks: nothing tells of a lock that goes
    const std::vector<int> holders = flock_holders(lock.st_dev, lock.st_ino);
    if (std::find(holders.begin(), holders.end(), child.pid()) == holders.end()) return true;
  }
  return false;
}

uint64_t generation(const Spool& spool) {
  const std::string segment = read_whole(spool.queue("segment")).substr(0, sizeof(SegmentIdentity));
  SegmentIdentity identity;
  REQUIRE(segment.size() == sizeof identity);
  std::memcpy(&identity, segment.data(), sizeof identity);
  return identity.generation;
}

/// Three pushes at once, each a process; the payloads of those that were accepted.
Payloads push_three(const Spool& spool, const std::string& round) {
  std::map<std::string, Child> running;
  for (const char* name : {"a", "b", "c"}) {
    running.emplace(name + round, spool.start({"push", name + round}));
  }
  Payloads accepted;
  for (auto& [payload, child] : running) {
    const Outcome end = child.end();
    INFO("push: exit " << end.exit << " signal " << end.signal << ": " << end.err);
    // Removed and made anew again and again under its hands it may give up; it never says anything else.
    CHECK((end.exit == 0 || end.exit == 75));
    if (end.exit == 0) accepted.insert(payload);
  }
  return accepted;
}

}  // namespace

TEST_CASE(
    "two rebuilders: one makes the segment, the other finds it made, or makes it when the first is dead") {
  struct Place {
    const char* point;
    const char* awaited;  // what the second waits for
  };
  for (const auto& [point, awaited] :
       {Place{"rebuild.begin:1", "rebuild"}, Place{"rebuild.replayed:1", "lock"},
        Place{"rebuild.made:1", "lock"}, Place{"rebuild.renamed:1", "lock"}}) {
    for (const bool dies : {false, true}) {
      INFO("the first is " << (dies ? "killed" : "stopped") << " at " << point);
      Spool spool;
      spool.push("kept");
      const uint64_t before = generation(spool);
      std::filesystem::remove(spool.queue("segment"));
      Child first = spool.start_stopping_at(point, {"push", "first"});
      REQUIRE(first.stopped());
      Child second = spool.start({"push", "second"});
      REQUIRE(has_open(second, awaited));
      REQUIRE(lets_go_of_lock(second, spool));
      first.send(dies ? SIGKILL : SIGCONT);
      CHECK(first.end().exit == (dies ? -1 : 0));
      const Outcome end = second.end();
      INFO(end.err);
      CHECK(end.exit == 0);
      CHECK(spool.payloads() == (dies ? Payloads{"kept", "second"} : Payloads{"kept", "first", "second"}));
      if (!dies) CHECK(generation(spool) == before + 1);
      spool.check_clean();
    }
  }
}

TEST_CASE("two who find the segment damaged while others use it replace it once") {
  for (const char* point : {"rebuild.begin:1", "rebuild.retired:1", "rebuild.made:1", "rebuild.renamed:1"}) {
    INFO("the first stops at " << point);
    Spool spool;
    spool.push("kept");
    Child user = spool.start({"pop", "--wait", "-t", "nobody"});
    REQUIRE(user.asleep_in_futex());
    const uint64_t before = generation(spool);
    poison(spool);
    Child first = spool.start_stopping_at(point, {"push", "first"});
    REQUIRE(first.stopped());
    Child second = spool.start({"push", "second"});
    // Once the new segment is in its place the second need not wait for anybody, and may be done already.
    if (std::string_view(point) != "rebuild.renamed:1") REQUIRE(has_open(second, "lock"));
    first.send(SIGCONT);
    CHECK(first.end().exit == 0);
    CHECK(second.end().exit == 0);
    CHECK(generation(spool) == before + 1);
    CHECK(spool.payloads() == Payloads{"first", "kept", "second"});
    spool.push("woken", "nobody");
    CHECK(user.end().out == "woken\n");
    spool.check_clean();
  }
}

TEST_CASE("a rebuild leaves a living consumer what it holds, and gives back what a dead one held") {
  for (const bool dies : {false, true}) {
    INFO("the consumer " << (dies ? "dies" : "goes on"));
    Spool spool;
    HeldMessage held(spool);
    const std::string large(120'000, 'x');
    const uint64_t before = generation(spool);
    poison(spool);
    spool.push("new");
    CHECK(generation(spool) == before + 1);
    // Its message is not served twice, and counts as taken.
    CHECK(spool.says({"pop", "-n", "9"}) == "new");
    CHECK(spool.live().at(large).state == State::leased);
    spool.check_clean();
    if (dies) {
      Child waiter = spool.start({"pop", "--wait"});
      REQUIRE(waiter.asleep_in_futex());
      held.child().killed();
      const auto killed = Clock_::now();
      CHECK(waiter.end().out == large + "\n");
      // The old segment had its life lock: a carried holder is looked after once in a second.
      CHECK(ms_since(killed) < 10'000);
    } else {
      CHECK(held.drained().exit == 0);
    }
    CHECK(spool.payloads().empty());
    spool.check_clean();
  }
}

TEST_CASE("a segment deleted under a living consumer is not made anew beside it, and the consumer is named") {
  Spool spool;
  HeldMessage held(spool);
  std::filesystem::remove(spool.queue("segment"));
  const Outcome refused = spool.fq({"push", "new"});
  CHECK(refused.exit == 75);
  CHECK(contains(refused.err, std::to_string(held.child().pid())));
  held.child().killed();
  // An hour of lease is not waited for: it held by living.
  CHECK(spool.push("newer") != "");
  CHECK(spool.payloads() == Payloads{"newer", std::string(120'000, 'x')});
  spool.check_clean();
}

TEST_CASE("a queue removed while it is pushed to keeps what was pushed afterwards, and nothing of before") {
  Spool spool;
  spool.push("first");
  // Until it has removed 25 queues.
  Child remover({"/bin/bash", "-c",
                 "for ((done = 0; done < 25; )); do "
                 "\"$0\" queue remove default --yes 2>>\"$FQ_SPOOL/refused\" && ((++done)); done; true",
                 fq_binary()},
                spool.with());
  Payloads accepted;
  for (int round = 0; remover.runs(); ++round) accepted.merge(push_three(spool, std::to_string(round)));
  CHECK(remover.end().exit == 0);
  CHECK_FALSE(accepted.empty());
  const Payloads last = push_three(spool, "-last");
  CHECK(last.size() == 3);
  accepted.insert(last.begin(), last.end());
  // What came after the last remove is there, and nothing that was refused; "first" went with the first one.
  const Payloads there = spool.payloads();
  CHECK(std::includes(there.begin(), there.end(), last.begin(), last.end()));
  CHECK(std::includes(accepted.begin(), accepted.end(), there.begin(), there.end()));
  for (const std::string& line : lines_of(read_whole(spool.path() + "/refused"))) {
    INFO(line);
    CHECK((contains(line, "in use by process") || contains(line, "there is none") ||
           contains(line, "somebody else removed it")));
  }
  for (const auto& item : std::filesystem::directory_iterator(spool.path() + "/queues")) {
    CHECK(item.path().filename() == "default");  // nothing half removed
  }
  spool.check_clean();
}

TEST_CASE("an explanation that looks at all messages is right though the segment is replaced meanwhile") {
  Spool spool;
  constexpr int kRounds = 6;
  constexpr uint64_t kMessages = 12'000;  // several holds of the lock
  std::string large, small;
  for (int i = 0; i < kRounds * 400; ++i) large.append(4'000, 'x') += '\n';
  for (uint64_t i = 0; i < kMessages; ++i) small += "x\n";
  spool.says({"push", "--lines", "-t", "large"}, {.input = large});
  spool.says({"push", "--lines", "-t", "small"}, {.input = small});
  const MessageId last{kRounds * 400 + kMessages};
  const std::unique_ptr<Queue> queue = spool.door();
  std::atomic<int> replaced = 0;
  std::thread other([&] {
    const std::unique_ptr<Queue> others = spool.door();
    for (; replaced < kRounds; ++replaced) {
      // What is left is copied forward, so in the next segment it lies elsewhere.
      const Result<LeaseReply> taken = others->lease({.want = 400, .tenant = "large"});
      std::vector<Settle> acks;
      for (const Delivery& each : taken->deliveries)
        acks.push_back({.receipt = each.receipt, .verdict = Verdict::ack});
      others->settle(acks, nullptr).value();
      others->compact().value();
      const uint64_t seen = generation(spool);
      poison(spool);
      while (generation(spool) == seen) std::this_thread::yield();
    }
  });
  std::vector<std::string> wrong;
  while (replaced < kRounds) {
    const Result<ExplainReply> reply = queue->explain({.id = last, .tenant = {}});
    if (!reply.ok()) {
      wrong.push_back(reply.error().text);
    } else if (!reply->subject || reply->subject->ahead != kMessages - 1 ||
               reply->subject->bounds.size() != 1) {
      wrong.push_back("ahead of it: " +
                      std::to_string(reply->subject ? reply->subject->ahead.value_or(0) : 0));
    }
  }
  other.join();
  CHECK(wrong == std::vector<std::string>{});
  spool.check_clean();
}

}  // namespace fq::test
