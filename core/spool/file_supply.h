// file_supply - one more journal file on disk, under a number that the table does not know yet.
//
// Needs: the compaction lock, so that there is one maker at a time. A file of that number which is on disk
// already was made by somebody who died before the table knew it: nothing ever lay in it, it is replaced.
#pragma once

// fq, below us.
#include "core/journal/journal.h"

namespace fq {

/// A young queue's journal file; later ones follow the queue's size.
inline constexpr uint64_t kYoungFileBytes = 512 * 1024;

/// Half of the journal that there is, so that a busy queue soon has large files: each change of file costs
/// three syncs. But, beyond a young queue's, little of what the disk has free, which others need too.
uint64_t next_file_bytes(uint64_t journal_bytes, uint64_t free_bytes);

Result<void> supply_new_file(Disk& disk, const FileHeader& header, uint64_t bytes);
Result<void> supply_recycled_file(Disk& disk, uint32_t old_number, const FileHeader& header);

}  // namespace fq
