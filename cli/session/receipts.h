// receipts - receipts as they are typed, and the message about one that is refused.
#pragma once

// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "cli/words/exit_code.h"
#include "cli/session/session.h"

namespace fq::cli {

/// The operands with "-" read from standard input; without operands $FQ_RECEIPT. An operand that is not a
/// receipt is ErrorKind::usage.
Result<std::vector<std::string>> receipts_of(const Arguments& arguments);
/// $FQ_RECEIPT alone.
Result<std::vector<std::string>> own_receipt(const Arguments& arguments);
Result<std::vector<std::string>> receipts_of(const Arguments& arguments,
                                             const std::vector<std::string>& typed);

/// Names the refusal on standard error; true when it is one.
bool say_refusal(const Session& session, Queue& queue, const std::string& receipt, SettleStatus status,
                 const std::optional<Error>& why);

}  // namespace fq::cli
