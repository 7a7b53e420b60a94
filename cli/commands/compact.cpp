// compact - gives back the part of the journal that is not needed.

// fq, below us.
#include "core/base/text/counted.h"
#include "core/base/text/json_writer.h"
#include "core/base/text/size.h"
// fq, this room.
#include "cli/words/command.h"
#include "cli/session/session.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

uint64_t gained(const CompactReport& report) {
  return report.bytes_before > report.bytes_after ? report.bytes_before - report.bytes_after : 0;
}

std::string json_of(const std::string& queue, const CompactReport& report) {
  std::string line;
  JsonWriter json(line);
  json.begin_object().key("queue").text(queue).key("gained_bytes").number(gained(report));
  json.key("journal_bytes");
  report.has_journal ? json.number(report.bytes_after) : json.null();
  json.key("files_gone").number(report.files_gone);
  json.key("messages_moved").number(report.messages_moved);
  json.key("payloads_gone").number(report.payloads_gone);
  json.key("libraries_gone");
  (report.libraries_gone ? json.number(*report.libraries_gone) : json.null()).end_object();
  return line.append("\n");
}

std::string of_servers(const CompactReport& report) {
  if (!report.libraries_gone) {
    return "it has no journal; what old versions of fq have left on the server this user may not delete, an "
           "administrator's fq compact does";
  }
  if (*report.libraries_gone == 0) return "nothing to gain, it has no journal";
  return counted(*report.libraries_gone, "library", "libraries") +
         " of old versions of fq deleted from the server";
}

std::string human_of(const std::string& queue, const CompactReport& report) {
  if (!report.has_journal) return queue + ": " + of_servers(report) + "\n";
  const std::string now = "the journal has " + format_size(report.bytes_after);
  const std::string gone = report.payloads_gone == 0
                               ? ""
                               : ", " + counted(report.payloads_gone, "payload") + " of no message removed";
  if (gained(report) == 0) return queue + ": nothing gained, " + now + gone + "\n";
  return queue + ": " + format_size(gained(report)) + " gained, " + now + gone + "\n";
}

Result<Exit> run_compact(const Arguments& arguments, Session& session) {
  if (!arguments.operands().empty()) return usage_error("compact", "takes no operand; name a queue by -q");
  return session.for_each_queue([&](const std::string& name, Queue& queue) -> Result<Exit> {
    FQ_TRY_SET(const CompactReport report, queue.compact());
    const bool json = session.format() == Format::json;
    FQ_TRY(session.out().write(json ? json_of(name, report) : human_of(name, report)));
    FQ_TRY(session.out().flush());
    if (report.messages_unreadable == 0) return Exit::done;
    return Error{ErrorKind::bad_data,
                 "queue '" + name + "': " + counted(report.messages_unreadable, "message") +
                     " cannot be read and keep" + (report.messages_unreadable == 1 ? "s its" : " their") +
                     " file; see fq check",
                 0};
  });
}

}  // namespace

const Command compact_command = {
    "compact",
    "free journal space that no message needs",
    "",
    "Frees journal space that no message needs, in every queue.",
    {{}, &kQueuesOption, "human|json"},
    "fq compact -q mail",
    "0 done, also when nothing was gained; 1 no queue; 65 damage in the way",
    run_compact,
};

}  // namespace fq::cli
