// verdicts - ack, retry, release, bury: receipts in, one verdict for each, refusals named.

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/escape.h"
#include "core/base/text/utf8.h"
// fq, this room.
#include "cli/session/receipts.h"
#include "cli/session/session.h"
#include "cli/words/command.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr size_t kVerdictsPage = 256;  // verdicts in one turn: arbitrary

constexpr OptionSpec kDelayOption = {"How",        0,     "delay",
                                     Takes::value, "DUR", "not before this long from now (default: none)"};
constexpr OptionSpec kReasonOption = {"How",        0,      "reason",
                                      Takes::value, "TEXT", "why; kept as the message's last error"};
constexpr OptionSpec kRetryOptions[] = {kDelayOption, kReasonOption};
constexpr OptionSpec kReleaseOptions[] = {kDelayOption};
constexpr OptionSpec kBuryOptions[] = {kReasonOption};

/// `verdict`, without its receipt, for each. Exit::nothing when one was refused.
Result<Exit> settle_each(Session& session, const std::vector<std::string>& receipts, const Settle& verdict) {
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  bool refused = false;
  std::optional<Exit> unknown;
  for (size_t start = 0; start < receipts.size(); start += kVerdictsPage) {
    const size_t end = std::min(start + kVerdictsPage, receipts.size());
    std::vector<Settle> items(end - start, verdict);
    for (size_t i = start; i < end; ++i) items[i - start].receipt = Receipt{receipts[i]};
    FQ_TRY_SET(const SettleReply reply, queue->settle(items));
    say_notices(*queue);
    for (size_t i = 0; i < reply.items.size(); ++i) {
      refused = say_refusal(session, *queue, receipts[start + i], reply.items[i], reply.error) || refused;
      if (reply.items[i] == SettleStatus::unknown)
        unknown = reply.error ? exit_of(reply.error->kind) : Exit::io;
    }
  }
  if (unknown) return *unknown;
  return refused ? Exit::nothing : Exit::done;
}

constexpr bool takes_delay(Verdict verdict) {
  return verdict == Verdict::retry || verdict == Verdict::release;
}
constexpr bool takes_reason(Verdict verdict) { return verdict == Verdict::retry || verdict == Verdict::bury; }

template <Verdict kVerdict>
Result<Exit> run_verdict(const Arguments& arguments, Session& session) {
  Settle verdict;
  verdict.verdict = kVerdict;
  if constexpr (takes_delay(kVerdict)) {
    if (const auto typed = arguments.value("delay")) {
      FQ_TRY_SET(const std::optional<int64_t> delay_ms, to_duration_or("none", "--delay", *typed));
      verdict.delay_ms = delay_ms.value_or(0);
    }
  }
  std::string reason;
  if constexpr (takes_reason(kVerdict)) reason = arguments.value("reason").value_or("");
  if (!utf8_valid(reason)) return usage_error("--reason", in_quotes(reason) + " is not UTF-8");
  verdict.reason = reason;
  FQ_TRY_SET(const std::vector<std::string> receipts, receipts_of(arguments));
  return settle_each(session, receipts, verdict);
}

}  // namespace

const Command ack_command = {
    "ack",
    "end leased messages as done",
    "[RECEIPT... | -]",
    "Acks leased messages: they are done. Default: $FQ_RECEIPT; '-' reads receipts.",
    {{}, &kQueueOption, ""},
    "while m=$(fq pop --lease 1m --format sh); do eval \"$m\"; fq ack; done",
    "0 all acked; 1 a receipt was refused",
    run_verdict<Verdict::ack>,
};

const Command retry_command = {
    "retry",
    "return leased messages as failed",
    "[RECEIPT... | -] [--delay DUR] [--reason TEXT]",
    "Returns leased messages as failed; after the last attempt they are dead.",
    {kRetryOptions, &kQueueOption, ""},
    "fq retry 17.3.k7qd --delay 30s --reason 'mail server is down'",
    "0 all returned or buried; 1 a receipt was refused",
    run_verdict<Verdict::retry>,
};

const Command release_command = {
    "release",
    "return leased messages; no attempt is counted",
    "[RECEIPT... | -] [--delay DUR]",
    "Returns leased messages; no attempt is counted.",
    {kReleaseOptions, &kQueueOption, ""},
    "fq release 17.3.k7qd",
    "0 all returned; 1 a receipt was refused",
    run_verdict<Verdict::release>,
};

const Command bury_command = {
    "bury",
    "send leased messages to the dead letters",
    "[RECEIPT... | -] [--reason TEXT]",
    "Sends leased messages to the dead letters; fq kick brings them back.",
    {kBuryOptions, &kQueueOption, ""},
    "fq bury 17.3.k7qd --reason 'no such customer'",
    "0 all buried; 1 a receipt was refused",
    run_verdict<Verdict::bury>,
};

}  // namespace fq::cli
