// tenant_hints - the node that a path had when it was last looked for, in memory of this process alone.
//
// A hint may be old: a caller that follows it checks that the node still has that path. Most pushes need no
// more than that, and the index costs far more. Only a process that stays has hints: room for them is made
// together with that for the arena's tables.
#pragma once

// System.
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/memory/arena.h"

namespace fq {

class TenantHints {
 public:
  /// Allocates: not under a lock.
  void make_room() {
    if (nodes_.empty()) nodes_.assign(kHints, kNoIndex);
  }
  /// The node that this path had, of those that share its place; kNoIndex: there is no hint.
  uint32_t of(std::string_view path) const { return nodes_.empty() ? kNoIndex : nodes_[place_of(path)]; }
  void note(std::string_view path, uint32_t node) {
    if (!nodes_.empty()) nodes_[place_of(path)] = node;
  }

 private:
  static constexpr uint32_t kPlaceBits = 13;
  static constexpr size_t kHints = size_t{1}
                                   << kPlaceBits;  // chosen: of 1,000 tenants one in nine shares its place

  /// By its last bytes, in which paths mostly differ. A person who picks paths that share a place only makes
  /// them go through the index.
  static size_t place_of(std::string_view path) {
    constexpr uint64_t kMixer = 0xd6e8'feb8'6659'fd93;  // odd, its bits without order
    constexpr size_t kWordBytes = sizeof(uint64_t);
    uint64_t end = 0;
    if (path.size() >= kWordBytes) {
      std::memcpy(&end, path.data() + path.size() - kWordBytes, kWordBytes);
    } else {
      for (const char c : path) end = end << 8 | static_cast<unsigned char>(c);
    }
    const uint64_t mixed = (end ^ path.size()) * kMixer;
    return ((mixed ^ mixed >> 32) * kMixer) >> (64 - kPlaceBits);
  }

  std::vector<uint32_t> nodes_;
};

}  // namespace fq
