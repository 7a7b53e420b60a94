// codec_terms - what a push says about when its message holds, as bytes in its item.
//
//   u16 flags (1 expired), u16 and u32 zero, i64 ttl

// fq, this room.
#include "core/journal/codec_parts.h"

namespace fq {

namespace {

constexpr uint16_t kExpired = 1;
constexpr size_t kFixedBytes = 16;

}  // namespace

std::string encode_terms(const MessageTerms& terms) {
  const int flags = terms.expired ? kExpired : 0;
  if (flags == 0 && terms.ttl_ms == 0) return {};
  std::string bytes(kFixedBytes, '\0');
  codec::ByteWriter to(std::as_writable_bytes(std::span(bytes)));
  to.put(static_cast<uint16_t>(flags));
  to.put_zeros(6);
  to.put(terms.ttl_ms);
  FQ_ASSERT(to.full());
  return bytes;
}

std::optional<MessageTerms> decode_terms(std::string_view bytes) {
  codec::ByteReader from(as_bytes(bytes));
  MessageTerms terms;
  const auto flags = from.get<uint16_t>();
  from.expect_zero(6);
  terms.ttl_ms = from.get<int64_t>();
  terms.expired = (flags & kExpired) != 0;
  const bool bad = (flags & ~kExpired) != 0 || terms.ttl_ms < 0 || terms.ttl_ms > INT64_MAX / 4;
  if (bad || !from.ended_well()) return std::nullopt;
  return terms;
}

}  // namespace fq
