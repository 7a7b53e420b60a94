// message_order - see message_order.h: the comparisons that plain messages do not need.
#include "core/schedule/order/message_order.h"

// fq, below us.
#include "core/base/bytes.h"
#include "core/base/sort_key.h"

namespace fq {

uint32_t rank_add(Txn& txn, const Region& region, std::string_view key, int32_t priority) {
  if (key.empty()) return static_cast<uint32_t>(priority);
  std::string text(key);
  std::byte tail[kKeyTailBytes];
  put_number(tail, priority);
  text.append(as_text(tail));
  return text_add(txn, region, text);
}

namespace {

/// Of one that has a key.
std::string_view key_and_priority(const Region& region, const Entry& entry,
                                  std::span<char, kTextBytesMax> into, int32_t& priority) {
  std::string_view text = text_copy(region, rank_of(region, entry), into);
  if (text.size() < kKeyTailBytes) throw RegionDamaged{"a sort key is too short"};
  priority = get_number<int32_t>(as_bytes(text).data() + text.size() - kKeyTailBytes);
  text.remove_suffix(kKeyTailBytes);
  return text;
}

}  // namespace

int32_t priority_of(const Region& region, const Entry& entry) {
  if ((entry.flags & kEntryKeyed) == 0) return static_cast<int32_t>(rank_of(region, entry));
  char text[kTextBytesMax];
  int32_t priority = 0;
  key_and_priority(region, entry, text, priority);
  return priority;
}

int MessageKind::compare_rank(const Entry& x, const Entry& y) const {
  const bool x_keyed = (x.flags & kEntryKeyed) != 0, y_keyed = (y.flags & kEntryKeyed) != 0;
  if (x_keyed != y_keyed) return x_keyed ? -1 : 1;
  int32_t x_priority, y_priority;
  if (x_keyed) {
    char x_text[kTextBytesMax], y_text[kTextBytesMax];
    const std::string_view x_key = key_and_priority(*region, x, x_text, x_priority);
    const std::string_view y_key = key_and_priority(*region, y, y_text, y_priority);
    const int order = order_of_sort_key(x_key).compare(order_of_sort_key(y_key));
    if (order != 0) return order;
  } else {
    x_priority = priority_of(*region, x), y_priority = priority_of(*region, y);
  }
  return x_priority == y_priority ? 0 : x_priority > y_priority ? -1 : 1;
}

}  // namespace fq
