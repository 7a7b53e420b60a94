#include "core/local/write/files_stay.h"

// fq, this room.
#include "core/local/files/process_info.h"

namespace fq {

Result<FilesStay> FilesStay::hold(Link& link) {
  SegmentHeader& shared = link.header();
  std::optional<SegmentLock> held = SegmentLock::take(shared, shared.checking);
  if (held) return FilesStay(*std::move(held));
  return Error{ErrorKind::later,
               link.attachment().object() + ": being checked or copied by " +
                   describe_holder(shared.checking.holder()) + "; try again",
               0};
}

}  // namespace fq
