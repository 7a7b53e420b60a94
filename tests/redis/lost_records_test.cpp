// lost_records_test - a message whose record is missing on the server, or damaged, costs that message: all
// others go on, and check names it.

// System.
#include <algorithm>
// Tests.
#include "tests/redis/fixture.h"

namespace fq::test {

namespace {

std::string record_of(MessageId id) { return "fq1:fq:{default:0:0}:m:" + std::to_string(number(id)); }

enum class Loss { missing, garbage, short_head, other_version, names_cut, payload_cut };
Loss any_loss() {
  return GENERATE(Loss::missing, Loss::garbage, Loss::short_head, Loss::other_version, Loss::names_cut,
                  Loss::payload_cut);
}

struct Losing {
  FakeClock clock;
  TestServer server;
  std::unique_ptr<Queue> queue = open_on(told_time_engine(), server.spool(), &clock);

  void set(std::string_view path, PolicyKey key, int64_t number) {
    REQUIRE(queue->policy_set(path, {{{key, number, 0, {}}}, {}}).ok());
  }
  void lose(MessageId id, Loss loss) {
    const std::string key = record_of(id);
    const std::string bytes = command(server, {"GET", key}).text;
    REQUIRE(bytes.size() > 115);
    if (loss == Loss::missing) command(server, {"DEL", key});
    if (loss == Loss::garbage) command(server, {"SET", key, "garbage"});
    if (loss == Loss::short_head) command(server, {"SET", key, bytes.substr(0, 60)});
    if (loss == Loss::other_version) command(server, {"SETRANGE", key, "0", "\x7f"});
    if (loss == Loss::names_cut) command(server, {"SET", key, bytes.substr(0, 116)});
    if (loss == Loss::payload_cut) command(server, {"SET", key, bytes.substr(0, bytes.size() - 1)});
  }
  bool finds(std::string_view what) {
    const CheckReport report = answered(queue->check());
    for (const std::string& line : report.findings.lines) {
      UNSCOPED_INFO(line);
      if (line.find(what) != std::string::npos) return true;
    }
    return false;
  }
  /// All that people ask of a queue answers.
  void look_at_all(MessageId id) {
    for (const State state : {State::ready, State::delayed, State::leased, State::held, State::dead}) {
      Filter filter;
      filter.state = state;
      answered(queue->peek(filter, {}, 100));
    }
    answered(queue->peek({}, {}, 100));
    Filter tagged;
    tagged.tag = Tag{"color", "red"};
    answered(queue->peek(tagged, {}, 100));
    answered(queue->stats(StatsRequest()));
    ExplainRequest request;
    request.id = id;
    answered(queue->explain(request));
    answered(queue->check());
  }
};

std::vector<std::string> payloads_of(const LeaseReply& reply) {
  std::vector<std::string> found;
  for (const Delivery& each : reply.deliveries) found.emplace_back(each.payload.bytes());
  return found;
}

MessageId push_after(Queue& queue, MessageId first) {
  NewMessage message;
  message.tenant = "b";
  message.payload = as_bytes("after");
  message.after = {first};
  return answered(queue.push({&message, 1})).items.at(0).id;
}

}  // namespace

TEST_CASE("a ready message whose record is lost is passed over and named") {
  Losing c;
  const Loss loss = any_loss();
  const bool by_rank = GENERATE(false, true);
  CAPTURE(static_cast<int>(loss), by_rank);
  if (by_rank) c.set("", PolicyKey::scope, static_cast<int64_t>(Scope::queue));
  const MessageId lost = push_one(*c.queue, "a", "1");
  push_one(*c.queue, "a", "2");
  push_one(*c.queue, "b", "3");
  c.lose(lost, loss);
  c.look_at_all(lost);
  CHECK(c.finds("message 1: its "));
  const LeaseReply reply = answered(c.queue->lease(for_a_minute(9)));
  std::vector<std::string> payloads = payloads_of(reply);
  std::sort(payloads.begin(), payloads.end());
  CHECK(payloads == std::vector<std::string>{"2", "3"});
  CHECK(reply.lost.size() == 1);
  std::vector<std::string> notices = c.queue->take_notices();
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].starts_with("message 1 of queue 'default': "));
  c.look_at_all(lost);
  CHECK(answered(c.queue->lease(for_a_minute(9))).lost.size() == 0);
}

