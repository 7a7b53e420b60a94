// outputs - what jobs wrote, kept in output/<id> until its time is over.
//
// Written before the record that ends the message, so that whoever sees the end finds the output. It is no
// part of the truth: a power cut may take the newest ones, and a file that is not whole counts as none.
#pragma once

// fq, below us.
#include "core/api/queue.h"
#include "core/base/disk.h"

namespace fq {

Result<void> keep_output(Disk& disk, MessageId id, const JobOutput& output, int64_t now_wall_ms);
/// None when there is none, or its time is over.
Result<std::optional<JobOutput>> read_output(Disk& disk, MessageId id, int64_t now_wall_ms);
/// Removes those whose time is over; returns how many are left.
Result<size_t> sweep_outputs(Disk& disk, int64_t now_wall_ms);

}  // namespace fq
