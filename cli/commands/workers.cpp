// workers - the processes attached to the queues: workers, processes that only hold messages, and jobs left
// behind by workers that died.

// System.
#include <algorithm>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/host_name.h"
#include "core/base/text/json_writer.h"
#include "core/base/text/wall_time.h"
// fq, this room.
#include "cli/session/session.h"
#include "cli/terminal/shown.h"
#include "cli/terminal/table.h"
#include "cli/views/crew.h"
#include "cli/views/message_view.h"
#include "cli/words/command.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr size_t kIdsShown = 5;  // of one process, in a row of the table

std::string_view name_of(Attendee::Kind kind) {
  switch (kind) {
    case Attendee::Kind::worker:
      return "worker";
    case Attendee::Kind::holder:
      return "holder";
    case Attendee::Kind::orphan:
      break;
  }
  return "orphan";
}

std::string kind_text(const Attendee& one) {
  return std::string(name_of(one.kind)) + (one.stopped ? ", stopped" : "");
}

std::string json_of(const Crew::Member& one) {
  std::string line;
  JsonWriter json(line);
  const bool worker = one.all.kind == Attendee::Kind::worker;
  const auto count = [&](std::string_view key, uint64_t value, bool known) {
    json.key(key);
    known ? json.number(value) : json.null();
  };
  json.begin_object().key("kind").text(name_of(one.all.kind));
  count("pid", static_cast<uint64_t>(one.all.pid), one.all.pid != 0);
  json.key("host");
  one.all.host.empty() ? json.null() : json.text(one.all.host);
  json.key("queues").begin_array();
  for (const std::string& queue : one.queues) json.text(queue);
  json.end_array();
  count("slots", one.all.slots, worker);
  count("busy", one.all.busy, worker);
  json.key("since");
  one.all.since_wall_ms ? json.text(format_wall_time(*one.all.since_wall_ms)) : json.null();
  json.key("ids").begin_array();
  for (const MessageId id : one.all.ids) json.number(number(id));
  json.end_array().key("stopped").boolean(one.all.stopped).end_object();
  return line.append("\n");
}

std::string ids_shown(const std::vector<MessageId>& ids) {
  if (ids.empty()) return "-";
  const size_t shown = std::min(ids.size(), kIdsShown);
  std::string text = ids_text({ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(shown)});
  if (ids.size() > shown) text.append(" and ").append(std::to_string(ids.size() - shown)).append(" more");
  return text;
}

std::string table_of(const std::vector<Crew::Member>& present, const Screen& screen) {
  const int64_t now_ms = system_clock().wall_ms();
  const std::string here = host_name();
  const bool is_elsewhere = std::any_of(present.begin(), present.end(), [&](const Crew::Member& one) {
    return !one.all.host.empty() && one.all.host != here;
  });
  Table table({1, 2, 3, 4, 5, 6});
  table.spare({4, 2});
  if (!is_elsewhere) table.hide({1});
  table.row({"PID", "HOST", "KIND", "BUSY", "SINCE", "QUEUES", "IDS"});
  for (const Crew::Member& one : present) {
    std::string queues;
    for (const std::string& queue : one.queues) queues.append(queues.empty() ? "" : ", ").append(queue);
    const bool worker = one.all.kind == Attendee::Kind::worker;
    table.row({one.all.pid == 0 ? "?" : std::to_string(one.all.pid),
               one.all.host.empty() ? "?" : shown(one.all.host), kind_text(one.all),
               worker ? std::to_string(one.all.busy) + " of " + std::to_string(one.all.slots) : "-",
               one.all.since_wall_ms ? relative_time(*one.all.since_wall_ms, now_ms) : "-", queues,
               ids_shown(one.all.ids)});
  }
  return table.text(screen);
}

Result<Exit> run_workers(const Arguments& arguments, Session& session) {
  if (!arguments.operands().empty()) return usage_error("workers", "takes no operand; name a queue by -q");
  Crew crew;
  FQ_TRY_SET(const Exit exit,
             session.for_each_queue([&](const std::string& name, Queue& queue) -> Result<Exit> {
               FQ_TRY_SET(std::vector<Attendee> attendees, queue.attendees());
               for (Attendee& one : attendees) crew.add(name, std::move(one));
               return Exit::done;
             }));
  const std::vector<Crew::Member>& present = crew.members();
  if (session.format() == Format::json) {
    for (const Crew::Member& one : present) FQ_TRY(session.out().write(json_of(one)));
  } else if (!present.empty()) {
    FQ_TRY(session.out().write(table_of(present, screen_of(session.out()))));
  }
  FQ_TRY(session.out().flush());
  return exit == Exit::done && present.empty() ? Exit::nothing : exit;
}

}  // namespace

const Command workers_command = {
    "workers",
    "show which processes work on the queues",
    "",
    "Shows the workers of the queues and other holders of messages.",
    {{}, &kQueuesOption, "human|json"},
    "fq workers --json | jq -r .pid",
    "0 shown; 1 none",
    run_workers,
};

}  // namespace fq::cli
