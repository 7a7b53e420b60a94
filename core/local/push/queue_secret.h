// queue_secret - the secret with which the queue's unique keys are hashed.
//
// Without a secret a person could choose keys that collide with those of others. Made with the first key.
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
