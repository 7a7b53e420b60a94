// lent_record - what a shard tells in its root of limits that count over all shards: the twin of
// core/redis/lua/keys/lent.lua, which says what each of it is.
#pragma once

// System.
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// A limit and what the shard was lent of it.
struct LentUnits {
  std::string name;
  double age = 0, tag = 0, loans = -1;
  double share = 0, most = 0, used = 0;
  double interval = 0, since = 0;  // of a rate
  double wanted = 0;               // more than 0: it lacks some, and has so many messages for them at most

  double spare() const { return share - used; }
};

struct LentRecord {
  double age = 0;  // of the latest epoch that the shard knows of
  std::vector<LentUnits> limits;

  /// Null: the shard knows of no such limit.
  const LentUnits* find(std::string_view name) const;
};

/// Without what cannot be read.
LentRecord read_lent(std::string_view bytes);

/// Of the queue's own, and of a pool's, what is counted: what runs.
inline constexpr std::string_view kRunning = "c:";
/// Likewise: what starts.
inline constexpr std::string_view kRate = "r:";
/// Of the queue: what it holds.
inline constexpr std::string_view kMessages = "m:", kBytes = "b:";

/// It is of what runs or starts.
inline bool is_of_runs(std::string_view name) {
  return name.starts_with(kRunning) || name.starts_with(kRate);
}

}  // namespace fq
