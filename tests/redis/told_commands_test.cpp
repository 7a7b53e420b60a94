// told_commands_test - what is told of a command that is over has none of its variables, which may be
// secrets.

// Tests.
#include "tests/redis/command_fixture.h"

namespace fq::test {

namespace {

void add_texts(const Reply& reply, std::string& texts) {
  texts += reply.text;
  for (const Reply& each : reply.items) add_texts(each, texts);
}

std::string events_on(const TestServer& server, std::string_view place) {
  std::string texts;
  add_texts(command(server, {"XRANGE", "fq1:fq:{" + std::string(place) + ":0:0}:e", "-", "+"}), texts);
  return texts;
}

/// With all that stands before them.
NewMessage secret_message() {
  NewMessage message = command_message();
  message.command->argv = {"sh", "-c", "TELL-NOBODY"};
  message.command->env = {"KEY=TELL-NOBODY"};
  message.timeout_ms = 7'000;
  message.tags = {{"color", "red"}, {"size", ""}};
  return message;
}

}  // namespace

TEST_CASE("events have the tags of a command, and neither its words nor its variables") {
  Commands c;
  OpenOptions options;
  options.create = true;
  options.clock = &c.clock;
  const std::unique_ptr<Queue> other =
      answered(told_time_engine().open({c.server.spool(), "other"}, options));
  push_one(*other, "t", "x");
  NewMessage message = secret_message();
  message.unique = "k";
  const MessageId id = c.push(message);
  message.unique_mode = UniqueMode::replace;
  c.push(message);
  MessagePatch patch;
  patch.tags = {{"color", "blue"}};
  REQUIRE(answered(c.queue->edit(id, patch)) == SettleStatus::ok);
  const MoveReply moved = answered(c.queue->move({&id, 1}, {"other", ""}));
  INFO((moved.error ? moved.error->text : std::string()));
  REQUIRE(moved.items.size() == 1);
  REQUIRE(moved.items[0].what == MoveResult::What::moved);
  const std::string here = events_on(c.server, "default"), there = events_on(c.server, "other");
  for (const std::string& events : {here, there}) {
    CHECK(events.find("color") != std::string::npos);
    CHECK(events.find("TELL-NOBODY") == std::string::npos);
  }
  EventRequest request;
  request.tag = Tag{"color", "red"};
  EventPage page;
  REQUIRE(c.queue->events(request, page).ok());
  CHECK(page.events.size() >= 2);
}

TEST_CASE("the record of a command that has ended has its words, and none of its variables") {
  Commands c;
  NewMessage message = secret_message();
  message.command->argv = {"sh"};
  const MessageId id = c.push(message);
  const LeaseReply taken = c.lease(*c.queue);
  Settle ack;
  ack.receipt = taken.deliveries.at(0).receipt;
  answered(c.queue->settle({&ack, 1}));
  CHECK(c.record(id).find("TELL-NOBODY") == std::string::npos);
  const MessageInfo info = answered(c.queue->get(id)).value();
  CHECK(info.command->argv == std::vector<std::string>{"sh"});
  CHECK(info.tags == message.tags);
}

}  // namespace fq::test
