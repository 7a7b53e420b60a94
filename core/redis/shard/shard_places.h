// shard places - where the keys of a queue's shards are: what stands between the braces of their names.
//
// A cluster gives keys to its servers by that text. The salt at its end is looked for when the queue is made,
// so that the shards of a queue of many are spread over all slots alike, and so over the servers.
#pragma once

// System.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace fq {

/// Of all shards of a queue. The only one of a queue on a cluster lies in the slot to which its name leads:
/// so it hangs on one server.
std::vector<std::string> spread_shard_places(const std::string& queue, uint64_t shards, bool is_cluster);

/// Of copies of what is fixed of it, by its name alone: as far from there and from each other as can be.
std::array<std::string, 2> copy_places(const std::string& queue);

/// Another one in the same slot.
std::string other_shard_place(const std::string& place);

/// With blanks between, and apart again.
std::string joined_places(const std::vector<std::string>& places);
std::vector<std::string> places_in(const std::string& joined);

}  // namespace fq
