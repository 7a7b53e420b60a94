// held_allocations_test - nothing is allocated while the state lock is held, where all others wait and memory
// may be short.
//
// In this program, since the sanitizers of the others see more with their own operator new.

// System.
#include <cstdlib>
#include <new>
// fq, below us.
#include "core/local/shared/gate.h"
// Tests.
#include "tests/fakes/fake_clock.h"
#include "tests/process/real_fq.h"

namespace {

thread_local bool is_held = false;
thread_local int holds = 0;        // how often it was taken
thread_local int allocations = 0;  // while it was

}  // namespace

[[gnu::noinline]] void* operator new(size_t bytes) {
  if (is_held) ++allocations;
  void* const made = std::malloc(bytes);
  if (made == nullptr) throw std::bad_alloc();
  return made;
}
[[gnu::noinline]] void operator delete(void* made) noexcept { std::free(made); }
[[gnu::noinline]] void operator delete(void* made, size_t) noexcept { std::free(made); }

namespace fq::test {

namespace {

/// How many there are in what `work` does.
template <class Work>
int allocations_in(Work&& work) {
  Gate::after_lock = [] { is_held = true, ++holds; };
  Gate::before_unlock = [] { is_held = false; };
  allocations = holds = 0;
  const bool done = work();
  Gate::after_lock = Gate::before_unlock = nullptr;
  REQUIRE(done);
  REQUIRE(holds > 0);
  return allocations;
}

}  // namespace

TEST_CASE(
    "neither a push nor a verdict that others wait for nor a step of the clock allocates under the lock") {
  const Spool spool;
  FakeClock clock;
  OpenOptions options;
  options.create = true;
  options.clock = &clock;
  const std::unique_ptr<Queue> queue = open_queue({spool.path(), "default"}, options).value();
  NewMessage message{.tenant = "t", .payload = as_bytes("first")};
  MessageId first{};
  const auto push = [&] {
    const Result<PushReply> reply = queue->push({&message, 1});
    first = reply.ok() && number(first) == 0 ? reply->items.at(0).id : first;
    return reply.ok();
  };
  CHECK(allocations_in(push) == 0);
  message.after = {first};
  REQUIRE(push());
  const std::vector<Settle> bury{
      {.receipt = queue->lease({.hold = Hold::duration}).value().deliveries.at(0).receipt,
       .verdict = Verdict::bury}};
  CHECK(allocations_in([&] { return queue->settle(bury).ok(); }) == 0);
  REQUIRE(queue->get(MessageId{2}).value()->last_error->reason == "message 1, which it came after, is dead");
  clock.set_wall_ms(clock.wall_ms() + 3'600'000);
  CHECK(allocations_in([&] { return queue->mutate({&first, 1}, Action::kick).ok(); }) == 0);
}

}  // namespace fq::test
