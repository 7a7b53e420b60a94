// step - a step of a job, done once, however often the job is run.

// System.
#include <algorithm>
// fq, below us.
#include "core/base/limits.h"
#include "core/base/tenant_name.h"
#include "core/base/text/escape.h"
#include "core/base/text/size.h"
// fq, this room.
#include "cli/requests/message_options.h"
#include "cli/requests/push_options.h"
#include "cli/requests/typed_payload.h"
#include "cli/session/caught_command.h"
#include "cli/session/patience.h"
#include "cli/session/receipts.h"
#include "cli/session/session.h"
#include "cli/views/step_view.h"
#include "cli/words/command.h"
#include "cli/words/job_options.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr std::string_view kAtWork = "FQ_STEP";  // of CMD: the message's id and the steps that it is in

constexpr OptionSpec kStepOptions[] = {
    {"Step", 0, "shell", Takes::value, "TEXT", "instead of -- CMD: TEXT for sh -c"},
    {"Step", 0, "sleep", Takes::value, "DUR", "returns the message for this long, once"},
    {"Step", 0, "until", Takes::value, "TIME", "returns the message until then, once"},
    {"Step", 0, "wait", Takes::nothing, "", "returns it until these messages have ended, once"},
    {"Step", 0, "wait-all", Takes::nothing, "", "the same, for all that its steps have pushed"},
    {"Step", 0, "push", Takes::nothing, "", "pushes a message once and prints its id each time"},
    message_option::kOwner,
    message_option::kPriority,
    message_option::kSortKey,
    message_option::kDelay,
    message_option::kAt,
    message_option::kTtl,
    message_option::kAttempts,
    message_option::kLabel,
    message_option::kTypedPayload,
    message_option::kPayloadFile,
    message_option::kTimeout,
    message_option::kKeep,
    message_option::kVariable,
    message_option::kAllVariables,
    {"Look", 0, "list", Takes::nothing, "", "the steps of message ID, else of this job's"},
};

Result<Steps*> steps_of(Queue& queue, const Session& session) {
  if (Steps* steps = queue.steps()) return steps;
  return Error{ErrorKind::unusable, "queue " + in_quotes(session.queue_name()) + ": its engine has no steps",
               0};
}

/// The job's receipt: there is none outside of one.
Result<Receipt> receipt_of_job(const Arguments& arguments) {
  if (!environment("FQ_RECEIPT"))
    return usage_error("step", "is for jobs: FQ_RECEIPT is not set; fq worker and fq pop --lease give one");
  FQ_TRY_SET(std::vector<std::string> receipts, own_receipt(arguments));
  return Receipt{std::move(receipts[0])};
}

std::string id_text_of(const Receipt& receipt) {
  const std::string text = receipt.text();
  return text.substr(0, text.find('.'));
}

/// What CMD is told of where it is, "17/fetch/parse": the steps of this message that wait for it.
Result<std::string> at_work(const Receipt& receipt, const std::string& name) {
  const std::string id = id_text_of(receipt);
  const std::string outer = environment(std::string(kAtWork).c_str()).value_or("");
  if (!outer.starts_with(id + "/")) return id + "/" + name;  // another message's, or none
  if ((outer.substr(id.size()) + "/").find("/" + name + "/") != std::string::npos)
    return usage_error("step " + in_quotes(name),
                       "is asked for by its own command, and would wait for itself");
  return outer + "/" + name;
}

Result<Exit> write_output(Session& session, std::string_view output) {
  FQ_TRY(session.out().write(output));
  FQ_TRY(session.out().flush());
  return Exit::done;
}

/// Of work that was done and could not be kept.
Error not_kept(const std::string& name, const Error& why) {
  const std::string_view what =
      why.kind == ErrorKind::io ? "ran; whether that is kept is not known: " : "ran and is not kept: ";
  return Error{why.kind, "step " + in_quotes(name) + ": " + std::string(what) + why.text, why.sys};
}

