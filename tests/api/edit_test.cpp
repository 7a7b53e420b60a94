// edit_test - messages that do not run, changed in place.
#include "tests/api/contract.h"

namespace fq::test {

namespace {

SettleStatus edit(QueueFixture& q, MessageId id, const MessagePatch& patch) {
  const Result<SettleStatus> done = q.door().edit(id, patch);
  if (!done.ok()) FAIL(done.error().text);
  return *done;
}

std::optional<ErrorKind> refusal(QueueFixture& q, MessageId id, const MessagePatch& patch) {
  const Result<SettleStatus> done = q.door().edit(id, patch);
  return done.ok() ? std::optional<ErrorKind>() : done.error().kind;
}

MessagePatch priority(int32_t value) {
  MessagePatch patch;
  patch.priority = value;
  return patch;
}

MessagePatch delay(int64_t ms) {
  MessagePatch patch;
  patch.delay_ms = ms;
  return patch;
}

MessagePatch payload(std::string_view text) {
  MessagePatch patch;
  patch.payload = as_bytes(text);
  return patch;
}

MessageId push_after(QueueFixture& q, const std::string& text, MessageId after) {
  NewMessage message = message_of("t", text, {});
  message.after = {after};
  return q.door().push({&message, 1}).value().items.at(0).id;
}

}  // namespace

TEST_CASE("an edited message keeps its id and takes the place that its new priority gives") {
  ON_EVERY_ENGINE(q);
  q.push("t", "a");
  q.push("t", "b");
  const MessageId c = q.push("t", "c");
  CHECK(edit(q, c, priority(5)) == SettleStatus::ok);
  CHECK(q.peek() == "c a b");
  CHECK(q.get(c).priority == 5);
  CHECK(edit(q, c, priority(0)) == SettleStatus::ok);
  CHECK(q.peek() == "a b c");
  CHECK(edit(q, c, priority(-1)) == SettleStatus::ok);
  CHECK(q.events(c) == "pushed edited edited edited");
  CHECK(q.pop(3) == "a b c");
}

TEST_CASE("a span below zero is refused, of a push as of an edit, and one that does not fit is for ever") {
  ON_EVERY_ENGINE(q);
  const MessageId before = q.push("t", "before");
  const MessageId held = push_after(q, "after", before);
  CHECK(refusal(q, held, delay(INT64_MIN)) == ErrorKind::usage);
  CHECK(refusal(q, before, delay(-1)) == ErrorKind::usage);
  const auto is_taken = [&](auto change) {
    NewMessage message = message_of("t", "x", {});
    change(message);
    const Result<PushReply> reply = q.door().push({&message, 1});
    return reply.ok() && is_accepted(reply->items.at(0).status);
  };
  using M = NewMessage;
  CHECK_FALSE(is_taken([](M& m) { m.delay_ms = INT64_MIN; }));
  CHECK_FALSE(is_taken([](M& m) { m.timeout_ms = -1; }));
  CHECK_FALSE(is_taken([](M& m) { m.keep_ms = INT64_MIN; }));
  CHECK(is_taken([](M& m) { m.delay_ms = INT64_MAX; }));
  CHECK(is_taken([](M& m) { m.at_wall_ms = INT64_MAX; }));
  CHECK(is_taken([](M& m) { m.timeout_ms = m.keep_ms = m.ttl_ms = INT64_MAX; }));
  CHECK(is_taken([](M& m) { m.at_wall_ms = INT64_MIN; }));
  CHECK(edit(q, held, delay(INT64_MAX)) == SettleStatus::ok);
  CHECK(q.pop(9) == "before x x");
  CHECK(q.stats().delayed == 3);
  CHECK(q.door().check()->findings.empty());
}

TEST_CASE("an edited sort key moves its message, and may be taken back") {
  ON_EVERY_ENGINE(q);
  q.set_policy([](Settings& settings) { settings.order = Order::key; });
  q.push("t", "a", {.key = "a"});
  const MessageId b = q.push("t", "b", {.key = "b"});
  q.push("t", "c", {.key = "c"});
  MessagePatch patch;
  patch.key = "0";
  CHECK(edit(q, b, patch) == SettleStatus::ok);
  CHECK(q.peek() == "b a c");
  patch.key = "";
  CHECK(edit(q, b, patch) == SettleStatus::ok);
  CHECK(q.peek() == "a c b");
}

TEST_CASE("the tenant of an edited message keeps its turn") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  const MessageId a = q.push("a", "a");
  q.push("b", "b1");
  const MessageId b2 = q.push("b", "b2");
  CHECK(edit(q, a, priority(1)) == SettleStatus::ok);
  CHECK(edit(q, b2, priority(9)) == SettleStatus::ok);
  CHECK(q.pop(3) == "a b2 b1");
}

