// push_line_fuzz - lines of `fq push --ndjson`: refused with a reason, or a message within its limits.

// fq, below us.
#include "cli/requests/push_options.h"
#include "core/base/sort_key.h"
#include "core/base/tenant_name.h"

using namespace fq;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line = as_text(std::as_bytes(std::span(data, size)));
  for (const Order order : {Order::fifo, Order::priority, Order::key}) {
    const auto parsed = cli::parse_push_line(line, {}, order);
    if (!parsed.ok()) {
      FQ_ASSERT(!parsed.error().text.empty());
      continue;
    }
    const cli::PushLine& message = parsed.value();
    FQ_ASSERT(tenant_name_fault(message.fields.tenant).empty());
    FQ_ASSERT(message.fields.key.size() <= kSortKeyBytesMax);
    if (!message.fields.key.empty()) FQ_ASSERT(decode_sort_key(message.fields.key).has_value());
    FQ_ASSERT(cli::message_of(message.fields, message.payload).payload.size() == message.payload.size());
  }
  return 0;
}
