// push - puts one message, or with --lines, --null or --ndjson many, into the queue and prints their ids.

// System.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
// fq, below us.
#include "core/api/command_check.h"
#include "core/base/text/counted.h"
#include "core/base/text/duration.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/words/command.h"
#include "cli/session/ending.h"
#include "cli/session/following.h"
#include "cli/terminal/input.h"
#include "cli/session/patience.h"
#include "cli/requests/batch_source.h"
#include "cli/requests/message_options.h"
#include "cli/requests/push_options.h"
#include "cli/requests/pusher.h"
#include "cli/session/session.h"
#include "cli/session/stopped_workers.h"
#include "cli/terminal/signals.h"
#include "cli/words/values.h"
#include "cli/terminal/typed_command.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kPushOptions[] = {
    message_option::kOwner,
    message_option::kPriority,
    message_option::kSortKey,
    message_option::kDelay,
    message_option::kAt,
    message_option::kTtl,
    message_option::kAttempts,
    message_option::kLabel,
    {"Message", 0, "unique", Takes::value, "KEY", "push nothing while KEY is held: print that id"},
    {"Message", 0, "unique-for", Takes::value, "DUR", "the key is held so long after the ack (default: 1h)"},
    {"Message", 0, "unique-mode", Takes::value, "MODE", "keep, replace or after (default: keep)"},
    {"Message", 0, "debounce", Takes::value, "KEY", "replaces the waiting message with this KEY"},
    {"Message", 0, "quiet", Takes::value, "DUR", "with --debounce: due so long after the last push"},
    {"Message", 0, "max-wait", Takes::value, "DUR", "and at the latest so long after the first"},
    {"Message", 0, "after", Takes::value, "ID[,ID...]", "held until all of these are acked"},
    {"Message", 0, "after-any", Takes::value, "ID[,ID...]", "held until all of these have ended"},
    {"Message", 0, "lazy", Takes::nothing, "", "do not wait for the disk"},
    {"Message", 0, "block", Takes::attached, "DUR", "where a limit is reached: until there is room"},
    message_option::kTypedPayload,
    message_option::kPayloadFile,
    {"Message", 0, "lines", Takes::nothing, "", "each line of stdin is a payload"},
    {"Message", '0', "null", Takes::nothing, "", "the same, each ended by NUL"},
    {"Message", 0, "ndjson", Takes::nothing, "", "each line is a JSON object, a message"},
    message_option::kTimeout,
    message_option::kKeep,
    {"Job", 0, "wait", Takes::attached, "DUR", "until it ends; its output, its exit status"},
    {"Job", 0, "cancel", Takes::nothing, "", "with --wait: where that is cut short, cancel it"},
    message_option::kShellText,
    message_option::kVariable,
    message_option::kAllVariables,
};

struct PushRequest {
  PushFields fields;
  PushOptions options;
  std::optional<BatchForm> batch;
  std::optional<std::string> payload;  // none: from the file
  std::string file;                    // "-": standard input
  bool wait = false;
  std::optional<int64_t> wait_ms;
  bool cancel = false;  // where it does not wait until the end
};

// Of --wait; chosen: a worker that starts meanwhile is there. A script's may come by the minute, too.
constexpr int64_t kWorkerMissedMs = 2'000, kWorkerMissedInScriptMs = 5'000;
constexpr int64_t kKeptForWaiterMs = 86'400'000;  // where neither --keep nor `retention` says how long

