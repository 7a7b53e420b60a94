// pin_walk - a walk through all that only old records tell, to write it down anew: keys, settings, payloads
// that replaced others. Where the walk is stands in the segment, so any process goes on with it.
#pragma once

// fq, this room.
#include "core/local/write/link.h"

namespace fq {

/// False: the oldest file is not pinned by it. Needs: the lock.
bool begin_walk(Link& link, Pin& pin);
/// Elements before `next` were written down anew; `at_end`: those are all.
void note_walked(Txn& txn, Pin& pin, uint32_t next, bool at_end);

/// Reads what a walk has seen. What was in memory only then may be in another file by now, where its own failed:
/// it is looked for once more. False: it cannot be read there either, or has changed since.
template <class Reader, class Seen, class Stored>
Result<bool> read_walked(Link& link, Reader& reader, Seen& seen, Stored& stored) {
  FQ_TRY_SET(const bool readable, reader.read(seen, stored));
  if (readable) return true;
  link.reader().forget();
  bool there = false;
  FQ_TRY(link.locked([&]() -> Result<void> {
    there = reader.is_unchanged(seen);
    if (there) seen = reader.see(seen.index);
    return {};
  }));
  return there ? reader.read(seen, stored) : Result<bool>(false);
}

}  // namespace fq
