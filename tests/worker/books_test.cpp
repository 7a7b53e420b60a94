// books_test - what the thread that speaks to a queue makes of its faults.

// System.
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <atomic>
#include <utility>
// fq, below us.
#include "core/base/clock.h"
#include "core/worker/jobs/books.h"
// Tests.
#include "tests/catch.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/model_queue.h"

namespace fq::test {

namespace {

using namespace fq::worker;

/// Somebody has its lock for some looks, and at each is in another state.
class LockedQueue final : public ModelQueue {
 public:
  using ModelQueue::ModelQueue;
  Result<LeaseReply> lease(const LeaseRequest& request) override {
    if (request.want == 0 || looks == 0) return ModelQueue::lease(request);
    const ErrorKind is = kind;
    return Error{is, "locked by process 7, state " + std::to_string(looks--), 0, is == ErrorKind::io};
  }
  std::atomic<int> looks{0};
  std::atomic<ErrorKind> kind{ErrorKind::later};  // or an outcome that is unknown, which passes
};

/// Of what others have made of its leases it cannot tell all at once.
class TelltaleQueue final : public ModelQueue {
 public:
  using ModelQueue::ModelQueue;
  Result<LeaseReply> lease(const LeaseRequest& request) override {
    Result<LeaseReply> reply = ModelQueue::lease(request);
    if (request.want > 0 || request.wait) return reply;
    ++looks;
    reply->more_changes = looks == 1 && kind == Missing::more;
    reply->partial = looks == 1 && kind == Missing::part;
    return reply;
  }
  enum class Missing { nothing, more, part };
  std::atomic<Missing> kind{Missing::nothing};
  std::atomic<int> looks{0};
};

/// A part of it, which has the first message, says nothing for some calls, or can keep no verdict any more.
class BrokenQueue final : public ModelQueue {
 public:
  using ModelQueue::ModelQueue;
  Result<SettleReply> settle(std::span<const Settle> items, const LeaseRequest* next) override {
    // Its verdict is ordered first, and so is the first of those that are given together.
    const bool is_there = !items.empty() && items.front().receipt.parts()->id == 1;
    if (!is_there || refused == refusals) return ModelQueue::settle(items, next);
    ++refused;
    FQ_TRY_SET(const SettleReply rest, ModelQueue::settle(items.subspan(1), next));
    SettleReply reply;
    reply.items.push_back(SettleStatus::unknown);
    for (const SettleStatus each : rest.items) reply.items.push_back(each);
    reply.error = Error{kind, "shard 3: says nothing", 0, kind == ErrorKind::later};
    return reply;
  }
  std::atomic<int> refused{0};
  int refusals = 0;
  ErrorKind kind = ErrorKind::later;
};

/// Waits until the books have something to tell.
void await_news(const Descriptor& event) {
  pollfd told{event.get(), POLLIN, 0};
  REQUIRE(::poll(&told, 1, 20'000) == 1);
  eventfd_t count = 0;
  REQUIRE(::eventfd_read(event.get(), &count) == 0);
}

class BooksFixture {
 public:
  BooksFixture() {
    auto queue = std::make_unique<LockedQueue>(std::make_shared<ModelStore>(clock_));
    queue_ = queue.get();
    source_ = {"default", std::move(queue)};
    voice_.refresh_policy = [](const std::string&, Queue&) { return Result<void>(); };
    const NewMessage one{.tenant = "a"};
    const NewMessage messages[] = {one, one};
    REQUIRE(source_.queue->push(messages).ok());
    books_.emplace(source_, options_, voice_, Books::Terms{}, event_.get());
  }

  /// Has one message taken, where the queue is locked for so many looks before; what was said meanwhile.
  std::vector<std::string> said_until_one_came(int looks, ErrorKind kind) {
    queue_->kind = kind;
    queue_->looks = looks;
    books_->allow(1);
    books_->send();
    std::vector<std::string> said;
    for (bool has_come = false; !has_come;) {
      await_news(event_);
      const News news = books_->take_news();
      said.insert(said.end(), news.notices.begin(), news.notices.end());
      has_come = !news.arrivals.empty();
    }
    return said;
  }

 private:
  FakeClock clock_;
  LockedQueue* queue_ = nullptr;
  Source source_;
  Options options_;
  Voice voice_;
  Descriptor event_{::eventfd(0, EFD_CLOEXEC)};
  std::optional<Books> books_;
};

}  // namespace

TEST_CASE("what is tried again is said once until it is over, and again when it comes back", "[threads]") {
  BooksFixture f;
  using Lines = std::vector<std::string>;
  const ErrorKind kind = GENERATE(ErrorKind::later, ErrorKind::io);
  CHECK(f.said_until_one_came(3, kind) == Lines{"locked by process 7, state 3; the worker goes on trying"});
  CHECK(f.said_until_one_came(2, kind) == Lines{"locked by process 7, state 2; the worker goes on trying"});
}

TEST_CASE(
    "a verdict that a part of the queue does not answer is given again; one that it can never keep is told; "
    "those of the others are given once",
    "[threads]") {
  const ErrorKind kind = GENERATE(ErrorKind::later, ErrorKind::unusable);
  const auto store = std::make_shared<ModelStore>(system_clock());
  auto broken = std::make_unique<BrokenQueue>(store);
  BrokenQueue& queue = *broken;
  queue.kind = kind;
  queue.refusals = 3;
  const std::vector<NewMessage> messages(3, NewMessage{.tenant = "a"});
  Source source{"default", std::move(broken)};
  REQUIRE(source.queue->push(messages).ok());
  Options options;
  options.strict = options.verbose = true;
  Voice voice;
  voice.refresh_policy = [](const std::string&, Queue&) { return Result<void>(); };
  const Descriptor event(::eventfd(0, EFD_CLOEXEC));
  Books books(source, options, voice, Books::Terms{}, event.get());
  books.allow(3);
  books.send();
  std::vector<Arrival> arrivals;
  std::vector<std::string> said;
  std::vector<MessageId> acked;
  size_t settled = 0;
  std::optional<Error> untold, failed;
  const auto hear = [&] {
    await_news(event);
    News news = books.take_news();
    for (Arrival& each : news.arrivals) arrivals.push_back(std::move(each));
    said.insert(said.end(), news.notices.begin(), news.notices.end());
    acked.insert(acked.end(), news.acked.begin(), news.acked.end());
    settled += news.settled;
    if (news.untold) untold = news.untold;
    if (news.failed) failed = news.failed;
  };
  while (arrivals.size() < 3) hear();
  for (const Arrival& each : arrivals) {
    VerdictOrder order;
    order.receipt = each.delivery.receipt;
    order.id = each.delivery.id;
    order.said = "done " + std::to_string(number(order.id));
    books.settle(std::move(order));
  }
  books.take_no_more();
  books.send();
  while (settled < 3) hear();
  CHECK_FALSE(failed);
  CHECK(books.open_orders() == 0);
  // How many are given together is the thread's affair.
  std::sort(said.begin(), said.end());
  std::sort(acked.begin(), acked.end());
  using Lines = std::vector<std::string>;
  using Ids = std::vector<MessageId>;
  if (kind == ErrorKind::later) {
    CHECK(said == Lines{"done 1", "done 2", "done 3", "shard 3: says nothing; the worker goes on trying"});
    CHECK(acked == Ids{MessageId{1}, MessageId{2}, MessageId{3}});
    CHECK(queue.refused == 3);
    CHECK_FALSE(untold);
  } else {
    CHECK(
        said ==
        Lines{
            "done 2", "done 3",
            "queue 'default': message 1: what its job made of it could not be kept: shard 3: says nothing"});
    CHECK(acked == Ids{MessageId{2}, MessageId{3}});
    CHECK(untold->kind == ErrorKind::unusable);
    CHECK(queue.refused == 1);
  }
}

TEST_CASE("what others have made of a message is confirmed once all of it is told", "[threads]") {
  using Missing = TelltaleQueue::Missing;
  const auto [missing, looks] =
      GENERATE(std::pair{Missing::nothing, 1}, std::pair{Missing::more, 2}, std::pair{Missing::part, 2});
  auto queue = std::make_unique<TelltaleQueue>(std::make_shared<ModelStore>(system_clock()));
  TelltaleQueue& telltale = *queue;
  telltale.kind = missing;
  Source source{"default", std::move(queue)};
  const Options options;
  Voice voice;
  voice.refresh_policy = [](const std::string&, Queue&) { return Result<void>(); };
  const Descriptor event(::eventfd(0, EFD_CLOEXEC));
  Books books(source, options, voice, Books::Terms{}, event.get());
  books.confirm();
  books.send();
  size_t confirmed = 0;
  while (confirmed == 0) {
    await_news(event);
    confirmed = books.take_news().confirmed;
  }
  CHECK(confirmed == 1);
  CHECK(telltale.looks == looks);
}

}  // namespace fq::test
