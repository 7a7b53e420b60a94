// local_unique - what is decided about a push with a key.
#pragma once

// fq, this room.
#include "core/local/write/pushed_blobs.h"

namespace fq {

/// A key, or messages that it comes after.
bool has_terms(const NewMessage& message);

enum class LocalQueue::Fate {
  unknown,    // it rests on what is not applied yet
  fresh,      // a message of its own
  same,       // as one before it in this batch
  behind,     // likewise, held until the one that runs has ended
  duplicate,  // there is one, which stays as it is
  replace,    // there is one that waits: it gets this payload
  missing,    // what it is to come after is not known
};

struct LocalQueue::Plan {
  Fate fate = Fate::fresh;
  MessageId id{};  // of the one that is there
  uint64_t item_position = 0;
  uint64_t event_position = 0;
  size_t same_as = 0;  // in the batch
  size_t place = 0;    // among the fresh ones
};

struct LocalQueue::KeyedBatch {
  std::vector<KeyHash> hashes;
  std::vector<size_t> first;  // the first of the batch with the same key
};

/// A record, with what its views point to.
struct LocalQueue::Replacement {
  Replacement(Link& link, Upkeep& upkeep) : blobs(link, upkeep), doomed(link) {}
  ReplacedRecord record;
  std::string key;
  std::string terms;
  PushedBlobs blobs;
  DoomedBlobs doomed;  // the old payload, where it lies there
};

}  // namespace fq
