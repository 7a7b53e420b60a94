#include "core/base/memory/undo.h"

namespace fq {

bool undo_rollback(std::byte* base, uint64_t bytes, UndoLog& log) {
  if (log.count > kUndoWords) return false;
  for (uint32_t end = log.count; end > 0;) {
    const std::optional<UndoNote> note = undo_note_before(log, end);
    if (!note || note->offset > bytes || bytes - note->offset < note->bytes) return false;
    end = note->begins_at;
  }
  // Youngest first, so that what was noted twice ends with its first value.
  for (uint32_t end = log.count; end > 0;) {
    const UndoNote note = *undo_note_before(log, end);
    std::memcpy(base + note.offset, note.old, note.bytes);
    end = note.begins_at;
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  log.count = 0;
  return true;
}

void Txn::mark_changes() {
  // A block is no smaller than the largest note: what it begins and what it ends in are all.
  static_assert(kNoteBytesMax <= 1 << ChangedBlocks::kBlockShiftMin);
  for (uint32_t end = log_.count; end > 0;) {
    const UndoNote note = *undo_note_before(log_, end);
    changed_->mark(note.offset);
    changed_->mark(note.offset + note.bytes - 1);
    end = note.begins_at;
  }
  changed_->note_transaction();
}

}  // namespace fq
