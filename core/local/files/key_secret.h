// key_secret - the file `secret`: sixteen random bytes with which a queue hashes unique keys.
//
// A file of its own and no record: it must be known before the first record of a key is read, whatever files
// of the journal have been given back. Made with the first key; where it is lost, keys that are held are
// forgotten with the next rebuild, and nothing else.
#pragma once

// fq, below us.
#include "core/base/disk/disk.h"
#include "core/base/result.h"

namespace fq {

struct KeySecret {
  uint64_t half[2] = {};  // zero: there is none yet
};

Result<KeySecret> read_secret(Disk& disk);
/// Needs: no other process makes it now. Durable when it returns.
Result<KeySecret> make_secret(Disk& disk);

}  // namespace fq
