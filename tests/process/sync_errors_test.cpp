// sync_errors_test - syncs and writes that fail, for leaders and followers: no answer rests on them.
//
// A case: up to four threads, each with a queue of its own as processes have, push, lease and ack; one of
// their syncs or writes fails, once, a few times or from then on, for all or for one of them, and sometimes
// its thread is gone right after. Then the power is cut. What was accepted is there, what was acked is not,
// a torn end is not called damage, and the queue goes on. Each case is a process of its own, found again by
// its seed (as far as threads allow). FQ_LONG tries 1,500; FQ_KEEP names where the files of a bad one are
// left.

// System.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>
// fq, below us.
#include "core/api/interrupt.h"
#include "core/base/descriptor.h"
// Tests.
#include "tests/knobs.h"
#include "tests/process/fates.h"
#include "tests/process/left_ring.h"
#include "tests/process/page_cache.h"

namespace fq::test {

namespace {

constexpr int kOperations = 8;

struct Case {
  explicit Case(uint64_t seed) : random(seed) {
    const auto below = [&](uint64_t n) { return static_cast<int>(random() % n); };
    using Call = PageCache::Fault::Call;
    threads = 1 + below(4);
    fault.call = below(3) != 0 ? Call::sync : Call::write;
    fault.n = 1 + below(static_cast<uint64_t>(threads * kOperations));
    constexpr uint64_t kOnce = PageCache::kOnce;
    const uint64_t patterns[] = {kOnce,        kOnce,       kOnce, 0b11, 0b111, PageCache::kFromThenOn,
                                 random() | 1, random() | 1};
    fault.pattern = patterns[below(8)];
    const int errors[] = {EIO, EIO, ENOSPC, EDQUOT};
    fault.sys = errors[below(4)];
    fault.thread = below(2) == 0 ? PageCache::kAnyThread : 0;
    fault.bytes_written = static_cast<size_t>(below(300));
    fault.dies = fault.pattern == kOnce && below(2) == 0;
    cut_after_us = below(4000);
    // Enough to fill the ring, so that bytes leave it unsynced, and a leader that meets the error of those.
    mostly_lazy = below(3) == 0;
    if (!mostly_lazy) return;
    fault = {.call = Call::sync, .n = 1 + below(4), .sys = EIO, .dies = below(3) != 0};
  }
  std::string text() const {
    return std::to_string(threads) + " threads, " +
           (fault.call == PageCache::Fault::Call::sync ? "sync " : "write ") + std::to_string(fault.n) +
           " of " + (fault.thread < 0 ? "any" : "one") + " failed with errno " + std::to_string(fault.sys) +
           ", pattern " + std::to_string(fault.pattern) + (fault.dies ? ", and killed" : "");
  }

  std::mt19937_64 random;
  int threads = 1;
  PageCache::Fault fault;
  int cut_after_us = 0;
  bool mostly_lazy = false;
};

/// One thread's work, through a queue of its own.
class FailingWorker {
 public:
  FailingWorker(std::string spool, int thread, uint64_t seed, bool mostly_lazy, Book& book)
      : spool_(std::move(spool)), thread_(thread), random_(seed), mostly_lazy_(mostly_lazy), book_(book) {}

  void run() {
    PageCache::this_thread_is(thread_);
    const auto opened = open_at(spool_);
    if (!opened.ok()) ++refused;
    for (int i = 0; i < kOperations && opened.ok(); ++i) {
      const uint64_t dice = random_() % 10;
      const bool lazy = mostly_lazy_ ? dice < 7 : dice == 0;
      if (dice < 8) push(**opened, dice % 2 == 0 ? 3 : 1, lazy ? Durability::lazy : Durability::always);
      if (dice >= 8) take(**opened);
    }
  }

  int refused = 0;

