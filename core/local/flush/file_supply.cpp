#include "core/local/flush/file_supply.h"

// System.
#include <cerrno>

namespace fq {

namespace {

/// Whether the number was taken, and is free now.
bool clear_number(Disk& disk, uint32_t number, const Result<void>& tried) {
  return !tried.ok() && tried.error().sys == EEXIST && disk.remove(journal_file_name(number)).ok();
}

}  // namespace

Result<void> supply_new_file(Disk& disk, const FileHeader& header, uint64_t bytes) {
  Result<void> made = make_journal_file(disk, header, bytes);
  if (clear_number(disk, header.key.number, made)) made = make_journal_file(disk, header, bytes);
  return made;
}

Result<void> supply_recycled_file(Disk& disk, uint32_t old_number, const FileHeader& header) {
  Result<void> made = recycle_journal_file(disk, old_number, header);
  if (clear_number(disk, header.key.number, made)) made = recycle_journal_file(disk, old_number, header);
  return made;
}

}  // namespace fq