namespace {

/// One message in each state, and one that waits for the first.
struct InAllStates : Losing {
  std::unique_ptr<Queue> worker = open_on(told_time_engine(), server.spool(), &clock);
  std::vector<MessageId> ids;
  MessageId waiter{};

  InAllStates() {
    set("", PolicyKey::retention, 60'000);  // the lost one would be told of after its end
    // Leased by living, leased for a time, dead.
    for (const std::string_view tenant : {"living", "timed", "dead"}) push(tenant);
    LeaseRequest request = for_a_minute(1);
    request.tenant = "living";
    request.hold = Hold::process;
    REQUIRE(answered(worker->lease(request)).deliveries.size() == 1);
    request = for_a_minute(1);
    request.tenant = "timed";
    REQUIRE(answered(worker->lease(request)).deliveries.size() == 1);
    request.tenant = "dead";
    Settle bury;
    bury.receipt = answered(queue->lease(request)).deliveries.at(0).receipt;
    bury.verdict = Verdict::bury;
    REQUIRE(answered(queue->settle({&bury, 1})).items.at(0) == SettleStatus::ok);
    push("ready");
    push("delayed", [](NewMessage& m) { m.delay_ms = 10'000; });
    push("held", [this](NewMessage& m) { m.after.push_back(ids[0]); });
    waiter = push("waiter", [this](NewMessage& m) { m.after.push_back(ids[4]); });
    ids.pop_back();
  }
  template <class Change = void (*)(NewMessage&)>
  MessageId push(
      std::string_view tenant, Change change = [](NewMessage&) {}) {
    NewMessage message;
    message.tenant = tenant;
    message.payload = as_bytes("payload");
    message.unique = tenant;
    message.tags = {{"color", "red"}};
    change(message);
    ids.push_back(answered(queue->push({&message, 1})).items.at(0).id);
    return ids.back();
  }
};

}  // namespace

TEST_CASE(
    "a message of any state whose record is lost stops nothing, and a repair brings all others to agree") {
  InAllStates c;
  const Loss loss = GENERATE(Loss::missing, Loss::garbage, Loss::payload_cut);
  const size_t which = GENERATE(range(size_t{0}, size_t{6}));
  CAPTURE(static_cast<int>(loss), which);
  const MessageId lost = c.ids[which];
  c.lose(lost, loss);
  c.look_at_all(lost);
  CHECK(c.finds("message " + std::to_string(number(lost)) + ": its "));
  SECTION("time passes, and the rest is served") {
    c.worker.reset();
    for (int i = 0; i < 4; ++i) {
      c.clock.advance(70'000);
      answered(c.queue->lease(for_a_minute(1)));
    }
    c.clock.advance(70'000);
    size_t served = 0;
    for (LeaseReply reply; !(reply = answered(c.queue->lease(for_a_minute(9)))).deliveries.empty();)
      served += reply.deliveries.size();
    CHECK(served >= 3);
    c.look_at_all(lost);
  }
  SECTION("it is cancelled, and kicked") {
    const MessageId all[] = {lost};
    for (const Action action : {Action::kick, Action::cancel}) answered(c.queue->mutate(all, action));
    Filter filter;
    filter.tag = Tag{"color", "red"};
    answered(c.queue->mutate(filter, Action::cancel, {}, 100));
    c.look_at_all(lost);
  }
  SECTION("all others go") {
    Filter filter;
    for (Cursor from;;) {
      const MutateReply reply = answered(c.queue->mutate(filter, Action::cancel, from, 100));
      if (reply.next.text.empty()) break;
      from = reply.next;
    }
    c.look_at_all(lost);
  }
  const CheckReport report = answered(c.queue->check({.repair = true}));
  for (const std::string& line : report.findings.lines) {
    INFO(line);
    CHECK((loss == Loss::payload_cut && line.ends_with("its payload cannot be read")));
  }
  const CheckReport again = answered(c.queue->check());
  CHECK(again.findings.lines == report.findings.lines);
  c.clock.advance(3'600'000);
  push_one(*c.queue, "new", "x");
  LeaseRequest request = for_a_minute(1);
  request.tenant = "new";
  CHECK(payloads_of(answered(c.queue->lease(request))) == std::vector<std::string>{"x"});
}

TEST_CASE("one of which it is lost what it waits for stops nothing, and is served behind that") {
  Losing c;
  const MessageId first = push_one(*c.queue, "a", "first");
  const MessageId after = push_after(*c.queue, first);
  const std::string key = "fq1:fq:{default:0:0}:a:" + std::to_string(number(after));
  const bool is_cut = GENERATE(false, true);
  if (is_cut) command(c.server, {"SET", key, "cut"});
  if (!is_cut) command(c.server, {"DEL", key});
  c.look_at_all(after);
  Settle ack;
  ack.receipt = answered(c.queue->lease(for_a_minute())).deliveries.at(0).receipt;
  CHECK(answered(c.queue->settle({&ack, 1})).items.at(0) == SettleStatus::ok);
  CHECK(payloads_of(answered(c.queue->lease(for_a_minute()))) == std::vector<std::string>{"after"});
  CHECK(answered(c.queue->check()).findings.empty());
}

TEST_CASE("one of which it is lost that it waits is found, and is served after a repair") {
  Losing c;
  const MessageId first = push_one(*c.queue, "a", "first");
  push_after(*c.queue, first);
  CHECK(answered(c.queue->check()).findings.empty());
  command(c.server, {"DEL", "fq1:fq:{default:0:0}:w:1"});
  CHECK(c.finds("message 2: is held, and what is held for message 1 says something else"));
  const bool repaired_before = GENERATE(true, false);
  CAPTURE(repaired_before);
  if (repaired_before) CHECK(answered(c.queue->check({.repair = true})).findings.empty());
  Settle ack;
  ack.receipt = answered(c.queue->lease(for_a_minute())).deliveries.at(0).receipt;
  CHECK(answered(c.queue->settle({&ack, 1})).items.at(0) == SettleStatus::ok);
  if (!repaired_before) {
    CHECK(payloads_of(answered(c.queue->lease(for_a_minute()))).empty());
    CHECK(answered(c.queue->check({.repair = true})).findings.empty());
  }
  CHECK(payloads_of(answered(c.queue->lease(for_a_minute()))) == std::vector<std::string>{"after"});
  CHECK(answered(c.queue->check()).findings.empty());
}

TEST_CASE("a tenant of which it is lost what is ready stops nobody, is named, and served after a repair") {
  Losing c;
  const bool by_rank = GENERATE(false, true);
  CAPTURE(by_rank);
  if (by_rank) c.set("", PolicyKey::scope, static_cast<int64_t>(Scope::queue));
  const MessageId first = push_one(*c.queue, "a", "1");
  push_one(*c.queue, "a", "2");
  push_one(*c.queue, "b", "3");
  command(c.server, {"DEL", "fq1:fq:{default:0:0}:q:a"});
  c.look_at_all(first);
  CHECK(payloads_of(answered(c.queue->lease(for_a_minute(9)))) == std::vector<std::string>{"3"});
  CHECK(c.queue->take_notices() ==
        std::vector<std::string>{
            "tenant 'a' of queue 'default': which of its messages are ready is lost; see fq check --repair"});
  CHECK(answered(c.queue->lease(for_a_minute(9))).lost.size() == 0);
  push_one(*c.queue, "a", "4");
  CHECK(payloads_of(answered(c.queue->lease(for_a_minute(9)))) == std::vector<std::string>{"4"});
  CHECK(c.finds("message 1: is ready"));
  answered(c.queue->check({.repair = true}));
  CHECK(payloads_of(answered(c.queue->lease(for_a_minute(9)))) == std::vector<std::string>{"1", "2"});
}

TEST_CASE("many lost records in one place cost one another's time only") {
  Losing c;
  const size_t count = 200;
  std::vector<NewMessage> messages(count);
  for (NewMessage& each : messages) each.tenant = "a", each.payload = as_bytes("payload");
  const PushReply pushed = answered(c.queue->push(messages));
  for (size_t i = 0; i + 1 < count; ++i) c.lose(pushed.items[i].id, Loss::missing);
  const LeaseReply reply = answered(c.queue->lease(for_a_minute(1)));
  CHECK(reply.deliveries.size() == 1);
  CHECK(reply.lost.size() == count - 1);
}

}  // namespace fq::test
