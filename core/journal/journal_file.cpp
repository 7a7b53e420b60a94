// journal_file - a file of the journal as a whole: made, recycled, opened, its damage set aside.
//
// A file gets its name only when its header and its blocks are on disk, so whatever has a name is whole.
// The order of syncs is the point of this file; each step says what breaks without it.

// System.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
// fq, below us.
#include "core/base/text/counted.h"
#include "core/base/text/decimal.h"
#include "core/base/fault_point.h"
// fq, this room.
#include "core/journal/holes.h"
#include "core/journal/journal.h"
#include "core/journal/journal_name.h"
#include "core/journal/lost_header.h"

namespace fq {

namespace {

constexpr size_t kZeroBlockBytes = 1024 * 1024;  // arbitrary
constexpr size_t kCopyBlockBytes = 256 * 1024;   // arbitrary
constexpr std::string_view kFileEnding = ".fqj";
constexpr std::string_view kTemporaryStart = "new-";
constexpr std::string_view kTemporaryEnding = ".tmp";

std::optional<uint32_t> parse_between(std::string_view name, std::string_view start,
                                      std::string_view ending) {
  if (name.size() <= start.size() + ending.size()) return std::nullopt;
  if (!name.starts_with(start) || !name.ends_with(ending)) return std::nullopt;
  const std::string_view digits = name.substr(start.size(), name.size() - start.size() - ending.size());
  const auto value = parse_decimal(digits);
  if (!value || *value == 0 || *value > kJournalNumberMax || digits[0] == '0') return std::nullopt;
  return static_cast<uint32_t>(*value);
}

/// Where they are used up it is as on a full disk.
Result<void> check_number(uint32_t number) {
  if (number <= kJournalNumberMax) return {};
  return Error{ErrorKind::later, "journal: has had all files that it may have", ENOSPC};
}

Result<std::unique_ptr<File>> create_again(Disk& disk, const std::string& name) {
  auto file = disk.open(name, OpenMode::create_new);
  if (file.ok() || file.error().sys != EEXIST) return file;
  FQ_TRY(disk.remove(name));  // left by somebody who died while making it
  return disk.open(name, OpenMode::create_new);
}

// Blocks that were only reserved cost a change of metadata at each first sync; written ones do not.
Result<void> write_zeros(File& file, uint64_t bytes) {
  static std::array<std::byte, kZeroBlockBytes> zeros;  // nobody writes there, so it takes no memory
  for (uint64_t offset = 0; offset < bytes; offset += zeros.size()) {
    const auto part = static_cast<size_t>(std::min<uint64_t>(zeros.size(), bytes - offset));
    FQ_TRY(file.write_at(offset, Bytes(zeros).first(part)));
  }
  return {};
}

Result<void> fill_new_file(Disk& disk, const std::string& temporary, const FileHeader& header,
                           uint64_t bytes) {
  FQ_TRY_SET(const auto file, create_again(disk, temporary));
  FQ_TRY(file->allocate(0, bytes));
  FQ_TRY(write_zeros(*file, bytes));
  FQ_TRY(file->write_at(0, encode_file_header(header)));
  return file->sync_all();
}

// The new salt alone makes all old records unreadable; OPENED is wiped too, for people who read the bytes.
Result<void> renew_header(Disk& disk, const std::string& temporary, const FileHeader& header) {
  FQ_TRY_SET(const auto file, disk.open(temporary, OpenMode::write));
  std::vector<std::byte> bytes = encode_file_header(header);
  bytes.resize(kFirstRecordOffset);
  FQ_TRY(file->write_at(0, bytes));
  return file->sync_all();
}

// Without the last sync a crash may lose the name although the bytes are safe.
Result<void> give_name(Disk& disk, const std::string& temporary, const std::string& name) {
  FQ_TRY(disk.rename(temporary, name));
  return disk.sync_directory(kJournalDirectory);
}

// A rename over another file would destroy it, whoever put it there.
Result<void> check_free(Disk& disk, const std::string& name) {
  const auto there = disk.open(name, OpenMode::read);
  if (there.ok()) return Error{ErrorKind::unusable, name + ": is there already; move it away", EEXIST};
  if (there.error().sys != ENOENT) return there.error();
  return {};
}

Result<void> copy_damage(File& from, const JournalDamage& damage, File& to, HolePages& holes) {
  std::vector<std::byte> block(kCopyBlockBytes);
  uint64_t done = 0;
  while (done < damage.bytes) {
    const auto want = static_cast<size_t>(std::min<uint64_t>(block.size(), damage.bytes - done));
    FQ_TRY_SET(const size_t got,
               read_around_holes(from, damage.offset + done, MutableBytes(block).first(want), holes));
    if (got == 0) break;
    FQ_TRY(to.write_at(done, Bytes(block).first(got)));
    done += got;
  }
  return to.sync_all();
}

/// Whether `copy` has the bytes that the stretch has now, and no others. What is in a hole by now may be
/// there still: no worse copy is made of it.
Result<bool> is_copy(File& from, const JournalDamage& damage, File& copy, HolePages& holes) {
  FQ_TRY_SET(const uint64_t from_bytes, from.size());
  FQ_TRY_SET(const uint64_t copy_bytes, copy.size());
  if (copy_bytes != std::min(damage.bytes, from_bytes - std::min(damage.offset, from_bytes))) return false;
  std::vector<std::byte> block(kCopyBlockBytes), other(kCopyBlockBytes);
  for (uint64_t done = 0; done < copy_bytes;) {
    const uint64_t start = damage.offset + done;
    const auto want = static_cast<size_t>(std::min<uint64_t>(block.size(), copy_bytes - done));
    FQ_TRY_SET(const size_t got, read_around_holes(from, start, MutableBytes(block).first(want), holes));
    FQ_TRY_SET(const size_t got_there, copy.read_at(done, MutableBytes(other).first(want)));
    if (got != want || got_there != want) return false;
    for (const auto& [offset, bytes] : holes.readable(start, want))
      if (std::memcmp(&block[offset - start], &other[offset - start], bytes) != 0) return false;
    done += want;
  }
  return true;
}

uint64_t unread_bytes(const JournalDamage& damage, const HolePages& holes) {
  uint64_t unread = damage.bytes;
  for (const HolePages::Stretch& each : holes.readable(damage.offset, damage.bytes)) unread -= each.bytes;
  return unread;
}

/// The names of what is kept of one place, the first, the second: another damage there is not written over.
std::string name_in_damaged(uint32_t file_number, uint64_t offset, int count) {
  std::string name = "damaged/" + std::to_string(file_number) + "-" + std::to_string(offset);
  if (count > 1) name += "." + std::to_string(count);
  return name + ".bin";
}

/// None: the name is free.
Result<std::optional<std::unique_ptr<File>>> find_in_damaged(Disk& disk, const std::string& name) {
  Result<std::unique_ptr<File>> there = disk.open(name, OpenMode::read);
  if (there.ok()) return std::optional(std::move(there).value());
  if (there.error().sys == ENOENT) return std::optional<std::unique_ptr<File>>();
  if (there.error().kind != ErrorKind::unusable) return there.error();
  return std::optional<std::unique_ptr<File>>(nullptr);  // a directory, say: taken
}

}  // namespace

std::string journal_file_name(uint32_t number) {
  return std::string(kJournalDirectory).append("/").append(std::to_string(number)).append(kFileEnding);
}

std::string temporary_name(uint32_t number) {
  std::string name(kJournalDirectory);
  return name.append("/").append(kTemporaryStart).append(std::to_string(number)).append(kTemporaryEnding);
}

std::optional<uint32_t> parse_journal_name(std::string_view name) {
  return parse_between(name, "", kFileEnding);
}

bool is_temporary_name(std::string_view name) {
  return parse_between(name, kTemporaryStart, kTemporaryEnding).has_value();
}

Result<void> make_journal_file(Disk& disk, const FileHeader& header, uint64_t bytes) {
  FQ_ASSERT(header.key.number > 0);
  FQ_TRY(check_number(header.key.number));
  FQ_ASSERT(bytes >= kFirstRecordOffset);
  const std::string name = journal_file_name(header.key.number);
  const std::string temporary = temporary_name(header.key.number);
  FQ_TRY(check_free(disk, name));
  auto made = fill_new_file(disk, temporary, header, bytes);
  if (made.ok()) {
    made = give_name(disk, temporary, name);
    // Named but perhaps not for good: nobody may come to rely on it.
    if (!made.ok()) (void)disk.remove(name);
  }
  if (!made.ok()) (void)disk.remove(temporary);
  return made;
}

Result<void> recycle_journal_file(Disk& disk, uint32_t old_number, const FileHeader& header) {
  FQ_ASSERT(header.key.number > old_number);
  FQ_TRY(check_number(header.key.number));
  const std::string name = journal_file_name(header.key.number);
  const std::string temporary = temporary_name(header.key.number);
  FQ_TRY(check_free(disk, name));
  FQ_TRY(disk.rename(journal_file_name(old_number), temporary));
  // Before the header changes: else a crash may leave the old name over the new header.
  auto renewed = disk.sync_directory(kJournalDirectory);
  if (renewed.ok()) renewed = renew_header(disk, temporary, header);
  if (renewed.ok()) {
    renewed = give_name(disk, temporary, name);
    if (!renewed.ok()) (void)disk.remove(name);
  }
  if (!renewed.ok()) (void)disk.remove(temporary);
  return renewed;
}

Result<std::unique_ptr<File>> open_journal_file(Disk& disk, const FileKey& key) {
  const std::string name = journal_file_name(key.number);
  FQ_TRY_SET(auto file, disk.open(name, OpenMode::write));
  FileHeader header;
  std::array<std::byte, kFileHeaderCopyBytes> first;
  FQ_TRY_SET(const size_t first_bytes, read_front(*file, first));
  FileHeaderFault fault = decode_file_header(Bytes(first).first(first_bytes), header);
  if (fault == FileHeaderFault::not_ours || fault == FileHeaderFault::damaged) {
    std::vector<std::byte> bytes(kFileHeaderBytes);
    FQ_TRY_SET(const size_t got, read_front(*file, bytes));
    fault = decode_file_header(Bytes(bytes).first(got), header);
  }
  switch (fault) {
    case FileHeaderFault::none:
      break;
    case FileHeaderFault::other_format:
      return Error{ErrorKind::unusable, name + ": made by another version of fq", 0};
    default:
      FQ_TRY_SET(const bool shown, shows_key(*file, key));
      if (shown) return file;
      return Error{ErrorKind::bad_data, name + ": its header is damaged; run fq check --repair", 0};
  }
  if (header.key.number != key.number || header.key.salt != key.salt) return std::unique_ptr<File>();
  return file;
}

std::string described(const JournalDamage& damage) {
  std::string text = journal_file_name(damage.file_number) + ": " + damage.what;
  if (damage.offset != 0) text += " at byte " + std::to_string(damage.offset);
  if (damage.records_lost != 0) text += ", " + counted(damage.records_lost, "record") + " lost";
  return text;
}

std::string described(const JournalDamage& damage, const KeptDamage& kept) {
  if (damage.bytes == 0) return "";
  std::string text = "; " + counted(damage.bytes, "byte") + " kept in damaged/";
  if (kept.unread_bytes != 0)
    text +=
        ", with zeros for the " + counted(kept.unread_bytes, "byte") + " that the disk does not give back";
  return text;
}

Result<KeptDamage> keep_damage(Disk& disk, const JournalDamage& damage) {
  KeptDamage kept;
  if (damage.bytes == 0) return kept;  // something that is missing leaves nothing to keep
  HolePages holes;
  FQ_TRY(disk.make_directory("damaged"));
  FQ_TRY_SET(const auto from, disk.open(journal_file_name(damage.file_number), OpenMode::read));
  for (int count = 1;; ++count) {
    kept.name = name_in_damaged(damage.file_number, damage.offset, count);
    FQ_TRY_SET(const auto there, find_in_damaged(disk, kept.name));
    if (!there) break;
    if (*there == nullptr) continue;
    FQ_TRY_SET(const bool same, is_copy(*from, damage, **there, holes));
    kept.unread_bytes = unread_bytes(damage, holes);
    if (same) return kept;
  }
  kept.made = true;
  const std::string temporary = kept.name + ".tmp";
  FQ_TRY_SET(const auto to, create_again(disk, temporary));
  auto copied = copy_damage(*from, damage, *to, holes);
  kept.unread_bytes = unread_bytes(damage, holes);
  // On a full disk nothing is left of the try.
  if (!copied.ok()) (void)disk.remove(temporary);
  FQ_TRY(std::move(copied));
  FQ_TRY(disk.rename(temporary, kept.name));
  FQ_TRY(disk.sync_directory("damaged"));
  FQ_TRY(disk.sync_directory(""));  // the directory itself may be new
  return kept;
}

Result<std::string> set_file_aside(Disk& disk, uint32_t number) {
  FQ_TRY(disk.make_directory("damaged"));
  FQ_TRY(disk.sync_directory(""));
  std::string aside;
  for (int count = 1;; ++count) {
    aside = name_in_damaged(number, 0, count);
    FQ_TRY_SET(const auto there, find_in_damaged(disk, aside));
    if (!there) break;
  }
  FQ_TRY(disk.rename(journal_file_name(number), aside));
  // The new name first: a crash in between leaves two, and not none.
  FQ_TRY(disk.sync_directory("damaged"));
  FQ_TRY(disk.sync_directory(kJournalDirectory));
  FQ_POINT("file.set_aside");
  return aside;
}

}  // namespace fq
