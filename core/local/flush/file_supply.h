// file_supply - one more journal file on disk, under a number that the table does not know yet.
//
// Needs: the compaction lock, so that there is one maker at a time. A file of that number which is on disk
// already was made by a process that died before the table knew it: nothing ever lay in it, it is replaced.
#pragma once

// fq, below us.
#include "core/journal/journal.h"
// fq, this room.
#include "core/local/shared/journal_size.h"

namespace fq {

Result<void> supply_new_file(Disk& disk, const FileHeader& header, uint64_t bytes);
Result<void> supply_recycled_file(Disk& disk, uint32_t old_number, const FileHeader& header);

}  // namespace fq
