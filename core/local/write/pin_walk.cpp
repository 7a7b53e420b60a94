#include "core/local/write/pin_walk.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/local/shared/journal_size.h"

namespace fq {

bool begin_walk(Link& link, Pin& pin) {
  if (!JournalSize(link.header()).pins(pin, link.header().oldest_file)) return false;
  if (pin.walk_from != 0) return true;
  Txn txn = link.store().begin();
  // 0 says that there is none; nothing begins there that has to be pin.
  txn.set(pin.walk_from, std::max<uint64_t>(1, link.header().tail));
  txn.set(pin.walk_next, 0);
  txn.set(pin.since, UINT64_MAX);
  txn.commit();
  return true;
}

void note_walked(Txn& txn, Pin& pin, uint32_t next, bool at_end) {
  txn.set(pin.walk_next, next);
  if (!at_end) return;
  txn.set(pin.record, pin.since == UINT64_MAX ? 0 : pin.since.get());
  txn.set(pin.walk_from, 0);
}

}  // namespace fq
