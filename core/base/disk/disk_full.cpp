#include "core/base/disk/disk_full.h"

// System.
#include <cerrno>

namespace fq {

bool is_disk_full(const Error& error) { return error.sys == ENOSPC || error.sys == EDQUOT; }

}  // namespace fq
