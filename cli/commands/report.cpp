// report - the past of the queues and their stuck messages, as a page for a browser.

// System.
#include <algorithm>
// fq, below us.
#include "core/base/clock.h"
// fq, this room.
#include "cli/requests/measure.h"
#include "cli/session/session.h"
#include "cli/terminal/new_file.h"
#include "cli/terminal/signals.h"
#include "cli/views/report/report_page.h"
#include "cli/words/command.h"
#include "cli/words/since.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr size_t kRunningShown = 50;

constexpr OptionSpec kReportOptions[] = {
    {"Which", 0, "since", Takes::value, "TIME|DUR", "since then, or for this long (default: all)"},
    {"How", 'o', "output", Takes::value, "FILE", "write it there (default: standard output)"},
};

Result<ReportRequest> report_request(const Arguments& arguments) {
  ReportRequest request;
  request.now_wall_ms = system_clock().wall_ms();
  const auto typed = arguments.value("since");
  if (!typed) return request;
  FQ_TRY_SET(request.since_wall_ms, to_since("--since", *typed, request.now_wall_ms));
  return request;
}

Result<Activity> activity_of(Queue& queue, const ReportRequest& report) {
  Activity activity(report.since_wall_ms, report.now_wall_ms);
  EventRequest request;
  request.since_wall_ms = report.since_wall_ms;
  request.passes_over_away = true;
  EventPage page;
  do {
    FQ_TRY(queue.events(request, page));
    request.from = page.next;
    for (const std::string& notice : page.notices) say(notice);
    // What goes on happening meanwhile has an end here.
    for (const Event& event : page.events) {
      if (event.at_wall_ms <= report.now_wall_ms) activity.add(event);
    }
    const LetSignalsThrough now;  // many events are read without a wait in which a signal would come through
  } while (!page.at_end && (page.events.empty() || page.events.back().at_wall_ms <= report.now_wall_ms));
  return activity;
}

Result<QueueReport> report_of(const std::string& name, Queue& queue, const Crew& crew,
                              const ReportRequest& report) {
  FQ_TRY_SET(Activity activity, activity_of(queue, report));
  FQ_TRY_SET(StatsReply stats, queue.stats({}));
  FQ_TRY_SET(ExplainReply blocked, queue.explain({.id = {}, .tenant = {}, .next = 0}));
  FQ_TRY_SET(MessagePage running,
             queue.peek({.tenant = {}, .state = State::leased, .tag = {}}, {}, kRunningShown));
  FQ_TRY_SET(const Settings settings, queue.settings());
  StatsRow& sums = stats.rows.at(0);
  const uint64_t more = sums.leased - std::min<uint64_t>(sums.leased, running.messages.size());
  const ExplainContext context{name, "", settings, report.now_wall_ms, measured_of(crew, name, sums)};
  return QueueReport{
      name, std::move(sums), std::move(activity), std::move(blocked), context, std::move(running.messages),
      more};
}

Result<Exit> run_report(const Arguments& arguments, Session& session) {
  if (!arguments.operands().empty()) return usage_error("report", "takes no operand; name a queue by -q");
  FQ_TRY_SET(const ReportRequest request, report_request(arguments));
  auto file = arguments.value("output");
  if (file == "-") file.reset();
  if (file && file->empty()) return usage_error("--output", "is empty; name a file");
  const Crew crew = crew_of(session);
  std::vector<QueueReport> queues;
  FQ_TRY_SET(const Exit exit,
             session.for_each_queue([&](const std::string& name, Queue& queue) -> Result<Exit> {
               FQ_TRY_SET(QueueReport report, report_of(name, queue, crew, request));
               report.away = session.take_away();
               if (!report.away.is_empty()) say(report.away.text() + "; the page is without them");
               queues.push_back(std::move(report));
               return queues.back().away.is_empty() ? Exit::done : Exit::later;
             }));
  if (queues.empty()) return exit;
  const std::string page = report_page(queues, request);
  if (file) FQ_TRY(replace_file(std::string(*file), page));
  if (!file) FQ_TRY(session.out().write(page));
  FQ_TRY(session.out().flush());
  return exit;
}

}  // namespace

const Command report_command = {
    "report",
    "write an HTML page on what happened and what is stuck",
    "[--since TIME|DUR] [-o FILE]",
    "Writes an HTML page: what happened in the queues, what is stuck, and why.",
    {kReportOptions, &kQueuesOption, ""},
    "fq report --since 1d -o report.html",
    "0 written; 1 no queue",
    run_report,
};

}  // namespace fq::cli
