// show - everything about one message, with its history.

// fq, below us.
#include "core/base/text/duration.h"
#include "core/base/text/escape.h"
#include "core/base/text/size.h"
// fq, this room.
#include "cli/words/command.h"
#include "cli/views/event_view.h"
#include "cli/views/message_view.h"
#include "cli/views/step_view.h"
#include "cli/session/session.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/shown.h"
#include "cli/terminal/table.h"
#include "cli/words/local_time.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr size_t kHistoryPage = 100;
constexpr size_t kFactColumns = 60;

/// Also tells whose a message was that has ended.
Result<std::vector<HistoryEvent>> history_of(Queue& queue, MessageInfo& message) {
  std::vector<HistoryEvent> events;
  Cursor from;
  do {
    FQ_TRY_SET(HistoryPage page, queue.history(message.id, from, kHistoryPage));
    if (!page.tenant.empty()) message.tenant = std::move(page.tenant);
    for (HistoryEvent& event : page.events) events.push_back(std::move(event));
    from = std::move(page.next);
  } while (goes_on(from));
  return events;
}

std::string json_of(const Session& session, const MessageInfo& message,
                    const std::vector<HistoryEvent>& events, const std::vector<StepInfo>& steps) {
  std::string line;
  JsonWriter json(line);
  json.begin_object();
  write_message(json, session.queue_name(), message);
  json.key("history").begin_array();
  EventView view(session.queue_name());
  for (const HistoryEvent& event : events) {
    if (&event != &events.front()) line.push_back(',');
    view.append_json(line, view_of(event, message.id, message.tenant));
  }
  json.end_array().key("steps");
  write_steps(json, steps);
  json.end_object();
  return line.append("\n");
}

/// "name  value" lines; what is unknown is left out.
class Facts {
 public:
  void add(std::string name, std::string value) { table_.row({std::move(name), std::move(value)}); }
  void add_time(std::string name, const std::optional<int64_t>& at) {
    if (at) add(std::move(name), local_time_text(*at));
  }
  std::string text() const { return table_.text(); }

 private:
  Table table_{{0, 1}};
};

std::string last_error_text(const LastError& error) {
  std::string text = local_time_text(error.at_wall_ms);
  const std::string status = status_text(error.exit, error.signal, error.reason);
  if (!status.empty()) text += ", " + status;
  if (!error.reason.empty()) text += ", " + shown(error.reason);
  return text;
}

/// What the job said on standard error at the end, a line of it a line.
std::string stderr_text(std::string_view tail) {
  if (tail.empty()) return "";
  if (tail.back() == '\n') tail.remove_suffix(1);
  std::string text = "stderr\n";
  for (;;) {
    const size_t end = tail.find('\n');
    text.append("  ").append(shown(tail.substr(0, end))).append("\n");
    if (end == std::string_view::npos) return text;
    tail.remove_prefix(end + 1);
  }
}

std::string history_text(const MessageInfo& message, const std::vector<HistoryEvent>& events) {
  Table table({0, 1, 2});
  EventView view("");
  for (const HistoryEvent& event : events) {
    std::string about;
    view.append_details(about, view_of(event, message.id, message.tenant));
    table.row({"  " + local_time_text(event.at_wall_ms), std::string(event.event), about});
  }
  return "history\n" + table.text();
}

