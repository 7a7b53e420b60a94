// queue_secret - what the queue's unique keys are hashed with.
//
// Without a secret somebody could choose keys that meet those of others. Made with the first key.
#pragma once

// fq, this room.
#include "core/local/write/link.h"

namespace fq {

class QueueSecret : private Linked {
 public:
  explicit QueueSecret(Link& link) : Linked(link) {}

  Result<void> ensure();

 private:
  Result<void> find();
};

}  // namespace fq
