// export_test - whatever is told of an exported message, the queue that imports it tells the same.

// System.
#include <filesystem>
#include <fstream>
#include <string>
// fq, below us.
#include "core/api/exported.h"
// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

std::string line(std::string_view name, const auto& value) {
  std::ostringstream text;
  text << name << ' ' << value << '\n';
  return std::move(text).str();
}

std::string told(const std::optional<LastError>& error) {
  if (!error) return "none";
  const auto& [exit, signal, reason, stderr_tail, at_wall_ms] = *error;
  return std::to_string(exit.value_or(-1)) + " " + std::to_string(signal.value_or(-1)) + " " + reason + " " +
         stderr_tail + " " + std::to_string(at_wall_ms);
}

std::string told(const std::optional<JobCommand>& command) {
  if (!command) return "none";
  const auto& [argv, cwd, env] = *command;
  std::string text = cwd;
  for (const std::string& word : argv) text += " " + word;
  for (const std::string& word : env) text += " " + word;
  return text;
}

/// All of it but its id, and of what it waits for. A field more does not compile until it is told here.
std::string told(const ExportedMessage& message) {
  const auto& [id, state, since_wall_ms, due_wall_ms, delay_ms, tenant, payload, priority, key, attempts_max,
               attempts_in_force, attempts, deliveries, crashes, pushed_at_wall_ms, tags, command, timeout_ms,
               keep_ms, ttl_ms, unique, unique_for_ms, debounce, behind, schedule, scheduled_at_wall_ms,
               expired, last_error, after, wait_failed, steps, lost] = message;
  std::string text;
  text += line("state", name_of(state)) + line("since", since_wall_ms) + line("due", due_wall_ms);
  text += line("delay", delay_ms) + line("tenant", tenant) + line("payload", payload);
  text += line("priority", priority) + line("key", key) + line("attempts_max", attempts_max.value_or(0));
  text += line("in_force", attempts_in_force) + line("attempts", attempts) + line("deliveries", deliveries);
  text += line("crashes", crashes) + line("pushed_at", pushed_at_wall_ms);
  for (const Tag& tag : tags) text += line("tag", tag.name + "=" + tag.value);
  text += line("command", told(command)) + line("timeout", timeout_ms.value_or(-1));
  text += line("keep", keep_ms.value_or(-1)) + line("ttl", ttl_ms) + line("unique", unique);
  text += line("unique_for", unique_for_ms) + line("debounce", debounce);
  text += line("is_behind", number(behind) != 0) + line("schedule", schedule);
  text += line("scheduled_at", scheduled_at_wall_ms) + line("expired", expired);
  text += line("last_error", told(last_error)) + line("wait_failed", wait_failed) + line("lost", lost);
  for (const ExportedWait& wait : after) {
    const auto& [wait_id, any, closed] = wait;
    text += line("after", any) + line("closed", closed);
  }
  for (const ExportedStep& step : steps) {
    const auto& [name, kind, at_wall_ms, output, child, open, failed, ids] = step;
    text += line("step", name) + line("kind", static_cast<int>(kind)) + line("at", at_wall_ms);
    text += line("output", output) + line("child", number(child)) + line("open", open);
    text += line("failed", failed) + line("ids", ids.size());
  }
  return text;
}

/// Two queues, where the second one takes in what the first one tells.
struct Exchange {
  SpoolFixture from, to;

  MessageId push(const NewMessage& message) {
    const auto pushed = from.door().push({&message, 1});
    REQUIRE(pushed.ok());
    return pushed->items.at(0).id;
  }
  static ExportedMessage exported(SpoolFixture& q, MessageId id) {
    const auto message = q.door().exported(id);
    REQUIRE(message.ok());
    REQUIRE(message->has_value());
    return **message;
  }
  MessageId import(const ExportedMessage& message) {
    const auto reply = to.door().import_messages({&message, 1}, "elsewhere");
    REQUIRE(reply.ok());
    INFO(reply->items.at(0).why);
    REQUIRE(reply->items.at(0).what == ImportResult::What::imported);
    return reply->items[0].id;
  }
};

/// With something in all the fields that go together.
NewMessage full_message() {
  NewMessage message;
  message.tenant = "a/b";
  message.payload = as_bytes(std::string_view("payload"));
  message.priority = 3;
  message.attempts_max = 7;
  message.tags = {{"k", "v"}};
  message.command = JobCommand{{"true", "x"}, "/tmp", {"A=b"}};
  message.timeout_ms = 11'000;
  message.keep_ms = 12'000;
  message.ttl_ms = 86'400'000;
  message.unique = "key";
  message.unique_for_ms = 13'000;
  return message;
}

}  // namespace

