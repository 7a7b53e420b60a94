// read_seen - the record of a thing that was seen under the lock, a schedule or a step, read without it.
#pragma once

// fq, this room.
#include "core/local/write/link.h"

namespace fq {

/// What was in memory only when it was seen may be in another file by now, where its own failed: it is looked
/// for once more. False: it cannot be read there either, or has changed since.
template <class Reader, class Seen, class Stored>
Result<bool> read_seen(Link& link, Reader& reader, Seen& seen, Stored& stored) {
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
