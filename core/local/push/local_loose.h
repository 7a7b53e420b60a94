// local_loose - payloads in blobs/ that this process has in hand: see loose_blobs.h.
#pragma once

// fq, this room.
#include "core/local/local_queue.h"

namespace fq {

/// Of a push, until its record is appended. Removed with the object, unless keep() was called.
class LocalQueue::PushedBlobs {
 public:
  explicit PushedBlobs(LocalQueue& queue) : queue_(queue) {}
  ~PushedBlobs() {
    blobs_.clear();
    queue_.note_blobs_done(bytes_);
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
  LocalQueue& queue_;
  std::vector<NewBlob> blobs_;
  uint64_t bytes_ = 0;
};

}  // namespace fq
