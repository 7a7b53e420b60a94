// changed_commands_test - who signs what becomes of a command on a server: replaced, edited, moved, exported,
// made by a schedule.
#include "tests/redis/command_fixture.h"

namespace fq::test {

TEST_CASE("a push that replaces another signs its own") {
  Commands c;
  NewMessage message = command_message();
  message.unique = "k";
  c.push(message);
  message.unique_mode = UniqueMode::replace;
  message.payload = as_bytes("another");
  message.command->argv = {"other"};
  const MessageId id = c.push(message);
  CHECK(c.is_served(id));
}

TEST_CASE("an edit signs what was genuine, or what the editor says") {
  Commands c;
  const MessageId id = c.push();
  const auto keyless = c.open(keyless_engine());
  MessagePatch payload, command, priority, tagged;
  payload.payload = as_bytes("another");
  command.command = std::optional(JobCommand{{"other"}, "/", {}});
  priority.priority = 3;
  tagged.tags = {{"k", "v"}};
  SECTION("with the key") {
    const MessagePatch* const patches[] = {&payload, &command, &priority, &tagged};
    for (const MessagePatch* each : patches) CHECK(answered(c.queue->edit(id, *each)) == SettleStatus::ok);
    CHECK(c.is_served(id));
  }
  SECTION("without it what is signed stays as it is, and the rest may change") {
    for (const MessagePatch* each : {&payload, &command}) {
      const Result<SettleStatus> refused = keyless->edit(id, *each);
      REQUIRE_FALSE(refused.ok());
      CHECK(refused.error().kind == ErrorKind::config);
    }
    for (const MessagePatch* each : {&priority, &tagged})
      CHECK(answered(keyless->edit(id, *each)) == SettleStatus::ok);
    CHECK(c.is_served(id));
  }
  SECTION("without it a command may be taken away") {
    MessagePatch none;
    none.command.emplace();
    CHECK(answered(keyless->edit(id, none)) == SettleStatus::ok);
    CHECK(c.lease(*c.queue).deliveries.size() == 1);
  }
  SECTION("a forged one does not become genuine by the way") {
    c.plant(id, command_message());
    const Result<SettleStatus> refused = c.queue->edit(id, payload);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == ErrorKind::bad_data);
    MessagePatch delayed;
    delayed.delay_ms = 0;
    const MessagePatch* const others[] = {&priority, &tagged, &delayed};
    for (const MessagePatch* each : others) CHECK(answered(c.queue->edit(id, *each)) == SettleStatus::ok);
    CHECK(c.buried(id) == "its command is not signed");
    CHECK(answered(c.queue->edit(id, command)) == SettleStatus::ok);
    CHECK(answered(c.queue->mutate(std::array{id}, Action::kick)).changed == 1);
    CHECK(c.is_served(id));
  }
  SECTION("its age counts from when it is due then") {
    MessagePatch delayed;
    delayed.delay_ms = 30 * kDay;
    CHECK(answered(c.queue->edit(id, delayed)) == SettleStatus::ok);
    CHECK(answered(c.queue->edit(id, payload)) == SettleStatus::ok);
    c.clock.advance(30 * kDay);
    CHECK(c.is_served(id));
  }
}

TEST_CASE("a move signs for the other queue what was genuine in this one") {
  Commands c;
  const MessageId id = c.push();
  REQUIRE(told_time_engine().create({c.server.spool(), "other"}, {}).ok());
  OpenOptions options;
  options.clock = &c.clock;
  const auto there = answered(told_time_engine().open({c.server.spool(), "other"}, options));
  REQUIRE(there->maintain(10).ok());  // which tells it the time
  MoveRequest request;
  request.to = "other";
  SECTION("it is run there, for another tenant too") {
    request.tenant = GENERATE(std::string(), std::string("u"));
    const MoveReply moved = answered(c.queue->move(std::array{id}, request));
    CHECK(moved.items.at(0).what == MoveResult::What::moved);
    const LeaseReply reply = answered(there->lease(for_a_minute()));
    REQUIRE(reply.deliveries.size() == 1);
    CHECK(reply.deliveries[0].command == command_message().command);
  }
  SECTION("and is no younger for it") {
    c.clock.advance(6 * kDay);
    REQUIRE(there->maintain(10).ok());
    REQUIRE(answered(c.queue->move(std::array{id}, request)).items.at(0).what == MoveResult::What::moved);
    c.clock.advance(2 * kDay);
    CHECK(answered(there->lease(for_a_minute())).deliveries.empty());
  }
  SECTION("a forged one stays") {
    c.plant(id, command_message());
    const MoveReply moved = answered(c.queue->move(std::array{id}, request));
    CHECK(moved.items.at(0).what == MoveResult::What::stays);
    CHECK(moved.items.at(0).why == "its command is not signed");
  }
  SECTION("one that has ended is not there any more, with the key and without it") {
    answered(c.queue->mutate(std::array{id}, Action::cancel));
    const auto client = c.open(GENERATE(true, false) ? told_time_engine() : keyless_engine());
    CHECK(answered(client->move(std::array{id}, request)).items.at(0).what == MoveResult::What::gone);
  }
  SECTION("without the key it stays, and others go") {
    const auto keyless = c.open(keyless_engine());
    const std::array ids = {id, push_one(*c.queue, "t", "x")};
    const MoveReply moved = answered(keyless->move(ids, request));
    CHECK(moved.items.at(0).what == MoveResult::What::stays);
    CHECK(moved.items.at(0).why.find("FQ_REDIS_COMMAND_KEY_FILE") != std::string::npos);
    CHECK(moved.items.at(1).what == MoveResult::What::moved);
  }
}

