// event_details_test - what an event says besides its name: the same of the same story on every engine.
#include "tests/api/steps_scene.h"

// System.
#include <algorithm>

namespace fq::test {

namespace {

/// "3 retried +5000: why", a line for each event of one of these names; times from `begin_wall_ms` on.
std::string details(Queue& queue, int64_t begin_wall_ms, std::initializer_list<std::string_view> names) {
  std::string text;
  EventPage page;
  EventRequest request;
  do {
    REQUIRE(queue.events(request, page).ok());
    for (const Event& event : page.events) {
      if (std::find(names.begin(), names.end(), event.event) == names.end()) continue;
      text.append(std::to_string(number(event.id))).append(" ").append(event.event);
      if (event.due_wall_ms != 0) text.append(" +").append(std::to_string(event.due_wall_ms - begin_wall_ms));
      if (!event.reason.empty()) text.append(": ").append(event.reason);
      if (!event.other_queue.empty()) {
        text.append(" ").append(event.other_queue).append(" ");
        text.append(std::to_string(number(event.other_id)));
      }
      text.append("\n");
    }
    request.from = page.next;
  } while (!page.at_end);
  return text;
}

MessageId push_debounced(QueueFixture& q, const char* payload, int64_t quiet_ms) {
  NewMessage message = message_of("t", payload, {});
  message.debounce = "key";
  message.quiet_ms = quiet_ms;
  const Result<PushReply> reply = q.door().push({&message, 1});
  REQUIRE(reply.ok());
  return reply->items.at(0).id;
}

}  // namespace

TEST_CASE("an event that delays its message says until when") {
  ON_EVERY_ENGINE(q);
  const int64_t begin_ms = q.clock().wall_ms();
  const std::string first = std::to_string(number(q.push("t", "x")));
  q.retry(q.lease(), 5'000, "why");
  q.clock().advance(5'000);
  q.release(q.lease(), 2'000);
  q.mutate({q.door().select({}, {}, 1).value().ids.at(0)}, Action::kick);
  q.release(q.lease());
  const std::string second = std::to_string(number(push_debounced(q, "a", 10'000)));
  const MessageId id = push_debounced(q, "b", 20'000);
  MessagePatch patch;
  patch.delay_ms = 30'000;
  REQUIRE(q.door().edit(id, patch).ok());
  patch = {};
  patch.priority = 2;
  REQUIRE(q.door().edit(id, patch).ok());
  CHECK(details(q.door(), begin_ms, {"retried", "released", "replaced", "edited"}) ==
        first + " retried +5000: why\n" + first + " released +7000\n" + first + " released\n" + second +
            " replaced +25000\n" + second + " edited +35000\n" + second + " edited +35000\n");
}

TEST_CASE("an event of a job that sleeps says until when, of one that waits it does not") {
  WHERE_STEPS_ARE(q);
  const int64_t begin_ms = q.clock().wall_ms();
  const std::string id = std::to_string(number(q.push("t", "x")));
  REQUIRE_FALSE(steps(q).sleep(q.lease().receipt, "nap", 10'000, 0).value().over);
  q.clock().advance(10'000);
  const LeaseReply reply = q.lease_all({});
  REQUIRE(reply.deliveries.size() == 1);
  REQUIRE_FALSE(steps(q).sleep(reply.deliveries[0].receipt, "again", 5'000, 0).value().over);
  q.settle(reply.deliveries[0].receipt, Verdict::ack);
  q.clock().advance(5'000);
  const std::string released = id + " released +10000\n" + id + " released +15000\n";
  CHECK(details(q.door(), begin_ms, {"released"}) == released);
  const std::string stepped = details(q.door(), begin_ms, {"stepped"});
  if (!stepped.empty()) CHECK(stepped == id + " stepped +10000\n" + id + " stepped +15000\n");
}

TEST_CASE("both queues of a move tell its beginning and its end") {
  ON_EVERY_ENGINE(q);
  const std::unique_ptr<Queue> other = q.other_queue();
  if (!other) return;
  std::string here, there;
  for (const MessageId id : {q.push("t", "x"), q.push("t", "y", {.delay_ms = 60'000, .ttl_ms = 1'000})}) {
    const MoveResult moved = q.door().move({&id, 1}, {"other", ""}).value().items.at(0);
    const std::string old_id = std::to_string(number(id)), new_id = std::to_string(number(moved.id_there));
    here += old_id + " leaving other 0\n" + old_id + " left other " + new_id + "\n";
    there += new_id + " arrived default " + old_id + "\n" + new_id + " freed\n";
  }
  CHECK(details(q.door(), 0, {"leaving", "left", "freed"}) == here);
  CHECK(details(*other, 0, {"leaving", "left", "arrived", "freed"}) == there);
  EventPage page;
  REQUIRE(other->events({}, page).ok());
  for (const Event& event : page.events) CHECK(event.expires_wall_ms == 0);
}

TEST_CASE("an event of a schedule that was set says whose messages it makes") {
  ON_EVERY_ENGINE(q);
  if (q.door().schedules() == nullptr) return;
  ScheduleDefinition definition;
  definition.name = "s";
  definition.spec = "every 1h";
  definition.message = message_of("acme", "tick", {});
  REQUIRE(q.door().schedules()->set(definition).ok());
  EventPage page;
  REQUIRE(q.door().events({.tenant = "acme"}, page).ok());
  std::string names;
  for (const Event& event : page.events) names.append(event.event).append(":").append(event.tenant);
  if (!names.empty()) CHECK(names == "scheduled:acme");
}

TEST_CASE("what is set at run time is an event, once, and what is so no more is told with it") {
  ON_EVERY_ENGINE(q);
  const int64_t begin_ms = q.clock().wall_ms();
  const PolicyPatch heavy{{{PolicyKey::weight, 2'000, 0, {}}, {PolicyKey::limited, 60'000, 0, {}}}, {}};
  REQUIRE(q.door().policy_set("acme/x", heavy).ok());
  REQUIRE(q.door().policy_set("", {{{PolicyKey::attempts, 7, 0, {}}}, {}}).ok());
  REQUIRE(q.door().policy_set("acme/x", {{}, {PolicyKey::weight}}).ok());
  REQUIRE(q.door().policy_set("never/seen", {{}, {PolicyKey::weight}}).ok());
  const auto text_of = [](PolicyKey key) { return " " + std::to_string(static_cast<int>(key)); };
  EventPage page;
  std::string told;
  do {
    REQUIRE(q.door().events({.from = page.next}, page).ok());
    for (const Event& event : page.events) {
      told.append(event.event).append(" ").append(event.tenant).append(":");
      REQUIRE(event.set != nullptr);
      for (const PolicyValue& value : event.set->set) {
        const int64_t number = value.key == PolicyKey::limited ? value.number - begin_ms : value.number;
        told += text_of(value.key) + "=" + std::to_string(number);
      }
      for (const PolicyKey key : event.set->unset) told += " no" + text_of(key);
      told += "\n";
    }
  } while (!page.at_end);
  CHECK(told == "set acme/x:" + text_of(PolicyKey::weight) + "=2000" + text_of(PolicyKey::limited) +
                    "=60000\n" + "set :" + text_of(PolicyKey::attempts) + "=7\n" + "set acme/x: no" +
                    text_of(PolicyKey::weight) + "\n");
}

TEST_CASE("what a lease that ran out failed for is told") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "x", {.attempts_max = 2});
  const int64_t until_ms = q.clock().wall_ms() + 60'000;
  q.lease();
  q.clock().advance(61'000);
  REQUIRE(q.stats().ready == 1);
  const std::optional<LastError> first = q.get(id).last_error;
  REQUIRE(first);
  CHECK(first->reason == "its lease ran out");
  CHECK(first->at_wall_ms == until_ms);
  q.lease();
  q.clock().advance(60'000);
  REQUIRE(q.get(id).state == State::dead);
  CHECK(q.get(id).last_error.value().reason == "its lease ran out");
}

TEST_CASE("what a process still holds when it leaves is given back uncounted") {
  ON_EVERY_ENGINE(q);
  const MessageId id = q.push("t", "x");
  std::unique_ptr<Queue> other = q.another_handle();
  REQUIRE(other->lease({}).value().deliveries.size() == 1);
  other.reset();
  CHECK(q.get(id).attempts == 0);
  CHECK(q.get(id).crashes == 0);
}

}  // namespace fq::test
