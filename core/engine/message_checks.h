// message_checks - what a message must be to be taken at all.
#pragma once

// fq, below us.
#include "core/api/queue.h"

namespace fq {

Result<void> check_message(const NewMessage& message, uint64_t payload_bytes_max);

}  // namespace fq
