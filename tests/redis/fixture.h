// fixture - what the tests of core/redis share: a server, a queue on it, and commands past the door.
#pragma once

// System.
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>
// fq, below us.
#include "core/redis/redis_engine.h"
#include "core/redis/wire/server.h"
// Tests.
#include "tests/catch.h"
#include "tests/fakes/fake_clock.h"
#include "tests/servers/cluster.h"
#include "tests/servers/servers.h"
#include "tests/servers/told_time_library.h"

namespace fq::test {

inline Result<std::string> no_password() { return std::string(); }
inline Result<std::string> a_command_key() { return std::string("a key that only tests have"); }

/// Catch bears what one thread asserts: in others a fault is thrown, and told by whoever waits for them.
inline const std::thread::id kAsserting = std::this_thread::get_id();

template <class T>
T answered(Result<T> result) {
  if (std::this_thread::get_id() == kAsserting) {
    INFO((result.ok() ? std::string() : result.error().text));
    REQUIRE(result.ok());
  } else if (!result.ok()) {
    throw std::runtime_error(result.error().text);
  }
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

inline const RedisEngine& real_time_engine() {
  static const RedisEngine engine(redis_library(), no_password, false, nullptr, a_command_key);
  return engine;
}
inline const RedisEngine& told_time_engine() {
  static const RedisEngine engine(told_time_library(), no_password, true, nullptr, a_command_key);
  return engine;
}

inline std::unique_ptr<Queue> open_on(const RedisEngine& engine, const std::string& spool,
                                      Clock* clock = nullptr) {
  OpenOptions options;
  options.create = true;
  options.clock = clock;
  return answered(engine.open({spool, "default"}, options));
}

/// But for the note that a library was used, which stays when a queue is gone.
inline std::vector<std::string> keys_of(const TestServer& server, const std::string& pattern = "*") {
  std::vector<std::string> keys;
  for (const Reply& key : command(server, {"KEYS", pattern}).items) {
    if (!key.text.ends_with(":lib")) keys.push_back(key.text);
  }
  return keys;
}

inline MessageId push_one(Queue& queue, std::string_view tenant, std::string_view payload) {
  NewMessage message;
  message.tenant = tenant;
  message.payload = as_bytes(payload);
  const PushReply reply = answered(queue.push({&message, 1}));
  REQUIRE(reply.items.at(0).status == PushStatus::accepted);
  return reply.items[0].id;
}

inline LeaseRequest for_a_minute(size_t want = 1) {
  LeaseRequest request;
  request.want = want;
  request.hold = Hold::duration;
  request.hold_ms = 60'000;
  return request;
}

/// As zsets of the server name it.
inline std::string member_of(MessageId id) {
  std::string bytes(8, '\0');
  for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(static_cast<uint64_t>(id) >> (56 - 8 * i));
  return bytes;
}

}  // namespace fq::test