TEST_CASE("a delay makes a ready message delayed, and none a delayed one ready") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "m");
  CHECK(edit(q, id, delay(5'000)) == SettleStatus::ok);
  CHECK(q.get(id).state == State::delayed);
  CHECK(q.peek().empty());
  q.clock().advance(4'999);
  CHECK(q.pop().empty());
  q.clock().advance(1);
  CHECK(q.peek() == "m");
  CHECK(edit(q, id, delay(5'000)) == SettleStatus::ok);
  CHECK(edit(q, id, delay(0)) == SettleStatus::ok);
  CHECK(q.pop() == "m");
}

TEST_CASE("a time of day makes it due then, and a past one now") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "m");
  MessagePatch patch;
  patch.at_wall_ms = q.clock().wall_ms() + 2'000;
  CHECK(edit(q, id, patch) == SettleStatus::ok);
  CHECK(q.get(id).due_at_wall_ms == patch.at_wall_ms);
  patch.at_wall_ms = q.clock().wall_ms() - 2'000;
  CHECK(edit(q, id, patch) == SettleStatus::ok);
  CHECK(q.pop() == "m");
}

TEST_CASE("what comes back from a retry may be put off, and keeps its attempts") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "m");
  CHECK(q.retry(q.lease(), 1'000, "no luck") == SettleStatus::ok);
  CHECK(edit(q, id, delay(9'000)) == SettleStatus::ok);
  q.clock().advance(8'999);
  CHECK(q.pop().empty());
  q.clock().advance(1);
  CHECK(q.get(id).attempts == 1);
  CHECK(q.get(id).last_error->reason == "no luck");
  CHECK(q.lease().attempt == 2);
}

TEST_CASE("a delay of a held message begins with its release, a time of day stays one") {
  ON_EVERY_ENGINE(q);
  const MessageId first = q.push("t", "first");
  const MessageId later = push_after(q, "later", first);
  const MessageId then = push_after(q, "then", first);
  CHECK(edit(q, later, delay(5'000)) == SettleStatus::ok);
  MessagePatch at;
  at.at_wall_ms = q.clock().wall_ms() + 22'000;
  CHECK(edit(q, then, at) == SettleStatus::ok);
  CHECK(q.get(later).state == State::held);
  q.clock().advance(20'000);
  CHECK(q.pop(9) == "first");
  CHECK(q.get(later).state == State::delayed);
  q.clock().advance(2'000);
  CHECK(q.pop(9) == "then");
  q.clock().advance(2'999);
  CHECK(q.pop(9).empty());
  q.clock().advance(1);
  CHECK(q.pop(9) == "later");
}

TEST_CASE("a held message that was edited is let go or buried as any other") {
  ON_EVERY_ENGINE(q);
  const MessageId first = q.push("t", "first");
  const MessageId held = push_after(q, "held", first);
  CHECK(edit(q, held, payload("edited")) == SettleStatus::ok);
  CHECK(q.get(held).after == std::vector<MessageId>{first});
  CHECK(q.bury(q.lease()) == SettleStatus::ok);
  CHECK(q.get(held).state == State::dead);
  CHECK(q.mutate({first}, Action::kick).changed == 1);
  CHECK(q.get(held).state == State::held);
  CHECK(q.pop(9) == "first edited");
}

TEST_CASE("a dead message is edited where it lies, and kicked as it is then") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "bad");
  CHECK(q.bury(q.lease(), "cannot read it") == SettleStatus::ok);
  CHECK(edit(q, id, payload("good")) == SettleStatus::ok);
  const MessageInfo info = q.get(id);
  CHECK(info.state == State::dead);
  CHECK(info.last_error->reason == "cannot read it");
  CHECK(q.events(id) == "pushed leased buried edited");
  CHECK(q.stats().dead == 1);
  CHECK(refusal(q, id, delay(1'000)) == ErrorKind::usage);
  CHECK(q.mutate({id}, Action::kick).changed == 1);
  CHECK(q.pop() == "good");
}

TEST_CASE("one whose last attempt failed was buried before it was edited") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "m", {.attempts_max = 1});
  CHECK(q.retry(q.lease()) == SettleStatus::buried);
  CHECK(edit(q, id, priority(1)) == SettleStatus::ok);
  const std::string events = q.events(id);
  CHECK(events.substr(events.size() - 13) == "buried edited");
}

TEST_CASE("an end stands in the history behind the changes that came before it") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "m", {.ttl_ms = 1'000});
  q.clock().advance(100);
  CHECK(edit(q, id, priority(1)) == SettleStatus::ok);
  q.clock().advance(2'000);
  CHECK(q.get(id).state == State::dead);
  CHECK(q.events(id) == "pushed edited expired");
  CHECK(edit(q, id, priority(2)) == SettleStatus::ok);
  CHECK(q.events(id) == "pushed edited expired edited");
}

TEST_CASE("a time to live may be given, made longer, and taken back") {
  ON_EVERY_ENGINE(q);
  const MessageId given = q.push("t", "given");
  const MessageId longer = q.push("t", "longer", {.ttl_ms = 1'000});
  const MessageId freed = q.push("t", "freed", {.ttl_ms = 1'000});
  MessagePatch patch;
  patch.ttl_ms = std::optional<int64_t>(1'500);
  CHECK(edit(q, given, patch) == SettleStatus::ok);
  CHECK(edit(q, longer, patch) == SettleStatus::ok);
  patch.ttl_ms = std::optional<int64_t>();
  CHECK(edit(q, freed, patch) == SettleStatus::ok);
  q.clock().advance(1'499);
  CHECK(q.peek() == "given longer freed");
  q.clock().advance(1);
  CHECK(q.peek() == "freed");
  CHECK(q.get(given).state == State::dead);
  CHECK(q.stats().expired == 2);
  patch.ttl_ms = std::optional<int64_t>(0);
  CHECK(refusal(q, freed, patch) == ErrorKind::usage);
}

TEST_CASE("attempts, limits, tags and command of an edited message are the new ones") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "in", {.tags = {{"color", "red"}, {"size", "1"}}});
  MessagePatch patch;
  patch.attempts_max = std::optional<uint32_t>(2);
  patch.timeout_ms = std::optional<int64_t>(7'000);
  patch.keep_ms = std::optional<int64_t>(60'000);
  patch.tags = {{"color", "blue"}, {"size", {}}, {"new", ""}, {"never", {}}};
  patch.command = std::optional(JobCommand{{"echo", "hi"}, "/", {"A=1"}});
  CHECK(edit(q, id, patch) == SettleStatus::ok);
  Delivery d = q.lease();
  CHECK(d.attempts_max == 2);
  CHECK(d.timeout_ms == 7'000);
  CHECK(d.keep_ms == 60'000);
  CHECK(d.tags == std::vector<Tag>{{"color", "blue"}, {"new", ""}});
  CHECK(d.command == JobCommand{{"echo", "hi"}, "/", {"A=1"}});
  CHECK(payload_of(d) == "in");
  CHECK(q.retry(d) == SettleStatus::ok);
  patch = {};
  patch.attempts_max.emplace();
  patch.command.emplace();
  CHECK(edit(q, id, patch) == SettleStatus::ok);
  d = q.lease();
  CHECK(d.attempts_max == 5);
  CHECK(!d.command);
}

TEST_CASE("a message that runs, has ended or never was is not edited") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "m");
  const Delivery d = q.lease();
  CHECK(edit(q, id, priority(1)) == SettleStatus::stale);
  CHECK(q.ack(d) == SettleStatus::ok);
  CHECK(edit(q, id, priority(1)) == SettleStatus::gone);
  CHECK(edit(q, MessageId{999}, priority(1)) == SettleStatus::gone);
  CHECK(q.events(id) == "pushed leased acked");
}

TEST_CASE("a patch of nothing changes nothing, and one that no push would take is refused") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "m");
  CHECK(edit(q, id, {}) == SettleStatus::ok);
  MessagePatch patch;
  patch.attempts_max = std::optional<uint32_t>(0);
  CHECK(refusal(q, id, patch) == ErrorKind::usage);
  q.set_policy([](Settings& settings) { settings.payload_bytes_max = 4; });
  CHECK_FALSE(q.door().edit(id, payload("12345")).ok());
  CHECK(q.get(id).payload == "m");
  CHECK(q.events(id) == "pushed");
}

TEST_CASE("a unique key stays with an edited message") {
  ON_EVERY_ENGINE(q);
  NewMessage message = message_of("t", "m", {});
  message.unique = "k";
  const MessageId id = q.door().push({&message, 1}).value().items.at(0).id;
  CHECK(edit(q, id, delay(1'000)) == SettleStatus::ok);
  const PushResult second = q.door().push({&message, 1}).value().items.at(0);
  CHECK(second.status == PushStatus::duplicate);
  CHECK(second.id == id);
}

TEST_CASE("what is debounced is debounced no more once it is made ready") {
  ON_EVERY_ENGINE(q);
  NewMessage message = message_of("t", "m", {});
  message.debounce = "k";
  message.quiet_ms = 5'000;
  const MessageId id = q.door().push({&message, 1}).value().items.at(0).id;
  CHECK(edit(q, id, delay(7'000)) == SettleStatus::ok);
  CHECK(q.door().push({&message, 1}).value().items.at(0).id == id);
  CHECK(edit(q, id, delay(0)) == SettleStatus::ok);
  CHECK(q.door().push({&message, 1}).value().items.at(0).status == PushStatus::accepted);
}

TEST_CASE("a payload that grows needs room under the limits, and so does none that shrinks") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "1234");
  q.set("t", PolicyKey::max_bytes, 6);
  if (q.door().caps().exact_global_order) CHECK(edit(q, id, payload("123456")) == SettleStatus::ok);
  CHECK(edit(q, id, payload("12")) == SettleStatus::ok);
  CHECK(q.stats().bytes == 2);
}

TEST_CASE("a long payload takes the place of a short one, and the other way round") {
  ON_EVERY_ENGINE(q);
  const std::string text(200'000, 'x');
  const MessageId id = q.push("t", "short");
  CHECK(edit(q, id, payload(text)) == SettleStatus::ok);
  CHECK(edit(q, id, priority(3)) == SettleStatus::ok);
  CHECK(q.get(id).payload == text);
  CHECK(edit(q, id, payload("short again")) == SettleStatus::ok);
  CHECK(q.pop() == "short again");
}

TEST_CASE("an edit brings no delay back that a kick has ended, though a step holds the message") {
  ON_EVERY_ENGINE(q);
  q.needs_one_account();
  if (q.door().steps() == nullptr) return;
  const MessageId other = q.push("u", "other", {.delay_ms = 1000});
  const MessageId id = q.push("t", "m", {.delay_ms = 60'000});
  q.mutate({id}, Action::kick);
  const Delivery job = q.lease();
  REQUIRE(job.id == id);
  REQUIRE(!q.door().steps()->wait(job.receipt, "s", std::span(&other, 1))->over);
  CHECK(q.get(id).state == State::held);
  CHECK(edit(q, id, priority(3)) == SettleStatus::ok);
  q.clock().advance(1001);
  CHECK(q.pop() == "other");
  CHECK(q.pop() == "m");
}

TEST_CASE("the log tells an edit, of the tenant and the tags that the message has then") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "m");
  MessagePatch patch;
  patch.tags = {{"color", "blue"}};
  CHECK(edit(q, id, patch) == SettleStatus::ok);
  EventRequest request;
  request.tag = Tag{"color", "blue"};
  EventPage page;
  REQUIRE(q.door().events(request, page).ok());
  REQUIRE(!page.events.empty());
  const Event& last = page.events.back();
  CHECK(last.event == "edited");
  CHECK(last.id == id);
  CHECK(last.tenant == "t");
}

}  // namespace fq::test