std::string human_of(const Session& session, const MessageInfo& message,
                     const std::vector<HistoryEvent>& events, const std::vector<StepInfo>& steps) {
  Facts facts;
  facts.add("message", std::to_string(number(message.id)) + " in queue " + session.queue_name());
  if (only_outcome_known(message)) {
    if (!message.tenant.empty()) facts.add("tenant", shown(message.tenant));
    facts.add("state", std::string(name_of(message.state)));
    if (message.moved_to)
      facts.add("moved to", "queue " + message.moved_to->queue + ", as message " +
                                std::to_string(number(message.moved_to->id)));
    facts.add("attempts", std::to_string(message.attempts));
    return facts.text() + history_text(message, events);
  }
  facts.add("tenant", shown(message.tenant));
  facts.add("state", std::string(name_of(message.state)));
  if (record_known(message)) facts.add("priority", std::to_string(message.priority));
  if (!message.key.empty()) facts.add("key", shown(message.key));
  for (const Tag& tag : message.tags) facts.add("tag", shown(tag.name + "=" + tag.value));
  if (message.command) {
    facts.add("command", command_text(*message.command));
    facts.add("cwd", shown(message.command->cwd));
    if (!message.command->env.empty())
      facts.add("env", shown_short(names_text(message.command->env), kFactColumns));
  }
  if (message.timeout_ms) facts.add("timeout", format_duration(*message.timeout_ms));
  if (message.ttl_ms) facts.add("ttl", format_duration(*message.ttl_ms));
  if (message.keep_ms) facts.add("keep", format_duration(*message.keep_ms));
  if (!message.unique.empty()) facts.add("unique", shown(message.unique));
  if (message.unique_for_ms) facts.add("unique for", format_duration(*message.unique_for_ms));
  if (!message.debounce.empty()) facts.add("debounce", shown(message.debounce));
  if (!message.schedule.empty()) facts.add("schedule", shown(message.schedule));
  facts.add_time("scheduled at", message.scheduled_at_wall_ms);
  facts.add("attempts", std::to_string(message.attempts) + " of " + std::to_string(message.attempts_max));
  facts.add("deliveries",
            std::to_string(message.deliveries) + ", " + std::to_string(message.crashes) + " crashed");
  facts.add_time("pushed at", message.pushed_at_wall_ms);
  facts.add_time("due at", message.due_at_wall_ms);
  if (message.delay_ms) facts.add("delay", format_duration(*message.delay_ms) + " once it is let go");
  facts.add_time("expires at", message.expires_at_wall_ms);
  facts.add_time("started at", message.started_at_wall_ms);
  facts.add_time("ended at", message.ended_at_wall_ms);
  if (const auto ran_ms = run_ms(message)) facts.add("ran", format_duration(*ran_ms));
  if (message.exit) facts.add("exit", std::to_string(*message.exit));
  if (message.signal) facts.add("signal", std::to_string(*message.signal));
  if (message.worker_pid) facts.add("worker", "process " + std::to_string(*message.worker_pid));
  if (!message.after.empty()) facts.add("comes after", ids_text(message.after));
  if (!message.after_any.empty())
    facts.add("comes after",
              ids_text(message.after_any) +
                  (message.after_any.size() == 1 ? ", however it ends" : ", however they end"));
  if (message.receipt) facts.add("receipt", shown(message.receipt->text()));
  facts.add_time("lease until", message.lease_until_wall_ms);
  if (message.holder_pid) facts.add("holder", process_text(*message.holder_pid, message.holder_host));
  const bool is_held = message.state == State::leased && !message.lease_until_wall_ms;
  if (is_held && !message.holder_pid) facts.add("holder", left_behind_text(message.holder_host));
  if (message.last_error) facts.add("last error", last_error_text(*message.last_error));
  if (message.payload) {
    const std::string preview = shown_short(*message.payload, kFactColumns);
    facts.add("payload", format_size(message.payload->size()) + (preview.empty() ? "" : ": " + preview));
  }
  if (!message.lost.empty()) facts.add("payload", "lost: " + shown(message.lost) + "; see fq check");
  const std::string said = message.last_error ? stderr_text(message.last_error->stderr_tail) : "";
  const std::string done = steps.empty() ? "" : "steps\n" + step_table(steps);
  return facts.text() + said + history_text(message, events) + done;
}

Result<Exit> run_show(const Arguments& arguments, Session& session) {
  if (arguments.operands().size() != 1) return usage_error("show", "takes one message id; write fq show 17");
  FQ_TRY_SET(const MessageId id, to_id("ID", arguments.operands()[0]));
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY_SET(std::optional<MessageInfo> message, queue->get(id));
  if (!message) {
    say("message " + std::to_string(number(id)) + ": not in queue '" + session.queue_name() + "'");
    return Exit::nothing;
  }
  FQ_TRY_SET(const std::vector<HistoryEvent> events, history_of(*queue, *message));
  std::vector<StepInfo> steps;
  if (Steps* const kept = queue->steps()) {
    FQ_TRY_SET(const std::optional<std::vector<StepInfo>> all, kept->list(id));
    if (all) steps = *all;
  }
  const bool json = session.format() == Format::json;
  FQ_TRY(session.out().write(json ? json_of(session, *message, events, steps)
                                  : human_of(session, *message, events, steps)));
  FQ_TRY(session.out().flush());
  return Exit::done;
}

}  // namespace

const Command show_command = {
    "show",
    "show everything about one message",
    "ID",
    "Shows everything about one message, with its history.",
    {{}, &kQueueOption, "human|json"},
    "fq show 17",
    "0 shown; 1 no such message",
    run_show,
};

}  // namespace fq::cli
