// codec_keys - unique keys that are held although their messages were acked.
//
//   {16 bytes of hash, u64 id, i64 held until}, as many as the header counts

// fq, below us.
#include "core/base/crc32c.h"
// fq, this room.
#include "core/journal/codec_parts.h"

namespace fq {

void encode_keys(Body& into, const KeysRecord& keys) {
  FQ_ASSERT(!keys.keys.empty());
  FQ_ASSERT(keys.keys.size() <= kKeysPerRecord);
  into.type = RecordType::keys;
  into.flags = 0;
  into.count = static_cast<uint16_t>(keys.keys.size());
  into.bytes.resize(32 * keys.keys.size());
  codec::ByteWriter to(into.bytes);
  for (const KeptKey& key : keys.keys) {
    for (const uint64_t half : key.hash) to.put(half);
    to.put(number(key.id));
    to.put(key.until_wall_ms);
  }
  FQ_ASSERT(to.full());
  into.crc = crc32c(0, into.bytes);
}

bool decode_keys(uint16_t count, Bytes body, KeysRecord& keys) {
  keys.keys.clear();
  if (count == 0 || count > kKeysPerRecord) return false;
  codec::ByteReader from(body);
  keys.keys.resize(count);
  for (KeptKey& key : keys.keys) {
    for (uint64_t& half : key.hash) half = from.get<uint64_t>();
    key.id = MessageId{from.get<uint64_t>()};
    key.until_wall_ms = from.get<int64_t>();
  }
  return from.ended_well();
}

}  // namespace fq
