// pages_test - what page after page shows: all of it once, in one order, whatever comes and goes meanwhile.
#include "tests/api/contract.h"

// System.
#include <map>

namespace fq::test {

namespace {

constexpr size_t kMany = 700;  // more than any engine looks at in one go
constexpr size_t kPage = 50;

Filter in_state(State state, const std::string& tenant = {}) {
  return {.tenant = tenant, .state = state, .tag = {}};
}

MessagePage page_of(Queue& queue, const Filter& filter, const Cursor& from, size_t n = kPage) {
  Result<MessagePage> page = queue.peek(filter, from, n);
  REQUIRE(page.ok());
  return std::move(page).value();
}

/// Ids of all pages, with something done between every two of them.
std::vector<uint64_t> walk(Queue& queue, const Filter& filter, const std::function<void()>& between = {},
                           size_t n = kPage) {
  std::vector<uint64_t> ids;
  Cursor from;
  do {
    const MessagePage page = page_of(queue, filter, from, n);
    CHECK(page.messages.size() <= n);
    for (const MessageInfo& message : page.messages) ids.push_back(number(message.id));
    from = page.next;
    if (between) between();
  } while (!from.text.empty());
  return ids;
}

/// So many messages in one state.
std::vector<MessageId> fill(QueueFixture& q, State state, size_t count) {
  std::vector<MessageId> ids;
  for (size_t i = 0; i < count; ++i) {
    With with;
    if (state == State::delayed) with.delay_ms = 3'600'000 - static_cast<int64_t>(i * 37 % 101);
    ids.push_back(q.push("t" + std::to_string(i % 7), "x", with));
  }
  if (state != State::dead) return ids;
  for (size_t dead = 0; dead < count;) {
    const LeaseReply some = q.lease_all(timed_lease(count));
    REQUIRE_FALSE(some.deliveries.empty());
    for (const Delivery& each : some.deliveries) q.bury(each);
    dead += some.deliveries.size();
  }
  return ids;
}

/// Tenants of several levels and weights, with keys and priorities.
void push_mixed(QueueFixture& q, size_t count) {
  const char* const tenants[] = {"a", "b", "b/x", "b/y/z", "c", "d/e"};
  q.set("b", PolicyKey::weight, 2'500);
  q.set("d", PolicyKey::weight, 400);
  for (size_t i = 0; i < count; ++i) {
    With with;
    if (i % 5 == 0) with.priority = static_cast<int32_t>(i * 7 % 11) - 5;
    if (i % 9 == 0) with.key = std::to_string(i * 13 % 17);
    q.push(tenants[i * 31 % std::size(tenants)], std::to_string(i), with);
  }
}

std::string payloads(Queue& queue, const Filter& filter, size_t n) {
  std::string text;
  Cursor from;
  do {
    const MessagePage page = page_of(queue, filter, from, n);
    for (const MessageInfo& each : page.messages) text += each.payload.value() + " ";
    from = page.next;
  } while (!from.text.empty());
  return text;
}

}  // namespace

TEST_CASE("peek shows the order of serving, however far") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  const bool by_rank = GENERATE(false, true);
  if (by_rank && !q.set_scope_of_queue()) return;
  push_mixed(q, kMany);
  for (size_t i = 0; i < 40; ++i) q.pop();  // turns have been had
  const std::string shown = payloads(q.door(), in_state(State::ready), kPage);
  CHECK(payloads(q.door(), in_state(State::ready), 10'000) == shown);
  CHECK(q.pop(kMany) + " " == shown);
}

TEST_CASE("peek shows what has no turns behind all others, by tenant, however much that is") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  push_mixed(q, kMany);
  const auto all_of = [&](const char* tenant, size_t n) {
    return payloads(q.door(), in_state(State::ready, q.path(tenant)), n);
  };
  const std::string behind = all_of("a", kPage) + all_of("c", kPage);
  for (const char* tenant : {"c", "a"}) q.set(tenant, PolicyKey::paused, 1);
  const std::string shown = all_of("", kPage);
  CHECK(all_of("", 10'000) == shown);
  CHECK(q.pop(kMany) + " " + behind == shown);
  CHECK(all_of("", 30) == behind);
}

TEST_CASE("what is there all along is shown once, whatever comes and goes between two pages") {
  ON_EVERY_ENGINE(q);
  const State state = GENERATE(State::ready, State::delayed, State::dead);
  const std::vector<MessageId> ids = fill(q, state, kMany);
  std::map<uint64_t, int> seen;
  size_t next = kMany;
  const auto change = [&] {
    // From the end, so that most of it was not shown yet; and what comes may be shown or not.
    for (int i = 0; i < 9 && next >= 3; ++i) q.mutate({ids[next -= 3]}, Action::cancel);
    if (state == State::ready) q.pop(3);
    q.push("t3", "new", state == State::delayed ? With{.delay_ms = 1'800'000} : With{.priority = 4});
  };
  for (const uint64_t id : walk(q.door(), in_state(state), change)) ++seen[id];
  for (const auto& [id, times] : seen) CHECK(times == 1);
  for (const MessageId id : ids) {
    const auto message = q.door().get(id);
    REQUIRE(message.ok());
    const bool still = message->has_value() && (*message)->state == state;
    if (still) CHECK(seen.contains(number(id)));
  }
}

TEST_CASE("a page may be asked for by another process than the one before") {
  ON_EVERY_ENGINE(q);
  const State state = GENERATE(State::ready, State::delayed, State::dead);
  fill(q, state, kMany);
  const std::vector<uint64_t> whole = walk(q.door(), in_state(state));
  REQUIRE(whole.size() == kMany);
  const std::unique_ptr<Queue> other = q.another_handle();
  std::vector<uint64_t> ids;
  Cursor from;
  for (bool mine = true; ids.empty() || !from.text.empty(); mine = !mine) {
    const MessagePage page = page_of(mine ? q.door() : *other, in_state(state), from);
    for (const MessageInfo& message : page.messages) ids.push_back(number(message.id));
    from = page.next;
  }
  CHECK(ids == whole);
}

TEST_CASE("two who go through a queue with one handle do not get in each other's way") {
  ON_EVERY_ENGINE(q);
  const State state = GENERATE(State::ready, State::delayed);
  fill(q, state, kMany);
  const Filter one = in_state(state, "t1");
  const std::vector<uint64_t> whole = walk(q.door(), in_state(state));
  const std::vector<uint64_t> part = walk(q.door(), one);
  CHECK(part.size() == kMany / 7);
  CHECK(walk(q.door(), in_state(state), [&] { CHECK(walk(q.door(), one, {}, 20) == part); }) == whole);
}

TEST_CASE("cancel by filter goes on from a cursor that another process gave") {
  ON_EVERY_ENGINE(q);
  fill(q, State::ready, kMany);
  const std::unique_ptr<Queue> other = q.another_handle();
  uint64_t changed = 0;
  Cursor from;
  bool mine = true;
  do {
    const auto reply = (mine ? q.door() : *other).mutate(in_state(State::ready), Action::cancel, from, kPage);
    REQUIRE(reply.ok());
    changed += reply->changed;
    from = reply->next;
    mine = !mine;
  } while (!from.text.empty());
  CHECK(changed == kMany);
  CHECK(q.stats().ready == 0);
}

}  // namespace fq::test
