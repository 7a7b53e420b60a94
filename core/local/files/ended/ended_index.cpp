#include "core/local/files/ended/ended_index.h"

// System.
#include <algorithm>
#include <cerrno>

namespace fq {

Result<std::vector<uint32_t>> list_ended(Disk& disk) {
  std::vector<uint32_t> numbers;
  const Result<std::vector<std::string>> names = disk.list("ended");
  if (!names.ok() && names.error().sys == ENOENT) return numbers;
  if (!names.ok()) return names.error();
  for (const std::string& name : *names) {
    if (const uint32_t file = ended_file_number(name); file != 0) numbers.push_back(file);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Result<void> EndedIndex::refresh(Disk& disk) {
  FQ_TRY_SET(const std::vector<uint32_t> numbers, list_ended(disk));
  std::vector<uint32_t> gone;
  for (const auto& [file, heads] : files_) {
    if (!std::binary_search(numbers.begin(), numbers.end(), file)) gone.push_back(file);
  }
  for (const uint32_t file : gone) forget(file);
  // Only the last file that is known can have grown.
  const uint32_t last = files_.empty() ? 0 : files_.rbegin()->first;
  for (const uint32_t file : numbers) {
    if (file < last) continue;
    FileHeads& heads = files_[file];
    FQ_TRY_SET(heads.end, scan_ended(disk, file, heads.end, [&](const EndedPlace& place) {
                 heads.places.push_back(place);
                 EndedPlace& newest = newest_.try_emplace(place.id, place).first->second;
                 if (place.verdict != RecordType::buried || newest.verdict == RecordType::buried)
                   newest = place;
                 if (place.has_output) newest_outputs_[place.id] = place;
               }));
  }
  return {};
}

bool EndedIndex::tells(const EndedPlace& place, int64_t now_wall_ms) const {
  if (place.until_wall_ms <= now_wall_ms) return false;
  return is_newest(place) || is(newest_output(place.id), place);
}

const EndedPlace* EndedIndex::find(const ById& places, uint64_t id) {
  const auto found = places.find(id);
  return found == places.end() ? nullptr : &found->second;
}

void EndedIndex::forget(uint32_t file) {
  for (const EndedPlace& place : files_[file].places) {
    for (ById* const by_id : {&newest_, &newest_outputs_}) {
      const auto found = by_id->find(place.id);
      if (found != by_id->end() && found->second.is(place)) by_id->erase(found);
    }
  }
  files_.erase(file);
}

}  // namespace fq
