// checked - the findings of a check, for the repair.
#pragma once

// fq, below us.
#include "core/api/care.h"
// fq, this room.
#include "core/local/care/older_records.h"
#include "core/local/files/blobs.h"
#include "core/local/recover/replay.h"

namespace fq {

/// A message whose payload lies in a blob that is gone or damaged.
struct LostBlob {
  MessageId id{};
  uint64_t item_position = 0;
  BlobName name;
  std::string what;  // "message 5 of queue 'mail': its payload blobs/...: is gone"
};

struct Checked {
  CheckReport report;
  CountedLines differences;  // findings too, behind those that may have caused them
  bool segment_is_whole = true;
  std::vector<JournalDamage> damage;
  std::vector<OlderRecord> older_records;
  std::vector<LostBlob> lost_blobs;
  bool has_unreadable = false;  // a message whose record cannot be read, and which had a blob

  bool differs() const { return !differences.empty(); }
  bool is_well() const { return report.findings.empty() && differences.empty(); }
};

}  // namespace fq
