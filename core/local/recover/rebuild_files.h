// rebuild_files - a rebuild's dealings with the journal's files: damage kept and told, unused files removed,
// and the file chosen that the queue goes on in.
#pragma once

// fq, below us.
#include "core/journal/journal.h"
// fq, this room.
#include "core/local/recover/grip.h"

namespace fq {

class RebuildFiles : private Gripping {
 public:
  explicit RebuildFiles(Grip& grip) : Gripping(grip) {}

  Result<void> report_damage(const ScanResult& scan);
  Result<void> remove_unusable(const ScanResult& scan);
  /// Into the table of a segment that no other process sees.
  Result<void> choose(Store& store, const ScanResult& scan);

 private:
  Result<void> set_aside(uint32_t number, std::string what);
  static void pass_over(Store& store, const ScanResult& scan);
  Result<void> make_file(const FileKey& key);
};

}  // namespace fq
