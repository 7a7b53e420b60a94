// explain - the next messages and why, or the reason why one message or tenant waits.

// fq, below us.
#include "core/base/clock.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/requests/measure.h"
#include "cli/words/command.h"
#include "cli/views/explain_view.h"
#include "cli/views/schedule_view.h"
#include "cli/session/filter.h"
#include "cli/session/session.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr uint64_t kNextMax = 512;
constexpr size_t kSchedulesShown = 10;

constexpr OptionSpec kExplainOptions[] = {
    {"Which", 't', "tenant", Takes::value, "TENANT", "of this one and below"},
    {"Which", 0, "next", Takes::value, "N", "the next N that would be served (default: 10)"},
};

Result<ExplainRequest> explain_request(const Arguments& arguments) {
  ExplainRequest request;
  const auto& operands = arguments.operands();
  if (operands.size() > 1) return usage_error("explain", "takes one message id; write fq explain 17");
  if (const auto typed = arguments.value("tenant")) {
    FQ_TRY_SET(request.tenant, to_tenant("--tenant", *typed));
  }
  if (const auto typed = arguments.value("next")) {
    FQ_TRY_SET(request.next, to_count("--next", *typed, kNextMax));
  }
  if (operands.empty()) return request;
  if (!request.tenant.empty() || arguments.has("next"))
    return usage_error("explain", "takes a message id, or --tenant and --next, not both");
  FQ_TRY_SET(request.id, to_id("ID", operands[0]));
  return request;
}

/// What was asked about is not there.
std::optional<std::string> missing(const ExplainRequest& request, const ExplainReply& reply,
                                   const std::string& queue) {
  if (reply.subject) return std::nullopt;
  const std::string where = " in queue " + in_quotes(queue);
  if (request.id) return "message " + std::to_string(number(*request.id)) + ": not" + where;
  if (!request.tenant.empty()) return "tenant " + in_quotes(request.tenant) + ": nothing of it" + where;
  return std::nullopt;
}

/// Without a worker here nobody else need be asked.
Result<Measured> measure(Session& session, Queue& queue) {
  FQ_TRY_SET(const std::vector<Attendee> here, queue.attendees());
  FQ_TRY_SET(const StatsReply stats, queue.stats({}));
  const Crew crew = here.empty() ? Crew() : crew_of(session);
  return measured_of(crew, session.queue_name(), stats.rows.at(0));
}

/// Of the whole queue: what is to come of its schedules, the first few.
Result<SchedulePage> schedules_to_tell(const ExplainRequest& request, Queue& queue) {
  Schedules* const schedules = queue.schedules();
  if (schedules == nullptr || request.id || !request.tenant.empty()) return SchedulePage();
  return schedules->list({}, kSchedulesShown);
}

std::string schedule_lines(const SchedulePage& page) {
  std::string lines;
  for (const ScheduleInfo& info : page.schedules) lines += schedule_line(info);
  if (!page.next.text.empty()) lines += "and more: fq schedule list\n";
  return lines;
}

Result<Exit> run_explain(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const ExplainRequest request, explain_request(arguments));
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY(refuse_pattern(*queue, request.tenant));
  FQ_TRY_SET(const ExplainReply reply, queue->explain(request));
  const bool json = session.format() == Format::json;
  FQ_TRY_SET(const SchedulePage schedules, schedules_to_tell(request, *queue));
  ExplainContext context{session.queue_name(), "", {}, system_clock().wall_ms()};
  const std::optional<std::string> not_there = missing(request, reply, session.queue_name());
  if (not_there) say(*not_there);
  if (not_there || (!reply.subject && reply.next.empty() && reply.blocked.empty())) {
    const std::string text =
        not_there ? "" : "nothing is ready in queue " + in_quotes(session.queue_name()) + "\n";
    FQ_TRY(session.out().write(json ? explanation_json({}, schedules.schedules, context)
                                    : text + schedule_lines(schedules)));
    FQ_TRY(session.out().flush());
    return Exit::nothing;
  }
  if (reply.subject && reply.subject->state == State::moved) {
    FQ_TRY_SET(const std::optional<MessageInfo> message, queue->get(*request.id));
    if (message) context.moved_to = message->moved_to;
  }
  if (arguments.has("spool")) context.spool = session.spool();
  FQ_TRY_SET(context.settings, queue->settings());
  FQ_TRY_SET(context.measured, measure(session, *queue));
  FQ_TRY(session.out().write(json ? explanation_json(reply, schedules.schedules, context)
                                  : explanation_text(reply, context, screen_of(session.out()))));
  if (!json) FQ_TRY(session.out().write(schedule_lines(schedules)));
  FQ_TRY(session.out().flush());
  return Exit::done;
}

}  // namespace

const Command explain_command = {
    "explain",
    "explain what is served next, or why a message waits",
    "[ID | [-t TENANT] [--next N]]",
    "Says what is served next and why, or why a message or a tenant waits.",
    {kExplainOptions, &kQueueOption, "human|json"},
    "fq explain 17",
    "0 shown; 1 no such message or tenant, or nothing is ready",
    run_explain,
};

}  // namespace fq::cli
