#include "core/local/write/files_stay.h"

// fq, this room.
#include "core/local/files/process_info.h"

namespace fq {

Result<FilesStay> FilesStay::hold(Link& link) {
  SegmentHeader& shared = link.header();
  const Taken taken = shared.checking.take(shared.settings.lock_timeout_ms.peek());
  if (taken == Taken::owner_died) shared.checking.consistent();
  if (taken == Taken::clean || taken == Taken::owner_died) return FilesStay(shared.checking);
  return Error{ErrorKind::later,
               link.attachment().object() + ": being checked or copied by " +
                   describe_holder(shared.checking.holder()) + "; try again",
               0};
}

}  // namespace fq
