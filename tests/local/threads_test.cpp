// threads_test - several queue objects at once on one spool, a thread each: what processes do, where the
// thread sanitizer can see it (there all of them have the segment at one address, see core/shm/segment.cpp).

// System.
#include <stdlib.h>
#include <sys/resource.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <thread>
// fq, below us.
#include "core/api/queue.h"
// Tests.
#include "tests/catch.h"

namespace fq::test {

namespace {

constexpr int kThreads = 4;
constexpr int kMessagesEach = 500;
constexpr int kBatch = 4;
constexpr int kMessagesOfAll = kThreads * kMessagesEach;

class TempSpool {
 public:
  TempSpool() {
    const char* base = std::getenv("TMPDIR");
    directory_ = std::string(base != nullptr ? base : "/tmp") + "/fq-threads-XXXXXX";
    REQUIRE(::mkdtemp(directory_.data()) != nullptr);
  }
  TempSpool(const TempSpool&) = delete;
  TempSpool& operator=(const TempSpool&) = delete;
  ~TempSpool() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  Result<std::unique_ptr<Queue>> open() const {
    OpenOptions options;
    options.create = true;
    return open_queue({directory_ + "/spool", "default"}, options);
  }

 private:
  std::string directory_;
};

/// What one thread did; read after it was joined, since Catch's checks belong to one thread.
struct Diary {
  std::map<std::string, int> served;
  std::string trouble;

  template <class T>
  bool fine(const Result<T>& result) {
    if (!result.ok() && trouble.empty()) trouble = result.error().text;
    return result.ok();
  }
};

void push_own(Queue& queue, int thread, Diary& diary) {
  const std::string tenant = "tenant" + std::to_string(thread % 3);
  PushOptions options;
  options.durability = thread % 2 == 0 ? Durability::always : Durability::lazy;
  for (int n = 0; n < kMessagesEach; n += kBatch) {
    std::vector<std::string> payloads;
    for (int i = n; i < n + kBatch; ++i) {
      // Now and then a long one, so that the ring goes round and leaders write while others append.
      payloads.push_back(std::to_string(thread) + "." + std::to_string(i) +
                         std::string(i % 50 == 0 ? 20'000 : 10, ' '));
    }
    std::vector<NewMessage> messages(kBatch);
    for (size_t i = 0; i < kBatch; ++i) {
      messages[i].tenant = tenant;
      messages[i].payload = as_bytes(payloads[i]);
    }
    const Result<PushReply> reply = queue.push(messages, options);
    if (!diary.fine(reply)) return;
    if (reply->error) diary.trouble = reply->error->text;
  }
}

/// Leases and acks until all messages of all threads are acked by somebody; every seventh is given back once.
void take_until(Queue& queue, int thread, std::atomic<int>& acked, Diary& diary) {
  LeaseRequest request;
  request.want = 3;
  request.hold = thread % 2 == 0 ? Hold::process : Hold::duration;
  request.wait = true;
  request.wait_ms = 20;
  while (acked.load() < kMessagesOfAll && diary.trouble.empty()) {
    const Result<LeaseReply> leased = queue.lease(request);
    if (!diary.fine(leased)) return;
    std::vector<Settle> verdicts;
    for (const Delivery& delivery : leased->deliveries) {
      Settle verdict;
      verdict.receipt = delivery.receipt;
      const bool give_back = delivery.delivery == 1 && number(delivery.id) % 7 == 0;
      verdict.verdict = give_back ? Verdict::release : Verdict::ack;
      if (!give_back) {
        std::string payload(delivery.payload.bytes());
        payload.erase(payload.find(' '));
        ++diary.served[payload];
      }
      verdicts.push_back(verdict);
    }
    const Result<SettleReply> settled = queue.settle(verdicts);
    if (!diary.fine(settled)) return;
    for (size_t i = 0; i < verdicts.size(); ++i) {
      if (settled->items[i] != SettleStatus::ok) diary.trouble = "a verdict was not taken";
      if (verdicts[i].verdict == Verdict::ack) ++acked;
    }
  }
}

void work(const TempSpool& spool, int thread, std::atomic<int>& acked, Diary& diary) {
  Result<std::unique_ptr<Queue>> queue = spool.open();
  if (!diary.fine(queue)) {
    acked = kMessagesOfAll;
    return;
  }
  push_own(**queue, thread, diary);
  take_until(**queue, thread, acked, diary);
  if (!diary.trouble.empty()) acked = kMessagesOfAll;  // the others need not wait for what is not to come
  StatsRequest rows;
  rows.tenants = true;
  diary.fine((*queue)->stats(rows));
  diary.fine((*queue)->maintain(1));
}

/// Looks at everything, and does the housekeeping, while the others are at work.
void look_on(const TempSpool& spool, const std::atomic<int>& acked, Diary& diary) {
  Result<std::unique_ptr<Queue>> queue = spool.open();
  if (!diary.fine(queue)) return;
  StatsRequest rows;
  rows.tenants = true;
  while (acked.load() < kMessagesOfAll && diary.trouble.empty()) {
    const Result<MessagePage> page = (*queue)->peek({}, {}, 20);
    if (!diary.fine(page)) return;
    for (const MessageInfo& message : page->messages) {
      diary.fine((*queue)->get(message.id));
      diary.fine((*queue)->history(message.id, {}, 10));
    }
    diary.fine((*queue)->stats({}));
    diary.fine((*queue)->stats(rows));
    diary.fine((*queue)->maintain(1));
  }
}

/// Takes one message after the other until all are taken; how often it slept meanwhile. Who is in trouble ends
/// it for all: nobody waits for what will not be taken.
void take_each(const TempSpool& spool, std::atomic<int>& taken, int messages, long& sleeps, Diary& diary) {
  const auto end = [&] {
    taken = messages;
    taken.notify_all();
  };
  Result<std::unique_ptr<Queue>> queue = spool.open();
  if (!diary.fine(queue)) return end();
  rusage before{};
  ::getrusage(RUSAGE_THREAD, &before);
  while (taken.load() < messages) {
    const Result<LeaseReply> leased = (*queue)->lease({.hold = Hold::duration, .wait = true, .wait_ms = 500});
    if (!diary.fine(leased)) return end();
    if (leased->deliveries.empty()) continue;
    ++taken;
    taken.notify_all();
  }
  rusage after{};
  ::getrusage(RUSAGE_THREAD, &after);
  sleeps = after.ru_nvcsw - before.ru_nvcsw;
}

}  // namespace

TEST_CASE("a message wakes one of those who sleep, not all", "[threads]") {
  constexpr int kSleepers = 8;
  constexpr int kEach = 300;
  const TempSpool spool;
  std::vector<Diary> diaries(kSleepers);
  std::vector<long> sleeps(kSleepers);
  std::atomic<int> taken{0};
  Result<std::unique_ptr<Queue>> queue = spool.open();
  REQUIRE(queue.ok());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kSleepers; ++i) {
    threads.emplace_back([&, i] { take_each(spool, taken, kEach, sleeps[i], diaries[i]); });
  }
  for (int n = 0; n < kEach; ++n) {
    NewMessage message;
    message.tenant = "t";
    message.payload = as_bytes("x");
    const auto pushed = (*queue)->push(std::span(&message, 1), {.durability = Durability::lazy});
    REQUIRE(pushed.ok());
    taken.wait(n);  // each is taken before the next comes: all others sleep
  }
  for (std::thread& thread : threads) thread.join();
  for (const Diary& diary : diaries) CHECK(diary.trouble == "");
  long all = 0;
  for (const long each : sleeps) all += each;
  INFO(all << " sleeps for " << kEach << " messages");
  CHECK(all < kEach * kSleepers / 2);
}

TEST_CASE("threads with a queue object each serve every message exactly once", "[threads]") {
  const TempSpool spool;
  std::atomic<int> acked{0};
  std::vector<Diary> diaries(kThreads + 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { work(spool, i, acked, diaries[static_cast<size_t>(i)]); });
  }
  threads.emplace_back([&] { look_on(spool, acked, diaries.back()); });
  for (std::thread& thread : threads) thread.join();

