// redis_place - the place of queues on a server: the URL of a spool, taken apart.
//
//   redis://[USER@]HOST[:PORT][,HOST[:PORT]...][/DB][?prefix=P&durability=L&connect=DUR&timeout=DUR
//                                           &poll=DUR]
//   rediss://...                                          likewise, by TLS
//   redis+unix:///PATH[?db=N&prefix=P&connect=DUR&timeout=DUR]
//
// It never holds a password: a URL is seen in process lists and inherited by every job.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/result.h"

namespace fq {

/// Files in PEM; "": those that this machine trusts, and nothing that names us.
struct TlsFiles {
  std::string ca, certificate, key;

  bool operator==(const TlsFiles& other) const = default;
};

/// What the answer to a change means: the master has it, a replica has it too, or both have it on disk.
enum class Level { async, replica, strict };
std::string_view name_of(Level level);

struct RedisPlace {
  struct Host {
    std::string name;  // without the brackets of IPv6
    uint16_t port = 6379;
  };
  std::vector<Host> hosts;  // seeds, any of which may answer; none: a socket
  std::string socket;
  bool is_sealed = false;  // by TLS
  TlsFiles tls;            // no part of the URL
  std::string user;
  uint32_t database = 0;
  std::string prefix = "fq";
  std::optional<Level> level;  // none: replica where a master has one, else async
  int64_t connect_ms = 2'000;
  int64_t call_ms = 5'000;
  int64_t poll_ms = 1'000;  // so long who waits looks at nothing, should it be told of nothing

  /// Of what is there once for all queues.
  std::string key(std::string_view what) const { return "fq1:" + prefix + ":" + std::string(what); }
};

Result<RedisPlace> parse_redis_place(std::string_view spool);

}  // namespace fq
