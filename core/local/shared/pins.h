// pins - from where on in the journal something is told that only old records tell: the files from there on
// stay until it is written down anew.
#pragma once

// fq, below us.
#include "core/base/memory/undo.h"
// fq, this room.
#include "core/local/shared/layout.h"

namespace fq {

/// Such a thing is told from `position` on.
inline void note_pin(Txn& txn, Pin& pin, uint64_t position) {
  if (pin.record == 0 || position < pin.record) txn.set(pin.record, position);
  if (position < pin.since) txn.set(pin.since, position);
}

}  // namespace fq