Result<void> choose_batch(const Arguments& arguments, PushRequest& request) {
  constexpr std::pair<std::string_view, BatchForm> kForms[] = {
      {"lines", BatchForm::lines}, {"null", BatchForm::null}, {"ndjson", BatchForm::ndjson}};
  for (const auto& [name, form] : kForms) {
    if (!arguments.has(name)) continue;
    if (request.batch)
      return usage_error("--" + std::string(name),
                         "does not go with another form of batch; give one of --lines, --null and --ndjson");
    request.batch = form;
  }
  if (request.batch && request.fields.command)
    return usage_error("--", "does not go with a batch, whose lines are payloads");
  if (request.batch && !request.fields.unique.empty())
    return usage_error(
        "--unique",
        "does not go with a batch, which it would make one message; say it in the lines of --ndjson");
  if (request.batch && !request.fields.debounce.empty())
    return usage_error("--debounce", "does not go with a batch");
  if (request.batch != BatchForm::ndjson && request.fields.unique.empty() && arguments.has("unique-for"))
    return usage_error("--unique-for", "goes with --unique only, or with --ndjson");
  if (request.batch != BatchForm::ndjson && request.fields.unique.empty() && arguments.has("unique-mode"))
    return usage_error("--unique-mode", "goes with --unique only, or with --ndjson");
  if (request.batch && arguments.has("wait"))
    return usage_error("--wait", "does not go with a batch; fq wait - takes the ids that it prints");
  if (request.batch && request.payload)
    return usage_error("PAYLOAD", "does not go with a batch, which reads standard input or --file");
  return {};
}

/// --wait=5m of somebody who wrote --wait 5m; empty: no operand looks like it.
std::string meant_time(const Arguments& arguments) {
  const auto& operands = arguments.operands();
  if (operands.empty() || parse_duration(operands[0]).fault != DurationFault::none) return "";
  for (const std::string option : {"wait", "block"}) {
    if (arguments.has(option) && !arguments.value(option))
      return "--" + option + "=" + std::string(operands[0]);
  }
  return "";
}

/// Where the payload, or the batch, comes from.
Result<void> choose_source(const Arguments& arguments, PushRequest& request) {
  const auto& operands = arguments.operands();
  if (operands.size() > 1) {
    const std::string timed = meant_time(arguments);
    return usage_error("PAYLOAD", "is one argument, " + std::to_string(operands.size()) + " were given; " +
                                      (timed.empty() ? "quote it" : "a time to wait is " + timed));
  }
  int sources = 0;
  if (const auto text = arguments.value("payload")) request.payload = std::string(*text), ++sources;
  if (const auto path = arguments.value("file")) request.file = std::string(*path), ++sources;
  if (!operands.empty() && operands[0] == "-") {
    request.file = "-", ++sources;
  } else if (!operands.empty()) {
    request.payload = operands[0], ++sources;
  }
  if (sources > 1) return usage_error("PAYLOAD", "comes from one place: an argument, --payload or --file");
  FQ_TRY(choose_batch(arguments, request));
  if (sources == 1) return {};
  if (request.fields.command) {
    request.payload = "";
    return {};
  }
  if (!why_not_read_unasked().empty()) return not_read_unasked(request.batch ? "--file" : "PAYLOAD");
  request.file = "-";
  return {};
}

Result<PushRequest> push_request(const Arguments& arguments, Format format) {
  PushRequest request;
  FQ_TRY_SET(request.fields, fields_of(arguments));
  if (!request.fields.unique.empty()) FQ_TRY(check_replacement(request.fields, "--unique-mode"));
  FQ_TRY(choose_source(arguments, request));
  if (arguments.has("lazy")) request.options.durability = Durability::lazy;
  request.options.block = arguments.has("block");
  if (const auto typed = arguments.value("block")) {
    FQ_TRY_SET(request.options.wait_ms, to_duration_or("unlimited", "--block", *typed));
  }
  request.wait = arguments.has("wait");
  request.cancel = arguments.has("cancel");
  if (request.cancel && !request.wait) return usage_error("--cancel", "goes with --wait only");
  if (const auto typed = arguments.value("wait")) {
    FQ_TRY_SET(request.wait_ms, to_duration_or("unlimited", "--wait", *typed));
  }
  if (request.wait && format != Format::human)
    return usage_error("--format", "does not go with --wait, which prints the job's output and no id");
  return request;
}

Result<Reader> open_source(const std::string& file) {
  if (file == "-") return Reader::standard_input();
  return Reader::file(file);
}

constexpr std::string_view kGoesOn = "is still queued or running; ";
constexpr std::string_view kNobodyKnows = "was accepted, and what became of it is not known; ";

