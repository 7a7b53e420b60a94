// awaited_test - who waits for an end, an idle queue, an event, room or what a job writes is told, and pays
// for that alone.
//
// Patience is 10 s in most of these, longer than a test waits for anything: a bell that is lost is seen.

// System.
#include <functional>
// Tests.
#include "tests/redis/awaited_scene.h"
#include "tests/redis/relay.h"

namespace fq::test {

namespace {

using What = FollowStep::What;

InThread<Result<EndStatus>> await(Queue& queue, EndRequest request) {
  return InThread<Result<EndStatus>>([&queue, request](Interrupt& interrupt) {
    EndRequest asked = request;
    asked.interrupt = &interrupt;
    return queue.await_end(asked);
  });
}

struct Seen {
  std::string kinds;  // of events
};
InThread<Seen> next_events(Queue& queue, std::function<void(EventRequest&)> ask = {}) {
  return InThread<Seen>([&queue, ask](Interrupt& interrupt) {
    EventRequest request;
    if (ask) ask(request);
    EventPage page;
    do {
      answered(queue.events(request, page));
      request.from = page.next;
    } while (!page.at_end);
    request.wait = true;
    request.interrupt = &interrupt;
    answered(queue.events(request, page));
    Seen seen;
    for (const Event& event : page.events) seen.kinds += std::string(event.event) + " ";
    return seen;
  });
}

/// How much a server does in a third of a second.
uint64_t calls_in_a_while(const AwaitedScene& scene) {
  const uint64_t before = scene.calls("fcall");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  return scene.calls("fcall") - before;
}

}  // namespace

TEST_CASE("who waits for messages to end is told of the last end, and looks at nothing meanwhile") {
  const AwaitedScene scene(GENERATE(1U, 4U));
  const std::vector<MessageId> ids = {push_one(*scene.s.queue, "a", "1"), push_one(*scene.s.queue, "b", "2"),
                                      push_one(*scene.s.queue, "c", "3")};
  std::vector<Receipt> receipts;
  for (size_t i = 0; i < ids.size(); ++i) receipts.push_back(scene.take());
  const auto queue = scene.patient();
  auto waits = await(*queue, {.ids = ids});
  scene.wait_for_waiters("be");
  wait_until([&] { return calls_in_a_while(scene) == 0; });
  for (size_t i = 0; i < receipts.size(); ++i) {
    CHECK(!waits.is_back(20));
    scene.ack(receipts[i]);
  }
  CHECK(answered(waits.result()) == EndStatus::ended);
  CHECK(scene.waiters("be") == 0);
}

TEST_CASE("who waits for an end is told of it however the message ends") {
  const AwaitedScene scene;
  const MessageId id = push_one(*scene.s.queue, "t", "x");
  const auto queue = scene.patient();
  auto waits = await(*queue, {.ids = {&id, 1}});
  scene.wait_for_waiters("be");
  SECTION("cancelled") { answered(scene.s.queue->mutate({&id, 1}, Action::cancel)); }
  SECTION("buried") {
    Settle verdict;
    verdict.receipt = scene.take();
    verdict.verdict = Verdict::bury;
    answered(scene.s.queue->settle({&verdict, 1}));
  }
  SECTION("moved") {
    OpenOptions options;
    options.create = true;
    answered(real_time_engine().open({scene.s.server.spool(), "other"}, options));
    answered(scene.s.queue->move({&id, 1}, {.to = "other"}));
  }
  CHECK(answered(waits.result()) == EndStatus::ended);
}

TEST_CASE("whether a queue is idle costs the same however many tenants are paused") {
  const AwaitedScene scene;
  const auto cost = [&] {
    const uint64_t before = scene.calls("get");
    CHECK(answered(scene.s.queue->await_end({.until_idle = true, .wait_ms = 0})) == EndStatus::ended);
    return scene.calls("get") - before;
  };
  std::vector<NewMessage> messages;
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back("t" + std::to_string(i));
  for (const std::string& name : names) {
    scene.set(name, PolicyKey::paused, 1);
    messages.push_back(message_for(name));
  }
  answered(scene.s.queue->push(std::span(messages).first(1)));
  const uint64_t of_one = cost();
  answered(scene.s.queue->push(messages));
  CHECK(cost() <= of_one + 5);
}

TEST_CASE("who waits until a queue is idle is told when it is") {
  const AwaitedScene scene(GENERATE(1U, 4U));
  push_one(*scene.s.queue, "a", "1");
  push_one(*scene.s.queue, "b", "2");
  const Receipt first = scene.take(), second = scene.take();
  const auto queue = scene.patient();
  SECTION("and takes nothing") {
    auto waits = await(*queue, {.until_idle = true});
    scene.wait_for_waiters("bi");
    wait_until([&] { return calls_in_a_while(scene) == 0; });
    scene.ack(first);
    CHECK(!waits.is_back(20));
    scene.ack(second);
    CHECK(answered(waits.result()) == EndStatus::ended);
  }
  SECTION("or takes what comes") {
    LeaseRequest request = until_there();
    request.until_idle = true;
    Waiter waiter(scene.patient(), request);
    scene.wait_for_waiters("bi");
    wait_until([&] { return calls_in_a_while(scene) == 0; });
    scene.ack(first);
    CHECK(!waiter.is_back(20));
    scene.ack(second);
    CHECK(waiter.reply().why_empty == WhyEmpty::idle);
  }
  SECTION("and what is left is paused") {
    push_one(*scene.s.queue, "c/x", "3");
    auto waits = await(*queue, {.until_idle = true});
    scene.wait_for_waiters("bi");
    wait_until([&] { return calls_in_a_while(scene) == 0; });
    scene.ack(first);
    scene.ack(second);
    CHECK(!waits.is_back(20));
    scene.set("c", PolicyKey::paused, 1);
    CHECK(answered(waits.result()) == EndStatus::ended);
  }
  SECTION("or takes what comes, and that comes") {
    LeaseRequest request = until_there();
    request.until_idle = true;
    Waiter waiter(scene.patient(), request);
    scene.wait_for_waiters("bi");
    push_one(*scene.s.queue, "c", "3");
    CHECK(waiter.reply().deliveries.size() == 1);
  }
  CHECK(scene.waiters("bi") == 0);
}

TEST_CASE("who follows what happens is told of it, and of no other tenant and no other message") {
  const AwaitedScene scene(GENERATE(1U, 4U));
  const MessageId id = push_one(*scene.s.queue, "a/b", "1");
  const auto queue = scene.patient();
  SECTION("of all") {
    auto events = next_events(*queue);
    scene.wait_for_waiters("bl", static_cast<int64_t>(scene.tags.size()));
    wait_until([&] { return calls_in_a_while(scene) == 0; });
    push_one(*scene.s.queue, "other", "x");
    CHECK(events.result().kinds == "pushed ");
  }
  SECTION("of a tenant") {
    auto events = next_events(*queue, [](EventRequest& request) { request.tenant = "a"; });
    scene.wait_for_waiters("bl");
    wait_until([&] { return calls_in_a_while(scene) == 0; });
    const uint64_t before = scene.calls("xrange");
    push_one(*scene.s.queue, "ab", "x");
    CHECK(!events.is_back(100));
    CHECK(scene.calls("xrange") == before);
    push_one(*scene.s.queue, "a/c", "x");
    CHECK(events.result().kinds == "pushed ");
  }
  SECTION("of a message") {
    auto events = next_events(*queue, [id](EventRequest& request) { request.id = id; });
    scene.wait_for_waiters("bl");
    wait_until([&] { return calls_in_a_while(scene) == 0; });
    const uint64_t before = scene.calls("xrange");
    push_one(*scene.s.queue, "a/b", "x");
    CHECK(!events.is_back(100));
    CHECK(scene.calls("xrange") == before);
    answered(scene.s.queue->mutate({&id, 1}, Action::cancel));
    CHECK(events.result().kinds == "cancelled ");
  }
}

TEST_CASE(
    "a push that is in the way of a limit is told when there is room, the first that came before others") {
  const AwaitedScene scene;
  const std::string limited = GENERATE(std::string(), std::string("t"));
  scene.set(limited, PolicyKey::max_messages, 1);
  push_one(*scene.s.queue, "t", "first");
  const auto one = scene.patient(), two = scene.patient();
  const auto push_to = [&](Queue& queue) {
    return InThread<Result<PushReply>>([&queue](Interrupt& interrupt) {
      const NewMessage message = message_for("t/u");
      PushOptions options;
      options.block = true;
      options.interrupt = &interrupt;
      return queue.push({&message, 1}, options);
    });
  };
  auto first = push_to(*one);
  scene.wait_for_waiters("br", 1);
  auto second = push_to(*two);
  scene.wait_for_waiters("br", 2);
  wait_until([&] { return calls_in_a_while(scene) == 0; });
  SECTION("one has ended") {
    scene.ack(scene.take());
    CHECK(first.result().ok());
    CHECK(!second.is_back(50));
    scene.ack(scene.take());
    CHECK(second.result().ok());
  }
  SECTION("the limit is higher") {
    scene.set(limited, PolicyKey::max_messages, 10);
    CHECK(first.result().ok());
    CHECK(second.result().ok());
  }
  SECTION("another tenant's end is none of theirs, where that is under no limit of theirs") {
    if (limited.empty()) return;
    push_one(*scene.s.queue, "other", "x");
    const uint64_t before = scene.calls("fcall");
    LeaseRequest of_other = for_a_minute();
    of_other.tenant = "other";
    scene.ack(answered(scene.s.queue->lease(of_other)).deliveries.at(0).receipt);
    CHECK(!first.is_back(50));
    CHECK(scene.calls("fcall") - before == 2);
  }
}

TEST_CASE("who follows a job is told when it begins, when it writes, and when it has ended") {
  const AwaitedScene scene(GENERATE(1U, 4U));
  const MessageId id = push_one(*scene.s.queue, "t", "x");
  const auto queue = scene.patient();
  const auto follower = answered(queue->follow(id, {}));
  const auto next = [&] {
    return InThread<std::pair<What, std::string>>([&](Interrupt& interrupt) {
      const FollowStep step = answered(follower->next({{}, false, &interrupt}));
      return std::pair(step.what, std::string(step.bytes));
    });
  };
  std::shared_ptr<RunOutput> run;
  {
    auto step = next();
    scene.wait_for_waiters("bo");
    LeaseReply leased = answered(scene.s.queue->lease(for_a_minute()));
    const Delivery& delivery = leased.deliveries.at(0);
    run = answered(scene.s.queue->run_output(delivery, {1000, false}));
    REQUIRE(run->open().ok());
    CHECK(step.result().first == What::run);
    for (const char* text : {"one", "two"}) {
      auto bytes = next();
      scene.wait_for_waiters("bo");
      wait_until([&] { return calls_in_a_while(scene) == 0; });
      run->write(Channel::out, text);
      CHECK(bytes.result() == std::pair(What::bytes, std::string(text)));
    }
    auto end = next();
    scene.wait_for_waiters("bo");
    run->close();
    CHECK(!end.is_back(20));
    scene.ack(delivery.receipt);
    CHECK(end.result().first == What::ended);
  }
}

TEST_CASE("what nobody rings for is found when patience is over") {
  const AwaitedScene scene;
  const MessageId id = push_one(*scene.s.queue, "t", "x");
  const auto queue = scene.patient("?poll=500ms");
  command(scene.s.server, {"ACL", "SETUSER", "admin", "on", ">all", "~*", "&*", "+@all"});
  auto waits = await(*queue, {.ids = {&id, 1}});
  scene.wait_for_waiters("be");
  command(scene.s.server, {"ACL", "SETUSER", "default", "-spublish"});
  answered(scene.s.queue->mutate({&id, 1}, Action::cancel));
  CHECK(answered(waits.result()) == EndStatus::ended);
}

TEST_CASE("who may not be told looks often") {
  const AwaitedScene scene;
  const MessageId id = push_one(*scene.s.queue, "t", "x");
  command(scene.s.server, {"ACL", "SETUSER", "default", "-ssubscribe"});
  const auto queue = scene.patient();
  auto waits = await(*queue, {.ids = {&id, 1}});
  CHECK(!waits.is_back(100));
  answered(scene.s.queue->mutate({&id, 1}, Action::cancel));
  CHECK(answered(waits.result()) == EndStatus::ended);
}

TEST_CASE("a wait for an end goes on where its connections are cut, and is told all the same") {
  const AwaitedScene scene;
  const MessageId id = push_one(*scene.s.queue, "t", "x");
  Relay relay(scene.s.server);
  const auto queue = open_on(real_time_engine(), relay.spool(kVeryPatient));
  auto waits = await(*queue, {.ids = {&id, 1}});
  scene.wait_for_waiters("be");
  relay.cut();
  SECTION("at once") {}
  SECTION("and some time later") {
    wait_until([&] { return command(scene.s.server, {"PUBSUB", "SHARDCHANNELS"}).items.size() == 1; });
    wait_until([&] { return calls_in_a_while(scene) == 0; });
  }
  answered(scene.s.queue->mutate({&id, 1}, Action::cancel));
  CHECK(answered(waits.result()) == EndStatus::ended);
}

TEST_CASE("an end between the look and the subscription is found by the second look") {
  const AwaitedScene scene(GENERATE(1U, 4U));
  const MessageId id = push_one(*scene.s.queue, "t", "x");
  std::atomic<bool> is_over = false;
  const Relay relay(scene.s.server, [&](const std::string& asked) {
    const bool subscribes = asked.find("SSUBSCRIBE") != std::string::npos;
    if (subscribes && !is_over.exchange(true)) answered(scene.s.another()->mutate({&id, 1}, Action::cancel));
    return std::string();
  });
  const auto queue = open_on(real_time_engine(), relay.spool(kVeryPatient));
  auto waits = await(*queue, {.ids = {&id, 1}});
  CHECK(answered(waits.result()) == EndStatus::ended);
  CHECK(is_over);
}

TEST_CASE("who gives up is struck out, and what nobody waits for any more costs no call") {
  const AwaitedScene scene(GENERATE(1U, 4U));
  const auto life = [&] {
    push_one(*scene.s.queue, "t", "x");
    scene.ack(scene.take());
  };
  const auto cost_of_life = [&] {
    const uint64_t before = scene.calls("");
    life();
    return scene.calls("") - before;
  };
  life();
  const uint64_t usual = cost_of_life();
  const MessageId id = push_one(*scene.s.queue, "t", "x");
  const int64_t began_ms = system_clock().boot_ms();
  CHECK(answered(scene.patient()->await_end({.ids = {&id, 1}, .wait_ms = 50})) == EndStatus::timed_out);
  CHECK(answered(scene.patient()->await_end({.until_idle = true, .wait_ms = 50})) == EndStatus::timed_out);
  EventRequest request;
  EventPage page;
  {
    const auto queue = scene.patient();
    do {
      REQUIRE(queue->events(request, page).ok());
      request.from = page.next;
    } while (!page.at_end);
    request.wait = true;
    request.wait_ms = 50;
    REQUIRE(queue->events(request, page).ok());
    CHECK(scene.waiters("bl") > 0);
  }
  CHECK(system_clock().boot_ms() - began_ms < 5'000);  // when a wait is over, and not its patience
  for (const char* list : {"be", "bi", "bl", "br", "bo"}) CHECK(scene.waiters(list) == 0);
  scene.ack(scene.take());
  for (int i = 0; i < 2; ++i) life();  // whoever meets that nobody is left says so
  const std::string root = scene.tags[scene.tags.size() == 1 ? 0 : shard_of(id)] + "h";
  CHECK(command(scene.s.server, {"HGET", root, "awaited"}).text.empty());
  CHECK(cost_of_life() == usual);
}

TEST_CASE("one who died while it waited for an end costs the bell that it does not hear") {
  const AwaitedScene scene;
  const MessageId id = push_one(*scene.s.queue, "t", "x");
  const auto queue = scene.patient();
  auto waits = await(*queue, {.ids = {&id, 1}});
  scene.wait_for_waiters("be");
  command(scene.s.server, {"ZADD", scene.tags[0] + "be", std::to_string(number(id)), "zzzzzzzzzzz"});
  command(scene.s.server, {"ZADD", scene.tags[0] + "be", std::to_string(number(id)), "00000000000"});
  answered(scene.s.queue->mutate({&id, 1}, Action::cancel));
  CHECK(answered(waits.result()) == EndStatus::ended);
  CHECK(scene.waiters("be") == 0);
}

}  // namespace fq::test
