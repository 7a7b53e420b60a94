// outputs - the outputs of jobs that are too long for a record of ended_log.h: output/<id>, until its time is
// over.
//
// Written before its record. It is no part of the truth: a power cut may take the newest ones, and a file
// that is not whole counts as none. A file that is being written is output/<id>.<pid>.new, with a flock on
// it.
#pragma once

// fq, below us.
#include "core/api/queue.h"
#include "core/base/disk/disk.h"
// fq, this room.
#include "core/local/files/jobs/run_file.h"

namespace fq {

// The part of it that is to be kept, whether it is in memory or in the files of its run.
uint64_t kept_bytes(const JobOutput& output, Channel channel);
Gap gap_of(const JobOutput& output, Channel channel);
Result<std::string> kept_text(const JobOutput& output, Channel channel, uint64_t from, uint64_t bytes);

Result<void> keep_output(Disk& disk, MessageId id, const JobOutput& output, int64_t until_wall_ms);
/// None when there is none, or its time is over.
Result<std::optional<JobOutput>> read_output(Disk& disk, MessageId id, int64_t now_wall_ms);
/// The one that was kept until then; another stays.
Result<void> remove_output(Disk& disk, MessageId id, int64_t until_wall_ms);
/// Removes the files of this run that a dead process was writing, but for output that a caller that lives has
/// yet to read. Needs: that process still holds the message, so that no other can have begun the same files.
void drop_unfinished(Disk& disk, const RunFile::Name& run, uint32_t pid);
/// Removes the files of all runs whose process is dead, but for output that a caller that lives has yet to
/// read. What cannot be removed is left to the next that looks.
void drop_forsaken_runs(Disk& disk);
/// Looks at all of them: removes those whose time is over, and those that a dead process was writing, or had
/// left for a caller that died.
Result<void> sweep_outputs(Disk& disk, int64_t now_wall_ms);

}  // namespace fq
