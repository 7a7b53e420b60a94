// verdict - what ack, retry, release and bury have in common: receipts in, a verdict each, refusals named.
#pragma once

// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "cli/words/exit_code.h"
#include "cli/session/session.h"

namespace fq::cli {

/// The operands with "-" read from standard input; without operands $FQ_RECEIPT.
Result<std::vector<std::string>> receipts_of(const Arguments& arguments);

/// Gives `verdict` (without its receipt) for each. Exit::nothing when one was refused.
Result<Exit> give_verdicts(Session& session, const std::vector<std::string>& receipts, const Settle& verdict);

/// Names the refusal on standard error; true when it is one.
bool say_refusal(std::string_view receipt, SettleStatus status, const std::optional<Error>& why);

/// --reason, which must be UTF-8.
Result<std::string> reason_of(const Arguments& arguments);

}  // namespace fq::cli