Result<Exit> run_in_step(const Arguments& arguments, Session& session, const std::string& name) {
  CaughtCommand command;
  FQ_TRY_SET(command.argv, job_words(arguments));
  if (command.argv.empty())
    return usage_error("step", "needs -- CMD; write fq step " + name + " -- CMD ARG...");
  FQ_TRY_SET(const Receipt receipt, receipt_of_job(arguments));
  FQ_TRY_SET(const std::string within, at_work(receipt, name));
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY_SET(Steps* const steps, steps_of(*queue, session));
  FQ_TRY_SET(StepBegin begun, ask_patiently([&] { return steps->begin(receipt, name, nullptr); }));
  if (say_refusal(session, *queue, receipt.text(), begun.receipt, std::nullopt)) return Exit::nothing;
  if (begun.output) return write_output(session, *begun.output);
  command.variables = {std::string(kAtWork) + "=" + within};
  command.kept = begun.turn->descriptor();
  command.output_max = kStepBytesMax;
  FQ_TRY_SET(const Caught caught,
             run_caught(command, [&](std::string_view text) { return session.out().write(text); }));
  if (caught.status != 0) {
    FQ_TRY(write_output(session, caught.output));
    return exit_of_job(caught.status);
  }
  if (caught.too_long) {
    FQ_TRY(session.out().flush());
    return not_kept(name,
                    {ErrorKind::bad_data,
                     "it put out more than " + format_size(kStepBytesMax) + ", the limit of one step", 0});
  }
  const auto keep = [&] { return steps->keep(receipt, name, as_bytes(caught.output)); };
  const Result<SettleStatus> kept = ask_patiently(keep);
  if (!kept.ok()) return not_kept(name, kept.error());
  if (say_refusal(session, *queue, receipt.text(), *kept, std::nullopt)) {
    say("step " + in_quotes(name) + ": ran and is not kept");
    return Exit::nothing;
  }
  begun.turn.reset();  // those who wait for it need not wait for our reader
  return write_output(session, caught.output);
}

Result<Exit> push_step(const Arguments& arguments, Session& session, const std::string& name) {
  const auto& operands = arguments.operands();
  if (operands.size() > 2)
    return usage_error("PAYLOAD",
                       "is one argument, " + std::to_string(operands.size() - 1) + " were given; quote it");
  FQ_TRY_SET(const PushFields fields, single_fields_of(arguments));
  FQ_TRY_SET(const TypedPayload typed,
             typed_payload_of(arguments, operands.size() > 1 ? &operands[1] : nullptr));
  if (!typed.is_given() && !fields.command)
    return usage_error("step --push", "needs PAYLOAD or -- CMD; '-' reads standard input");
  FQ_TRY_SET(const Receipt receipt, receipt_of_job(arguments));
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY_SET(Steps* const steps, steps_of(*queue, session));
  FQ_TRY_SET(const Settings settings, queue->settings());
  FQ_TRY(check_order(fields, settings.order, "--priority", "--key"));
  FQ_TRY_SET(const std::string payload, typed.read(settings.payload_bytes_max));
  FQ_TRY_SET(const StepPush pushed, steps->push(receipt, name, message_of(fields, payload)));
  if (say_refusal(session, *queue, receipt.text(), pushed.receipt, std::nullopt)) return Exit::nothing;
  return write_output(session, std::to_string(number(pushed.child)) + "\n");
}

/// Until a step that takes time is over the job is to end: as one that asks to be run again later.
Result<Exit> pause_step(const Arguments& arguments, Session& session, const std::string& name) {
  const auto& operands = arguments.operands();
  const bool waits = arguments.has("wait"), waits_all = arguments.has("wait-all");
  if (!waits && operands.size() > 1) return usage_error("step", "takes one name");
  if (waits && operands.size() < 2) return usage_error("--wait", "needs the ids of messages");
  std::optional<int64_t> delay_ms;
  int64_t until_wall_ms = 0;
  if (const auto typed = arguments.value("sleep")) {
    FQ_TRY_SET(delay_ms, to_duration("--sleep", *typed));
  } else if (const auto until = arguments.value("until")) {
    FQ_TRY_SET(until_wall_ms, to_wall_time("--until", *until));
  }
  std::vector<MessageId> ids;
  for (size_t i = 1; i < operands.size(); ++i) {
    FQ_TRY_SET(const MessageId id, to_id("ID", operands[i]));
    ids.push_back(id);
  }
  FQ_TRY_SET(const Receipt receipt, receipt_of_job(arguments));
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY_SET(Steps* const steps, steps_of(*queue, session));
  const bool of_messages = waits || waits_all;
  const auto these = waits ? std::optional(std::span<const MessageId>(ids)) : std::nullopt;
  FQ_TRY_SET(const StepPause paused, of_messages ? steps->wait(receipt, name, these)
                                                 : steps->sleep(receipt, name, delay_ms, until_wall_ms));
  if (say_refusal(session, *queue, receipt.text(), paused.receipt, std::nullopt)) return Exit::nothing;
  if (!paused.over) return Exit::later;
  return paused.all_acked ? Exit::done : Exit::nothing;
}

