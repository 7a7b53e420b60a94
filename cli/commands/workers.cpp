// workers - who is attached to the queues: workers, processes that only hold messages, and what is left of
// workers that died.

// System.
#include <unistd.h>

#include <algorithm>
#include <array>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/text/json_writer.h"
#include "core/base/text/wall_time.h"
// fq, this room.
#include "cli/session/session.h"
#include "cli/terminal/table.h"
#include "cli/views/message_view.h"
#include "cli/words/command.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr size_t kIdsShown = 5;  // of one process, in a row of the table

/// A process, with what all its queues tell of it.
struct Present {
  Attendee all;
  std::vector<std::string> queues;
};

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

/// What a process was before its queue's segment was made anew counts as what it is now.
void add(std::vector<Present>& present, const std::string& queue, Attendee one) {
  const bool orphan = one.kind == Attendee::Kind::orphan;
  const auto same = std::find_if(present.begin(), present.end(), [&](const Present& each) {
    return each.all.pid == one.pid && (each.all.kind == Attendee::Kind::orphan) == orphan;
  });
  if (same == present.end()) {
    present.push_back({std::move(one), {queue}});
    return;
  }
  Attendee& all = same->all;
  if (one.kind == Attendee::Kind::worker) all.kind = one.kind;
  all.slots = std::max(all.slots, one.slots);
  all.busy = std::min(all.slots, all.busy + one.busy);
  if (!all.since_wall_ms || (one.since_wall_ms && *one.since_wall_ms < *all.since_wall_ms))
    all.since_wall_ms = one.since_wall_ms;
  all.ids.insert(all.ids.end(), one.ids.begin(), one.ids.end());
  if (same->queues.back() != queue) same->queues.push_back(queue);
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string json_of(const Present& one, const std::string& host) {
  std::string line;
  JsonWriter json(line);
  const bool worker = one.all.kind == Attendee::Kind::worker;
  const auto count = [&](std::string_view key, uint64_t value, bool known) {
    json.key(key);
    known ? json.number(value) : json.null();
  };
  json.begin_object().key("kind").text(name_of(one.all.kind));
  count("pid", static_cast<uint64_t>(one.all.pid), one.all.pid != 0);
  json.key("host").text(host).key("queues").begin_array();
  for (const std::string& queue : one.queues) json.text(queue);
  json.end_array();
  count("slots", one.all.slots, worker);
  count("busy", one.all.busy, worker);
  json.key("since");
  one.all.since_wall_ms ? json.text(format_wall_time(*one.all.since_wall_ms)) : json.null();
  json.key("ids").begin_array();
  for (const MessageId id : one.all.ids) json.number(number(id));
  json.end_array().end_object();
  return line.append("\n");
}

std::string ids_shown(const std::vector<MessageId>& ids) {
  if (ids.empty()) return "-";
  const size_t shown = std::min(ids.size(), kIdsShown);
  std::string text = ids_text({ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(shown)});
  if (ids.size() > shown) text.append(" and ").append(std::to_string(ids.size() - shown)).append(" more");
  return text;
}

std::string table_of(const std::vector<Present>& present, const Screen& screen) {
  const int64_t now_ms = system_clock().wall_ms();
  Table table({1, 2, 3, 4, 5});
  table.spare({3, 1});
  table.row({"PID", "KIND", "BUSY", "SINCE", "QUEUES", "IDS"});
  for (const Present& one : present) {
    std::string queues;
    for (const std::string& queue : one.queues) queues.append(queues.empty() ? "" : ", ").append(queue);
    const bool worker = one.all.kind == Attendee::Kind::worker;
    table.row({one.all.pid == 0 ? "?" : std::to_string(one.all.pid), std::string(name_of(one.all.kind)),
               worker ? std::to_string(one.all.busy) + " of " + std::to_string(one.all.slots) : "-",
               one.all.since_wall_ms ? relative_time(*one.all.since_wall_ms, now_ms) : "-", queues,
               ids_shown(one.all.ids)});
  }
  return table.text(screen);
}

Result<Exit> run_workers(const Arguments& arguments, Session& session) {
  if (!arguments.operands().empty()) return usage_error("workers", "takes no operand; name a queue by -q");
  std::vector<Present> present;
  FQ_TRY_SET(const Exit exit,
             session.for_each_queue([&](const std::string& name, Queue& queue) -> Result<Exit> {
               FQ_TRY_SET(std::vector<Attendee> attendees, queue.attendees());
               for (Attendee& one : attendees) add(present, name, std::move(one));
               return Exit::done;
             }));
  if (session.format() == Format::json) {
    const std::string host = host_name();
    for (const Present& one : present) FQ_TRY(session.out().write(json_of(one, host)));
  } else if (!present.empty()) {
    FQ_TRY(session.out().write(table_of(present, screen_of(session.out()))));
  }
  FQ_TRY(session.out().flush());
  return exit == Exit::done && present.empty() ? Exit::nothing : exit;
}

}  // namespace

const Command workers_command = {
    "workers",
    "",
    "Shows who works on the queues, and who else holds messages.",
    {{}, &kQueuesOption, "human|json"},
    "fq workers --json | jq -r .pid",
    "0 shown; 1 nobody",
    run_workers,
};

}  // namespace fq::cli
