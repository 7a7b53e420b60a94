// retry - gives messages back and counts the attempt; the last one buries.

// fq, this room.
#include "cli/words/command.h"
#include "cli/words/values.h"
#include "cli/commands/verdict.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kRetryOptions[] = {
    {"How", 0, "delay", Takes::value, "DUR", "not before this long from now (default: none)"},
    {"How", 0, "reason", Takes::value, "TEXT", "why, kept as its last error"},
};

Result<Exit> run_retry(const Arguments& arguments, Session& session) {
  Settle verdict;
  verdict.verdict = Verdict::retry;
  if (const auto typed = arguments.value("delay")) {
    FQ_TRY_SET(verdict.delay_ms, to_duration("--delay", *typed));
  }
  FQ_TRY_SET(const std::string reason, reason_of(arguments));
  verdict.reason = reason;
  FQ_TRY_SET(const std::vector<std::string> receipts, receipts_of(arguments));
  return give_verdicts(session, receipts, verdict);
}

}  // namespace

const Command retry_command = {
    "retry",
    "[RECEIPT... | -] [--delay DUR] [--reason TEXT]",
    "Gives leased messages back as failed: that counts, and the last attempt buries.",
    {kRetryOptions, &kQueueOption, ""},
    "fq retry 17.3 --delay 30s --reason 'mail server is down'",
    "0 all given back or buried; 1 a receipt was refused",
    run_retry,
};

}  // namespace fq::cli