/// What goes with one kind of step alone.
Result<void> check_step_options(const Arguments& arguments, bool pushes, bool lists) {
  for (const Arguments::Given& given : arguments.given()) {
    const std::string_view group = given.option->group;
    const bool of_push = group == "Message" || group == "Job";
    if (of_push && !pushes)
      return usage_error("--" + std::string(given.option->long_name), "goes with --push only");
    if (lists && group == "Step")
      return usage_error("step --list", "takes no --" + std::string(given.option->long_name));
  }
  return {};
}

Result<Exit> list_steps(const Arguments& arguments, Session& session) {
  const auto& operands = arguments.operands();
  if (operands.size() > 1) return usage_error("step --list", "takes the id of one message");
  if (!arguments.job().empty()) return usage_error("step --list", "takes no -- CMD");
  std::string typed;
  if (!operands.empty()) typed = operands[0];
  if (operands.empty()) {
    FQ_TRY_SET(const Receipt receipt, receipt_of_job(arguments));
    typed = id_text_of(receipt);
  }
  FQ_TRY_SET(const MessageId id, to_id("ID", typed));
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  FQ_TRY_SET(Steps* const steps, steps_of(*queue, session));
  FQ_TRY_SET(const std::optional<std::vector<StepInfo>> all, steps->list(id));
  if (!all) {
    say("message " + typed + ": not in queue " + in_quotes(session.queue_name()));
    return Exit::nothing;
  }
  const bool json = session.format() == Format::json;
  if (all->empty()) return Exit::nothing;
  if (!json) return write_output(session, step_table(*all));
  for (const StepInfo& step : *all) FQ_TRY(session.out().write(step_json(step) + "\n"));
  FQ_TRY(session.out().flush());
  return Exit::done;
}

Result<Exit> run_step(const Arguments& arguments, Session& session) {
  const auto& operands = arguments.operands();
  const bool lists = arguments.has("list"), pushes = arguments.has("push");
  FQ_TRY(check_step_options(arguments, pushes, lists));
  if (lists) return list_steps(arguments, session);
  if (session.format() == Format::json) return usage_error("--format", "json goes with --list only");
  if (operands.empty()) return usage_error("step", "needs a name; write fq step NAME -- CMD ARG...");
  const std::string& name = operands[0];
  if (const std::string_view fault = queue_name_fault(name); !fault.empty())
    return usage_error("NAME", in_quotes(name) + " " + std::string(fault));
  int kinds = arguments.job().empty() && !arguments.has("shell") ? 0 : 1;
  bool pauses = false;
  for (const std::string_view option : {"sleep", "until", "wait", "wait-all"}) {
    if (arguments.has(option)) ++kinds, pauses = true;
  }
  if (pauses && (kinds > 1 || pushes))
    return usage_error("step", "is one of -- CMD, --sleep, --until, --wait, --wait-all and --push");
  if (pauses) return pause_step(arguments, session, name);
  if (pushes) return push_step(arguments, session, name);
  if (operands.size() > 1) return usage_error("step", "takes one name; CMD stands behind --");
  return run_in_step(arguments, session, name);
}

}  // namespace

const Command step_command = {
    "step",
    "run a command once for a job, however often the job runs",
    "NAME -- CMD ARG... | NAME --shell TEXT | NAME --sleep DUR |\n"
    "NAME --until TIME | NAME --wait ID... | NAME --wait-all |\n"
    "NAME --push [OPTIONS] [PAYLOAD | -- CMD ARG...] | --list [ID]",
    "Runs CMD once for a job's message, however often the job is run: its output\n"
    "is kept, and written without running CMD from then on.",
    {kStepOptions, &kQueueOption, "human|json", true},
    "fq worker --once -- sh -c 'fq step pay -- ./pay.sh'",
    "0 done; 1 stale receipt, or --wait: not all acked; 64 not in a job;\n"
    "65 too long; 74 unknown whether the output was kept;\n"
    "75 no room, or the job is to end and be run again",
    run_step,
};

}  // namespace fq::cli
