#include "core/local/care/file_maker.h"

// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/files/process_info.h"
#include "core/local/flush/file_supply.h"
#include "core/local/shared/segment_lock.h"

namespace fq {

Result<void> FileMaker::make(uint32_t newest) {
  SegmentHeader& shared = header();
  // One maker at a time; the others find its file ready when they get here.
  const std::optional<SegmentLock> held = SegmentLock::take(shared, shared.compaction);
  if (!held) return held_by(object() + ": journal files are held", shared.compaction.holder());
  return shared.newest_file.peek() > newest ? Result<void>() : make_alone();
}

Result<void> FileMaker::make_alone() {
  FileKey key;
  uint64_t wanted = 0;
  bool full = false;
  FQ_TRY(locked([&]() -> Result<void> {
    const JournalTable& table = stream().table();
    full = table.is_full();
    key.number = header().newest_file + 1;
    wanted = JournalSize(header()).wanted_file_bytes();
    return {};
  }));
  if (full) return Error{ErrorKind::later, object() + ": the journal has its largest size", 0};
  FQ_TRY_SET(const uint64_t free_bytes, disk().free_bytes());
  uint64_t bytes = next_file_bytes(wanted, free_bytes);
  fill_random(&key.salt, sizeof key.salt);
  Result<void> made = supply_new_file(disk(), FileHeader{key, gate().now().wall_ms}, bytes);
  if (!made.ok() && made.error().kind == ErrorKind::later && bytes > kYoungFileBytes) {
    // The disk has no room for a large one; a small one may still fit.
    bytes = kYoungFileBytes;
    made = supply_new_file(disk(), FileHeader{key, gate().now().wall_ms}, bytes);
  }
  if (!made.ok()) return made.error().kind == ErrorKind::later ? refuse_full() : std::move(made).error();
  FQ_POINT("supply.made");
  return locked([&]() -> Result<void> {
    // Another segment may have taken the place of ours meanwhile; its rebuild has seen the file.
    if (header().newest_file + 1 != key.number) return {};
    Txn txn = store().begin();
    stream().table().add_ready(txn, key, bytes);
    txn.commit();
    return {};
  });
}

}  // namespace fq
