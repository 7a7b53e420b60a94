// flags_test - the flags of records: those that are known, of the types that have them.

// System.
#include <optional>
#include <span>
#include <vector>
// fq, this room.
#include "core/journal/read_record.h"
// Tests.
#include "tests/catch.h"

namespace fq {

namespace {

const FileKey kFlaggedFile{7, 42};

std::vector<std::byte> flagged(Body& body) {
  const HeaderBytes header = encode_header(file_seed(kFlaggedFile), {}, body, MessageId{0});
  std::vector<std::byte> record(header.begin(), header.end());
  record.insert(record.end(), body.bytes.begin(), body.bytes.end());
  return record;
}

}  // namespace

TEST_CASE("a kick tells whether what came back has its key, and other flags break the format") {
  const EventItem item{MessageId{1}, 8};
  for (const std::optional<bool> has_key :
       {std::optional<bool>(), std::optional(true), std::optional(false)}) {
    EventDetail detail;
    detail.has_key = has_key;
    Body body;
    encode_event(body, RecordType::kicked, {&item, 1}, detail);
    const auto header = decode_header(kFlaggedFile, flagged(body));
    REQUIRE(header);
    const bool told = RecordDecoder().read(*header, body.bytes, false, [&](const auto& record) {
      if constexpr (requires { record.detail.has_key; }) return record.detail.has_key == has_key;
      return false;
    });
    CHECK(told);
  }
  for (const RecordType type : {RecordType::kicked, RecordType::reheld, RecordType::acked}) {
    for (int flags = 1; flags < 256; ++flags) {
      Body body;
      encode_event(body, type, {&item, 1}, {});
      body.flags = static_cast<uint8_t>(flags);
      const bool is_known = type != RecordType::acked && (flags == kFlagHasKey || flags == kFlagKeyless);
      CHECK(decode_header(kFlaggedFile, flagged(body)).has_value() == is_known);
    }
  }
}

}  // namespace fq
