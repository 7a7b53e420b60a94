// half_done_test - what goes to a server in several calls, of which a later one is refused: what the first
// have done is told.

// Tests.
#include "tests/redis/moves_fixture.h"
#include "tests/redis/relay.h"

namespace fq::test {

namespace {

constexpr size_t kOneCall = 1024, kMore = 6;

/// The second call of a function is refused, once it is asked for.
struct Refusing {
  Sharded s{1};
  std::string function;
  int calls = 0;
  Relay relay{s.server, [this](const std::string& asked) {
                const bool is_it = !function.empty() && asked.find("_" + function) != std::string::npos;
                return is_it && ++calls == 2 ? std::string("-MISCONF another\r\n") : std::string();
              }};
  std::unique_ptr<Queue> queue = open_on(real_time_engine(), relay.spool());

  std::vector<MessageId> push() {
    std::vector<MessageId> ids;
    for (const size_t count : {kOneCall, kMore}) {
      const std::vector<NewMessage> messages(count, message_for("t"));
      for (const PushResult& each : answered(s.queue->push(messages)).items) ids.push_back(each.id);
    }
    return ids;
  }
};

}  // namespace

TEST_CASE("of a cancel of many the first are told done where a later call is refused") {
  Refusing to;
  const std::vector<MessageId> ids = to.push();
  to.function = "order";
  const MutateReply reply = answered(to.queue->mutate(ids, Action::cancel));
  CHECK(reply.changed == kOneCall);
  REQUIRE(reply.error);
  CHECK(reply.error->kind == ErrorKind::later);
  REQUIRE(reply.items.size() == ids.size());
  CHECK(reply.items[kOneCall - 1] == SettleStatus::ok);
  CHECK(reply.items[kOneCall] == SettleStatus::unknown);
  CHECK(answered(to.queue->mutate(ids, Action::cancel)).changed == kMore);
}

TEST_CASE("of verdicts for many the first are told given where a later call is refused") {
  Refusing to;
  const std::vector<MessageId> ids = to.push();
  std::vector<Settle> items;
  while (items.size() < ids.size()) {
    for (const Delivery& each : answered(to.queue->lease(for_a_minute(ids.size()))).deliveries) {
      items.emplace_back();
      items.back().receipt = each.receipt;
    }
  }
  to.function = "work";
  const SettleReply reply = answered(to.queue->settle(items, nullptr));
  REQUIRE(reply.error);
  CHECK(reply.error->kind == ErrorKind::later);
  CHECK(reply.items[0] == SettleStatus::ok);
  CHECK(reply.items[kOneCall - 1] == SettleStatus::ok);
  CHECK(reply.items[kOneCall] == SettleStatus::unknown);
  const std::span<const Settle> rest = std::span(items).subspan(kOneCall);
  CHECK(answered(to.queue->settle(rest, nullptr)).items[0] == SettleStatus::ok);
}

TEST_CASE("a message that is on its way elsewhere does not hide what became of the others") {
  Two two(1, 1);
  const MessageId leaving = push_one(*two.from, "a", "leaving"), stays = push_one(*two.from, "a", "stays");
  Stalled stalled = two.stalled(leaving);
  REQUIRE(stalled.send() == "sent");
  const std::array<MessageId, 2> both = {leaving, stays};
  const MutateReply reply = answered(two.from->mutate(both, Action::cancel));
  CHECK(reply.changed == 1);
  REQUIRE(reply.error);
  CHECK(reply.items[0] == SettleStatus::unknown);
  CHECK(reply.items[1] == SettleStatus::ok);
  CHECK(two.from->mutate({&leaving, 1}, Action::cancel).error().kind == ErrorKind::later);
}

}  // namespace fq::test