TEST_CASE("a message of every state is in another queue what it was") {
  Exchange x;
  NewMessage message = full_message();
  const std::string state = GENERATE("ready", "retried", "delayed", "dead", "leased", "debounced");
  if (state == "delayed") message.delay_ms = 60'000;
  if (state == "debounced") message.unique = {}, message.debounce = "key", message.quiet_ms = 60'000;
  const MessageId id = x.push(message);
  if (state == "retried" || state == "dead" || state == "leased") {
    const Delivery one = x.from.lease();
    x.from.clock.advance(2'000);
    Settle verdict{.receipt = one.receipt, .verdict = Verdict::retry};
    verdict.reason = "why";
    verdict.exit = 3;
    verdict.stderr_tail = "tail";
    if (state == "dead") verdict.verdict = Verdict::bury;
    if (state != "leased") CHECK(x.from.settle(x.from.door(), verdict) == SettleStatus::ok);
  }
  x.to.clock.set_wall_ms(x.from.clock.wall_ms());
  const ExportedMessage before = Exchange::exported(x.from, id);
  CHECK(told(Exchange::exported(x.to, x.import(before))) == told(before));
}

TEST_CASE("a message that came after another is in another queue what it was, held or dead") {
  Exchange x;
  const std::string when = GENERATE("at once", "delayed", "at");
  NewMessage first, then = full_message();
  first.payload = as_bytes(std::string_view("first"));
  first.tenant = "first";
  then.after = {x.push(first), x.push(first)};
  if (when == "delayed") then.delay_ms = 600'000;
  if (when == "at") then.at_wall_ms = x.from.clock.wall_ms() + 700'000;
  const MessageId id = x.push(then);
  const std::vector<MessageId> there{x.import(Exchange::exported(x.from, then.after[0])),
                                     x.import(Exchange::exported(x.from, then.after[1]))};
  if (GENERATE(false, true)) {
    const Delivery one = x.from.lease();
    CHECK(x.from.settle(x.from.door(), {.receipt = one.receipt, .verdict = Verdict::bury}) ==
          SettleStatus::ok);
  }
  ExportedMessage before = Exchange::exported(x.from, id);
  INFO(name_of(before.state));
  for (size_t i = 0; i < before.after.size(); ++i) before.after[i].id = there.at(i);
  const MessageId copy = x.import(before);
  CHECK(told(Exchange::exported(x.to, copy)) == told(before));
  if (before.state != State::dead || when != "delayed") return;

  // A kick holds it again, and once it is let go it waits for as long as before.
  REQUIRE(x.to.door().mutate({&copy, 1}, Action::kick).ok());
  for (int i = 0; i < 2; ++i) CHECK(x.to.ack(x.to.lease()) == SettleStatus::ok);
  CHECK(x.to.get(number(copy)).state == State::delayed);
}

TEST_CASE("an import that broke off is ended by the next, also where the clock went back meanwhile") {
  SpoolFixture q;
  ExportedMessage message;
  message.id = MessageId{7};
  message.tenant = "t";
  message.payload = "m";
  message.pushed_at_wall_ms = q.clock.wall_ms();
  message.state = State::ready;
  ExportedStep& step = message.steps.emplace_back();
  step.name = "s";
  step.output = std::string(1024 * 1024, 'o');  // more than a record has
  std::filesystem::rename(q.path("blobs"), q.path("away"));
  std::ofstream(q.path("blobs")) << "no directory";
  const auto broken = q.door().import_messages({&message, 1}, "elsewhere");
  CHECK((!broken.ok() || broken->error));
  CHECK(q.stats().delayed == 1);
  std::filesystem::remove(q.path("blobs"));
  std::filesystem::rename(q.path("away"), q.path("blobs"));
  q.clock.set_wall_ms(1'000);
  q.clock.advance(60'000);
  const auto again = q.door().import_messages({&message, 1}, "elsewhere");
  REQUIRE(again.ok());
  CHECK_FALSE(again->error);
  CHECK(q.stats().ready == 1);
}

TEST_CASE("what has died before the machine was started is shown by when that was, too") {
  SpoolFixture q;
  const int64_t start_wall_ms = q.clock.wall_ms() - q.clock.boot_ms();
  for (uint64_t id = 1; id <= 3; ++id) {
    ExportedMessage message;
    message.id = MessageId{id};
    message.tenant = "t";
    message.payload = std::to_string(id);
    message.state = State::dead;
    message.pushed_at_wall_ms = message.since_wall_ms = start_wall_ms - static_cast<int64_t>(id) * 1'000;
    REQUIRE(q.door().import_messages({&message, 1}, "elsewhere").ok());
  }
  std::string dead;
  Cursor at;
  do {
    const MessagePage page = q.door().peek({.tenant = {}, .state = State::dead, .tag = {}}, at, 1).value();
    for (const MessageInfo& message : page.messages) dead += *message.payload;
    at = page.next;
  } while (!at.text.empty());
  CHECK(dead == "321");
}

TEST_CASE("how one ended that a step waited for is told when nobody knows that any more") {
  Exchange x;
  const bool acked = GENERATE(true, false);
  const MessageId parent{x.from.push("parent", Durability::always, "p")};
  const MessageId child{x.from.push("child", Durability::always, "c")};
  REQUIRE_FALSE(x.from.door().steps()->wait(x.from.lease().receipt, "w", std::span(&child, 1)).value().over);
  if (acked) CHECK(x.from.ack(x.from.lease()) == SettleStatus::ok);
  if (!acked) CHECK(x.from.door().mutate({&child, 1}, Action::cancel)->changed == 1);
  x.from.forget_outcomes();
  const ExportedMessage told = Exchange::exported(x.from, parent);
  CHECK(told.wait_failed == !acked);
  CHECK(told.steps.at(0).ids.empty());
  CHECK(told.steps.at(0).failed == !acked);
  x.import(told);
  const StepPause over = x.to.door().steps()->wait(x.to.lease().receipt, "w", {}).value();
  CHECK(over.over);
  CHECK(over.all_acked == acked);
}

}  // namespace fq::test
