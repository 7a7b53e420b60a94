// exported_ids - what an exported message names, and what it is called elsewhere.
#include "core/api/exported_ids.h"

// Tests.
#include "tests/catch.h"

namespace fq {

namespace {

ExportedMessage message_that_names_others() {
  ExportedMessage message;
  message.after = {{MessageId{2}, false, false}, {MessageId{3}, true, true}};
  message.behind = MessageId{4};
  message.steps.resize(3);
  message.steps[0].child = MessageId{5};
  message.steps[1].ids = {MessageId{6}, MessageId{7}};
  return message;
}

}  // namespace

TEST_CASE("an exported message needs all that it names but what it waits for no longer") {
  const ExportedMessage message = message_that_names_others();
  using Ids = std::vector<MessageId>;
  CHECK(named_by(message) ==
        Ids{MessageId{2}, MessageId{3}, MessageId{4}, MessageId{5}, MessageId{6}, MessageId{7}});
  CHECK(needed_by(message) == Ids{MessageId{2}, MessageId{4}, MessageId{5}, MessageId{6}, MessageId{7}});
  CHECK(named_by(ExportedMessage{}).empty());
  ExportedMessage dead = message;
  dead.state = State::dead;
  CHECK(named_by(dead) == named_by(message));
  CHECK(needed_by(dead) == Ids{MessageId{4}, MessageId{5}, MessageId{6}, MessageId{7}});
}

TEST_CASE("it does without those that are not known elsewhere") {
  ExportedMessage message = message_that_names_others();
  rename_others(message,
                [](MessageId id) { return number(id) % 2 == 0 ? MessageId{} : MessageId{number(id) + 100}; });
  REQUIRE(message.after.size() == 1);
  CHECK(message.after[0].id == MessageId{103});
  CHECK(message.behind == MessageId{});
  CHECK(message.steps[0].child == MessageId{105});
  CHECK(message.steps[1].ids == std::vector<MessageId>{MessageId{107}});
  CHECK(message.steps[2].child == MessageId{});  // it named none, and none is asked for
}

}  // namespace fq
