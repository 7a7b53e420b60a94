// read_record - a body as the record that its header says it is.
//
// `visit` is called with the record: a PushedReader, or a const EventRecord, MovedRecord, ReplacedRecord,
// EditedRecord, KeysRecord, PolicyRecord, ScheduledRecord, SkippedRecord, SteppedRecord, LowRecord,
// LimitsRecord or ClockRecord. A caller that leaves one out does not compile, unless it takes the rest by
// `const auto&`. A body that breaks the format is not visited.
#pragma once

// fq, this room.
#include "core/journal/codec.h"

namespace fq {

/// Decodes into what it holds, so that reading a journal allocates nothing for most of its records.
class RecordDecoder {
 public:
  /// What `visit` returns; `otherwise` when there is nothing to visit.
  template <class T, class Visit>
  T read(const RecordHeader& header, Bytes body, T otherwise, Visit&& visit) {
    const auto whole = [&](const auto& record) -> T {
      return record ? visit(*record) : std::move(otherwise);
    };
    switch (kind_of(header.type)) {
      case BodyKind::pushed: {
        PushedReader messages(body, header.count);
        return visit(messages);
      }
      case BodyKind::event:
        if (!decode_event(header.type, header.count, body, event_)) return otherwise;
        if (header.flags != 0) event_.detail.has_key = header.flags == kFlagHasKey;
        return visit(event_);
      case BodyKind::keys:
        return whole(decode_keys(header.count, body, keys_) ? &keys_ : nullptr);
      case BodyKind::moved:
        return whole(decode_moved(body));
      case BodyKind::replaced:
        return whole(decode_replaced(body));
      case BodyKind::edited:
        return whole(decode_edited(body));
      case BodyKind::policy:
        return whole(decode_policy(body));
      case BodyKind::scheduled:
        return whole(decode_scheduled(body));
      case BodyKind::skipped:
        return whole(decode_skipped(body));
      case BodyKind::stepped:
        return whole(decode_stepped(body));
      case BodyKind::low:
        return whole(decode_low(body));
      case BodyKind::limits:
        return whole(decode_limits(body));
      case BodyKind::clock:
        return whole(decode_clock(body));
      case BodyKind::opened:  // outside the stream
      case BodyKind::unknown:
        break;
    }
    return otherwise;
  }

 private:
  EventRecord event_;
  KeysRecord keys_;
};

/// Of several lambdas, the one that fits.
template <class... Fs>
struct Visitor : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Visitor(Fs...) -> Visitor<Fs...>;

}  // namespace fq
