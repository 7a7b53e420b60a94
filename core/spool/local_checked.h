// local_checked - what a look at everything has found, for people and for who is to repair it.
#pragma once

// fq, this room.
#include "core/spool/local_queue.h"

namespace fq {

struct LocalQueue::Checked {
  /// A message whose payload lies in a blob that is gone or damaged.
  struct LostBlob {
    MessageId id{};
    uint64_t item_position = 0;
    BlobName name;
    std::string what;  // "its payload blobs/...: is gone"
  };

  CheckReport report;
  CountedLines differences;  // findings too, behind what may have caused them
  bool segment_is_whole = true;
  std::vector<JournalDamage> damage;
  std::vector<LostBlob> lost_blobs;
  bool has_unreadable = false;  // a message whose record cannot be read, and which had a blob

  bool differs() const { return !differences.empty(); }
  bool is_well() const { return report.findings.empty() && differences.empty(); }
};

/// Blobs that belong to no message.
struct LocalQueue::Orphans {
  uint64_t count = 0;
  uint64_t bytes = 0;
};

}  // namespace fq
