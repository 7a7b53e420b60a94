// open_files - this process's descriptors of journal files.
//
// Opened when first needed, checked by salt, closed when the file was removed or recycled (the engine
// calls forget_before at its wait cap), so that a removed file's blocks are freed in time.
#pragma once

// System.
#include <cerrno>
#include <map>
// fq, below us.
#include "core/journal/journal.h"

namespace fq {

/// Whether the file cannot be used, now or later: as opposed to what was missing for opening it.
inline bool is_useless(const Error& error) {
  return error.sys == ENOENT || error.kind == ErrorKind::bad_data;
}

class OpenFiles {
 public:
  explicit OpenFiles(Disk& disk) : disk_(disk) {}

  /// Valid until the next call.
  Result<File*> get(const FileKey& key) {
    auto found = files_.find(key.number);
    if (found != files_.end() && found->second.salt == key.salt) return found->second.file.get();
    Result<std::unique_ptr<File>> opened_now = open_journal_file(disk_, key);
    if (!opened_now.ok() && opened_now.error().sys == ENOENT) return gone(key.number);
    FQ_TRY_SET(std::unique_ptr<File> file, std::move(opened_now));
    if (file == nullptr) {
      // As if it had been removed: its records lie elsewhere now, or nowhere.
      return Error{ErrorKind::io, journal_file_name(key.number) + ": was recycled under us", ENOENT};
    }
    // Only the newest few are worth a descriptor; which one goes does not matter for being right.
    if (files_.size() >= kOpenFilesMax) files_.erase(files_.begin());
    File* opened = file.get();
    files_.insert_or_assign(key.number, Opened{key.salt, std::move(file)});
    return opened;
  }

  /// For a writer. A reader looks whether its message was moved.
  Error gone(uint32_t number) const {
    return Error{
        ErrorKind::io,
        disk_.label() + ": " + journal_file_name(number) + " is gone; put it back, or run fq check --repair",
        ENOENT};
  }

  void forget(uint32_t number) { files_.erase(number); }
  void forget_before(uint32_t number) { files_.erase(files_.begin(), files_.lower_bound(number)); }
  Disk& disk() { return disk_; }

 private:
  static constexpr size_t kOpenFilesMax = 16;
  struct Opened {
    uint64_t salt;
    std::unique_ptr<File> file;
  };
  Disk& disk_;
  std::map<uint32_t, Opened> files_;
};

}  // namespace fq
