#include "core/local/shared/journal_table.h"

namespace fq {

std::optional<uint32_t> JournalTable::search(uint64_t position) const {
  uint32_t low = header_.oldest_file;
  uint32_t high = header_.current_file;
  if (high - low >= kJournalFilesMax) throw RegionDamaged{"the file table is out of range"};
  if (position < slot(low).start) return std::nullopt;
  // The last file that starts at or before the position: of two with one start the later holds it.
  while (low < high) {
    const uint32_t middle = low + (high - low + 1) / 2;
    if (slot(middle).start <= position) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  last_found_ = low;
  return low;
}

uint64_t JournalTable::current_room() const {
  const JournalSlot& current = slot(header_.current_file);
  const uint64_t used = kFirstRecordOffset + (header_.tail - current.start);
  return current.bytes > used ? current.bytes - used : 0;
}

bool JournalTable::has_room(uint64_t bytes, uint64_t kept) const {
  // What the last records of a file leave of it is lost: an end of messages takes no more than this.
  constexpr uint64_t kLostBytes = 2048;
  // Records that do not fit into the current file leave the rest of it unused.
  const uint64_t current = current_room();
  const uint64_t wanted = bytes + kept;
  uint64_t room = current >= bytes ? current : 0;
  // Each push asks: no more files are looked at than it takes to say yes.
  const uint32_t newest = header_.newest_file;
  for (uint32_t n = header_.current_file + 1; room < wanted && n <= newest; ++n) {
    room += slot(n).bytes - kFirstRecordOffset - kLostBytes;
  }
  return room >= wanted;
}

uint64_t JournalTable::journal_bytes() const {
  uint64_t bytes = header_.sealed_bytes;
  for (uint32_t n = header_.current_file; n <= header_.newest_file; ++n) bytes += slot(n).bytes;
  return bytes;
}

void JournalTable::open_next(Txn& txn) {
  FQ_ASSERT(has_ready());
  JournalSlot& old = slot(header_.current_file);
  JournalSlot& next = slot(header_.current_file + 1);
  if (next.state != FileState::ready) throw RegionDamaged{"the next journal file is not ready"};
  txn.set(header_.sealed_bytes, header_.sealed_bytes + old.bytes);
  txn.set(old.end, header_.tail);
  txn.set(old.state, FileState::sealed);
  txn.set(next.start, header_.tail);
  txn.set(next.end, 0);
  txn.set(next.state, FileState::current);
  txn.set(header_.current_file, header_.current_file + 1);
}

void JournalTable::add_ready(Txn& txn, const FileKey& key, uint64_t bytes) {
  FQ_ASSERT(key.number == header_.newest_file + 1);
  JournalSlot& added = slot(key.number);
  txn.set(added.number, key.number);
  txn.set(added.state, FileState::ready);
  txn.set(added.salt, key.salt);
  txn.set(added.bytes, bytes);
  txn.set(added.live, 0);
  txn.set(added.lost, 0);
  txn.set(added.start, UINT64_MAX);
  txn.set(header_.newest_file, key.number);
}

void JournalTable::remove_oldest(Txn& txn) {
  FQ_ASSERT(header_.oldest_file < header_.current_file);
  txn.set(header_.sealed_bytes, header_.sealed_bytes - slot(header_.oldest_file).bytes);
  txn.set(slot(header_.oldest_file).state, FileState::none);
  txn.set(header_.oldest_file, header_.oldest_file + 1);
}

void JournalTable::recount_sealed(Txn& txn) {
  uint64_t bytes = 0;
  for (uint32_t n = header_.oldest_file; n < header_.current_file; ++n) bytes += slot(n).bytes;
  txn.set(header_.sealed_bytes, bytes);
}

void JournalTable::add_live(Txn& txn, uint64_t position, uint32_t messages) {
  const std::optional<uint32_t> number = find(position);
  if (!number) throw RegionDamaged{"a message lies in no file"};
  txn.set(slot(*number).live, slot(*number).live + messages);
}

}  // namespace fq
