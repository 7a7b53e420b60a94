// shared_room - what the tests share of how much a queue of many shards may hold.
#pragma once

// System.
#include <string>
#include <string_view>
#include <utility>
// Tests.
#include "tests/redis/purses_fixture.h"

namespace fq::test {

inline PolicyPatch most(PolicyKey key, int64_t number) { return {{{key, number, 0, {}}}, {}}; }
inline PolicyPatch none(PolicyKey key) { return {{}, {key}}; }
inline std::string tenant(int i) { return "t" + std::to_string(i); }

/// Why a message is refused; "": it is not.
inline std::string room_refusal(Queue& queue, std::string_view tenant, std::string_view payload = "x",
                                const PushOptions& options = {}) {
  const NewMessage message = message_for(tenant, payload);
  const Result<PushReply> reply = queue.push({&message, 1}, options);
  if (!reply) CHECK(reply.error().kind == ErrorKind::later);
  if (!reply) return reply.error().text;
  if (reply->error) CHECK(reply->items.at(0).status == PushStatus::full);
  return reply->error ? reply->error->text : "";
}
inline bool takes(Queue& queue, std::string_view tenant, std::string_view payload = "x") {
  return room_refusal(queue, tenant, payload).empty();
}
/// So many of these tenants' messages have found room.
inline size_t taken_of(Queue& queue, int tenants) {
  size_t count = 0;
  for (int i = 0; i < tenants; ++i) {
    if (takes(queue, tenant(i))) ++count;
  }
  return count;
}
/// Of two accounts that lie apart one message each.
inline std::pair<MessageId, MessageId> one_of_two(Sharded& s, std::string& other) {
  const Client client(s.server);
  int i = 0;
  do other = "b" + std::to_string(i++);
  while (client.shards.of_tenant(other) == client.shards.of_tenant("a"));
  const MessageId first = push_one(*s.queue, "a", "first");
  return {first, push_one(*s.queue, other, "other")};
}
/// The same, both dead.
inline std::pair<MessageId, MessageId> two_dead(Sharded& s, std::string& other) {
  const std::pair<MessageId, MessageId> both = one_of_two(s, other);
  for (const Delivery& each : taken(*s.queue, 9)) {
    Settle bury;
    bury.receipt = each.receipt;
    bury.verdict = Verdict::bury;
    REQUIRE(answered(s.queue->settle({&bury, 1})).items.at(0) == SettleStatus::ok);
  }
  return both;
}
inline StatsRow sums(Queue& queue) { return answered(queue.stats({})).rows.at(0); }

}  // namespace fq::test
