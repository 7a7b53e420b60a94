// codec_terms - the terms of a message, which say when it holds, as bytes in its item.
//
//   u16 flags (1 expired, 2 the key is of --debounce, 4 another holds the key, 8 a schedule made it, 16 its
//   lease ends in a sleep, 32 not all that a step waited for were acked, 64 it leaves for another queue, 128
//   it comes from one, 256 it was imported), u16 bytes of the key, u32 zero, i64 ttl, i64 how long the key is
//   held after the ack, the key, of a schedule {i64 its time, i64 when it is due again, u16 bytes of its
//   name, name}, on the way {u64 token, u64 id, i64 since or due, u8 state, u8 zero, u16 bytes of the mark,
//   u16 bytes of the name, mark, name}, of an imported one {u64 u64 its token's hash, i64 until when that is
//   known}, then up to the end a u64 for each message that it came after

// fq, below us.
#include "core/base/clock.h"
#include "core/base/limits.h"
// fq, this room.
#include "core/journal/codec_parts.h"

namespace fq {

namespace {

constexpr uint16_t kExpired = 1;
constexpr uint16_t kDebounced = 2;
constexpr uint16_t kKeyLost = 4;
constexpr uint16_t kScheduled = 8;
constexpr uint16_t kSuspended = 16;
constexpr uint16_t kWaitFailed = 32;
constexpr uint16_t kLeaves = 64;
constexpr uint16_t kComes = 128;
constexpr uint16_t kImported = 256;
constexpr uint16_t kFlags =
    kExpired | kDebounced | kKeyLost | kScheduled | kSuspended | kWaitFailed | kLeaves | kComes | kImported;
constexpr size_t kAfterBytesMax = 8 * (kAfterMax + 1);

bool is_span(int64_t ms) { return ms >= 0 && ms <= kLatestMs; }

uint16_t flags_of(const MessageTerms& terms) {
  return static_cast<uint16_t>((terms.expired ? kExpired : 0) | (terms.debounced ? kDebounced : 0) |
                               (terms.key_lost ? kKeyLost : 0) | (terms.schedule.empty() ? 0 : kScheduled) |
                               (terms.suspended ? kSuspended : 0) | (terms.wait_failed ? kWaitFailed : 0) |
                               (!terms.transit           ? 0
                                : terms.transit->leaving ? kLeaves
                                                         : kComes) |
                               (terms.imported ? kImported : 0));
}

bool is_possible(const Transit& transit) {
  const bool goes_on = transit.then == SlotState::ready || transit.then == SlotState::delayed ||
                       transit.then == SlotState::dead;
  return goes_on && !transit.queue.empty() && transit.queue.size() <= kQueueNameBytesMax &&
         !transit.mark.empty() && transit.mark.size() <= kTransitMarkBytesMax;
}

}  // namespace

namespace codec {

template <class V>
void fields(V& v, Of<Transit> auto& transit) {
  uint16_t mark_bytes = v.size(transit.mark.size());
  uint16_t queue_bytes = v.size(transit.queue.size());
  v(transit.token, transit.id, transit.then_wall_ms, transit.then, Zeros<1>{}, mark_bytes, queue_bytes);
  v(Text{transit.mark, mark_bytes}, Text{transit.queue, queue_bytes});
  if constexpr (V::kReads)
    if (!is_possible(transit)) v.fail();
}

template <class V>
void fields(V& v, Of<MessageTerms> auto& terms) {
  uint16_t flags = flags_of(terms);
  uint16_t key_bytes = v.size(terms.key.size());
  v(flags, key_bytes, Zeros<4>{}, terms.ttl_ms, terms.key_for_ms);
  v(Text{terms.key, key_bytes});
  if ((flags & kScheduled) != 0) {
    uint16_t name_bytes = v.size(terms.schedule.size());
    v(terms.scheduled_wall_ms, terms.next_wall_ms, name_bytes);
    v(Text{terms.schedule, name_bytes});
    if constexpr (V::kReads)
      if (name_bytes == 0 || name_bytes > kScheduleNameBytesMax) return v.fail();
  }
  if ((flags & (kLeaves | kComes)) != 0) {
    if constexpr (V::kReads) terms.transit.emplace().leaving = (flags & kLeaves) != 0;
    fields(v, *terms.transit);
  }
  if ((flags & kImported) != 0) {
    if constexpr (V::kReads) terms.imported.emplace();
    v(terms.imported->hash[0], terms.imported->hash[1], terms.imported->until_wall_ms);
  }
  v.rest(terms.after);
  if constexpr (V::kReads) {
    terms.expired = (flags & kExpired) != 0;
    terms.debounced = (flags & kDebounced) != 0;
    terms.key_lost = (flags & kKeyLost) != 0;
    terms.suspended = (flags & kSuspended) != 0;
    terms.wait_failed = (flags & kWaitFailed) != 0;
    const bool bad = (flags & ~kFlags) != 0 || (flags & kLeaves & flags >> 1) != 0 ||
                     !is_span(terms.ttl_ms) || !is_span(terms.key_for_ms) || terms.after.size() % 8 != 0 ||
                     terms.after.size() > kAfterBytesMax;
    if (bad) v.fail();
  }
}

}  // namespace codec

std::string encode_terms(const MessageTerms& terms) {
  if (flags_of(terms) == 0 && terms.ttl_ms == 0 && terms.key.empty() && terms.after.empty()) return {};
  return codec::encode_text(terms);
}

std::optional<MessageTerms> decode_terms(std::string_view bytes) {
  std::optional<MessageTerms> terms(std::in_place);
  if (!codec::decode(as_bytes(bytes), *terms)) terms.reset();
  return terms;
}

}  // namespace fq
