// redis_check - reads all keys of a shard and tells those that do not agree.
#pragma once

// System.
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>
// fq, this room.
#include "core/redis/shard/shard.h"
#include "core/api/queue.h"

namespace fq {

/// Once used.
class RedisCheck {
 public:
  /// Signals come through between its calls, and `interrupt`, or null, ends it there.
  RedisCheck(Shard& shard, const Interrupt* interrupt) : shard_(shard), interrupt_(interrupt) {}

  Result<CheckReport> run();

 private:
  /// Of these names of keys those that begin so, `look`ed at.
  Result<void> look_at(const std::vector<std::string>& names, std::string_view begin, std::string_view look);
  Result<Reply> look(const std::vector<std::string_view>& arguments);
  Result<size_t> take(const std::vector<std::string_view>& asked);
  Result<void> look_in_pages(std::string_view what);
  Result<void> compare_sums();
  Result<std::vector<std::string>> compare_tenants();
  bool has_stood_still(const Reply& sums);

  Shard& shard_;
  const Interrupt* interrupt_;
  CheckReport report_;
  std::set<std::string> seen_;          // a walk over keys may show one twice
  std::array<uint64_t, 5> found_ = {};  // by state
  // Of each tenant by state, then bytes of those that are not dead.
  using TenantSums = std::array<int64_t, 6>;
  std::map<std::string, TenantSums> of_tenants_;
  std::set<std::string> changes_;  // how many there were, as each call told
};

}  // namespace fq
