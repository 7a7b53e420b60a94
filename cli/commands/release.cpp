// release - gives messages back without counting the attempt.

// fq, this room.
#include "cli/words/command.h"
#include "cli/words/values.h"
#include "cli/commands/verdict.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kReleaseOptions[] = {
    {"How", 0, "delay", Takes::value, "DUR", "not before this long from now (default: none)"},
};

Result<Exit> run_release(const Arguments& arguments, Session& session) {
  Settle verdict;
  verdict.verdict = Verdict::release;
  if (const auto typed = arguments.value("delay")) {
    FQ_TRY_SET(verdict.delay_ms, to_duration("--delay", *typed));
  }
  FQ_TRY_SET(const std::vector<std::string> receipts, receipts_of(arguments));
  return give_verdicts(session, receipts, verdict);
}

}  // namespace

const Command release_command = {
    "release",
    "[RECEIPT... | -] [--delay DUR]",
    "Gives leased messages back as if not taken: it does not count as an attempt.",
    {kReleaseOptions, &kQueueOption, ""},
    "fq release 17.3",
    "0 all given back; 1 a receipt was refused",
    run_release,
};

}  // namespace fq::cli
