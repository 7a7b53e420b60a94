// ended_index - the places in ended/ of the records about a message, of which the last counts.
//
// Made by reading the heads of the records, and kept up by reading those that came since.
#pragma once

// System.
#include <map>
#include <unordered_map>
// fq, this room.
#include "core/local/files/ended/ended_record.h"

namespace fq {

class EndedIndex {
 public:
  struct FileHeads {
    uint64_t end = 0;  // of what was read
    std::vector<EndedPlace> places;
  };

  Result<void> refresh(Disk& disk);
  /// By number, which is by age.
  const std::map<uint32_t, FileHeads>& files() const { return files_; }
  /// None: there is no record about it. Told for its output only: there is no other.
  const EndedPlace* newest(uint64_t id) const { return find(newest_, id); }
  /// Whether there is no newer record about the same message.
  bool is_newest(const EndedPlace& place) const { return is(newest(place.id), place); }
  /// Its newest record with an output.
  const EndedPlace* newest_output(uint64_t id) const { return find(newest_outputs_, id); }
  /// Whether anything is still told by this record.
  bool tells(const EndedPlace& place, int64_t now_wall_ms) const;

 private:
  using ById = std::unordered_map<uint64_t, EndedPlace>;
  static const EndedPlace* find(const ById& places, uint64_t id);
  static bool is(const EndedPlace* one, const EndedPlace& other) { return one != nullptr && one->is(other); }
  void forget(uint32_t file);

  std::map<uint32_t, FileHeads> files_;
  ById newest_;
  ById newest_outputs_;
};

/// The numbers of the files that there are, in order.
Result<std::vector<uint32_t>> list_ended(Disk& disk);

}  // namespace fq
