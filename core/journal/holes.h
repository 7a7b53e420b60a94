// holes - pages of a file that the disk does not give back (EIO): a block that went bad under it.
//
// What lies in them is damage like any other, except that the disk may give it back another time. So who may
// do without it takes them, and reads zeros there; everybody else refuses, and says where and what to do.
#pragma once

// System.
#include <set>
#include <vector>
// fq, below us.
#include "core/base/disk/disk.h"

namespace fq {

/// What becomes of them: an error that names the first byte, or damage.
enum class Holes { refused, taken };

/// The holes of one file, as far as it was read.
class HolePages {
 public:
  struct Stretch {
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };

  /// False: so much of a file is no bad place, but a disk that gives nothing back.
  bool add(uint64_t offset);
  void clear() { pages_.clear(); }
  bool empty() const { return pages_.empty(); }
  /// Where the first hole with a part in the `bytes` at `offset` ends; 0: there is none.
  uint64_t end_of_first(uint64_t offset, uint64_t bytes) const;
  /// What of the `bytes` at `offset` lies between them.
  std::vector<Stretch> readable(uint64_t offset, uint64_t bytes) const;

 private:
  std::set<uint64_t> pages_;  // by number
};

/// As many of the bytes at `offset` as the file has, zeros for those in holes, which are added. Fails on any
/// other error.
Result<size_t> read_around_holes(File& file, uint64_t offset, MutableBytes to, HolePages& holes);

/// An error of who refuses them, with what to do about it.
Error of_hole(Error error);

}  // namespace fq
