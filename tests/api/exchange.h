// exchange - verbs of exports and imports, for the tests of what every engine must do with them.
#pragma once

// System.
#include <string>
#include <vector>
// Tests.
#include "tests/api/contract.h"

// An engine without exports has nothing to keep of what follows.
#define WHERE_EXPORTS_ARE(q) \
  ON_EVERY_ENGINE(q);        \
  if (!q.door().caps().exports) return

namespace fq::test {

inline ExportedMessage exported(QueueFixture& q, MessageId id) {
  Result<std::optional<ExportedMessage>> message = q.door().exported(id);
  INFO((message.ok() ? "" : message.error().text));
  REQUIRE(message.ok());
  REQUIRE(message->has_value());
  return **std::move(message);
}

inline ImportReply import_all(QueueFixture& q, const std::vector<ExportedMessage>& messages,
                              const std::string& origin = "elsewhere") {
  Result<ImportReply> reply = q.door().import_messages(messages, origin);
  INFO((reply.ok() ? "" : reply.error().text));
  REQUIRE(reply.ok());
  return std::move(reply).value();
}

inline MessageId import_one(QueueFixture& q, const ExportedMessage& message) {
  const ImportReply reply = import_all(q, {message});
  REQUIRE(!reply.error);
  REQUIRE(reply.items.size() == 1);
  INFO(reply.items[0].why);
  REQUIRE(reply.items[0].what != ImportResult::What::refused);
  return reply.items[0].id;
}

/// One of another queue, as it would be pushed now.
inline ExportedMessage a_message(QueueFixture& q, uint64_t id, State state) {
  ExportedMessage message;
  message.id = MessageId{id};
  message.tenant = "t";
  message.payload = "m";
  message.pushed_at_wall_ms = q.clock().wall_ms();
  message.state = state;
  return message;
}

}  // namespace fq::test
