// bury - sends messages to the dead letters, where kick finds them again.

// fq, this room.
#include "cli/words/command.h"
#include "cli/words/values.h"
#include "cli/commands/verdict.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kBuryOptions[] = {
    {"How", 0, "reason", Takes::value, "TEXT", "why, kept as its last error"},
};

Result<Exit> run_bury(const Arguments& arguments, Session& session) {
  Settle verdict;
  verdict.verdict = Verdict::bury;
  FQ_TRY_SET(const std::string reason, reason_of(arguments));
  verdict.reason = reason;
  FQ_TRY_SET(const std::vector<std::string> receipts, receipts_of(arguments));
  return give_verdicts(session, receipts, verdict);
}

}  // namespace

const Command bury_command = {
    "bury",
    "[RECEIPT... | -] [--reason TEXT]",
    "Sends leased messages to the dead letters; fq kick brings them back.",
    {kBuryOptions, &kQueueOption, ""},
    "fq bury 17.3 --reason 'no such customer'",
    "0 all buried; 1 a receipt was refused",
    run_bury,
};

}  // namespace fq::cli
