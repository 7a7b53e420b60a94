// new_segment - a segment in the making: an empty one, how it grows while no other process has it, and what
// it takes over from the one in whose place it comes.
#pragma once

// fq, this room.
#include "core/local/recover/grip.h"
#include "core/local/shared/needs.h"

namespace fq {

/// Makes an empty queue's structures in zeroed memory (the phase stays `making`).
Result<void> initialise_segment(Store& store);

/// Makes the arrays room for `need`; for a store that no other process sees.
Result<void> grow_alone(Store& store, const Need& need);

/// An empty one, in the file beside the queue's own, of this boot and with this identity.
Result<std::unique_ptr<Store>> make_segment(const Grip& grip, const LockIdentity& identity);

/// Those of the next message and delivery. `from`: what is left of the one before; none: nothing.
/// `records_lost`: what told of a limit may be among them.
void take_over_numbers(Store& store, const Store* from, bool records_lost);

/// Nothing of that name is left.
Result<void> remove_segment(Disk& disk, std::string_view name);

}  // namespace fq
