// doomed_blobs - payloads in blobs/ of messages that have just ended, or got another payload: to be removed
// once that can no longer be lost.
#pragma once

// System.
#include <span>
// fq, this room.
#include "core/local/files/blobs.h"
#include "core/local/write/link.h"

namespace fq {

class DoomedBlobs : private Linked {
 public:
  explicit DoomedBlobs(Link& link) : Linked(link) {}

  bool empty() const { return blobs_.empty(); }
  void add(const LooseBlob& blob) { blobs_.push_back(blob); }
  /// Reads which files hold the payloads that lie there.
  void find(std::span<const ItemPlace> places);
  /// Needs: the records that doom them are durable. They are left to a later look where another process may
  /// still read them.
  void remove();

 private:
  bool stay();

  std::vector<LooseBlob> blobs_;
};

/// So many bytes of payloads are not in this process's hands any more (loose_blobs.h).
void note_blobs_done(Link& link, uint64_t bytes);

}  // namespace fq
