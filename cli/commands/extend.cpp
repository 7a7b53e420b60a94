// extend - a lease ends DUR from now instead of at its old time.

// fq, this room.
#include "cli/words/command.h"
#include "cli/terminal/input.h"
#include "cli/words/values.h"
#include "cli/session/receipts.h"

namespace fq::cli {

namespace {

Result<Exit> run_extend(const Arguments& arguments, Session& session) {
  const auto& operands = arguments.operands();
  if (operands.empty()) return usage_error("extend", "needs a duration; write fq extend 17.3.k7qd 5m");
  if (operands.size() > 2)
    return usage_error("extend", "takes one receipt and a duration; write fq extend 17.3.k7qd 5m");
  FQ_TRY_SET(const int64_t duration_ms, to_positive_duration("DUR", operands.back()));
  const std::vector<std::string> typed(operands.begin(), operands.end() - 1);
  FQ_TRY_SET(const std::vector<std::string> texts,
             typed.empty() ? own_receipt(arguments) : receipts_of(arguments, typed));
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  std::vector<Receipt> receipts;
  for (const std::string& text : texts) receipts.push_back(Receipt{text});
  FQ_TRY_SET(const std::vector<ExtendResult> results, queue->extend(receipts, duration_ms));
  Exit exit = Exit::done;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!say_refusal(session, *queue, texts[i], results[i].status, std::nullopt)) continue;
    if (results[i].status == SettleStatus::unknown) exit = Exit::io;
    if (exit == Exit::done) exit = Exit::nothing;
  }
  return exit;
}

}  // namespace

const Command extend_command = {
    "extend",
    "make a lease end later",
    "[RECEIPT | -] DUR",
    "Makes a lease, or in a worker's job its time limit, end DUR from now.\n"
    "Without RECEIPT: $FQ_RECEIPT.",
    {{}, &kQueueOption, ""},
    "fq extend 17.3.k7qd 5m",
    "0 extended; 1 the receipt was refused",
    run_extend,
};

}  // namespace fq::cli
