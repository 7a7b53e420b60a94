// kept_policy - the file `policy`: the text of the policy file whose values hold, as it was when it was good.
//
// The values lie in the segment, which a rebuild makes anew. While the policy file itself is broken this is
// where they come from then. No file: there was no policy file, or nothing in it.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/disk/disk.h"
#include "core/base/result.h"

namespace fq {

Result<std::string> read_kept_policy(Disk& disk);
/// Needs: no other process keeps one now. Whole and durable when it returns; else the earlier one is still
/// there.
Result<void> keep_policy(Disk& disk, std::string_view text);

}  // namespace fq
