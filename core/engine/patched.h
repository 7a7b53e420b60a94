// patched - a message with what a patch changes of it, before any engine writes it.
#pragma once

// fq, below us.
#include "core/api/message_patch.h"

namespace fq {

/// But for its payload, which stays empty where the patch has none, and its times, which are the patch's.
NewMessage patched(NewMessage message, const MessagePatch& patch);

}  // namespace fq