 private:
  void push(Queue& queue, size_t count, Durability durability) {
    std::vector<std::string> payloads;
    for (size_t i = 0; i < count; ++i) {
      payloads.push_back(std::to_string(thread_) + "." + std::to_string(++pushed_) + ".");
      // Now and then a long one, so that files are crossed.
      if (mostly_lazy_ || random_() % 3 == 0) payloads.back().resize(30'000 + random_() % 30'000, 'x');
      book_.sent(payloads.back());
    }
    std::vector<NewMessage> messages(count);
    for (size_t i = 0; i < count; ++i) messages[i].payload = as_bytes(payloads[i]);
    const Result<PushReply> reply = queue.push(messages, {.durability = durability});
    const bool accepted = reply.ok() && reply->items.at(0).status == PushStatus::accepted;
    if (!accepted) ++refused;
    if (!accepted || durability == Durability::lazy) return;
    for (const std::string& each : payloads) book_.note(each, &Fate::accepted);
  }

  void take(Queue& queue) {
    const Result<LeaseReply> leased = queue.lease({.want = 2});
    if (!leased.ok()) ++refused;
    if (!leased.ok()) return;
    std::vector<std::string> payloads;
    std::vector<Settle> acks;
    for (const Delivery& each : leased->deliveries) {
      payloads.push_back(each.payload.read_all().value());
      book_.note(payloads.back(), &Fate::acking);
      acks.push_back({.receipt = each.receipt});
    }
    const Result<SettleReply> settled = queue.settle(acks);
    if (!settled.ok() || settled->error) ++refused;
    for (size_t i = 0; i < acks.size() && settled.ok(); ++i) {
      if (settled->items[i] == SettleStatus::ok) book_.note(payloads[i], &Fate::acked);
    }
  }

