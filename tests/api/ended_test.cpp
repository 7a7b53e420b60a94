// ended_test - what is told of a message after its end, and of which ones.
#include "tests/api/contract.h"

// System.
#include <algorithm>

namespace fq::test {

namespace {

constexpr int64_t kHour = 3'600'000;
constexpr int64_t kDay = 24 * kHour;

MessageId push(QueueFixture& q, NewMessage message) {
  const Result<PushReply> reply = q.door().push({&message, 1});
  REQUIRE(reply.ok());
  REQUIRE(is_accepted(reply->items.at(0).status));
  return reply->items.at(0).id;
}

NewMessage command_message(std::string_view tenant = "t") {
  NewMessage message;
  message.tenant = tenant;
  message.command = JobCommand{{"echo", "a b"}, "/tmp", {"SECRET=1"}};
  message.tags = {{"K", "v"}};
  return message;
}

void retain(QueueFixture& q, int64_t ms) {
  REQUIRE(q.door().policy_set("", {{{PolicyKey::retention, ms, 0, {}}}, {}}).ok());
}

std::vector<uint64_t> ended(QueueFixture& q, const Filter& filter = {}, size_t n = 2) {
  std::vector<uint64_t> ids;
  Cursor from;
  do {
    Result<MessagePage> page = q.door().ended(filter, from, n);
    REQUIRE(page.ok());
    CHECK(page->messages.size() <= n);
    for (const MessageInfo& message : page->messages) ids.push_back(number(message.id));
    from = page->next;
  } while (!from.text.empty());
  return ids;
}

}  // namespace

TEST_CASE("a command message that was acked is told with all but its payload and its variables") {
  ON_EVERY_ENGINE(q);
  NewMessage message = command_message("a/b");
  message.priority = 7;
  message.attempts_max = 3;
  const MessageId id = push(q, message);
  const int64_t pushed_ms = q.clock().wall_ms();
  q.clock().advance(1000);
  const Delivery first = q.lease();
  REQUIRE(q.door()
              .settle(std::vector<Settle>{{.receipt = first.receipt,
                                           .verdict = Verdict::retry,
                                           .reason = "exit 3",
                                           .exit = 3,
                                           .stderr_tail = "sorry"}})
              .ok());
  q.clock().advance(1000);
  const Delivery second = q.lease();
  q.clock().advance(250);
  REQUIRE(q.door().settle(std::vector<Settle>{{.receipt = second.receipt, .exit = 0}}).ok());
  const MessageInfo told = q.get(id);
  CHECK(told.state == State::acked);
  CHECK(told.tenant == "a/b");
  CHECK(told.priority == 7);
  REQUIRE(told.command);
  CHECK(told.command->argv == std::vector<std::string>{"echo", "a b"});
  CHECK(told.command->cwd == "/tmp");
  CHECK(told.tags == std::vector<Tag>{{"K", "v"}});
  CHECK(told.attempts == 1);
  CHECK(told.attempts_max == 3);
  CHECK(told.deliveries == 2);
  CHECK(told.pushed_at_wall_ms == pushed_ms);
  CHECK(told.started_at_wall_ms == pushed_ms + 2000);
  CHECK(told.ended_at_wall_ms == pushed_ms + 2250);
  CHECK(told.exit == 0);
  CHECK_FALSE(told.payload);
  REQUIRE(told.last_error);
  CHECK(told.last_error->exit == 3);
  CHECK(told.last_error->stderr_tail == "sorry");
  CHECK(ended(q) == std::vector<uint64_t>{number(id)});
}

TEST_CASE("by default commands are told of for a week, others not at all") {
  ON_EVERY_ENGINE(q);
  const MessageId plain = q.push("t", "plain");
  const MessageId command = push(q, command_message());
  CHECK(q.pop() == "plain");
  q.ack(q.lease());
  CHECK(ended(q) == std::vector<uint64_t>{number(command)});
  CHECK_FALSE(q.get(plain).ended_at_wall_ms);
  CHECK(q.get(plain).state == State::acked);
  q.clock().advance(7 * kDay - 1);
  CHECK(ended(q).size() == 1);
  q.clock().advance(1);
  CHECK(ended(q).empty());
}

TEST_CASE("of what has ended the attempts that counted are told, whether it is kept or not") {
  ON_EVERY_ENGINE(q);
  const MessageId acked = q.push("t", "acked"), cancelled = q.push("t", "cancelled");
  const Delivery first = q.lease(), second = q.lease();
  CHECK(q.retry(first) == SettleStatus::ok);
  CHECK(q.retry(second) == SettleStatus::ok);
  q.clock().advance(kDay);
  CHECK(q.pop() == "acked");
  CHECK(q.mutate({cancelled}, Action::cancel).changed == 1);
  for (const MessageId id : {acked, cancelled}) CHECK(q.get(id).attempts == 1);
}

TEST_CASE("retention says how long, none that it is not, and a push knows better") {
  ON_EVERY_ENGINE(q);
  retain(q, 0);
  push(q, command_message());
  NewMessage kept = command_message();
  kept.keep_ms = 2 * kHour;
  const MessageId own = push(q, kept);
  for (int i = 0; i < 2; ++i) q.ack(q.lease());
  CHECK(ended(q) == std::vector<uint64_t>{number(own)});
  retain(q, kHour);
  const MessageId plain = q.push("t", "plain");
  const MessageId command = push(q, command_message());
  for (int i = 0; i < 2; ++i) q.ack(q.lease());
  CHECK(ended(q) == std::vector<uint64_t>{number(command), number(plain), number(own)});
  q.clock().advance(kHour);
  CHECK(ended(q) == std::vector<uint64_t>{number(own)});
}

TEST_CASE("what was cancelled is told too, whoever cancelled it, and a dead one from the queue until then") {
  ON_EVERY_ENGINE(q);
  retain(q, 10 * kDay);
  const MessageId waiting = q.push("t", "waiting");
  CHECK(q.mutate({waiting}, Action::cancel).changed == 1);
  const MessageId leased = q.push("t", "leased");
  q.lease();
  CHECK(q.mutate({leased}, Action::cancel).changed == 1);
  const MessageId dead = q.push("t", "dead");
  q.bury(q.lease());
  CHECK(ended(q, {.state = State::cancelled}) == std::vector<uint64_t>{number(leased), number(waiting)});
  CHECK(q.get(dead).state == State::dead);
  REQUIRE(q.door().policy_set("", {{{PolicyKey::dead_retention, kHour, 0, {}}}, {}}).ok());
  q.clock().advance(kHour);
  CHECK(ended(q).front() == number(dead));
  CHECK(q.get(dead).state == State::cancelled);
  CHECK(q.get(dead).ended_at_wall_ms == q.clock().wall_ms());
  const MessageId filtered = q.push("other", "x");
  Filter filter;
  filter.tenant = "other";
  REQUIRE(q.door().mutate(filter, Action::cancel, {}, 10)->changed == 1);
  CHECK(q.get(filtered).ended_at_wall_ms);
}

TEST_CASE("what has failed and is then cancelled tells of its last run") {
  ON_EVERY_ENGINE(q);
  retain(q, kDay);
  const auto fail = [&](const char* payload, Verdict verdict) {
    const MessageId id = q.push("t", payload);
    q.clock().advance(1000);
    Settle end;
    end.receipt = q.lease().receipt;
    end.verdict = verdict;
    end.delay_ms = verdict == Verdict::retry ? kHour : 0;
    end.reason = "exit 9";
    end.exit = 9;
    q.clock().advance(250);
    REQUIRE(q.door().settle({&end, 1}).ok());
    return id;
  };
  const auto cancelled = [&](MessageId id) {
    q.clock().advance(1000);
    REQUIRE(q.mutate({id}, Action::cancel).changed == 1);
    return q.get(id);
  };
  for (const Verdict verdict : {Verdict::bury, Verdict::retry}) {
    const MessageId id = fail("m", verdict);
    const int64_t started_ms = q.clock().wall_ms() - 250;
    const MessageInfo told = cancelled(id);
    CHECK(told.started_at_wall_ms == started_ms);
    CHECK(told.ended_at_wall_ms == q.clock().wall_ms());
    CHECK(told.exit == 9);
    REQUIRE(told.last_error);
    CHECK(told.last_error->exit == 9);
  }
  // A run that is cut off has no exit of its own, one that was kicked no failure any more; both have run.
  const MessageId running = q.push("t", "running");
  q.lease();
  const MessageInfo cut_off = cancelled(running);
  CHECK(cut_off.started_at_wall_ms == q.clock().wall_ms() - 1000);
  CHECK_FALSE(cut_off.exit);
  const MessageId kicked = fail("kicked", Verdict::bury);
  q.mutate({kicked}, Action::kick);
  const MessageInfo forgiven = cancelled(kicked);
  CHECK(forgiven.started_at_wall_ms == q.clock().wall_ms() - 1250);
  CHECK_FALSE(forgiven.exit);
  CHECK_FALSE(forgiven.last_error);
  const MessageInfo never = cancelled(q.push("t", "never"));
  CHECK_FALSE(never.started_at_wall_ms);
  CHECK_FALSE(never.exit);
}

TEST_CASE("pages of what has ended take tenants, tags and states") {
  ON_EVERY_ENGINE(q);
  std::vector<uint64_t> ids;
  for (int i = 0; i < 9; ++i) {
    NewMessage message = command_message(i % 3 == 0 ? "a" : i % 3 == 1 ? "a/b" : "ab");
    message.tags = {{"N", std::to_string(i % 2)}};
    ids.push_back(number(push(q, message)));
    q.clock().advance(1);
    if (i % 4 == 3) {
      q.mutate({MessageId{ids.back()}}, Action::cancel);
    } else {
      q.ack(q.lease());
    }
  }
  CHECK(ended(q) == std::vector<uint64_t>(ids.rbegin(), ids.rend()));
  CHECK(ended(q, {.tenant = "a"}) == std::vector<uint64_t>{ids[7], ids[6], ids[4], ids[3], ids[1], ids[0]});
  CHECK(ended(q, {.state = State::cancelled}) == std::vector<uint64_t>{ids[7], ids[3]});
  CHECK(ended(q, {.tag = Tag{"N", "0"}}, 1) == std::vector<uint64_t>{ids[8], ids[6], ids[4], ids[2], ids[0]});
}

TEST_CASE("a verdict that does not hold notes nothing that is told") {
  ON_EVERY_ENGINE(q);
  const MessageId id = push(q, command_message());
  const Delivery first = q.lease();
  REQUIRE(q.door().settle(std::vector<Settle>{{.receipt = first.receipt, .verdict = Verdict::release}}).ok());
  CHECK(q.door().settle(std::vector<Settle>{{.receipt = first.receipt, .exit = 0}})->items.at(0) !=
        SettleStatus::ok);
  CHECK(ended(q).empty());
  CHECK(q.get(id).state == State::ready);
  CHECK(q.mutate({id}, Action::cancel).changed == 1);
  CHECK(q.get(id).state == State::cancelled);
  CHECK(ended(q) == std::vector<uint64_t>{number(id)});
}

TEST_CASE("a replaced message is told as it is now") {
  ON_EVERY_ENGINE(q);
  NewMessage message;
  message.unique = "k";
  message.unique_mode = UniqueMode::replace;
  const MessageId id = push(q, message);
  message.command = JobCommand{{"true"}, "/", {}};
  CHECK(push(q, message) == id);
  const bool command = q.get(id).command.has_value();
  q.ack(q.lease());
  CHECK(ended(q).size() == (command ? 1 : 0));
}

TEST_CASE("outputs of any length are kept as long as their messages are told of") {
  ON_EVERY_ENGINE(q);
  for (const size_t bytes : {size_t{0}, size_t{100}, size_t{20'000}, size_t{3'000'000}}) {
    const MessageId id = push(q, command_message());
    const JobOutput output{std::string(bytes, 'o'), "e", 7 * kDay};
    REQUIRE(q.door()
                .settle(std::vector<Settle>{{.receipt = q.lease().receipt, .exit = 0, .output = &output}})
                .ok());
    const auto kept = q.door().output(id);
    REQUIRE(kept.ok());
    REQUIRE(*kept);
    CHECK((*kept)->out == output.out);
    CHECK((*kept)->err == "e");
    q.clock().advance(7 * kDay);
    CHECK_FALSE(*q.door().output(id));
  }
}

TEST_CASE("where nothing else says how long a message is told of, the output that is kept of it does") {
  ON_EVERY_ENGINE(q);
  for (const std::optional<int64_t> keep_ms : {std::optional<int64_t>(), std::optional<int64_t>(4'000)}) {
    NewMessage message;
    message.tenant = "t";
    message.keep_ms = keep_ms;
    const MessageId id = push(q, message);
    const JobOutput output{"out", "", 10'000};
    REQUIRE(q.door()
                .settle(std::vector<Settle>{{.receipt = q.lease().receipt, .exit = 0, .output = &output}})
                .ok());
    const int64_t told_ms = keep_ms.value_or(10'000);
    q.clock().advance(told_ms - 1);
    CHECK(ended(q) == std::vector{number(id)});
    CHECK(q.get(id).exit == 0);
    q.clock().advance(1);
    CHECK(ended(q).empty());
  }
}

TEST_CASE("the dead are told among what has ended, who died last first") {
  ON_EVERY_ENGINE(q);
  retain(q, kHour);
  struct End {
    int64_t at_ms;
    uint64_t id;
    State state;
    std::string tenant;
  };
  std::vector<End> ends;
  for (int i = 0; i < 12; ++i) {
    const std::string tenant = i % 4 == 0 ? "u" : "t";
    const MessageId id = push(q, command_message(tenant));
    q.clock().advance(i % 3 == 0 ? 0 : 1000);  // some at one time: then the higher id
    const Delivery taken = q.lease();
    REQUIRE(q.settle(taken.receipt, i % 2 == 0 ? Verdict::bury : Verdict::ack) == SettleStatus::ok);
    ends.push_back({q.clock().wall_ms(), number(id), i % 2 == 0 ? State::dead : State::acked, tenant});
  }
  std::sort(ends.begin(), ends.end(),
            [](const End& a, const End& b) { return std::pair(a.at_ms, a.id) > std::pair(b.at_ms, b.id); });
  const auto only = [&](auto fits) {
    std::vector<uint64_t> ids;
    for (const End& each : ends) {
      if (fits(each)) ids.push_back(each.id);
    }
    return ids;
  };
  const auto in_state = [&](State state) { return only([=](const End& end) { return end.state == state; }); };
  for (const size_t page : {1U, 2U, 5U, 100U}) {
    CHECK(ended(q, {}, page) == only([](const End&) { return true; }));
    CHECK(ended(q, {.state = State::dead}, page) == in_state(State::dead));
    CHECK(ended(q, {.state = State::acked}, page) == in_state(State::acked));
    CHECK(ended(q, {.tenant = "u"}, page) == only([](const End& end) { return end.tenant == "u"; }));
  }
  CHECK(ended(q, {.state = State::cancelled}).empty());
}

TEST_CASE("a dead message tells of its last run, one that runs since when") {
  ON_EVERY_ENGINE(q);
  const MessageId id = push(q, command_message());
  q.clock().advance(1000);
  const int64_t started_ms = q.clock().wall_ms();
  const Delivery taken = q.lease();
  q.clock().advance(250);
  CHECK(q.get(id).started_at_wall_ms == started_ms);
  CHECK_FALSE(q.get(id).ended_at_wall_ms);
  const std::vector<Settle> end{
      {.receipt = taken.receipt, .verdict = Verdict::bury, .reason = "exit 65", .exit = 65}};
  REQUIRE(q.door().settle(end).ok());
  CHECK(q.get(id).started_at_wall_ms == started_ms);
  CHECK(q.get(id).ended_at_wall_ms == started_ms + 250);
  CHECK(q.get(id).exit == 65);
  REQUIRE(q.mutate({id}, Action::kick).changed == 1);
  CHECK_FALSE(q.get(id).started_at_wall_ms);
  CHECK_FALSE(q.get(id).exit);
}

}  // namespace fq::test
