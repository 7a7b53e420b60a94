// receipts - as they are typed, and what is said of one that is refused.
#pragma once

// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "cli/words/exit_code.h"
#include "cli/session/session.h"

namespace fq::cli {

/// The operands with "-" read from standard input; without operands $FQ_RECEIPT.
Result<std::vector<std::string>> receipts_of(const Arguments& arguments);

/// Names the refusal on standard error; true when it is one.
bool say_refusal(std::string_view receipt, SettleStatus status, const std::optional<Error>& why);

}  // namespace fq::cli
