// values_fuzz - what people write: durations, sizes, times, sort keys, names. What is read can be written
// again and reads back as the same.

// fq, below us.
#include "core/base/assert.h"
#include "core/base/bytes.h"
#include "core/base/limits.h"
#include "core/base/text/decimal.h"
#include "core/base/text/duration.h"
#include "core/base/text/escape.h"
#include "core/base/text/size.h"
#include "core/base/sort_key.h"
#include "core/base/tenant_name.h"
#include "core/base/text/wall_time.h"

using namespace fq;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = as_text(std::as_bytes(std::span(data, size)));

  const DurationParse duration = parse_duration(text);
  if (duration.fault == DurationFault::none) {
    FQ_ASSERT(duration.ms >= 0);
    FQ_ASSERT(duration.ms <= kDurationMsMax);
    FQ_ASSERT(parse_duration(format_duration(duration.ms)).ms == duration.ms);
  }
  if (const auto bytes = parse_size(text)) (void)format_size(*bytes);
  if (const auto wall_ms = parse_wall_time(text, 1'700'000'000'000))
    FQ_ASSERT(parse_wall_time(format_wall_time(*wall_ms), 0) == wall_ms);
  if (const auto value = parse_decimal(text)) FQ_ASSERT(parse_decimal(std::to_string(*value)) == value);
  if (const auto value = parse_signed(text)) FQ_ASSERT(parse_signed(std::to_string(*value)) == value);

  const SortKeyEncoding key = encode_sort_key(text);
  if (key.fault == SortKeyFault::none) {
    FQ_ASSERT(key.bytes.size() <= kSortKeyBytesMax);
    FQ_ASSERT(decode_sort_key(key.bytes) == text);
  }
  (void)decode_sort_key(text);
  (void)tenant_name_fault(text);
  (void)queue_name_fault(text);
  return 0;
}
