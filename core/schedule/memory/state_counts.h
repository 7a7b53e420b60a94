// state_counts - a message counts under another state than before: in the sums of the queue, or in those of a
// node.
#pragma once

// fq, this room.
#include "core/schedule/memory/extras.h"

namespace fq {

/// By state; a free one is not counted.
template <class Counts>
inline constexpr decltype(&Counts::ready) kCountOf[] = {nullptr,         &Counts::ready, &Counts::delayed,
                                                        &Counts::leased, &Counts::dead,  &Counts::held};

template <class Counts>
[[gnu::always_inline]] inline void move_count(const Opened<Counts>& counts, SlotState from, SlotState to) {
  if (from != SlotState::free) take_from(counts, kCountOf<Counts>[static_cast<size_t>(from)], 1);
  if (to != SlotState::free) add_to(counts, kCountOf<Counts>[static_cast<size_t>(to)], 1);
}

}  // namespace fq
