// settler - verdicts: receipts judged, one record a group, applied, durable before the answer.
#pragma once

// fq, this room.
#include "core/local/consume/resolver.h"
#include "core/local/consume/endings.h"
#include "core/local/consume/watcher.h"
#include "core/local/write/doomed_blobs.h"

namespace fq {

class Settler : private Linked {
 public:
  Settler(Link& link, Writer& writer, EventWriter& events, Upkeep& upkeep, Endings& endings,
          Resolver& resolver, Watcher& watcher)
      : Linked(link),
        writer_(writer),
        events_(events),
        upkeep_(upkeep),
        endings_(endings),
        resolver_(resolver),
        watcher_(watcher) {}

  /// `reply` is as it was made; its `next` stays so.
  void settle(std::span<const Settle> items, SettleReply& reply);
  Result<std::vector<ExtendResult>> extend(std::span<const Receipt> receipts, int64_t duration_ms);

 private:
  struct Judged;
  SettleStatus judge(const Settle& settle, size_t place, RecordType type, const Now& now, Judged& judged,
                     std::vector<ItemPlace>& blobs);
  Result<size_t> settle_group(std::span<const Settle> group, std::span<SettleStatus> statuses,
                              uint64_t& durable_end, std::vector<ItemPlace>& blobs);

  Writer& writer_;
  EventWriter& events_;
  Upkeep& upkeep_;
  Endings& endings_;
  Resolver& resolver_;
  Watcher& watcher_;
};

}  // namespace fq
