#include "core/base/memory/undo.h"

namespace fq {

bool undo_rollback(std::byte* base, uint64_t bytes, UndoLog& log) {
  const uint32_t count = log.count;
  if (count > kUndoEntries) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t offset = log.entries[i].where >> 4;
    const uint64_t field_bytes = log.entries[i].where & 15;
    if (field_bytes == 0 || field_bytes > 8) return false;
    if (offset > bytes || bytes - offset < field_bytes) return false;
  }
  // Youngest first, so that a field that was changed twice ends with its first value.
  for (uint32_t i = count; i-- > 0;) {
    std::memcpy(base + (log.entries[i].where >> 4), &log.entries[i].old_value, log.entries[i].where & 15);
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  log.count = 0;
  return true;
}

}  // namespace fq
