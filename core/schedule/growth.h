// growth - the room that a schedule has, and the arrays that have to grow before a push.
//
// Only additions need room: a push, a setting, a rule, a pool. The arrays that follow others (heap, buckets)
// are grown together with those, so everything that happens to a message after its push finds its place: on a
// full disk a queue can still be served to the end.
#pragma once

// System.
#include <optional>
#include <string_view>
// fq, this room.
#include "core/schedule/memory/arrays.h"
#include "core/schedule/memory/node_values.h"
#include "core/schedule/order/message_order.h"

namespace fq {

/// The room kept free beyond the need of one push, of each kind that it needs, so that growing happens ahead;
/// chosen.
inline constexpr Need kGrowthMargin{
    .messages = 64, .tenants = 16, .text_cells = 64, .extras = 16, .keys = 16, .waits = 64};

class Growth {
 public:
  explicit Growth(const Region& region) : region_(region) {}

  /// An upper bound of what adding a message of this tenant and key needs.
  static constexpr Need need_of(std::string_view tenant, std::string_view key);
  static Need need_of_setting(std::string_view path, const NodePatch& patch);
  static Need need_of_rule(std::string_view pattern, const NodePatch& values);
  static Need need_of_pool(std::string_view name);
  static Need need_of_schedule(std::string_view name);

  /// Makes the root tenant and empty structures. Needs: zeroed bytes, at least one chunk an array, and
  /// root.hash_key set.
  void initialise(Txn& txn) const;
  bool fits(const Need& need) const;
  /// Which array has to grow before `need` fits (with a margin ahead of it), or none.
  std::optional<ArrayName> array_for(const Need& need) const;
  uint32_t bytes_of(ArrayName array) const;  // of its next chunk; 0: it is at its limit
  void grow(Txn& txn, ArrayName array, uint32_t page) const;

 private:
  const Region& region_;
};

constexpr Need Growth::need_of(std::string_view tenant, std::string_view key) {
  // A node each level, and the self child of an inner one.
  Need need{.messages = 1, .tenants = 2, .text_cells = text_cells(tenant.size())};
  if (!key.empty()) need.text_cells += text_cells(key.size() + kKeyTailBytes);
  for (size_t end = tenant.find('/'); end != std::string_view::npos; end = tenant.find('/', end + 1)) {
    ++need.tenants;
    need.text_cells += text_cells(end);
  }
  return need;
}

}  // namespace fq
