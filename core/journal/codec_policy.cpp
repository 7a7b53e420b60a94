// codec_policy - what was set at run time, as bytes.
//
//   u16 bytes of the path, u16 how many values, u32 zero, the path, then for each value
//   u8 key, u8 1 when it is taken back, u16 bytes of text, u32 zero, i64 number, i64 second, text
// A key that this build does not know is refused: what it asks for would not be done.

// fq, below us.
#include "core/base/crc32c.h"
// fq, this room.
#include "core/journal/codec_parts.h"

namespace fq {

namespace {

constexpr size_t kPolicyBytes = 8;
constexpr size_t kValueBytes = 24;
constexpr uint8_t kUnset = 1;

void put_value(codec::ByteWriter& to, const PolicyValue& value, uint8_t flags) {
  FQ_ASSERT(value.text.size() <= UINT16_MAX);
  to.put(static_cast<uint8_t>(value.key));
  to.put(flags);
  to.put(static_cast<uint16_t>(value.text.size()));
  to.put(uint32_t{0});
  to.put(value.number);
  to.put(value.second);
  to.put_text(value.text);
}

bool key_is_known(uint8_t key) {
  return key >= static_cast<uint8_t>(PolicyKey::order) && key <= static_cast<uint8_t>(kLastPolicyKey);
}

}  // namespace

void encode_policy(Body& into, const PolicyRecord& policy) {
  const PolicyPatch& patch = policy.patch;
  FQ_ASSERT(policy.path.size() <= UINT16_MAX);
  FQ_ASSERT(patch.set.size() + patch.unset.size() <= UINT16_MAX);
  size_t bytes = kPolicyBytes + policy.path.size() + (patch.set.size() + patch.unset.size()) * kValueBytes;
  for (const PolicyValue& value : patch.set) bytes += value.text.size();
  into.type = RecordType::policy;
  into.flags = 0;
  into.count = 0;
  into.bytes.resize(bytes);
  codec::ByteWriter to(into.bytes);
  to.put(static_cast<uint16_t>(policy.path.size()));
  to.put(static_cast<uint16_t>(patch.set.size() + patch.unset.size()));
  to.put(uint32_t{0});
  to.put_text(policy.path);
  for (const PolicyValue& value : patch.set) put_value(to, value, 0);
  for (const PolicyKey key : patch.unset) put_value(to, {key, 0, 0, {}}, kUnset);
  into.crc = crc32c(0, into.bytes);
}

std::optional<PolicyRecord> decode_policy(Bytes body) {
  codec::ByteReader from(body);
  PolicyRecord policy;
  const auto path_bytes = from.get<uint16_t>();
  const auto count = from.get<uint16_t>();
  from.expect_zero(4);
  policy.path = from.take_text(path_bytes);
  for (uint32_t i = 0; i < count && !from.broken(); ++i) {
    PolicyValue value;
    const auto key = from.get<uint8_t>();
    const auto flags = from.get<uint8_t>();
    const auto text_bytes = from.get<uint16_t>();
    from.expect_zero(4);
    value.number = from.get<int64_t>();
    value.second = from.get<int64_t>();
    value.text = from.take_text(text_bytes);
    if (!key_is_known(key) || flags > kUnset) from.fail();
    value.key = static_cast<PolicyKey>(key);
    if (flags == kUnset) policy.patch.unset.push_back(value.key);
    if (flags == 0) policy.patch.set.push_back(std::move(value));
  }
  if (!from.ended_well()) return std::nullopt;
  return policy;
}

}  // namespace fq
