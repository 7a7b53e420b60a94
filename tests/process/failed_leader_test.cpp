// failed_leader_test - a leader that met an error of the disk and died before it could tell anybody.
//
// Its heir was waiting for the same sync. The kernel tells such an error once, and it was told to the dead:
// the heir may rest nothing on those bytes being there, whether they lie in the ring still or have left it.

// System.
#include <atomic>
#include <cerrno>
#include <thread>
// Tests.
#include "tests/process/fates.h"
#include "tests/process/left_ring.h"
#include "tests/process/page_cache.h"

namespace fq::test {

namespace {

constexpr int kFillers = 44;  // then the current file has room for all that is lazy

/// Pushes, takes all that is served, and cuts the power: what was told and what was served is in the book.
std::string inherit(const std::string& spool, const std::string& cut_to, Book& book) {
  if (const std::string wrong = push_one(spool, "heir", book); !wrong.empty()) return wrong;
  const auto queue = open_at(spool);
  if (!queue.ok()) return "cannot be opened: " + queue.error().text;
  const Result<LeaseReply> served = (*queue)->lease({.want = 1000});
  if (!served.ok()) return "lease: " + served.error().text;
  for (const Delivery& each : served->deliveries) book.note(each.payload.read_all().value(), &Fate::accepted);
  PageCache::active()->cut(cut_to);
  return {};
}

struct Failure {
  int lazy_messages = 0;
  bool left_ring = false;
  bool dies = false;
};

/// A leader pushes lazily, then durably; its sync fails, and perhaps it is killed before it can tell anybody,
/// while another one waits. What is wrong with what that one was told, or with what it served.
std::string fail(const Failure& failure, const std::string& directory) {
  const std::string spool = directory + "/spool";
  Book book;
  for (int i = 0; i < kFillers; ++i) {
    const std::string wrong = push_one(spool, "filler" + std::to_string(i) + std::string(60'000, 'f'), book);
    if (!wrong.empty()) return wrong;
  }
  std::string wrong = "no sync failed";
  bool heir_waits = true;
  std::thread heir;
  PageCache::Fault fault{.call = PageCache::Fault::Call::sync, .sys = EIO, .dies = failure.dies};
  fault.meanwhile = [&] {
    if (unsynced_left_ring(spool) != failure.left_ring) wrong = "the ring is not as it should be";
    if (unsynced_left_ring(spool) != failure.left_ring) return;
    std::atomic<pid_t> id = 0;
    heir = std::thread([&] {
      id = ::gettid();
      wrong = inherit(spool, directory + "/told", book);
    });
    while (id == 0) ::usleep(100);  // until the thread has told its id
    heir_waits = falls_asleep(task_of_thread(id));
  };
  PageCache cache(spool, fault);
  std::thread leader([&] {
    const auto queue = open_at(spool);
    for (int i = 0; i <= failure.lazy_messages; ++i) {
      const std::string payload = "message" + std::to_string(i) + std::string(60'000, 'm');
      book.sent(payload);
      const NewMessage message{.payload = as_bytes(payload)};
      const bool lazy = i < failure.lazy_messages;
      static_cast<void>(
          (*queue)->push({&message, 1}, {.durability = lazy ? Durability::lazy : Durability::always}));
    }
  });
  leader.join();
  if (heir.joinable()) heir.join();
  if (!heir_waits) return "the heir did not wait";
  const Fates fates = book.fates();
  return wrong.empty() ? fault_of(directory + "/told", fates, fates) : wrong;
}

/// Lazy messages until they are all that a file holds; then a sync fails, by a leader that dies in it, or in
/// the check that comes next.
std::string check_finds(bool dies, const std::string& directory) {
  const std::string spool = directory + "/spool";
  Book book;
  {
    const auto queue = open_at(spool);
    for (int i = 0; i < 100 && !unsynced_fill_a_file(spool); ++i) {
      const std::string payload = "lazy" + std::to_string(i) + std::string(60'000, 'l');
      book.sent(payload);
      const NewMessage message{.payload = as_bytes(payload)};
      static_cast<void>((*queue)->push({&message, 1}, {.durability = Durability::lazy}));
    }
    if (!unsynced_fill_a_file(spool)) return "no file holds lazy bytes alone";
  }
  const PageCache cache(spool, {.call = PageCache::Fault::Call::sync, .sys = EIO, .dies = dies});
  if (dies) std::thread([&] { static_cast<void>(push_one(spool, "last", book)); }).join();
  const Fates fates = book.fates();
  const std::string wrong = fault_of(spool, fates, fates);
  return cache.failures() == 1 ? wrong : "no sync failed";
}

/// Lazy messages until the one file holds all that is not synced and memory begins with the next; then the segment
/// is made anew, one is pushed, and the power is cut.
std::string renew_at_file_end(const std::string& directory) {
  const std::string spool = directory + "/spool";
  Book book;
  if (std::string wrong = push_one(spool, "first", book); !wrong.empty()) return wrong;
  PageCache cache(spool, {});
  const auto left_behind = [&] {
    const LookedAt header(spool);
    return header.durable_end() < header.ring_start() && header.ring_start() == header.current_start();
  };
  const auto queue = open_at(spool);  // who leaves writes the next file, and syncs this one for that
  for (int i = 0; i < 100 && !left_behind(); ++i) {
    const std::string payload = "lazy" + std::to_string(i) + std::string(60'000, 'l');
    book.sent(payload);
    const NewMessage message{.payload = as_bytes(payload)};
    static_cast<void>((*queue)->push({&message, 1}, {.durability = Durability::lazy}));
  }
  if (!left_behind()) return "the ring does not begin with a file";
  const auto poisoned = static_cast<uint32_t>(Phase::poisoned);
  write_at(spool + "/queues/default/segment", offsetof(SegmentHeader, phase),
           {reinterpret_cast<const char*>(&poisoned), sizeof poisoned});
  if (std::string wrong = push_one(spool, "last", book); !wrong.empty()) return wrong;
  const Fates fates = book.fates();
  cache.cut(directory + "/cut");
  return fault_of(directory + "/cut", fates, fates);
}

}  // namespace

TEST_CASE("what had left memory when a segment is made anew is on disk before what comes after it") {
  const Ruling verdict = in_own_process(
      [](const std::string& directory) { return Ruling{.wrong = renew_at_file_end(directory)}; });
  CHECK(verdict.wrong == "");
}

TEST_CASE("check calls no file damaged that was left for another because a sync failed, before it or in it") {
  for (const bool dies : {false, true}) {
    INFO("the sync of " << (dies ? "a leader that died" : "the check itself"));
    const Ruling verdict = in_own_process(
        [&](const std::string& directory) { return Ruling{.wrong = check_finds(dies, directory)}; });
    CHECK(verdict.wrong == "");
  }
}

TEST_CASE("what a leader could not sync is told and served by nobody until it is on disk, dead or alive") {
  for (const bool dies : {false, true}) {
    for (const Failure& failure :
         {Failure{0, false, dies}, Failure{1, false, dies}, Failure{10, true, dies}}) {
      INFO(failure.lazy_messages << " lazy messages before it, " << (dies ? "killed" : "alive"));
      const Ruling verdict = in_own_process(
          [&](const std::string& directory) { return Ruling{.wrong = fail(failure, directory)}; });
      CHECK(verdict.wrong == "");
    }
  }
}

}  // namespace fq::test
