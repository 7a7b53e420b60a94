// events_test - what a queue tells of all that happened in it: in order, by tenant, id and time, a page at a
// time, and on as it happens.
#include "tests/api/contract.h"

namespace fq::test {

namespace {

/// "pushed:1:acme pushed:2:other leased:1:acme", each message by when it was pushed, in pages of `n`.
std::string told(QueueFixture& q, Queue& queue, EventRequest request = {}, size_t n = 3) {
  std::string text;
  EventPage page;
  request.n = n;
  for (size_t pages = 0;; ++pages) {
    REQUIRE(pages < 1'000);
    const Result<void> read = queue.events(request, page);
    INFO((read.ok() ? std::string() : read.error().text));
    REQUIRE(read.ok());
    CHECK(page.notices.empty());
    REQUIRE(page.events.size() <= n);
    for (const Event& event : page.events) {
      text.append(text.empty() ? "" : " ").append(event.event).append(":");
      text.append(std::to_string(q.nth(event.id))).append(":").append(event.tenant);
    }
    REQUIRE_FALSE(page.next.text.empty());
    request.from = page.next;
    if (page.at_end) return text;
  }
}
std::string told(QueueFixture& q, const EventRequest& request = {}, size_t n = 3) {
  return told(q, q.door(), request, n);
}

/// Events have times of their own from here on: by these they are told where they are of several accounts.
QueueFixture& later(QueueFixture& q) {
  q.clock().advance(1);
  return q;
}

/// A story with every verdict: three messages of three tenants.
std::vector<MessageId> act(QueueFixture& q) {
  std::vector<MessageId> ids;
  for (const char* tenant : {"acme", "acme/mail", "other"}) ids.push_back(later(q).push(tenant, "x"));
  later(q).ack(q.lease("acme"));
  later(q).retry(q.lease("other"), 0, "no luck");
  later(q).release(q.lease("acme/mail"));
  later(q).bury(q.lease("other"), "never");
  return ids;
}

}  // namespace

TEST_CASE("events are told oldest first, each with its message and its tenant") {
  ON_EVERY_ENGINE(q);
  CHECK(told(q).empty());
  act(q);
  const std::string all =
      "pushed:1:acme pushed:2:acme/mail pushed:3:other leased:1:acme acked:1:acme leased:3:other "
      "retried:3:other leased:2:acme/mail released:2:acme/mail leased:3:other buried:3:other";
  CHECK(told(q) == all);
  CHECK(told(q, {}, 1) == all);
  CHECK(told(q, {}, 1'000) == all);
  CHECK(told(q, *q.another_handle()) == all);
}

TEST_CASE("events of one tenant are those of all below it too, and of no other") {
  ON_EVERY_ENGINE(q);
  act(q);
  CHECK(told(q, {.tenant = "acme"}) ==
        "pushed:1:acme pushed:2:acme/mail leased:1:acme acked:1:acme leased:2:acme/mail "
        "released:2:acme/mail");
  CHECK(told(q, {.tenant = "acme/mail"}) == "pushed:2:acme/mail leased:2:acme/mail released:2:acme/mail");
  CHECK(told(q, {.tenant = "acm"}).empty());
  CHECK(told(q, {.tenant = "acme/mai"}).empty());
}

TEST_CASE("events of one message, and of none that never was") {
  ON_EVERY_ENGINE(q);
  const MessageId last = act(q).back();
  CHECK(told(q, {.id = last}) ==
        "pushed:3:other leased:3:other retried:3:other leased:3:other buried:3:other");
  for (const uint64_t never : {uint64_t{0}, number(last) + 1, number(last) + 1024, kMessageIdMax})
    CHECK(told(q, {.id = MessageId{never}}).empty());
}

TEST_CASE("events since a time are those at it and after it") {
  ON_EVERY_ENGINE(q);
  q.push("t", "x");
  q.clock().advance(5'000);
  const int64_t then_ms = q.clock().wall_ms();
  q.push("t", "y");
  q.clock().advance(5'000);
  q.push("t", "z");
  CHECK(told(q, {.since_wall_ms = then_ms}) == "pushed:2:t pushed:3:t");
  CHECK(told(q, {.since_wall_ms = then_ms + 1}) == "pushed:3:t");
  CHECK(told(q, {.since_wall_ms = q.clock().wall_ms() + 1}).empty());
}

TEST_CASE("who asks for the last ones is told at least these, and nothing out of its order") {
  ON_EVERY_ENGINE(q);
  CHECK(told(q, {.last = 5}).empty());
  act(q);
  const std::string all = told(q);
  for (const uint64_t last : {uint64_t{1}, uint64_t{3}, uint64_t{11}, uint64_t{100}, UINT64_MAX}) {
    const std::string text = told(q, *q.another_handle(), {.last = last});
    CHECK(all.ends_with(text));
    const auto events = static_cast<uint64_t>(std::count(text.begin(), text.end(), ' ')) + 1;
    CHECK(events >= std::min<uint64_t>(last, 11));
  }
  CHECK(told(q, {.tenant = "other", .last = 2}).ends_with("leased:3:other buried:3:other"));
  CHECK(told(q, {.tenant = "nobody", .last = 2}).empty());
}

TEST_CASE("what an engine says it keeps of the past is told, whatever became of it") {
  ON_EVERY_ENGINE(q);
  CHECK(q.door().caps().event_horizon_ms >= 0);
  const int64_t begin_ms = q.clock().wall_ms();
  act(q);
  const std::string all = told(q);
  (void)q.door().maintain(1'000);
  q.clock().advance(1'000);
  const bool promised = q.door().caps().event_horizon_ms >= q.clock().wall_ms() - begin_ms;
  if (promised) CHECK(told(q, *q.another_handle()) == all);
}

TEST_CASE("an event says why") {
  ON_EVERY_ENGINE(q);
  act(q);
  EventPage page;
  REQUIRE(q.door().events({}, page).ok());
  REQUIRE(page.events.size() == 11);
  CHECK(page.events[6].reason == "no luck");
  CHECK(page.events[10].reason == "never");
  CHECK(page.events[4].reason.empty());
}

TEST_CASE("a cursor goes on behind its page, also inside a batch and in another handle") {
  ON_EVERY_ENGINE(q);
  q.push_many("t", 10);
  EventPage page;
  EventRequest request;
  request.n = 4;
  REQUIRE(q.door().events(request, page).ok());
  REQUIRE(page.events.size() == 4);
  request.from = page.next;
  const std::unique_ptr<Queue> other = q.another_handle();
  CHECK(told(q, *other, request) == "pushed:5:t pushed:6:t pushed:7:t pushed:8:t pushed:9:t pushed:10:t");
  CHECK(told(q, request) == "pushed:5:t pushed:6:t pushed:7:t pushed:8:t pushed:9:t pushed:10:t");
}

TEST_CASE("whose a message is is known where a page begins behind its push") {
  ON_EVERY_ENGINE(q);
  q.push("acme", "x");
  EventPage page;
  REQUIRE(q.door().events({}, page).ok());
  q.ack(q.lease());
  const std::unique_ptr<Queue> other = q.another_handle();
  CHECK(told(q, *other, {.from = page.next}) == "leased:1:acme acked:1:acme");
}

TEST_CASE("who has read to the end goes on with what happens then") {
  ON_EVERY_ENGINE(q);
  q.push("t", "x");
  EventPage page;
  EventRequest request;
  REQUIRE(q.door().events(request, page).ok());
  CHECK(page.at_end);
  request.from = page.next;
  REQUIRE(q.door().events(request, page).ok());
  CHECK(page.events.empty());
  CHECK(page.next.text == request.from.text);
  q.push("t", "y");
  REQUIRE(q.door().events(request, page).ok());
  REQUIRE(page.events.size() == 1);
  CHECK(q.nth(page.events[0].id) == 2);
}

TEST_CASE("waiting for an event ends with it, within the bound", "[threads]") {
  ON_EVERY_ENGINE_WITH(q, Time::real);
  q.push("t", "x");
  EventPage page;
  EventRequest request;
  REQUIRE(q.door().events(request, page).ok());
  request.from = page.next;
  request.wait = true;
  std::thread pusher([&, other = q.another_handle()] {
    let_the_other_wait();
    const NewMessage message = message_of("t", "y", {});
    (void)other->push({&message, 1});
  });
  const Result<void> read = q.door().events(request, page);
  pusher.join();
  REQUIRE(read.ok());
  REQUIRE(page.events.size() == 1);
  CHECK(page.events[0].event == "pushed");
}

TEST_CASE("waiting for an event ends with its time, and by an interrupt") {
  ON_EVERY_ENGINE_WITH(q, Time::real);
  EventPage page;
  EventRequest request;
  request.wait = true;
  request.wait_ms = 20;
  REQUIRE(q.door().events(request, page).ok());
  CHECK(page.events.empty());
  Interrupt interrupt;
  interrupt.raise();
  request.wait_ms.reset();
  request.interrupt = &interrupt;
  REQUIRE(q.door().events(request, page).ok());
  CHECK(page.events.empty());
}

TEST_CASE("who wants no event, or has no time for one, does not wait") {
  ON_EVERY_ENGINE_WITH(q, Time::real);
  q.push("t", "x");
  EventPage page;
  REQUIRE(q.door().events({.n = 0}, page).ok());
  CHECK(page.events.empty());
  REQUIRE(q.door().events({.last = 1}, page).ok());
  EventRequest request{.from = page.next, .wait = true, .wait_ms = INT64_MIN};
  for (int i = 0; i < 20; ++i) REQUIRE(q.door().events(request, page).ok());
}

TEST_CASE("a cursor that is none is refused or tells nothing wrong") {
  ON_EVERY_ENGINE(q);
  q.push("t", "x");
  EventPage page;
  const Result<void> read = q.door().events({.from = {"999999999.0"}}, page);
  if (!read.ok()) CHECK(read.error().kind == ErrorKind::usage);
  CHECK(page.events.empty());
}

TEST_CASE("events of one tag are those of all messages that have it") {
  ON_EVERY_ENGINE(q);
  later(q).push("a", "x", {.tags = {{"order", "7"}}});
  later(q).push("b", "y", {.tags = {{"order", "8"}}});
  later(q).push("c", "z", {.tags = {{"order", "7"}, {"k", "v"}}});
  for (const char* tenant : {"a", "b", "c"}) later(q).lease(tenant);
  CHECK(told(q, {.tag = Tag{"order", "7"}}) == "pushed:1:a pushed:3:c leased:1:a leased:3:c");
  CHECK(told(q, {.tag = Tag{"order", "8"}}, 1) == "pushed:2:b leased:2:b");
  CHECK(told(q, {.tenant = "c", .tag = Tag{"order", "7"}}) == "pushed:3:c leased:3:c");
  CHECK(told(q, {.tag = Tag{"order", "9"}}).empty());
  // What is told last is looked for from behind: whose tag an event has is asked of what lies before.
  CHECK(told(q, {.tag = Tag{"k", "v"}, .last = 1}).ends_with("leased:3:c"));
}

}  // namespace fq::test
