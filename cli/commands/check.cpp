// check - reads everything and compares the segment with the journal.

// fq, below us.
#include "core/base/text/counted.h"
#include "core/base/text/json_writer.h"
// fq, this room.
#include "cli/terminal/shown.h"
#include "cli/words/command.h"
#include "cli/session/session.h"
#include "cli/terminal/signals.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kCheckOptions[] = {
    {"How", 0, "repair", Takes::nothing, "", "set damaged bytes aside and go on without them"},
};

void write_lines(JsonWriter& json, std::string_view key, const CountedLines& lines) {
  json.key(std::string(key) + "_count").number(lines.count);
  json.key(key).begin_array();
  for (const std::string& line : lines.lines) json.text(line);
  json.end_array();
}

std::string json_of(const std::string& queue, const CheckReport& report) {
  std::string line;
  JsonWriter json(line);
  json.begin_object().key("queue").text(queue).key("ok").boolean(report.findings.empty());
  json.key("records").number(report.records).key("messages").number(report.messages);
  write_lines(json, "findings", report.findings);
  write_lines(json, "remarks", report.remarks);
  json.key("messages_cancelled").number(report.messages_cancelled);
  write_lines(json, "repairs", report.repairs);
  write_lines(json, "set_aside", report.set_aside);
  json.end_object();
  return line.append("\n");
}

void append_lines(std::string& text, std::string_view front, const CountedLines& lines,
                  std::string_view end = "") {
  for (const std::string& line : lines.lines) text.append(front).append(shown(line)).append(end).append("\n");
  const uint64_t more = lines.count - lines.lines.size();
  if (more > 0) text.append(front).append("and " + std::to_string(more) + " more\n");
}

std::string human_of(const std::string& queue, const CheckReport& report) {
  std::string text =
      queue + ": " + counted(report.records, "record") + ", " + counted(report.messages, "message") + ", ";
  text += report.findings.empty() ? "all is well\n" : counted(report.findings.count, "finding") + "\n";
  append_lines(text, "  repaired: ", report.repairs);
  if (report.messages_cancelled > 0) {
    text += "  repaired: " + counted(report.messages_cancelled, "message") +
            " cancelled, with nothing left to deliver\n";
  }
  append_lines(text, "  ", report.findings);
  append_lines(text, "  ", report.remarks);
  append_lines(text, "  ", report.set_aside, ": kept of damage; remove it when you have looked");
  return text;
}

Result<Exit> run_check(const Arguments& arguments, Session& session) {
  if (!arguments.operands().empty()) return usage_error("check", "takes no operand; name a queue by -q");
  CheckRequest request{.repair = arguments.has("repair"), .alone = session.queue_named()};
  if (request.repair) request.interrupt = &catch_signals();
  const auto check = [&](const std::string& name, Queue& queue) -> Result<Exit> {
    Result<CheckReport> checked = queue.check(request);
    // What was done before it failed, say.
    for (const std::string& notice : queue.take_notices()) say(notice);
    if (!checked && request.interrupt != nullptr && request.interrupt->raised()) {
      say(checked.error().text);
      die_by_caught_signal();
    }
    FQ_TRY_SET(const CheckReport report, std::move(checked));
    const bool json = session.format() == Format::json;
    FQ_TRY(session.out().write(json ? json_of(name, report) : human_of(name, report)));
    FQ_TRY(session.out().flush());
    return report.findings.empty() ? Exit::done : Exit::bad_data;
  };
  OpenOptions options;
  options.repair = request.repair;
  return session.for_each_queue(check, options);
}

}  // namespace

const Command check_command = {
    "check",
    "check queues for damage",
    "[--repair]",
    "Reads all of a queue, and compares its segment, journal and payloads.\n"
    "--repair sets damaged bytes aside and keeps all that can be read.",
    {kCheckOptions, &kQueuesOption, "human|json"},
    "fq check",
    "0 all is well; 1 no queue; 65 damage found or left; 74 I/O error",
    run_check,
};

}  // namespace fq::cli
