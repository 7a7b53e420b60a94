// key_secret - the file `secret`: sixteen random bytes with which a queue hashes unique keys.
//
// A file of its own and no record: it must be known before the first record of a key is read, whatever files
// of the journal have been given back. Made with the first key. The segment knows it too, for the file to be
// written anew; where both are lost a rebuild makes another for the keys of messages that are there, and
// forgets those of messages whose push is in no file any more.
#pragma once

// fq, below us.
#include "core/base/disk/disk.h"
#include "core/base/result.h"

namespace fq {

struct KeySecret {
  uint64_t half[2] = {};  // zero: there is none yet
  bool is_there() const { return half[0] != 0; }
  bool operator==(const KeySecret&) const = default;
};

Result<KeySecret> read_secret(Disk& disk);
/// As read, and durable: whoever gave it its name may have died before that was on the disk.
Result<KeySecret> take_secret(Disk& disk);
KeySecret draw_secret();
/// Needs: no other process writes it now. Durable when it returns.
Result<void> write_secret(Disk& disk, const KeySecret& secret);

}  // namespace fq
