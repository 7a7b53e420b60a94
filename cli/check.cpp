// check - reads everything and compares the segment with the journal.

// fq, below us.
#include "core/base/json_writer.h"
// fq, this room.
#include "cli/command.h"
#include "cli/session.h"
#include "cli/values.h"

namespace fq::cli {

namespace {

std::string json_of(const std::string& queue, const CheckReport& report) {
  std::string line;
  JsonWriter json(line);
  json.begin_object().key("queue").text(queue).key("records").number(report.records);
  json.key("messages").number(report.messages).key("findings").begin_array();
  for (const std::string& finding : report.findings) json.text(finding);
  json.end_array().end_object();
  return line.append("\n");
}

std::string counted(uint64_t count, std::string_view what) {
  return std::to_string(count).append(" ").append(what).append(count == 1 ? "" : "s");
}

std::string human_of(const std::string& queue, const CheckReport& report) {
  std::string text =
      queue + ": " + counted(report.records, "record") + ", " + counted(report.messages, "message") + ", ";
  text += report.findings.empty() ? "all is well\n" : counted(report.findings.size(), "finding") + "\n";
  for (const std::string& finding : report.findings) text.append("  ").append(shown(finding)).append("\n");
  return text;
}

Result<Exit> run_check(const Arguments& arguments, Session& session) {
  if (!arguments.operands().empty()) return usage_error("check", "takes no operand; name a queue by -q");
  return session.for_each_queue([&](const std::string& name, Queue& queue) -> Result<Exit> {
    FQ_TRY_SET(const CheckReport report, queue.check());
    const bool json = session.format() == Format::json;
    FQ_TRY(session.out().write(json ? json_of(name, report) : human_of(name, report)));
    FQ_TRY(session.out().flush());
    return report.findings.empty() ? Exit::done : Exit::bad_data;
  });
}

}  // namespace

const Command check_command = {
    "check",
    "",
    "Reads all of every queue and compares the segment with the journal.",
    {{}, true, "human|json"},
    "fq check",
    "0 all is well; 1 no queue; 65 damage found",
    run_check,
};

}  // namespace fq::cli
