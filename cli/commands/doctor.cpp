// doctor - the things that fq rests on, and the advice about them.

// System.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
// fq, below us.
#include "core/api/doctor.h"
#include "core/api/queue.h"
#include "core/base/text/escape.h"
#include "core/base/text/json_writer.h"
#include "core/base/text/wall_time.h"
// fq, this room.
#include "cli/words/command.h"
#include "cli/words/local_time.h"
#include "core/policy/policy.h"
#include "cli/session/session.h"
#include "cli/terminal/shown.h"
#include "cli/terminal/table.h"
#include "cli/words/values.h"

#ifndef FQ_VERSION
#define FQ_VERSION "unknown"
#endif

namespace fq::cli {

namespace {

std::string_view name_of(Health health) {
  switch (health) {
    case Health::ok:
      return "ok";
    case Health::warning:
      return "warning";
    case Health::fault:
      break;
  }
  return "fault";
}

std::string json_of(const DoctorRow& row) {
  std::string line;
  JsonWriter json(line);
  json.begin_object().key("about").text(row.about).key("found").text(row.found);
  json.key("health").text(name_of(row.health)).key("advice");
  row.advice.empty() ? json.null() : json.text(row.advice);
  json.end_object();
  return line.append("\n");
}

/// In the zone of the person who reads it.
std::string found_text(const DoctorRow& row) {
  if (!row.at_wall_ms) return row.found;
  return local_time_text(*row.at_wall_ms) + row.found.substr(format_wall_time(*row.at_wall_ms).size());
}

std::string human_of(const std::vector<DoctorRow>& rows) {
  Table table({0, 1, 2});
  for (const DoctorRow& row : rows) {
    table.row({std::string(name_of(row.health)), shown(row.about), shown(found_text(row))});
    if (!row.advice.empty()) table.row({"", "", "-> " + shown(row.advice)});
  }
  return table.text();
}

/// Whoever asks all queues waits for it once for each that has something there.
bool is_any_server_faulty(const std::vector<DoctorRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const DoctorRow& row) {
    return row.about == "server" && row.health == Health::fault;
  });
}

/// Without a usable one pushes are refused.
DoctorRow policy_row(const Location& location, bool asks_queues) {
  const Result<void> usable = asks_queues ? check_policy(location) : check_policy_alone(location);
  if (usable && !asks_queues)
    return {"fq.toml", "valid by itself; queues are not asked while a server cannot be", Health::ok, ""};
  if (usable) return {"fq.toml", "valid", Health::ok, ""};
  const bool is_its_fault = scheme_of(location.spool).empty() || is_policy_fault(usable.error());
  if (!is_its_fault) return {"fq.toml", "not known: " + usable.error().text, Health::fault, ""};
  const bool is_closed = usable.error().sys == EACCES && ::access(location.spool.c_str(), X_OK) != 0;
  if (is_closed)
    return {"fq.toml", "not known: " + usable.error().text, Health::fault, std::string(kOfOneUser)};
  return {"fq.toml", usable.error().text, Health::fault, "mend it; fq config check tells when that is done"};
}

Result<Exit> run_doctor(const Arguments& arguments, Session& session) {
  if (!arguments.operands().empty()) return usage_error("doctor", "takes no operand");
  std::optional<std::string> queue;
  if (session.queue_named()) queue = session.queue_name();
  std::vector<DoctorRow> found = examine(session.spool(), queue);
  std::vector<DoctorRow> rows = {{"fq", FQ_VERSION, Health::ok, ""},
                                 policy_row(session.location(), !is_any_server_faulty(found))};
  std::move(found.begin(), found.end(), std::back_inserter(rows));
  Health worst = Health::ok;
  for (const DoctorRow& row : rows) worst = std::max(worst, row.health);
  std::string text;
  if (session.format() == Format::json) {
    for (const DoctorRow& row : rows) text += json_of(row);
  } else {
    text = human_of(rows);
  }
  FQ_TRY(session.out().write(text));
  FQ_TRY(session.out().flush());
  if (worst == Health::fault) return Exit::unusable;
  if (!queue) return Exit::done;
  FQ_TRY_SET(const std::vector<std::string> names, list_queues(session.spool()));
  if (std::find(names.begin(), names.end(), *queue) != names.end()) return Exit::done;
  return Error{ErrorKind::missing, "queue " + in_quotes(*queue) + ": there is none", 0};
}

}  // namespace

const Command doctor_command = {
    "doctor",
    "check what fq depends on",
    "",
    "Checks what fq depends on: disk, limits, kernel, clock, attached processes.",
    {{}, &kQueuesOption, "human|json"},
    "fq doctor",
    "0 fq can work here; 1 it can, but there is no such queue; 69 it cannot",
    run_doctor,
};

}  // namespace fq::cli
