// move - messages that go from one queue of a spool to another, with all that they have.
#pragma once

// System.
#include <optional>
#include <string>
#include <vector>
// fq, below us.
#include "core/base/error.h"
#include "core/base/ids.h"

namespace fq {

struct MoveRequest {
  std::string to;      // a queue of the same spool
  std::string tenant;  // their tenant there; empty: the one that they have here
};

struct MoveResult {
  enum class What {
    moved,
    gone,   // not in this queue
    stays,  // as it was; `why`
  };
  What what = What::stays;
  MessageId id_there{};
  std::string why = {};  // "is running"
};

/// By message, in order. With an `error` fewer than were asked for: the others stay as they were.
struct MoveReply {
  std::vector<MoveResult> items;
  std::optional<Error> error;
};

}  // namespace fq
