// disk - the only door to files, handed in so that tests can cut, fill and break it.
//
// A Disk is one directory and what lies below it; names are relative to it ("journal/7.fqj"). The real one
// never follows a symlink below its directory and accepts only regular files with one link. Tests use
// tests/fakes/fake_disk.h, which forgets what was not synced.
#pragma once

// System.
#include <memory>
#include <string>
#include <string_view>
#include <vector>
// fq, this room.
#include "core/base/bytes.h"
#include "core/base/result.h"

namespace fq {

/// Of a file as it was when it was opened; where it is a fake, all but the bytes are 0.
struct FileOpened {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t bytes = 0;
};

class File {
 public:
  virtual ~File() = default;

  /// Reads up to to.size() bytes; fewer only at the end of the file.
  virtual Result<size_t> read_at(uint64_t offset, MutableBytes to) = 0;
  /// Writes all of `from`, or fails with an unknown part of it written.
  virtual Result<void> write_at(uint64_t offset, Bytes from) = 0;
  /// Makes the file at least offset + bytes long with real blocks; new bytes read as zero.
  virtual Result<void> allocate(uint64_t offset, uint64_t bytes) = 0;
  /// Makes an empty file the first `bytes` of `from` without copying them; false: the file system cannot, and
  /// nothing was done.
  virtual Result<bool> share(const File& from, uint64_t bytes) = 0;
  virtual Result<void> sync_data() = 0;  // fdatasync
  virtual Result<void> sync_all() = 0;   // fsync
  virtual Result<uint64_t> size() = 0;
  /// Whether any directory still holds it: no recovery will find a file without a name.
  virtual Result<bool> has_name() = 0;
  virtual const FileOpened& opened() const = 0;
  /// The descriptor, for what only the kernel can do (map, flock, hand to a reader); -1 on a fake disk.
  virtual int descriptor() const = 0;
};

enum class OpenMode {
  read,
  write,       // read and write
  create_new,  // read and write; fails when the name exists
};

class Disk {
 public:
  virtual ~Disk() = default;

  /// Fails with sys = ENOENT or EEXIST as open(2) does; a symlink (sys = ELOOP), what is no regular file
  /// (EISDIR, ENXIO), a file with a second link or of another owner is ErrorKind::unusable.
  virtual Result<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) = 0;
  /// Names in the directory `name` ("" is the top), unsorted, without "." and "..".
  virtual Result<std::vector<std::string>> list(std::string_view name) = 0;
  virtual Result<void> make_directory(std::string_view name) = 0;  // 0700; fine if it is there
  virtual Result<void> rename(std::string_view from, std::string_view to) = 0;
  virtual Result<void> remove(std::string_view name) = 0;
  virtual Result<void> sync_directory(std::string_view name) = 0;
  /// The bytes that can still be written, without those kept for root.
  virtual Result<uint64_t> free_bytes() = 0;
  /// Another object over the same directory, for an owner that outlives this one.
  virtual Result<std::unique_ptr<Disk>> again() = 0;
  /// The name of the directory in messages to people.
  virtual const std::string& label() const = 0;
};

/// The text of an Error of this disk, without the label: for a sentence that names the directory anyway.
inline std::string text_within(const Disk& disk, const Error& error) {
  const std::string label = disk.label() + "/";
  return error.text.starts_with(label) ? error.text.substr(label.size()) : error.text;
}

/// The real disk over an open directory; owns the descriptor.
std::unique_ptr<Disk> open_disk(int directory_descriptor, std::string label);

}  // namespace fq
