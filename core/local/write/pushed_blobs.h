// pushed_blobs - payloads in blobs/ that this process has in hand: see loose_blobs.h.
#pragma once

// fq, this room.
#include "core/local/write/doomed_blobs.h"
#include "core/local/write/upkeep.h"

namespace fq {

/// Of a push, until its record is appended. Removed with the object, unless keep() was called.
class PushedBlobs : private Linked {
 public:
  PushedBlobs(Link& link, Upkeep& upkeep) : Linked(link), upkeep_(upkeep) {}
  ~PushedBlobs() {
    blobs_.clear();
    note_blobs_done(link_, bytes_);
  }
  PushedBlobs(const PushedBlobs&) = delete;
  PushedBlobs& operator=(const PushedBlobs&) = delete;

  /// Before the first is written.
  Result<void> begin(std::span<const NewMessage> messages);
  Result<void> write(Bytes payload, MessageItem& item);
  void keep() {
    for (NewBlob& blob : blobs_) blob.keep();
  }

 private:
  Upkeep& upkeep_;
  std::vector<NewBlob> blobs_;
  uint64_t bytes_ = 0;
};

}  // namespace fq
