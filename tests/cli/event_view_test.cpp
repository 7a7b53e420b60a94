// What `fq show` and `fq log` tell of an event.
#include "cli/views/event_view.h"

// Tests.
#include "tests/catch.h"

namespace fq::cli::test {

TEST_CASE("an event of a message's history is told with its own receipt") {
  HistoryEvent event;
  event.event = "leased";
  event.receipt = "7.7.a mark that no string has room for in itself";
  event.reason = "a reason that is longer than that, too";
  EventView view("queue");
  std::string line;
  view.append_json(line, view_of(event, MessageId{7}, "tenant"));
  CHECK(line.find("\"receipt\":\"" + event.receipt + '"') != std::string::npos);
  CHECK(line.find("\"reason\":\"" + event.reason + '"') != std::string::npos);
}

}  // namespace fq::cli::test
