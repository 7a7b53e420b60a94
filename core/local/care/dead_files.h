// dead_files - journal files whose messages have all ended, given back: LOW is made durable, then the file is
// used again or removed.
#pragma once

// fq, this room.
#include "core/local/write/writer.h"

namespace fq {

class DeadFiles : private Linked {
 public:
  DeadFiles(Link& link, Writer& writer) : Linked(link), writer_(writer) {}

  /// Returns how many were given back; others may have done it instead.
  Result<uint32_t> drop();

 private:
  void tell_stopped_holder();
  uint32_t append_low();
  Result<bool> remove_oldest(uint32_t number);

  Writer& writer_;
  Body body_;
  int told_holder_ = 0;  // as stopped: told once
};

}  // namespace fq
