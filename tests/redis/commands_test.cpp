// commands_test - commands in a queue on a server: those are run that whoever has the key has put there, and
// no other, whatever stands on the server.
#include "tests/redis/command_fixture.h"

// System.
#include <atomic>
// Tests.
#include "tests/redis/relay.h"

namespace fq::test {

TEST_CASE("a command that was pushed with the key is run by whoever has it") {
  Commands c;
  const MessageId id = c.push();
  const auto other = c.open(told_time_engine());
  const LeaseReply reply = c.lease(*other);
  REQUIRE(reply.deliveries.size() == 1);
  CHECK(reply.deliveries[0].id == id);
  CHECK(reply.deliveries[0].command == command_message().command);
  CHECK(other->take_notices().empty());
}

TEST_CASE("a command that somebody has put on the server is buried and not run, and the next one is served") {
  Commands c;
  const MessageId planted = c.push(message_for("t", "in"));
  c.plant(planted, command_message());
  const MessageId good = c.push();
  const LeaseReply reply = c.lease(*c.queue);
  REQUIRE(reply.deliveries.size() == 1);
  CHECK(reply.deliveries[0].id == good);
  CHECK(reply.lost.size() == 1);
  const MessageInfo info = answered(c.queue->get(planted)).value();
  CHECK(info.state == State::dead);
  CHECK(info.last_error->reason == "its command is not signed");
  const std::vector<std::string> notices = c.queue->take_notices();
  REQUIRE(notices.size() == 1);
  CHECK(notices[0] == "message 1 of queue 'default': was buried and not run: its command is not signed");
}

TEST_CASE("no byte of a command, its signature and its payload on the server may be another") {
  Commands c;
  const NewMessage message = command_message();
  const std::string whole = c.record(c.push(message));
  REQUIRE(answered(c.queue->mutate(Filter{}, Action::cancel, {}, 10)).changed == 1);
  const size_t head = whole.size() - rest_of_record(whole).size();
  const size_t begin = whole.find("sh") - 4;  // how many words there are, and how long the first is
  for (size_t i = begin; i < whole.size(); ++i) {
    const MessageId id = c.push(message);
    std::string bytes = c.record(id);
    REQUIRE(bytes.size() == whole.size());
    bytes[i] = static_cast<char>(bytes[i] ^ 1);
    c.set_record(id, bytes);
    CAPTURE(i - begin);
    const Result<LeaseReply> reply = c.queue->lease(for_a_minute());
    CHECK((!reply.ok() || reply->deliveries.empty()));
    c.set_record(id, c.record(id).substr(0, head) + whole.substr(head));
    REQUIRE(answered(c.queue->mutate(Filter{}, Action::cancel, {}, 10)).changed == 1);
  }
}

TEST_CASE("a signature is good for its message only: not for another tenant, payload or queue") {
  Commands c;
  const MessageId first = c.push(command_message("a"));
  const std::string rest(rest_of_record(c.record(first)));
  REQUIRE(answered(c.queue->mutate(std::array{first}, Action::cancel)).changed == 1);
  SECTION("tenant") {
    const MessageId id = c.push(command_message("b"));
    c.set_rest(id, rest);
    CHECK(c.buried(id) == kForged);
  }
  SECTION("payload") {
    const MessageId id = c.push(command_message("a"));
    std::string other = rest;
    other.replace(other.size() - 2, 2, "IN");
    c.set_rest(id, other);
    CHECK(c.buried(id) == kForged);
  }
  SECTION("queue") {
    OpenOptions options;
    options.create = true;
    options.clock = &c.clock;
    const auto there = answered(told_time_engine().open({c.server.spool(), "other"}, options));
    const NewMessage message = command_message("a");
    const MessageId id = answered(there->push({&message, 1})).items.at(0).id;
    const std::string key = Commands::key(id, "other"), bytes = command(c.server, {"GET", key}).text;
    command(c.server, {"SET", key, bytes.substr(0, bytes.size() - rest.size()) + rest});
    CHECK(answered(there->lease(for_a_minute())).deliveries.empty());
    CHECK(answered(there->get(id))->last_error->reason == kForged);
  }
  SECTION("the same message again is not told apart") {
    const MessageId id = c.push(command_message("a"));
    c.set_rest(id, rest);
    CHECK(c.is_served(id));
  }
}

TEST_CASE("another's key is no key") {
  Commands c;
  const auto others = c.open(others_engine());
  const NewMessage message = command_message();
  const MessageId id = answered(others->push({&message, 1})).items.at(0).id;
  CHECK(c.buried(id) == "its command is signed with another key");
}

TEST_CASE("a command is run for as long after its push as the queue's policy says") {
  Commands c;
  SECTION("7 days") {
    const MessageId id = c.push();
    c.clock.advance(7 * kDay);
    CHECK(c.is_served(id));
  }
  SECTION("and no longer") {
    const MessageId id = c.push();
    c.clock.advance(7 * kDay + 1'000);
    CHECK(c.buried(id) == "its command was signed 7d1s ago, and command_age of the queue is 7d");
  }
  SECTION("as it was set") {
    REQUIRE(c.queue->policy_set("", {{{PolicyKey::command_age, 3'600'000, 0, {}}}, {}}).ok());
    const MessageId id = c.push();
    c.clock.advance(3'601'000);
    CHECK(c.buried(id) == "its command was signed 1h1s ago, and command_age of the queue is 1h");
  }
  SECTION("unlimited") {
    REQUIRE(c.queue->policy_set("", {{{PolicyKey::command_age, kUnlimited, 0, {}}}, {}}).ok());
    const MessageId id = c.push();
    c.clock.advance(400 * kDay);
    CHECK(c.is_served(id));
  }
  SECTION("a delayed one from when it is due") {
    NewMessage message = command_message();
    message.delay_ms = 30 * kDay;
    const MessageId id = c.push(message);
    c.clock.advance(37 * kDay);
    CHECK(c.is_served(id));
  }
  SECTION("retries do not make it younger") {
    NewMessage message = command_message();
    message.attempts_max = 9;
    const MessageId id = c.push(message);
    c.clock.advance(6 * kDay);
    Settle retry;
    retry.receipt = c.lease(*c.queue).deliveries.at(0).receipt;
    retry.verdict = Verdict::retry;
    retry.delay_ms = 2 * kDay;
    CHECK(answered(c.queue->settle({&retry, 1})).items.at(0) == SettleStatus::ok);
    c.clock.advance(2 * kDay);
    CHECK(c.buried(id).starts_with("its command was signed 8d ago"));
  }
}

TEST_CASE("without the key no command is pushed, by none of all ways, and nothing else is in the way") {
  Commands c;
  const auto keyless = c.open(keyless_engine());
  const auto is_refused = [](const auto& result) {
    return !result.ok() && result.error().kind == ErrorKind::config &&
           result.error().text.find("FQ_REDIS_COMMAND_KEY_FILE") != std::string::npos;
  };
  const std::array batch = {message_for("t"), command_message()};
  CHECK(is_refused(keyless->push(batch)));
  push_one(*keyless, "t", "x");
  CHECK(answered(keyless->stats({})).rows.at(0).pushed == 1);
  ScheduleDefinition definition;
  definition.name = "s";
  definition.spec = "every 1m";
  definition.message = command_message();
  CHECK(is_refused(keyless->schedules()->set(definition)));
  LeaseRequest request = for_a_minute();
  request.runs_commands = false;
  const LeaseReply leased = answered(keyless->lease(request));
  CHECK(is_refused(keyless->steps()->push(leased.deliveries.at(0).receipt, "child", command_message())));
  CHECK(is_refused(keyless_engine().check_takes_commands(c.server.spool(), "push")));
  CHECK(told_time_engine().check_takes_commands(c.server.spool(), "push").ok());
}

TEST_CASE("without the key a message with a command stays out of an import, and the others come in") {
  Commands c;
  const auto keyless = c.open(keyless_engine());
  std::array<ExportedMessage, 3> messages;
  for (size_t i = 0; i < messages.size(); ++i) messages[i].id = MessageId{i + 1}, messages[i].tenant = "t";
  messages[1].command = command_message().command;
  const ImportReply reply = answered(keyless->import_messages(messages, "elsewhere"));
  REQUIRE(reply.items.size() == messages.size());
  CHECK(reply.items[0].what == ImportResult::What::imported);
  CHECK(reply.items[1].what == ImportResult::What::refused);
  CHECK(reply.items[1].why.starts_with("command: commands on a server are signed"));
  CHECK(reply.items[2].what == ImportResult::What::imported);
}

TEST_CASE("who runs messages' own commands needs the key; to others they are data") {
  Commands c;
  const MessageId id = c.push();
  const auto keyless = c.open(keyless_engine());
  const Result<LeaseReply> refused = keyless->lease(for_a_minute());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind == ErrorKind::config);
  CHECK(refused.error().text.find("FQ_REDIS_COMMAND_KEY_FILE") != std::string::npos);
  LeaseRequest request = for_a_minute(0);  // has no room yet, and would end if all were done
  request.until_idle = true;
  const Result<LeaseReply> early = keyless->lease(request);
  REQUIRE_FALSE(early.ok());
  CHECK(early.error().kind == ErrorKind::config);
  request = for_a_minute();
  request.runs_commands = false;
  const LeaseReply reply = answered(keyless->lease(request));
  REQUIRE(reply.deliveries.size() == 1);
  CHECK(reply.deliveries[0].id == id);
}

TEST_CASE("who has the key is not given a forged one as data, either") {
  Commands c;
  const MessageId id = c.push();
  c.plant(id, command_message());
  LeaseRequest request = for_a_minute();
  request.runs_commands = false;
  CHECK(answered(c.queue->lease(request)).deliveries.empty());
  CHECK(answered(c.queue->get(id))->state == State::dead);
}

TEST_CASE("forged ones in a page of many are left out, and others come in their place") {
  Commands c;
  std::vector<MessageId> good;
  for (int i = 0; i < 200; ++i) {
    const MessageId id = c.push();
    if (i % 2 == 0) c.plant(id, command_message());
    if (i % 2 == 1) good.push_back(id);
  }
  const LeaseReply reply = answered(c.queue->lease(for_a_minute(150)));
  REQUIRE(reply.deliveries.size() == good.size());
  for (size_t i = 0; i < good.size(); ++i) CHECK(reply.deliveries[i].id == good[i]);
  CHECK(reply.lost.size() == 100);
}

TEST_CASE("verdicts that were taken are told so where what was leased behind them cannot be looked at") {
  Commands c;
  std::atomic<bool> is_refused{false};
  const Relay relay(c.server, [&](const std::string& asked) {
    const bool is_policy = asked.find("_look") != std::string::npos && asked.find("policy") != std::string::npos;
    return is_refused && is_policy ? "-MISCONF it cannot save\r\n" : "";
  });
  const auto queue = open_on(told_time_engine(), relay.spool(), &c.clock);
  Settle done;
  c.push(message_for("t", "first"));
  done.receipt = answered(queue->lease({})).deliveries.at(0).receipt;
  is_refused = true;
  LeaseRequest next;
  next.want = 2;
  SECTION("what was given before is given") {
    const MessageId second = c.push(message_for("t", "second"));
    const MessageId third = c.push();
    const SettleReply reply = answered(queue->settle({&done, 1}, &next));
    CHECK(reply.items.at(0) == SettleStatus::ok);
    CHECK(!reply.error);
    REQUIRE((reply.next && reply.next->deliveries.size() == 1));
    CHECK(reply.next->deliveries[0].id == second);
    is_refused = false;
    const LeaseReply again = answered(queue->lease({}));
    REQUIRE(again.deliveries.size() == 1);
    CHECK(again.deliveries[0].id == third);
  }
  SECTION("where that is nothing, why is said") {
    const MessageId second = c.push();
    const SettleReply reply = answered(queue->settle({&done, 1}, &next));
    CHECK(reply.items.at(0) == SettleStatus::ok);
    CHECK(reply.error.has_value());
    is_refused = false;
    const LeaseReply again = answered(queue->lease({}));
    REQUIRE(again.deliveries.size() == 1);
    CHECK(again.deliveries[0].id == second);
  }
}

}  // namespace fq::test
