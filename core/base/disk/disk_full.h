// disk_full - the fault of a disk, or of a user's share of it, that is full.
#pragma once

// fq, this room.
#include "core/base/error.h"

namespace fq {

bool is_disk_full(const Error& error);

}  // namespace fq