TEST_CASE("an import signs what it takes in, and an export leaves out what is forged") {
  Commands c;
  NewMessage late = command_message();
  late.delay_ms = 30 * kDay;
  const MessageId good = c.push(late), planted = c.push();
  c.plant(planted, command_message());
  CHECK(answered(c.queue->exported(planted))->lost == "its command is not signed");
  const ExportedMessage exported = answered(c.queue->exported(good)).value();
  CHECK(exported.lost.empty());
  const TestServer elsewhere;
  const auto queue = open_on(others_engine(), elsewhere.spool(), &c.clock);
  const ImportReply reply = answered(queue->import_messages({&exported, 1}, "there"));
  REQUIRE(reply.items.at(0).what == ImportResult::What::imported);
  c.clock.advance(35 * kDay);
  CHECK(answered(queue->lease(for_a_minute())).deliveries.size() == 1);
}

TEST_CASE("a schedule is signed when it is set, and whoever comes makes its messages") {
  Commands c;
  ScheduleDefinition definition;
  definition.name = "s";
  definition.spec = "every 1d";
  definition.missed = MissedRule::one;
  definition.message = command_message();
  REQUIRE(c.queue->schedules()->set(definition).ok());
  const std::string schedules = "fq1:fq:{default:0:0}:sd";
  const std::string record = command(c.server, {"HGET", schedules, "s"}).text;
  SECTION("years later too") {
    c.clock.advance(400 * kDay);
    REQUIRE(c.open(keyless_engine())->maintain(10).ok());
    const LeaseReply reply = c.lease(*c.queue);
    REQUIRE(reply.deliveries.size() == 1);
    CHECK(reply.deliveries[0].schedule == "s");
  }
  SECTION("the same again is no change") {
    REQUIRE(c.queue->schedules()->set(definition).ok());
    CHECK(command(c.server, {"HGET", schedules, "s"}).text == record);
  }
  SECTION("one that was changed on the server makes nothing that is run") {
    std::string other = record;
    other.replace(other.find("true"), 4, "evil");
    command(c.server, {"HSET", schedules, "s", other});
    c.clock.advance(kDay);
    CHECK(c.lease(*c.queue).deliveries.empty());
    CHECK(answered(c.queue->stats({})).rows.at(0).dead == 1);
    REQUIRE(c.queue->schedules()->set(definition).ok());
    c.clock.advance(kDay);
    CHECK(c.lease(*c.queue).deliveries.size() == 1);
  }
  SECTION("under another name, or for a push, its signature is none") {
    command(c.server, {"HSET", schedules, "r", record});
    REQUIRE(answered(c.queue->schedules()->run("r")).has_value());
    const MessageId id = c.push(command_message());
    const MessageId of_schedule = answered(c.queue->schedules()->run("s")).value();
    const std::string bytes = c.record(of_schedule);
    const std::optional<MessageRecord> made = read_record(bytes);
    c.set_rest(id, push_rest(command_message(), made->signature));
    const LeaseReply reply = answered(c.queue->lease(for_a_minute(9)));
    REQUIRE(reply.deliveries.size() == 1);
    CHECK(reply.deliveries[0].id == of_schedule);
  }
}

TEST_CASE("a policy on the server may have commands run when it was kept with the key") {
  Commands c;
  const std::string spool = c.server.spool();
  CHECK_FALSE(answered(told_time_engine().policy_text(spool)).may_command);
  REQUIRE(told_time_engine().keep_policy_text(spool, "# a", {}).ok());
  CHECK(answered(told_time_engine().policy_text(spool)).may_command);
  CHECK_FALSE(answered(keyless_engine().policy_text(spool)).may_command);
  CHECK_FALSE(answered(others_engine().policy_text(spool)).may_command);
  command(c.server, {"HSET", "fq1:fq:policy", "text", "# b"});
  CHECK_FALSE(answered(told_time_engine().policy_text(spool)).may_command);
  REQUIRE(keyless_engine().keep_policy_text(spool, "# a", {}).ok());
  CHECK_FALSE(answered(told_time_engine().policy_text(spool)).may_command);
  CHECK(answered(told_time_engine().policy_text(spool)).text == "# a");
}

TEST_CASE("shards bury what is forged, and refuse who has no key") {
  Sharded s(4);
  const NewMessage message = command_message();
  const MessageId id = answered(s.queue->push({&message, 1})).items.at(0).id;
  const std::string key = tag_of(s.server, shard_of(id)) + "m:" + std::to_string(number(id));
  const std::string bytes = command(s.server, {"GET", key}).text;
  REQUIRE(read_record(bytes).has_value());
  const size_t head = bytes.size() - rest_of_record(bytes).size();
  command(s.server, {"SET", key, bytes.substr(0, head) + push_rest(message, {})});
  CHECK(answered(s.queue->lease(for_a_minute())).deliveries.empty());
  CHECK(answered(s.queue->get(id))->last_error->reason == "its command is not signed");
  static const RedisEngine keyless(redis_library(), no_password, false, nullptr, no_key);
  const auto without = open_on(keyless, s.server.spool());
  REQUIRE_FALSE(without->push({&message, 1}).ok());
  REQUIRE(s.queue->push({&message, 1}).ok());
  const Result<LeaseReply> refused = without->lease(for_a_minute());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind == ErrorKind::config);
}

}  // namespace fq::test
