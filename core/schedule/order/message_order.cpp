// message_order - see message_order.h: the comparisons that plain messages do not need.
#include "core/schedule/order/message_order.h"

// fq, below us.
#include "core/base/bytes.h"

namespace fq {

uint32_t rank_add(Txn& txn, const Region& region, std::string_view key, int32_t priority) {
  if (key.empty()) return static_cast<uint32_t>(priority);
  std::string text(key);
  std::byte tail[kKeyTailBytes];
  put_number(tail, priority);
  text.append(as_text(tail));
  return text_add(txn, region, text);
}

int32_t priority_of(const Region& region, const Entry& entry) {
  if ((entry.flags & kEntryKeyed) == 0) return static_cast<int32_t>(rank_of(region, entry));
  const std::string text = text_of(region, rank_of(region, entry));
  if (text.size() < kKeyTailBytes) throw RegionDamaged{"a sort key is too short"};
  return get_number<int32_t>(as_bytes(text).data() + text.size() - kKeyTailBytes);
}

int MessageKind::compare_rank(const Entry& x, const Entry& y) const {
  const bool x_keyed = (x.flags & kEntryKeyed) != 0, y_keyed = (y.flags & kEntryKeyed) != 0;
  if (x_keyed != y_keyed) return x_keyed ? -1 : 1;
  if (x_keyed) {
    if (const int order = text_compare(*region, rank_of(*region, x), rank_of(*region, y), kKeyTailBytes);
        order != 0)
      return order;
  }
  const int32_t x_priority = priority_of(*region, x), y_priority = priority_of(*region, y);
  return x_priority == y_priority ? 0 : x_priority > y_priority ? -1 : 1;
}

}  // namespace fq
