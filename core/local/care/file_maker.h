// file_maker - a new journal file, ready to be written.
#pragma once

// fq, this room.
#include "core/local/write/link.h"

namespace fq {

class FileMaker : private Linked {
 public:
  explicit FileMaker(Link& link) : Linked(link) {}

  /// Unless another process has made one since the newest was `newest`.
  Result<void> make(uint32_t newest);

 private:
  Result<void> make_alone();
};

}  // namespace fq
