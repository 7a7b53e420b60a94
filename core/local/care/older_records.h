// older_records - what was copied forward into a file that is lost, read again where it was copied from.
//
// Housekeeping lets a file go once its copies are on disk; killed before that, or while nothing can be
// written, it leaves the records of both. A rebuild that does not find the copy goes by the older record. So
// does a repair: what that knows is what it takes from a rebuild, and it gives up no message that one would
// find.
#pragma once

// System.
#include <vector>
// fq, this room.
#include "core/local/care/compactor.h"

namespace fq {

/// A message that the segment knows to lie elsewhere than a rebuild finds it.
struct OlderRecord {
  MessageId id{};
  uint64_t item_position = 0;  // as the segment has it
  uint64_t event_position = 0;
  uint64_t older_item = 0;  // as a rebuild has it
  uint64_t older_event = 0;
};

/// Those for which both are the same message, for all that is known: one that was replaced since is not.
std::vector<OlderRecord> find_older_records(const Schedule& live, const Schedule& rebuilt);

class OlderRecords : private Linked {
 public:
  OlderRecords(Link& link, Compactor& compactor) : Linked(link), compactor_(compactor) {}

  /// Of messages whose record cannot be read: they lie where the older one is, and are copied from there.
  /// Returns how many.
  Result<uint64_t> take(const std::vector<OlderRecord>& found);

 private:
  Result<bool> go_back(const OlderRecord& to);

  Compactor& compactor_;
  StoredItem stored_;
};

}  // namespace fq
