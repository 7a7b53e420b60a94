// old libraries - what servers keep of builds of fq that nobody uses any more: told of, and deleted.
//
// Each build has a library of its own on a server, some 400 KiB there, in its file and in each replica. Who
// calls it notes that in a key of the prefix, once in an hour; and each server knows by itself when one was
// called the last time since it came up, by whomever: see use.lua. One is old when neither knows of a use for
// long. Should somebody come with it after all, it is loaded again. A user that may not load it is stopped by
// that: so one that does not tell when it was used stays.
#pragma once

// System.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>
// fq, below us.
#include "core/api/care.h"
// fq, this room.
#include "core/redis/shard/shard.h"

namespace fq {

class OldLibraries {
 public:
  /// With what is noted by now.
  static Result<OldLibraries> open(const ServerAccess& access);

  struct Found {
    std::vector<std::string> others;  // of other builds
    std::vector<std::string> old;     // of those
  };
  /// Of a server; none: this user may not see what it has.
  Result<std::optional<Found>> find(Server& server) const;
  /// Deletes them from all servers: how many; none: this user may not.
  Result<std::optional<uint64_t>> remove() const;

 private:
  explicit OldLibraries(const ServerAccess& access) : access_(access) {}
  Result<int64_t> clock_of(Server& server) const;
  Result<bool> is_old(Server& server, const std::string& name, int64_t now_ms) const;
  Result<bool> remove_from(Server& server, std::set<std::string>& kept, std::set<std::string>& gone) const;

  ServerAccess access_;
  std::map<std::string, int64_t> noted_ms_;  // by name
};

/// What there is to be compacted besides tenants.
Result<CompactReport> compact_servers(const ServerAccess& access);

}  // namespace fq
