#include "cli/session/receipts.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/decimal.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/words/command.h"
#include "cli/terminal/input.h"
#include "cli/session/session.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

/// What becomes of a message by its id is what other commands do.
std::string instead(std::string_view command, const std::string& text) {
  if (!parse_decimal(text)) return "receipts look like 17.3.k7qd and come from fq pop --lease";
  if (command == "retry" || command == "release")
    return "that is a message's id; fq kick " + text + " brings one that is dead or delayed back";
  if (command == "ack" || command == "bury")
    return "that is a message's id; fq cancel " + text + " takes it out of the queue";
  return "that is a message's id; fq show " + text + " tells its receipt";
}

std::string why_foreign(const Session& session, const std::string& receipt) {
  const Result<std::string> queue = queue_of_receipt(session.spool(), {receipt});
  // Its mark begins as that of the queue does, and goes on with what no receipt of it has.
  if (queue.ok() && *queue == session.queue_name()) return "no longer valid, or mistyped";
  if (queue.ok() && !queue->empty())
    return "is of queue " + in_quotes(*queue) + " and not of " + in_quotes(session.queue_name()) +
           "; write -q " + *queue;
  if (std::count(receipt.begin(), receipt.end(), '.') < 2)
    return "is of an older fq, which did not say of which queue; it is not used";
  return "is not of queue " + in_quotes(session.queue_name()) + ", nor of another one in this spool";
}

/// A job that has gone on behind its fq step --sleep is told so.
std::string why_stale(Queue& queue, const std::string& receipt) {
  const std::string either = "its lease ended or another verdict came first";
  const std::optional<uint64_t> id = parse_decimal(receipt.substr(0, receipt.find('.')));
  Steps* const steps = queue.steps();
  if (!id || steps == nullptr) return either;
  const Result<std::optional<MessageInfo>> message = queue.get(MessageId{*id});
  if (!message || !*message) return either;
  if ((*message)->state != State::delayed && (*message)->state != State::held) return either;
  const Result<std::optional<std::vector<StepInfo>>> all = steps->list(MessageId{*id});
  if (!all || !*all || (*all)->empty()) return either;
  const StepInfo& last = (*all)->back();
  if (last.kind != StepKind::sleep && last.kind != StepKind::wait) return either;
  // It has run since that was over: another verdict came first.
  if (last.at_wall_ms < (*message)->started_at_wall_ms.value_or(0)) return either;
  return std::string("its message ") + (last.kind == StepKind::sleep ? "sleeps" : "waits") + " in step " +
         in_quotes(last.name) + ", and the job that had it is to end now";
}

}  // namespace

Result<std::vector<std::string>> receipts_of(const Arguments& arguments) {
  const auto& operands = arguments.operands();
  return operands.empty() ? own_receipt(arguments) : receipts_of(arguments, operands);
}

Result<std::vector<std::string>> own_receipt(const Arguments& arguments) {
  const auto set = environment("FQ_RECEIPT");
  const std::string command(arguments.command().name);
  if (!set) return usage_error(command, "needs a receipt; give one, or set FQ_RECEIPT");
  if (!is_receipt(*set))
    return usage_error("FQ_RECEIPT", in_quotes(*set) + " is not a receipt; " + instead(command, *set));
  return std::vector<std::string>{*set};
}

Result<std::vector<std::string>> receipts_of(const Arguments& arguments,
                                             const std::vector<std::string>& typed) {
  FQ_TRY_SET(std::vector<std::string> receipts, expand_dash(typed));
  for (const std::string& receipt : receipts) {
    if (!is_receipt(receipt))
      return usage_error(
          "RECEIPT", in_quotes(receipt) + " is not a receipt; " + instead(arguments.command().name, receipt));
  }
  return receipts;
}

bool say_refusal(const Session& session, Queue& queue, const std::string& receipt, SettleStatus status,
                 const std::optional<Error>& why) {
  const std::string object = "receipt " + in_quotes(receipt) + ": ";
  switch (status) {
    case SettleStatus::ok:
    case SettleStatus::buried:
    case SettleStatus::slept:
      return false;
    case SettleStatus::stale:
      say(object + "no longer valid; " + why_stale(queue, receipt));
      return true;
    case SettleStatus::gone:
      say(object + "no longer valid; its message has ended or never was");
      return true;
    case SettleStatus::invalid:
      say(object + "is not a receipt; receipts look like 17.3.k7qd and come from fq pop --lease");
      return true;
    case SettleStatus::foreign:
      say(object + why_foreign(session, receipt));
      return true;
    case SettleStatus::unknown:
      say(why ? object + why->text : object + "the outcome is unknown");
      return true;
  }
  return true;
}

}  // namespace fq::cli
