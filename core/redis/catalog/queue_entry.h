// queue_entry - what is fixed of a queue when it is made, as the servers have it and as it is used.
#pragma once

// System.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>
// fq, below us.
#include "core/api/create_options.h"
#include "core/base/ids.h"
#include "core/base/result.h"

namespace fq {

inline constexpr size_t kMarkLength = 4;
inline constexpr size_t kSpreadDigits = 16;  // of each half of the key, in hexadecimal

/// So long events are kept where nothing is said of it. The library has it from here: see
/// core/redis/lua/join.cmake.
inline constexpr int64_t kEventsMsUsual = 600'000;

struct QueueEntry {
  std::string name;
  std::string mark;    // kMarkLength characters, by which its receipts are told from others of the place
  std::string places;  // where the keys of its shards are, as shard_places has them;
  std::string tag;     // what those of its only shard begin with, or of the first
  // Of all of them, where there is more than one; and the key by which accounts are spread over them.
  std::vector<std::string> tags = {};
  std::array<uint64_t, 2> spread_by = {};
  int64_t events_ms = kEventsMsUsual;  // since so long ago all are told
};

/// In which shard of so many it would be: an id that none of them gives, in the first.
size_t shard_of_id(MessageId id, size_t count);
/// Whether one of so many gives such ids.
bool is_id_of(MessageId id, size_t count);

/// By name, as a server has it in `key`.
using Fixed = std::map<std::string, std::string>;

/// The key by which accounts are to be spread.
std::string drawn_spread();

/// Of a queue that is there: what it has cannot be made another.
Result<void> check_is_as_asked(const std::string& queue, const CreateOptions& options,
                               const std::string& shards, const std::string& events_ms);

/// "": as is usual. None: it cannot be read.
std::optional<int64_t> events_ms_in(const std::string& told);
/// ErrorKind::bad_data: it was changed by somebody to what cannot be.
Result<QueueEntry> read_queue_entry(const std::string& queue, const std::string& key, const Fixed& fixed,
                                    std::vector<std::string> tags);

}  // namespace fq