  std::map<std::string, int> served;
  for (const Diary& diary : diaries) {
    CHECK(diary.trouble == "");
    for (const auto& [payload, times] : diary.served) served[payload] += times;
  }
  CHECK(served.size() == kMessagesOfAll);
  for (const auto& [payload, times] : served) {
    if (times != 1) FAIL_CHECK(payload << " was served " << times << " times");
  }
  Result<std::unique_ptr<Queue>> queue = spool.open();
  REQUIRE(queue.ok());
  const Result<CheckReport> report = (*queue)->check();
  REQUIRE(report.ok());
  CHECK(report->findings.empty());
}

TEST_CASE("queue objects that come and go at once all find one queue", "[threads]") {
  const TempSpool spool;
  std::vector<Diary> diaries(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 10; ++round) {
        const Result<std::unique_ptr<Queue>> queue = spool.open();
        if (!diaries[static_cast<size_t>(i)].fine(queue)) return;
        NewMessage message;
        message.tenant = "t";
        message.payload = as_bytes("x");
        diaries[static_cast<size_t>(i)].fine((*queue)->push(std::span(&message, 1)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Diary& diary : diaries) CHECK(diary.trouble == "");
  Result<std::unique_ptr<Queue>> queue = spool.open();
  REQUIRE(queue.ok());
  const Result<StatsReply> stats = (*queue)->stats({});
  REQUIRE(stats.ok());
  CHECK(stats->rows.at(0).ready == kThreads * 10);
}

}  // namespace fq::test
