// What an import does with what it cannot take as it is told, and with what it has taken before.
#include "tests/api/exchange.h"
#include "tests/api/history_view.h"
#include "tests/api/steps_scene.h"

using namespace fq;
using namespace fq::test;

namespace {

/// Why it is not taken; "": it is.
std::string objection_to(QueueFixture& q, const ExportedMessage& message) {
  const ImportReply reply = import_all(q, {message});
  REQUIRE(reply.items.size() == 1);
  return reply.items[0].why;
}

}  // namespace

TEST_CASE("a command that no push takes is not imported either") {
  WHERE_EXPORTS_ARE(q);
  const std::string nul("a\0b", 3);
  const JobCommand commands[] = {{{}, "/", {}},       {{""}, "/", {}},      {{"a", nul}, "/", {}},
                                 {{"a"}, "here", {}}, {{"a"}, "", {}},      {{"a"}, "/" + nul, {}},
                                 {{"a"}, "/", {"A"}}, {{"a"}, "/", {"=1"}}, {{"a"}, "/", {nul + "=1"}}};
  uint64_t id = 0;
  for (const JobCommand& command : commands) {
    ExportedMessage message = a_message(q, ++id, State::ready);
    message.command = command;
    CHECK(objection_to(q, message) != "");
  }
  CHECK(q.stats().ready == 0);
}

TEST_CASE("counts that could not go on are not imported") {
  WHERE_EXPORTS_ARE(q);
  ExportedMessage message = a_message(q, 1, State::ready);
  message.deliveries = UINT32_MAX;
  CHECK(objection_to(q, message).starts_with("deliveries: "));
  message.deliveries = 1;
  for (uint32_t ExportedMessage::*count :
       {&ExportedMessage::attempts, &ExportedMessage::attempts_in_force, &ExportedMessage::crashes}) {
    ExportedMessage many = message;
    many.*count = kAttemptsMax + 1;
    CHECK(objection_to(q, many) != "");
  }
  CHECK(objection_to(q, message) == "");
  CHECK(q.lease().delivery == 2);
}

