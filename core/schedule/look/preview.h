// preview - the order in which messages would be served from now on, without changing anything.
//
// A private copy of the rings, made only as far as it is asked: each inner node is its real ring, walked in
// order, plus those seats that were served in the simulation and wait for their next turn. A node whose pool
// lacks room now is passed over throughout; where what is served is thought to start, each node and pool is
// from the time on that this uses up its limit. Costs the depth and a logarithm a message. Allocates. The
// schedule must not change meanwhile.
#pragma once

// System.
#include <memory>
#include <optional>
// fq, this room.
#include "core/schedule/look/starts.h"
#include "core/schedule/schedule.h"

namespace fq {

class RankedPreview;

class Preview {
 public:
  /// `starts`: what is served starts, for these; none: no limit is used up by it. Lives as long.
  Preview(const Schedule& schedule, TenantIndex from, Starts* starts = nullptr);
  ~Preview();
  std::optional<SlotIndex> next();
  /// The rule that gave the last one its place.
  enum class By { turn, rank, age };
  By by() const { return by_; }

 private:
  struct Node;
  std::optional<SlotIndex> next_by_turn();
  std::optional<SlotIndex> next_ranked();

  const Schedule& schedule_;
  const uint32_t from_;
  Starts* const starts_;
  std::unique_ptr<Node> root_;
  std::unique_ptr<RankedPreview> ranked_;  // instead
  uint64_t stamps_ = 0;
  uint32_t turns_ = 0;  // see Ranks::turns_of
  By by_ = By::turn;
};

}  // namespace fq
