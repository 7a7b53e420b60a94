// ack - the messages are done; they leave the queue.

// fq, this room.
#include "cli/words/command.h"
#include "cli/commands/verdict.h"

namespace fq::cli {

namespace {

Result<Exit> run_ack(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(const std::vector<std::string> receipts, receipts_of(arguments));
  Settle verdict;
  verdict.verdict = Verdict::ack;
  return give_verdicts(session, receipts, verdict);
}

}  // namespace

const Command ack_command = {
    "ack",
    "[RECEIPT... | -]",
    "Ends leased messages as done. Without RECEIPT it is $FQ_RECEIPT; '-' reads them.",
    {{}, &kQueueOption, ""},
    "while m=$(fq pop --lease 1m --format sh); do eval \"$m\"; fq ack; done",
    "0 all acked; 1 a receipt was refused",
    run_ack,
};

}  // namespace fq::cli
