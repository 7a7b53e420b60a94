// mutator - messages cancelled and kicked, by whatever they were found.
//
// Owns the places of the payloads whose messages it has ended since the last finish().
#pragma once

// fq, this room.
#include "core/local/consume/resolver.h"
#include "core/local/consume/endings.h"
#include "core/local/write/doomed_blobs.h"

namespace fq {

class Mutator : private Linked {
 public:
  Mutator(Link& link, Writer& writer, EventWriter& events, Upkeep& upkeep, Endings& endings,
          Resolver& resolver)
      : Linked(link),
        writer_(writer),
        events_(events),
        upkeep_(upkeep),
        endings_(endings),
        resolver_(resolver) {}

  /// `filter`: only if that still takes it. With `item_position` only while its payload lies there.
  Result<SettleStatus> change(MessageId id, Action action, const Filter* filter = nullptr,
                              std::optional<uint64_t> item_position = {});
  /// Room for so many more to be ended under one hold of the lock, where nothing is allocated.
  void reserve(size_t n) { blobs_.reserve(blobs_.size() + n); }
  /// A message that ends under the lock leaves its payload there. Needs: reserve().
  std::vector<ItemPlace>& blobs() { return blobs_; }
  /// After all of them: messages that waited for them are resolved, all of it durable, payloads are removed.
  Result<void> finish();

 private:
  Writer& writer_;
  EventWriter& events_;
  Upkeep& upkeep_;
  Endings& endings_;
  Resolver& resolver_;
  std::vector<ItemPlace> blobs_;
};

}  // namespace fq
