// chain - see the header. The one hard case is a file without a valid OPENED. It is in use if a record of it
// parses: OPENED is on disk before the first record is written, so it was there and is damaged. Without any
// record nothing in it was ever accepted, unless a later file names it: then all of it is lost.
#include "core/journal/chain.h"

// System.
#include <algorithm>
#include <cerrno>
// fq, this room.
#include "core/journal/journal_name.h"
#include "core/journal/lost_header.h"

namespace fq {

namespace {

// Where a file that is in use has its first records; larger than any record, so one header lies in it.
constexpr uint64_t kProbeBytes = 1024 * 1024;

Result<void> infer_start(File& file, FileWindow& window, ChainFile& of) {
  window.reset(file, of.file_bytes);
  FileRecords probe(window, of.key, 0, of.file_bytes);
  const auto first = probe.find_header(kFirstRecordOffset, std::min(of.file_bytes, kProbeBytes));
  if (window.failure()) return *window.failure();
  if (!first || first->header.position < first->offset - kFirstRecordOffset) return {};
  of.inferred = true;
  of.start_position = first->header.position - (first->offset - kFirstRecordOffset);
  of.first_seq = first->offset == kFirstRecordOffset ? first->header.seq : 0;
  return {};
}

Error other_format(Disk& disk, const std::string& path, uint32_t format) {
  return Error{ErrorKind::unusable,
               disk.label() + "/" + path + ": format " + std::to_string(format) + ", this fq reads " +
                   std::to_string(kOldestFormat) + " to " + std::to_string(kJournalFormat) +
                   "; made by another version of fq",
               0};
}

Result<void> scan_file(Disk& disk, FileWindow& window, const std::string& name, uint32_t number,
                       Inventory& into) {
  const std::string path = journal_file_name(number);
  auto opened_file = disk.open(path, OpenMode::read);
  if (!opened_file.ok() && opened_file.error().sys == ENOENT) return {};  // went away while we looked
  FQ_TRY_SET(const auto file, std::move(opened_file));
  FQ_TRY_SET(const uint64_t file_bytes, file->size());
  window.reset(*file, std::min<uint64_t>(file_bytes, kFirstRecordOffset));
  const Bytes front = window.at(0, kFirstRecordOffset);
  if (window.failure()) return *window.failure();
  const std::vector<std::byte> bytes(front.begin(), front.end());
  const size_t got = bytes.size();

  FileHeader header;
  const auto fault = decode_file_header(bytes, header);
  if (fault == FileHeaderFault::other_format) return other_format(disk, path, header.format);
  ChainFile found;
  found.header_lost = fault != FileHeaderFault::none;
  if (found.header_lost) {
    FQ_TRY_SET(const std::optional<FileKey> key, find_lost_key(*file, number, window));
    if (!key) into.headless.push_back({number, file_bytes});
    if (!key) return {};
    header.key = *key;
  }
  if (header.key.number != number) {
    into.unknown.push_back(name);
    return {};
  }
  // A file gets its name with no less than that, so it was cut.
  if (file_bytes < kFirstRecordOffset) {
    into.headless.push_back({number, file_bytes});
    return {};
  }
  found.key = header.key;
  found.older_format = !found.header_lost && header.format < kJournalFormat;
  found.file_bytes = file_bytes;
  const Bytes opened_bytes = Bytes(bytes).first(got).subspan(std::min<size_t>(got, kFileHeaderBytes));
  if (const auto opened = decode_opened(header.key, opened_bytes)) {
    found.opened = true;
    found.previous_number = opened->previous_number;
    found.start_position = opened->start_position;
    found.first_seq = opened->first_seq;
    found.clock = opened->clock;
  } else {
    FQ_TRY(infer_start(*file, window, found));
  }
  into.files.push_back(found);
  return {};
}

const ChainFile* find_number(const Inventory& inventory, uint32_t number) {
  for (const ChainFile& file : inventory.files)
    if (file.key.number == number && file.was_used()) return &file;
  return nullptr;
}

const ChainFile* find_newest(const Inventory& inventory) {
  const ChainFile* newest = nullptr;
  for (const ChainFile& file : inventory.files) {
    if (file.opened) newest = &file;
    // Without its OPENED only the order of positions tells where it belongs.
    if (file.inferred && (newest == nullptr || file.start_position >= newest->start_position)) newest = &file;
  }
  return newest;
}

// Behind a gap: the newest older file that lies before.
const ChainFile* find_older(const Inventory& inventory, uint32_t below, uint64_t start_max) {
  const ChainFile* older = nullptr;
  for (const ChainFile& file : inventory.files) {
    if (!file.was_used() || file.key.number >= below) continue;
    if (file.start_position <= start_max) older = &file;
  }
  return older;
}

}  // namespace

Result<Inventory> take_inventory(Disk& disk, FileWindow& window) {
  Inventory inventory;
  Result<std::vector<std::string>> listed = disk.list(kJournalDirectory);
  // Without the directory all files are missing.
  if (!listed.ok() && listed.error().sys == ENOENT) return inventory;
  FQ_TRY_SET(const auto names, std::move(listed));
  for (const std::string& name : names) {
    const auto number = parse_journal_name(name);
    if (!number) {
      (is_temporary_name(name) ? inventory.leftovers : inventory.unknown).push_back(name);
      continue;
    }
    inventory.number_max = std::max(inventory.number_max, *number);
    FQ_TRY(scan_file(disk, window, name, *number, inventory));
  }
  std::sort(inventory.files.begin(), inventory.files.end(),
            [](const ChainFile& a, const ChainFile& b) { return a.key.number < b.key.number; });
  std::sort(inventory.unknown.begin(), inventory.unknown.end());
  std::sort(inventory.leftovers.begin(), inventory.leftovers.end());
  return inventory;
}

Result<void> check_formats(Disk& disk) {
  const Result<std::vector<std::string>> names = disk.list(kJournalDirectory);
  if (!names.ok()) return {};  // the rebuild that follows says what is wrong
  for (const std::string& name : *names) {
    if (!parse_journal_name(name)) continue;
    const std::string path = std::string(kJournalDirectory) + "/" + name;
    const auto file = disk.open(path, OpenMode::read);
    if (!file.ok()) continue;
    std::vector<std::byte> bytes(kFileHeaderBytes);
    const Result<size_t> got = (*file)->read_at(0, bytes);
    FileHeader header;
    if (got.ok() && decode_file_header(Bytes(bytes).first(*got), header) == FileHeaderFault::other_format)
      return other_format(disk, path, header.format);
  }
  return {};
}

std::vector<ChainFile> link_chain(const Inventory& inventory, bool across_gaps) {
  std::vector<ChainFile> chain;
  const ChainFile* at = find_newest(inventory);
  while (at != nullptr) {
    chain.push_back(*at);
    // Numbers only grow, so the walk ends; a file whose OPENED is lost follows the next older one.
    if (at->opened && at->previous_number == 0) break;
    const ChainFile* before = nullptr;
    if (at->opened && at->previous_number < at->key.number)
      before = find_number(inventory, at->previous_number);
    if (!at->opened) before = find_older(inventory, at->key.number, at->start_position);
    chain.back().joins_previous = before != nullptr;
    if (before == nullptr && across_gaps)
      before = find_older(inventory, std::min(at->key.number, at->opened ? at->previous_number : UINT32_MAX),
                          at->start_position);
    at = before;
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

}  // namespace fq
