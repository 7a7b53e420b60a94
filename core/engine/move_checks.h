// move_checks - what of a move is wrong by itself, for every engine.
#pragma once

// System.
#include <string_view>
// fq, below us.
#include "core/api/move.h"
#include "core/base/result.h"

namespace fq {

/// `queue`: that the messages are in.
Result<void> check_move(const MoveRequest& request, std::string_view queue);

}  // namespace fq