  const std::string spool_;
  const int thread_;
  std::mt19937_64 random_;
  const bool mostly_lazy_;
  Book& book_;
  int pushed_ = 0;
};

std::string first_of(std::initializer_list<std::pair<const char*, std::string>> faults) {
  for (const auto& [when, fault] : faults) {
    if (!fault.empty()) return std::string(when) + ": " + fault;
  }
  return {};
}

Ruling try_case(Case one, const std::string& directory) {
  const std::string spool = directory + "/spool";
  Book book;
  Ruling verdict;
  verdict.wrong = push_one(spool, "first", book);
  if (!verdict.wrong.empty()) return verdict;
  PageCache cache(spool, one.fault);
  std::vector<FailingWorker> workers;
  for (int i = 0; i < one.threads; ++i) workers.emplace_back(spool, i, one.random(), one.mostly_lazy, book);
  std::vector<std::thread> threads;
  for (FailingWorker& worker : workers) threads.emplace_back([&worker] { worker.run(); });
  ::usleep(static_cast<useconds_t>(one.cut_after_us));  // the random moment of the cut
  const Fates in_the_middle = book.fates();
  cache.cut(directory + "/middle", &one.random);
  for (std::thread& thread : threads) thread.join();
  for (const FailingWorker& worker : workers) verdict.refused += worker.refused;
  verdict.failures = cache.failures();
  const Fates at_the_end = book.fates();
  cache.cut(directory + "/end");
  cache.cut(directory + "/partly", &one.random);
  cache.heal();
  const std::string alive = fault_of(spool, at_the_end, at_the_end);
  const std::string refused = push_one(spool, "last", book);
  const Fates later = book.fates();
  cache.cut(directory + "/later");
  verdict.wrong =
      first_of({{"alive", alive},
                {"goes on", refused},
                {"cut in the middle", fault_of(directory + "/middle", in_the_middle, at_the_end)},
                {"cut at the end", fault_of(directory + "/end", at_the_end, at_the_end)},
                {"cut at the end, partly", fault_of(directory + "/partly", at_the_end, at_the_end)},
                {"cut after going on", fault_of(directory + "/later", later, later)}});
  return verdict;
}

/// A lazy push by a process that stays, then a power cut; meanwhile another one waits for something else.
Ruling cut_a_lazy_push(bool is_waited, const std::string& directory) {
  const std::string spool = directory + "/spool";
  std::filesystem::create_directory(spool);
  std::filesystem::permissions(spool, std::filesystem::perms::owner_all);
  PageCache cache(spool, {});
  const auto pusher = open_at(spool), consumer = open_at(spool);
  if (!pusher.ok() || !consumer.ok()) return {.wrong = "cannot be opened"};
  Interrupt over;
  std::thread waiter([&] {
    if (is_waited)
      static_cast<void>((*consumer)->lease({.tenant = "other", .wait = true, .interrupt = &over}));
  });
  const NewMessage message{.payload = as_bytes("lazy")};
  const bool pushed = (*pusher)->push({&message, 1}, {.durability = Durability::lazy}).ok();
  // 100 ms are promised; a machine with other work may take longer.
  const auto begin = Clock_::now();
  const auto is_on_disk = [&] { return LookedAt(spool).durable_end() == journal_tail(spool); };
  while (!is_on_disk() && ms_since(begin) < (is_waited ? 10'000 : 300)) ::usleep(5'000);  // nothing tells of it
  cache.cut(directory + "/cut");
  over.raise();
  waiter.join();
  const auto left = open_at(directory + "/cut");
  if (!pushed || !left.ok()) return {.wrong = "pushed: " + std::to_string(pushed) + ", or no queue is left"};
  const bool is_kept = (*left)->stats({}).value().rows.at(0).ready == 1;
  if (is_kept == is_waited) return {};
  return {.wrong = is_kept ? "on disk by itself" : "lost"};
}

}  // namespace

TEST_CASE("a file made after another was removed holds nothing of that one") {
  const Ruling ruling = in_own_process([](const std::string& directory) {
    std::filesystem::create_directory(directory + "/files");
    PageCache cache(directory + "/files", {});
    const std::string texts[] = {"the old one, longer", "the new one"};
    for (const std::string& text : texts) {
      const std::string path = directory + "/files/" + text;
      const Descriptor file(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
      bool synced = ::pwrite(file.get(), text.data(), text.size(), 0) >= 0;
      if (text == texts[0]) synced = ::fdatasync(file.get()) == 0 && ::unlink(path.c_str()) == 0;
      if (!synced) return Ruling{.wrong = "the files could not be made"};
    }
    cache.cut(directory + "/cut");
    std::ifstream left(directory + "/cut/" + texts[1], std::ios::binary);
    return Ruling{.wrong = std::string(std::istreambuf_iterator<char>(left), {})};
  });
  CHECK(ruling.wrong == "");
}

TEST_CASE("who waits brings lazy bytes of others to disk, and where nobody waits nobody does") {
  for (const bool is_waited : {true, false}) {
    const Ruling ruling =
        in_own_process([is_waited](const std::string& directory) { return cut_a_lazy_push(is_waited, directory); });
    INFO("somebody waits: " << is_waited);
    CHECK(ruling.wrong == "");
  }
}

TEST_CASE("no answer rests on a sync or write that failed, and the queue goes on") {
  const bool all = is_long_form();
  const uint64_t seed = seed_of_run();
  const int cases = static_cast<int>(number_of("FQ_CASES", all ? 1500 : is_all_tried() ? 80 : 30));
  int failing = 0, unharmed = 0, wrong = 0;
  for (int i = 0; i < cases; ++i) {
    const uint64_t own = seed + static_cast<uint64_t>(i);
    const Ruling verdict =
        in_own_process([own](const std::string& directory) { return try_case(Case(own), directory); });
    if (verdict.failures > 0) ++failing;
    if (verdict.failures > 0 && verdict.refused == 0) ++unharmed;
    if (verdict.wrong.empty()) continue;
    ++wrong;
    FAIL_CHECK("FQ_SEED=" << own << ": " << Case(own).text() << ", " << verdict.failures
                          << " did: " << verdict.wrong);
  }
  CHECK(failing > cases / 2);
  std::printf(
      "sync errors: FQ_SEED=%llu, %d cases, %d with failures, %d of them without an error for anybody, "
      "%d false\n",
      static_cast<unsigned long long>(seed), cases, failing, unharmed, wrong);
}

}  // namespace fq::test
