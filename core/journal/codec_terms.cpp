// codec_terms - what a push says about when its message holds, as bytes in its item.
//
//   u16 flags (1 expired, 2 the key is of --debounce, 4 another holds the key), u16 bytes of the key, u32
//   zero, i64 ttl, i64 how long the key is held after the ack, the key, then up to the end a u64 for each
//   message that it came after

// fq, this room.
#include "core/journal/codec_parts.h"

namespace fq {

namespace {

constexpr uint16_t kExpired = 1;
constexpr uint16_t kDebounced = 2;
constexpr uint16_t kKeyLost = 4;
constexpr size_t kTermsBytes = 24;
constexpr size_t kAfterBytesMax = 8 * (kAfterMax + 1);

bool is_span(int64_t ms) { return ms >= 0 && ms <= INT64_MAX / 4; }

}  // namespace

std::string encode_terms(const MessageTerms& terms) {
  const int flags =
      (terms.expired ? kExpired : 0) | (terms.debounced ? kDebounced : 0) | (terms.key_lost ? kKeyLost : 0);
  if (flags == 0 && terms.ttl_ms == 0 && terms.key.empty() && terms.after.empty()) return {};
  FQ_ASSERT(terms.key.size() <= UINT16_MAX);
  std::string bytes(kTermsBytes + terms.key.size() + terms.after.size(), '\0');
  codec::ByteWriter to(std::as_writable_bytes(std::span(bytes)));
  to.put(static_cast<uint16_t>(flags));
  to.put(static_cast<uint16_t>(terms.key.size()));
  to.put_zeros(4);
  to.put(terms.ttl_ms);
  to.put(terms.key_for_ms);
  to.put_text(terms.key);
  to.put_bytes(terms.after);
  FQ_ASSERT(to.full());
  return bytes;
}

std::optional<MessageTerms> decode_terms(std::string_view bytes) {
  codec::ByteReader from(as_bytes(bytes));
  MessageTerms terms;
  const auto flags = from.get<uint16_t>();
  const auto key_bytes = from.get<uint16_t>();
  from.expect_zero(4);
  terms.ttl_ms = from.get<int64_t>();
  terms.key_for_ms = from.get<int64_t>();
  terms.key = from.take_text(key_bytes);
  const size_t after_bytes = from.left();
  terms.after = from.take(after_bytes);
  terms.expired = (flags & kExpired) != 0;
  terms.debounced = (flags & kDebounced) != 0;
  terms.key_lost = (flags & kKeyLost) != 0;
  const bool bad = (flags & ~(kExpired | kDebounced | kKeyLost)) != 0 || !is_span(terms.ttl_ms) ||
                   !is_span(terms.key_for_ms) || after_bytes % 8 != 0 || after_bytes > kAfterBytesMax;
  if (bad || !from.ended_well()) return std::nullopt;
  return terms;
}

}  // namespace fq
