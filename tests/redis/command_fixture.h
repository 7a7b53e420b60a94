// command_fixture - what the tests of signed commands share: clients with the key, with another's and with
// none, and what whoever may write to the server can do there.
#pragma once

// System.
#include <array>
#include <memory>
#include <string>
// fq, below us.
#include "core/redis/records/records.h"
// Tests.
#include "tests/redis/sharded_fixture.h"

namespace fq::test {

inline constexpr int64_t kDay = 86'400'000;
inline Result<std::string> no_key() { return std::string(); }
inline Result<std::string> another_key() { return std::string("a key of somebody else"); }

inline const RedisEngine& keyless_engine() {
  static const RedisEngine engine(told_time_library(), no_password, true, nullptr, no_key);
  return engine;
}
inline const RedisEngine& others_engine() {
  static const RedisEngine engine(told_time_library(), no_password, true, nullptr, another_key);
  return engine;
}

inline NewMessage command_message(std::string_view tenant = "t") {
  NewMessage message = message_for(tenant, "in");
  message.command = JobCommand{{"sh", "-c", "true"}, "/d", {"A=1"}};
  return message;
}

/// A queue, a client of it that has the key, and hands on its server.
struct Commands {
  TestServer server;
  FakeClock clock;
  std::unique_ptr<Queue> queue = open(told_time_engine());

  std::unique_ptr<Queue> open(const RedisEngine& engine) { return open_on(engine, server.spool(), &clock); }
  MessageId push(const NewMessage& message) {
    const PushReply reply = answered(queue->push({&message, 1}));
    REQUIRE(is_accepted(reply.items.at(0).status));
    return reply.items[0].id;
  }
  MessageId push() { return push(command_message()); }
  static std::string key(MessageId id, std::string_view place = "default") {
    return "fq1:fq:{" + std::string(place) + ":0:0}:m:" + std::to_string(number(id));
  }
  std::string record(MessageId id) { return command(server, {"GET", key(id)}).text; }
  void set_record(MessageId id, std::string_view bytes) { command(server, {"SET", key(id), bytes}); }
  /// What only the client reads is this instead.
  void set_rest(MessageId id, std::string_view rest) {
    const std::string bytes = record(id);
    const size_t head = bytes.size() - rest_of_record(bytes).size();
    set_record(id, bytes.substr(0, head) + std::string(rest));
  }
  /// Of a message whose command nobody has signed.
  void plant(MessageId id, const NewMessage& message) { set_rest(id, push_rest(message, {})); }
  LeaseReply lease(Queue& by) { return answered(by.lease(for_a_minute())); }
  /// It was buried; returns why. Nobody was given it.
  std::string buried(MessageId id) {
    CHECK(lease(*queue).deliveries.empty());
    const MessageInfo info = answered(queue->get(id)).value();
    CHECK(info.state == State::dead);
    return info.last_error ? info.last_error->reason : "";
  }
  bool is_served(MessageId id) {
    const LeaseReply reply = lease(*queue);
    return reply.deliveries.size() == 1 && reply.deliveries[0].id == id && reply.deliveries[0].command;
  }
};

inline constexpr const char* kForged =
    "its command is signed for another queue, tenant or schedule, or it or its payload was changed";

}  // namespace fq::test