std::string what_goes_on(const Session& session, MessageId id, std::string_view state, std::string_view why) {
  const std::string name = std::to_string(number(id));
  return "message " + name + ": " + std::string(state) + std::string(why) + "; " +
         typed_command("fq result -f " + name, session.queue_name()) + " follows it, " +
         typed_command("fq cancel " + name, session.queue_name()) + " cancels it";
}

/// For who does not wait for it any longer. Whatever else fails, its id is told.
void leave_call(const Session& session, Queue& queue, MessageId id, bool cancel, std::string_view state,
                const std::string& why) {
  if (!cancel) return say(what_goes_on(session, id, state, why));
  const Result<MutateReply> reply = queue.mutate({&id, 1}, Action::cancel);
  if (!reply) return say(what_goes_on(session, id, kNobodyKnows, why + "; " + reply.error().text));
  if (reply->changed > 0) say("message " + std::to_string(number(id)) + ": cancelled; " + why);
}

/// To somebody for whom nothing happens. It is a hint: where it cannot be known, the call goes
/// on.
void say_nobody_works(Session& session, Queue& queue, bool is_command) {
  const Result<std::vector<Attendee>> here = attendees_for_hint(session, queue);
  const auto works = [](const Attendee& each) {
    return each.kind == Attendee::Kind::worker && !each.stopped;
  };
  if (!here || std::any_of(here->begin(), here->end(), works)) return;
  const auto stopped = std::find_if(here->begin(), here->end(), [](const Attendee& each) {
    return each.kind == Attendee::Kind::worker && each.stopped;
  });
  const std::string& name = session.queue_name();
  say("queue " + in_quotes(name) + ": " +
      (stopped == here->end() ? "no worker is attached"
                              : "every worker is stopped, as process " + std::to_string(stopped->pid)) +
      "; " + typed_command("fq worker", name) + (is_command ? "" : " -- CMD") + " starts one");
}

/// As Following::run; where no worker is there a moment later, it is told.
Result<Following::End> follow(Session& session, Queue& queue, Following& following,
                              const PushRequest& request, Interrupt& interrupt) {
  const int64_t missed_ms = ::isatty(STDERR_FILENO) == 1 ? kWorkerMissedMs : kWorkerMissedInScriptMs;
  if (request.wait_ms.value_or(INT64_MAX) <= missed_ms) return following.run(request.wait_ms, interrupt);
  FQ_TRY_SET(const Following::End end, following.run(missed_ms, interrupt));
  if (end != Following::End::timed_out) return end;
  say_nobody_works(session, queue, request.fields.command.has_value());
  const auto rest_ms = request.wait_ms ? std::optional(*request.wait_ms - missed_ms) : std::nullopt;
  return following.run(rest_ms, interrupt);
}

/// Passes on what its job writes until the message has ended.
Result<Exit> await_call(Session& session, Queue& queue, MessageId id, const std::optional<CallId>& call,
                        const PushRequest& request, Interrupt& interrupt) {
  const auto begin = [&] { return queue.follow(id, call); };
  FQ_TRY_SET(std::unique_ptr<OutputFollower> follower, Patience(request.wait_ms, &interrupt).ask(begin));
  Following following(session, *follower, id);
  FQ_TRY_SET(const Following::End end, follow(session, queue, following, request, interrupt));
  follower.reset();  // also where a signal ends us
  if (end == Following::End::timed_out) {
    leave_call(session, queue, id, request.cancel, kGoesOn, "the wait timed out");
    return Exit::later;
  }
  if (end == Following::End::interrupted) {
    leave_call(session, queue, id, request.cancel, kGoesOn, "the call was interrupted");
    die_by_caught_signal();
  }
  FQ_TRY_SET(const Exit exit, tell_end(session, queue, id));
  return following.is_missing_something() ? Exit::io : exit;
}

