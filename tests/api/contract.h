// contract - the fixture of the suite that every engine has to pass.
//
// A test opens its queue through ON_EVERY_ENGINE(q) and speaks verbs; it is run once for each engine that
// tests/api/engines.cpp makes. No test names an engine: where engines may differ, it asks caps(). Time is a
// fake clock, except where a test waits (then the engine gets the system's).
#pragma once

// System.
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>
// fq, below us.
#include "core/api/queue.h"
// Tests.
#include "tests/catch.h"
#include "tests/fakes/fake_clock.h"

namespace fq::test {

/// One queue of one engine, that begins empty and is gone with this object.
class Engine {
 public:
  virtual ~Engine() = default;
  /// Another handle on the same queue. The clock outlives the handle.
  virtual std::unique_ptr<Queue> open(Clock& clock) = 0;
  /// Another queue of the same place, by the name of `other`, which it makes. None: there can be none.
  virtual std::unique_ptr<Queue> open_other(Clock&) { return nullptr; }
};

/// That the test which runs is held to: all that this machine has.
std::vector<size_t> engines_of_this_test();
std::string engine_name(size_t engine);
std::unique_ptr<Engine> make_engine(size_t engine);

/// What a message may have besides tenant and payload.
struct With {
  int32_t priority = 0;
  std::string key;
  std::optional<int64_t> delay_ms;
  std::optional<int64_t> at_wall_ms;
  std::optional<uint32_t> attempts_max;
  std::vector<Tag> tags;
  std::optional<int64_t> ttl_ms;
};

enum class Time { fake, real };

class QueueFixture {
 public:
  explicit QueueFixture(size_t engine, Time time = Time::fake);

  Queue& door() { return *queue_; }
  FakeClock& clock() { return clock_; }
  void set_wall_ms(int64_t wall_ms);
  std::unique_ptr<Queue> another_handle();
  /// What the test says of turns, ids and ties holds inside one account. Where that is not so between
  /// accounts, all tenants that the test names from here on lie below one: the verbs put it before their
  /// names and tell them without it, and calls through door() name them by path().
  void needs_one_account();
  /// The name that the queue has for a tenant of the test, as long as this object lives.
  const std::string& path(const std::string& tenant);
  /// The name that the test has for it.
  std::string named(const std::string& path) const;
  std::unique_ptr<Queue> other_queue();

  MessageId push(const std::string& tenant, const std::string& payload, const With& with = {});
  /// Payloads tenant1, tenant2, ...; in batches.
  void push_many(const std::string& tenant, size_t count);
  /// What becomes of a message that may be refused: true when it was and nothing was pushed.
  bool refuses(const std::string& tenant, const std::string& payload, const With& with = {});

  LeaseReply lease_all(LeaseRequest request);
  Delivery lease(const std::string& tenant = {});  // one, for 60 s; there must be one
  SettleStatus settle(const Receipt& receipt, Verdict verdict, int64_t delay_ms = 0, std::string reason = {});
  SettleStatus ack(const Delivery& d) { return settle(d.receipt, Verdict::ack); }
  SettleStatus retry(const Delivery& d, int64_t delay_ms = 0, std::string reason = {}) {
    return settle(d.receipt, Verdict::retry, delay_ms, std::move(reason));
  }
  SettleStatus release(const Delivery& d, int64_t delay_ms = 0) {
    return settle(d.receipt, Verdict::release, delay_ms);
  }
  SettleStatus bury(const Delivery& d, std::string reason = {}) {
    return settle(d.receipt, Verdict::bury, 0, std::move(reason));
  }
  ExtendResult extend(const Delivery& d, int64_t ms);
  /// Leases and acks up to `count`, one by one: their payloads with blanks between.
  std::string pop(size_t count = 1);
  /// Leases all that it gets, at most `want`: their payloads with blanks between.
  std::string served(size_t want = 100);
  /// Payloads as they were served where turns are exact over all accounts, else by name: in whatever turns.
  std::string in_turns(const std::string& payloads);

  std::string peek(size_t n = 100, const Filter& filter = {.tenant = {}, .state = State::ready, .tag = {}});
  MessageInfo get(MessageId id);
  /// Which of those that the verbs have pushed it is, from 1; 0: none.
  size_t nth(MessageId id) const;
  std::string events(MessageId id);
  StatsRow stats();
  StatsRow stats(const std::string& tenant);
  void set_policy(const std::function<void(Settings&)>& change);
  /// One order for the whole queue. False: it is refused, as caps() says.
  bool set_scope_of_queue(Order order = Order::priority);
  void set(const std::string& path, PolicyKey key, int64_t number, int64_t second = 0);
  void unset(const std::string& path, PolicyKey key);
  MutateReply mutate(const std::vector<MessageId>& ids, Action action);
  /// By filter, to the end, in pages of `page`; how many were changed.
  uint64_t mutate_all(const Filter& filter, Action action, size_t page = 2);

 private:
  FakeClock clock_;
  std::unique_ptr<Engine> engine_;
  Time time_;
  std::unique_ptr<Queue> queue_;
  uint64_t policy_count_ = 0;
  std::string account_;          // that all tenants lie below, with its slash
  std::set<std::string> paths_;  // that were told
  std::vector<MessageId> pushed_;
};

/// Mostly the other thread sleeps in its call when this is over. No engine tells when it does, so the tests
/// hold in any order; this makes the order that they are about the usual one.
inline void let_the_other_wait() {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // nothing tells that it sleeps; see above
}

/// Views of its arguments, which have to live as long.
NewMessage message_of(std::string_view tenant, std::string_view payload, const With& with);
std::string payload_of(const Delivery& delivery);
inline bool is_refused(SettleStatus s) { return s == SettleStatus::stale || s == SettleStatus::gone; }
inline LeaseRequest timed_lease(size_t want = 1, int64_t hold_ms = 60'000) {
  LeaseRequest request;
  request.want = want;
  request.hold = Hold::duration;
  request.hold_ms = hold_ms;
  return request;
}

}  // namespace fq::test

#define ON_EVERY_ENGINE_WITH(fixture, time)                                        \
  const size_t fq_engine = GENERATE(from_range(fq::test::engines_of_this_test())); \
  INFO("engine: " << fq::test::engine_name(fq_engine));                            \
  fq::test::QueueFixture fixture(fq_engine, time)
#define ON_EVERY_ENGINE(fixture) ON_EVERY_ENGINE_WITH(fixture, fq::test::Time::fake)