TEST_CASE("what no message has elsewhere is not imported") {
  WHERE_EXPORTS_ARE(q);
  const ExportedMessage good = a_message(q, 1, State::ready);
  std::vector<ExportedMessage> bad;
  for (const State state : {State::leased, State::moved, static_cast<State>(99)}) {
    bad.push_back(good);
    bad.back().state = state;
  }
  bad.push_back(good);
  bad.back().state = State::delayed, bad.back().since_wall_ms = 0;
  for (int64_t ExportedMessage::*time :
       {&ExportedMessage::since_wall_ms, &ExportedMessage::due_wall_ms, &ExportedMessage::delay_ms,
        &ExportedMessage::ttl_ms, &ExportedMessage::unique_for_ms, &ExportedMessage::pushed_at_wall_ms}) {
    for (const int64_t ms : {INT64_MIN, int64_t{-1}, INT64_MAX}) {
      bad.push_back(good);
      bad.back().*time = ms;
    }
  }
  for (const int kind : {0, 5, 255}) {
    bad.push_back(good);
    bad.back().steps = {{.name = "s", .kind = static_cast<StepKind>(kind)}};
  }
  bad.push_back(good);
  bad.back().state = State::held, bad.back().after = {{.id = MessageId{7}}, {.id = MessageId{7}}};
  bad.push_back(good);
  bad.back().state = State::acked, bad.back().unique = std::string(70'000, 'u');
  for (size_t i = 0; i < bad.size(); ++i) {
    CAPTURE(i);
    CHECK(objection_to(q, bad[i]) != "");
  }
  CHECK(objection_to(q, good) == "");
  CHECK(q.lease().delivery == 1);
  const auto report = q.door().check();
  REQUIRE(report.ok());
  CHECK(report->findings.empty());
}

TEST_CASE("the attempts that an imported message has of its own hold, whatever its last lease was given") {
  WHERE_EXPORTS_ARE(q);
  const uint32_t of_lease = 7;
  uint64_t id = 0;
  for (const std::optional<uint32_t> own : {std::optional<uint32_t>(1), std::optional<uint32_t>(9), {}}) {
    ExportedMessage message = a_message(q, ++id, State::ready);
    message.attempts_max = own;
    message.attempts_in_force = of_lease;
    message.deliveries = 1;
    const ImportReply reply = import_all(q, {message});
    REQUIRE(reply.items.size() == 1);
    CHECK(q.get(reply.items[0].id).attempts_max == own.value_or(of_lease));
  }
}

TEST_CASE("of a dead one is open what it died with, and closed what had let it go before") {
  WHERE_EXPORTS_ARE(q);
  const MessageId first = q.push("t", "first");
  const auto push_after = [&](bool any) {
    NewMessage then = message_of("t", "then", {});
    (any ? then.after_any : then.after) = {first};
    return q.door().push({&then, 1}).value().items[0].id;
  };
  const MessageId let_go = push_after(true), died = push_after(false);
  q.bury(q.lease());
  q.bury(q.lease());
  REQUIRE(q.get(let_go).state == State::dead);
  REQUIRE(q.get(died).state == State::dead);
  for (const ExportedWait& wait : exported(q, let_go).after) CHECK(wait.closed);
  REQUIRE(exported(q, died).after.size() == 1);
  CHECK_FALSE(exported(q, died).after[0].closed);
}

TEST_CASE("a kick holds a dead one that was imported for what is told to be open, and for nothing else") {
  WHERE_EXPORTS_ARE(q);
  const MessageId first = q.push("t", "first");
  const bool closed = GENERATE(true, false), any = GENERATE(true, false);
  ExportedMessage message = a_message(q, 7, State::dead);
  message.after = {{first, any, closed}};
  const MessageId there = import_one(q, message);
  CHECK(q.mutate({there}, Action::kick).changed == 1);
  CHECK(q.get(there).state == (closed ? State::ready : State::held));
}

TEST_CASE("no message is imported that waits for more than one can") {
  WHERE_EXPORTS_ARE(q);
  std::vector<MessageId> ids;
  for (size_t i = 0; i < kAfterMax + 2; ++i) ids.push_back(q.push("t", "x"));
  ExportedMessage message = a_message(q, 1'000, State::held);
  for (size_t i = 0; i < kAfterMax + 1; ++i) message.after.push_back({ids[i], true, false});
  message.unique = "k";
  message.behind = ids.back();
  CHECK(objection_to(q, message) == "after: names too many messages");
  CHECK(q.push("t", "goes on") != MessageId{});
  message.behind = ids[0];
  CHECK(objection_to(q, message) == "");
  CHECK(fault_of_check(q.door()) == "");
}

TEST_CASE("one that waits for another account's is imported, or refused by name") {
  WHERE_EXPORTS_ARE(q);
  ExportedMessage message = a_message(q, 1'000, State::held);
  bool is_refused = false;
  for (char account = 'a'; account < 't'; ++account) {
    const MessageId other = q.push(std::string(1, account), "x");
    message.id = MessageId{number(message.id) + 1};
    message.after = {{other, false, false}};
    const std::string why = objection_to(q, message);
    if (why.empty()) continue;
    is_refused = true;
    CHECK(why == "waits for message " + std::to_string(number(other)) + ", which lies on another shard");
  }
  CHECK(is_refused == !q.door().caps().ties_between_accounts);
}

TEST_CASE("what has died since it was imported is left as it is by a second export") {
  WHERE_EXPORTS_ARE(q);
  if (q.door().steps() == nullptr) return;
  QueueFixture to(fq_engine);
  const MessageId id = push_with_steps(q, {{"one", "output"}});
  const MessageId there = import_one(to, exported(q, id));
  to.bury(to.lease(), "no use");
  const MessageId later = q.push("t", "later");
  const ImportReply reply = import_all(to, {exported(q, id), exported(q, later)});
  CHECK(reply.items[0].what == ImportResult::What::known);
  CHECK(reply.items[1].what == ImportResult::What::imported);
  CHECK(to.get(there).state == State::dead);
  // Nor does one end here that has ended there meanwhile.
  ExportedMessage end;
  end.id = id;
  end.state = State::acked;
  import_one(to, end);
  CHECK(to.get(there).state == State::dead);
}

TEST_CASE("what is for ever in one queue is so in another") {
  WHERE_EXPORTS_ARE(q);
  QueueFixture to(fq_engine);
  const auto pass_on = [&](auto change) {
    NewMessage message = message_of("t", "x", {});
    message.timeout_ms = message.keep_ms = message.ttl_ms = INT64_MAX;
    change(message);
    const MessageId id = q.door().push({&message, 1}).value().items.at(0).id;
    const MessageInfo there = to.get(import_one(to, exported(q, id)));
    CHECK(there.state == State::delayed);
    CHECK(there.due_at_wall_ms.value_or(0) > kLatestMs / 2);  // a server tells it as a double
  };
  using M = NewMessage;
  pass_on([](M& m) { m.delay_ms = INT64_MAX; });
  pass_on([](M& m) { m.at_wall_ms = INT64_MAX; });
  pass_on([](M& m) { m.delay_ms = INT64_MAX, m.unique = "k", m.unique_for_ms = INT64_MAX; });
  pass_on([](M& m) { m.debounce = "d", m.quiet_ms = INT64_MAX; });
}
