// exported_state - whether an exported message is still held for anything.
//
// An export is a picture: what a message was held for may have ended since, or be known nowhere any more.
// Held for nothing it would never be let go.
#pragma once

// System.
#include <optional>
// fq, below us.
#include "core/api/exported.h"

namespace fq {

bool waits(const ExportedMessage& message);

/// What is held for nothing is due when it would have been, or at once.
void settle_state(int64_t now_wall_ms, ExportedMessage& message);

/// The same of one that comes in; none where it is held for something, or not held.
std::optional<ExportedMessage> settled(int64_t now_wall_ms, const ExportedMessage& message);

}  // namespace fq
