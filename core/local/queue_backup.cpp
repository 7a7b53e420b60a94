#include "core/local/queue_backup.h"

// System.
#include <algorithm>
#include <cerrno>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/journal/holes.h"
#include "core/journal/journal.h"
// fq, this room.
#include "core/local/files/blobs.h"
#include "core/local/files/queue_directory.h"
#include "core/local/local_queue.h"
#include "core/local/write/files_stay.h"

namespace fq {

namespace {

constexpr int kBackupTries = 5;                 // against a journal whose files go while they are read
constexpr size_t kCopyBlockBytes = 256 * 1024;  // arbitrary
// Each process has its own ties to these, or they are made anew.
constexpr std::array<std::string_view, 7> kOfTheOriginal = {
    "lock", "rebuild", "running", "segment", "segment.new", "ended/lock", "ended/state"};
// Directories that are copied in an order of their own.
constexpr std::array<std::string_view, 3> kInTheirOrder = {"blobs", "ended", "journal"};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_gone(const Error& error) { return error.sys == ENOENT; }

Error of_copy(Error error) {
  error.text = "backup of " + error.text;
  return error;
}

}  // namespace

Result<void> QueueBackup::make() {
  FQ_TRY_SET([[maybe_unused]] const bool made, make_queue_directory(to_.spool, to_.queue));
  FQ_TRY_SET(copy_, open_queue_directory(to_.spool, to_.queue));
  FQ_TRY(copy_payloads());
  FQ_POINT("backup.payloads");
  for (int attempt = 0; attempt < kBackupTries; ++attempt) {
    FQ_TRY(copy_moment());
    FQ_TRY(copy_rest());
    FQ_TRY_SET(const bool whole, begin_copy());
    if (whole) return {};
    FQ_TRY(empty_again());
  }
  return Error{ErrorKind::later, object() + ": its payloads go faster than they can be copied; try again", 0};
}

/// False: there is nothing of the name, or what no queue has made.
Result<bool> QueueBackup::copy_file(const std::string& name, uint64_t bytes) {
  if (interrupt_ != nullptr && interrupt_->raised())
    return Error{ErrorKind::later, "backup of " + object() + ": interrupted", EINTR};
  Result<std::unique_ptr<File>> from = disk().open(name, OpenMode::read);
  if (!from.ok() && (is_gone(from.error()) || from.error().kind == ErrorKind::unusable)) return false;
  if (!from.ok()) return from.error();
  FQ_TRY_SET(const uint64_t there, (*from)->size());
  Result<std::unique_ptr<File>> to = copy_->open(name, OpenMode::create_new);
  if (!to.ok() && to.error().sys == EEXIST) {
    // A payload that is all there stays as it is; one of a push that was under way then has grown since.
    to = copy_->open(name, OpenMode::write);
    Result<uint64_t> copied = to.ok() ? (*to)->size() : to.error();
    if (!copied.ok()) return of_copy(copied.error());
    if (*copied >= there) return true;
  }
  if (!to.ok()) return of_copy(to.error());
  Result<void> copied = copy_bytes(name, **from, **to, std::min(bytes, there));
  if (copied.ok()) return true;
  static_cast<void>(copy_->remove(name));
  return copied.error();
}

Result<void> QueueBackup::copy_bytes(const std::string& name, File& from, File& to, uint64_t bytes) {
  Result<bool> shared = to.share(from, bytes);
  if (!shared.ok()) return of_copy(shared.error());
  std::vector<std::byte> block(*shared ? 0 : kCopyBlockBytes);
  for (uint64_t at = 0; !*shared && at < bytes;) {
    if (interrupt_ != nullptr && interrupt_->raised())
      return Error{ErrorKind::later, "backup of " + object() + ": interrupted", EINTR};
    const auto want = static_cast<size_t>(std::min<uint64_t>(block.size(), bytes - at));
    const Result<size_t> read = from.read_at(at, MutableBytes(block).first(want));
    // A copy does without nothing by itself: a repair of the original does, and says so.
    const bool can_do_without = name.starts_with("journal/") || name.starts_with("blobs/");
    if (!read.ok()) return can_do_without ? of_hole(read.error()) : read.error();
    const size_t got = *read;
    if (got == 0) break;
    Result<void> written = to.write_at(at, Bytes(block).first(got));
    if (!written.ok()) return of_copy(written.error());
    at += got;
  }
  Result<void> synced = to.sync_all();
  if (!synced.ok()) return of_copy(synced.error());
  return {};
}

/// Of all names that are there now. False: one of them went before it was copied.
Result<bool> QueueBackup::copy_names(const std::string& directory, const std::vector<std::string>& names) {
  bool whole = true;
  FQ_TRY(copy_->make_directory(directory));
  for (const std::string& name : names) {
    const std::string path = directory + "/" + name;
    if (is_one_of(kOfTheOriginal, path)) continue;
    FQ_TRY_SET(const bool there, copy_file(path, UINT64_MAX));
    whole = whole && there;
  }
  FQ_TRY(copy_->sync_directory(directory));
  return whole;
}

Result<bool> QueueBackup::copy_directory(const std::string& directory) {
  const Result<std::vector<std::string>> names = disk().list(directory);
  if (!names.ok() && is_gone(names.error())) return true;
  if (!names.ok()) return names.error();
  return copy_names(directory, *names);
}

/// Its files are appended to, and go once what is still told of them is in a later one: where one went, there
/// is more to copy. Where they go faster than that, what went is told of no longer.
Result<void> QueueBackup::copy_ended() {
  bool whole = false;
  for (int attempt = 0; !whole && attempt < kBackupTries; ++attempt) {
    FQ_TRY_SET(whole, copy_directory("ended"));
    FQ_POINT("backup.ended");
  }
  return {};
}

/// What is written before the records that speak of it, and so may be newer than the journal; an output also
/// before the record of its end, which is copied first. All that there is: nothing is left out for not being
/// known here.
Result<void> QueueBackup::copy_rest() {
  FQ_TRY(copy_ended());
  FQ_TRY_SET(const std::vector<std::string> names, disk().list(""));
  for (const std::string& name : names) {
    if (is_one_of(kOfTheOriginal, name) || is_one_of(kInTheirOrder, name)) continue;
    const Result<std::vector<std::string>> within = disk().list(name);
    FQ_TRY_SET([[maybe_unused]] const bool whole,
               within.ok() ? copy_names(name, *within) : copy_file(name, UINT64_MAX));
  }
  return copy_->sync_directory("");
}

/// Those that are there now: which are needed is known in the end.
Result<void> QueueBackup::copy_payloads() {
  FQ_TRY_SET([[maybe_unused]] const bool whole, copy_directory("blobs"));
  return {};
}

/// The journal as it is at one moment, and the payloads that it speaks of.
Result<void> QueueBackup::copy_moment() {
  FQ_TRY_SET([[maybe_unused]] const FilesStay held, FilesStay::hold(link_));
  // From here on none goes: those of before first, then those that came up to the journal's end.
  FQ_TRY(copy_payloads());
  bool copied = false;
  for (int attempt = 0; !copied && attempt < kBackupTries; ++attempt) {
    FQ_TRY_SET(copied, copy_journal());
  }
  FQ_POINT("backup.journal");
  if (copied) return copy_payloads();
  return Error{ErrorKind::later, object() + ": its journal has too little room to stay; try again", 0};
}

/// False: files went while they were copied, and may have been used anew.
Result<bool> QueueBackup::copy_journal() {
  FQ_TRY(link_.wait_all_durable());
  uint64_t end = 0;
  uint32_t oldest = 0, oldest_then = 0;
  FQ_TRY(locked([&]() -> Result<void> {
    oldest = header().oldest_file;
    end = header().durable_end.load(std::memory_order_acquire);
    return {};
  }));
  FQ_TRY_SET(const std::vector<TableFile> files, files_.all());
  for (const TableFile& file : files) {
    const uint64_t file_end = std::min<uint64_t>(file.end, end);
    if (file.spare || file.start >= file_end) continue;
    const uint64_t bytes = kFirstRecordOffset + (file_end - file.start);
    FQ_TRY_SET([[maybe_unused]] const bool there, copy_file(journal_file_name(file.key.number), bytes));
    FQ_POINT("backup.file");
  }
  FQ_TRY(copy_->sync_directory("journal"));
  FQ_TRY(locked([&]() -> Result<void> { return oldest_then = header().oldest_file, Result<void>(); }));
  if (oldest == oldest_then) return true;
  for (const TableFile& file : files) {
    const Result<void> removed = copy_->remove(journal_file_name(file.key.number));
    if (!removed.ok() && !is_gone(removed.error())) return of_copy(removed.error());
  }
  return false;
}

/// All but the payloads, which stay what they are.
Result<void> QueueBackup::empty_again() {
  const Result<std::vector<std::string>> names = copy_->list("");
  if (!names.ok()) return of_copy(names.error());
  for (const std::string& name : *names) {
    if (name == "blobs") continue;
    const Result<std::vector<std::string>> within = copy_->list(name);
    Result<void> removed = within.ok() ? Result<void>() : copy_->remove(name);
    for (size_t i = 0; within.ok() && removed.ok() && i < within->size(); ++i)
      removed = copy_->remove(name + "/" + (*within)[i]);
    if (!removed.ok()) return of_copy(removed.error());
  }
  return {};
}

/// The copy becomes a queue of its own. False: a payload has gone meanwhile.
Result<bool> QueueBackup::begin_copy() {
  Result<std::unique_ptr<Attachment>> attached = Attachment::open(to_, true, clock_);
  if (!attached.ok()) return of_copy(attached.error());
  LocalQueue queue(std::move(attached).value(), clock_, false);
  Result<void> begun = queue.begin_as_copy();
  if (!begun.ok()) return of_copy(begun.error());
  FQ_POINT("backup.begun");
  Result<std::optional<std::set<std::string>>> named = queue.payload_files();
  if (!named.ok()) return of_copy(named.error());
  if (*named) {
    FQ_TRY_SET(const bool whole, fetch_payloads(**named));
    if (!whole) return false;
  }
  for (std::string& notice : queue.take_notices()) notices_.push_back("backup of " + std::move(notice));
  return true;
}

/// Those that came while others were copied; and what belongs to no message of the copy goes.
Result<bool> QueueBackup::fetch_payloads(const std::set<std::string>& named) {
  bool whole = true;
  for (const std::string& name : named) {
    FQ_TRY_SET(const bool there, copy_file(name, UINT64_MAX));
    // What is missing twice is lost in the original, too.
    if (!there && went_.insert(name).second) whole = false;
  }
  if (!whole) return false;
  FQ_TRY_SET(const BlobNames names, list_blobs(*copy_));
  for (const std::string& name : names.own) {
    if (named.count(name) == 0) static_cast<void>(copy_->remove(name));
  }
  return true;
}

}  // namespace fq