/// A call through the queue: pushes, and leaves as its job does. From the push on no fault may read as one
/// of a push that was not done.
Result<Exit> push_and_wait(Session& session, Queue& queue, Pusher& pusher, const PushRequest& request,
                           NewMessage message) {
  Interrupt& interrupt = catch_signals();
  const int64_t retention_ms = retention_of(pusher.settings().retention_ms, message.command.has_value());
  if (!message.keep_ms) message.keep_ms = retention_ms > 0 ? retention_ms : kKeptForWaiterMs;
  FQ_TRY_SET(message.call, queue.begin_call(message.tenant));
  FQ_TRY_SET(const MessageId id, pusher.push_unsaid(message));
  Result<Exit> exit = await_call(session, queue, id, message.call, request, interrupt);
  if (exit || exit.error().sys == EPIPE) return exit;
  leave_call(session, queue, id, request.cancel, kNobodyKnows, exit.error().text);
  return Exit::io;
}

/// Of somebody at a terminal who may have meant a message a line.
void say_one_of_lines(std::string_view payload) {
  const auto ends = static_cast<uint64_t>(std::count(payload.begin(), payload.end(), '\n'));
  const uint64_t lines = payload.ends_with('\n') ? ends : ends + 1;
  if (lines > 1)
    say("that was one message of " + counted(lines, "line") + "; --lines makes each line a message");
}

/// Of somebody at a terminal who may have meant how long to wait.
void say_duration_is_payload(const Arguments& arguments) {
  if (const std::string timed = meant_time(arguments); !timed.empty())
    say(in_quotes(arguments.operands()[0]) + " is the payload; a time to wait is " + timed);
}

/// What a queue of these settings would refuse. What it reads of the payload stays read.
Result<void> check_suits(PushRequest& request, std::optional<Reader>& source, const Settings& settings) {
  FQ_TRY(check_order(request.fields, settings.order, "--priority", "--key"));
  if (request.batch) return {};
  if (!request.payload) {
    FQ_TRY_SET(request.payload, source->read_all(settings.payload_bytes_max));
  }
  if (request.payload->size() > settings.payload_bytes_max)
    return payload_too_long("PAYLOAD", settings.payload_bytes_max);
  return {};
}

/// What cannot be the first message of a queue.
Result<void> check_first(const PushFields& fields, const std::string& spool) {
  FQ_TRY(check_comes_first(fields));
  return fields.command ? check_takes_commands(spool, "push") : Result<void>();
}

Result<Exit> run_push(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(PushRequest request, push_request(arguments, session.format()));
  if (session.out().is_terminal()) say_duration_is_payload(arguments);
  // What cannot be read, or would be refused, makes no queue: the payload or first batch is read before.
  std::optional<Reader> source;
  if (!request.payload) {
    FQ_TRY_SET(Reader opened, open_source(request.file));
    source.emplace(std::move(opened));
  }
  Settings settings;
  std::optional<BatchSource> batches;
  const auto suits = [&](const Settings& its, bool is_there) -> Result<void> {
    settings = its;
    FQ_TRY(check_suits(request, source, its));
    if (!request.batch) return is_there ? Result<void>() : check_first(request.fields, session.spool());
    if (!batches) batches.emplace(*source, *request.batch, request.fields, settings);
    FQ_TRY(batches->read());
    return is_there ? Result<void>() : batches->check_first(session.spool());
  };
  FQ_TRY_SET(const std::unique_ptr<Queue> queue,
             session.open(Session::Policy::last_good, Session::Missing::is_made, suits));
  if (request.options.block) request.options.interrupt = &catch_signals();
  Pusher pusher(session, *queue, settings, request.options);
  if (request.batch) {
    FQ_TRY(batches->push(pusher));
    return Exit::done;
  }
  const NewMessage message = message_of(request.fields, *request.payload);
  if (request.wait) return push_and_wait(session, *queue, pusher, request, message);
  FQ_TRY(pusher.push({&message, 1}));
  if (request.file == "-" && session.out().is_terminal()) say_one_of_lines(*request.payload);
  return Exit::done;
}

}  // namespace

const Command push_command = {
    "push",
    "add messages",
    "[OPTIONS] [PAYLOAD] [-- CMD ARG...]",
    "Adds a message, PAYLOAD or else all of standard input; prints its id.",
    {kPushOptions, &kQueueOption, "human|json", true},
    "echo resize cat.png | fq push -t acme",
    "0 accepted (--wait: as fq wait); 1 --after unknown; 65 bad; 75 full",
    run_push,
};

}  // namespace fq::cli
