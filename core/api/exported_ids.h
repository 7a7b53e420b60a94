// exported_ids - the other messages that an exported one names, which have to be known before it.
#pragma once

// System.
#include <functional>
#include <vector>
// fq, this room.
#include "core/api/exported.h"

namespace fq {

/// All that it names, one more than once perhaps.
std::vector<MessageId> named_by(const ExportedMessage& message);

/// Those without the ones that it waits for no longer; a dead one waits for none.
std::vector<MessageId> needed_by(const ExportedMessage& message);

/// Names the others as they are called elsewhere. Those that `there` has no name for (0) it does without.
void rename_others(ExportedMessage& message, const std::function<MessageId(MessageId)>& there);

}  // namespace fq
