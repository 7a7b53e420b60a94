// needs - the room that what a record brings takes in the schedule, at most.
#pragma once

// fq, below us.
#include "core/journal/codec.h"
#include "core/schedule/schedule.h"

namespace fq {

Need need_of(const MessageItem& message);
Need need_of(const SteppedRecord& step);

}  // namespace fq
