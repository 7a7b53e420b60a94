// key_carrier - carries forward the unique keys that are held although their messages have ended, so that the
// journal goes on to tell of them.
#pragma once

// fq, this room.
#include "core/local/write/writer.h"

namespace fq {

class KeyCarrier : private Linked {
 public:
  KeyCarrier(Link& link, Writer& writer) : Linked(link), writer_(writer) {}

  /// Before carry_some(): nothing is allocated under the lock.
  void make_room();
  /// Some of them, from where the walk is. Needs: the lock, and that the walk has begun.
  Obstacle carry_some();

 private:
  Writer& writer_;
  KeysRecord record_;
  Body body_;
};

}  // namespace fq
