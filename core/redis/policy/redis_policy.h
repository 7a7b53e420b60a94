// redis_policy - the policy of a queue on a server: fq.toml as last loaded, and the values set at run time.
#pragma once

// System.
#include <map>
#include <string>
#include <string_view>
// fq, this room.
#include "core/redis/shard/shard.h"
#include "core/api/queue.h"

namespace fq {

class RedisPolicy {
 public:
  explicit RedisPolicy(Shard& shard) : shard_(shard) {}

  Result<Settings> settings();
  Result<bool> is_current(const FileIdentity& identity);
  /// Whether load() would be refused; nothing is done of it.
  Result<void> check(const Policy& policy);
  /// ErrorKind::unusable names what is not built yet.
  Result<void> load(const Policy& policy, const FileIdentity& identity);
  /// `is_told`: as an event, which of several shards one does. `version`: of what is set of the queue, where
  /// it has several.
  Result<void> set(std::string_view path, const PolicyPatch& patch, bool is_told = true,
                   const std::string& version = {});
  /// What is set of the queue, as another shard has it; one that has a later version keeps it.
  Result<void> follow_set(const std::string& values, const std::string& version);
  Result<OverridePage> overrides(const Cursor& from, size_t n);

 private:
  /// A file that was put in and is not followed by all yet.
  struct Entry {
    std::string page;  // of those who are to follow; "": none
    std::string mark;  // of two that are put in at once only the later one is finished
  };
  Result<Reply> say(std::string_view what, const Policy& policy);
  Result<Entry> put_in(const Policy& policy);
  Result<void> follow(Entry entry);
  Result<void> read_overrides();

  Shard& shard_;
  std::map<std::string, PolicyValues> overrides_;  // as a walk over them began
};

}  // namespace fq
