#include "core/local/files/blobs.h"

// System.
#include <sys/file.h>

#include <cerrno>
// fq, below us.
#include "core/base/limits.h"
#include "core/base/text/counted.h"
#include "core/base/crc32c.h"
#include "core/base/fault_point.h"
#include "core/journal/codec.h"
// fq, this room.
#include "core/local/files/process_info.h"

namespace fq {

namespace {

constexpr std::string_view kDirectory = "blobs/";
constexpr size_t kReadBytes = 64 * 1024;  // arbitrary
constexpr int kMadeTries = 10;            // against who looks for orphans
constexpr int kKeptMax = 1000;            // of one name in damaged/; arbitrary

/// What the disk does not give back is damage, where it does not the next time either: a path to it that
/// comes and goes loses nobody a message.
Result<size_t> read_blob(const Disk& disk, File& file, uint64_t offset, MutableBytes to) {
  const auto is_hole = [](const Result<size_t>& got) { return !got.ok() && got.error().sys == EIO; };
  Result<size_t> got = file.read_at(offset, to);
  if (is_hole(got)) got = file.read_at(offset, to);
  if (is_hole(got)) return Error{ErrorKind::bad_data, text_within(disk, got.error()), 0};
  return got;
}

bool is_blob_name(std::string_view name) {
  return name.size() == 2 * sizeof(BlobName::random) &&
         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// On a fake disk nobody does.
bool hold(File& file) { return file.descriptor() < 0 || ::flock(file.descriptor(), LOCK_EX | LOCK_NB) == 0; }

/// An empty one under a new name, held until its record is accepted: an orphan is a blob that nobody holds
/// and no record names.
Result<std::unique_ptr<File>> make_held(Disk& disk, BlobName& name) {
  for (int attempt = 0; attempt < kMadeTries; ++attempt) {
    fill_random(name.random, sizeof name.random);
    Result<std::unique_ptr<File>> made = disk.open(blob_file_name(name), OpenMode::create_new);
    if (!made.ok() && made.error().sys == ENOENT) {
      // Somebody took the directory away.
      FQ_TRY(disk.make_directory("blobs"));
      FQ_TRY(disk.sync_directory(""));
      made = disk.open(blob_file_name(name), OpenMode::create_new);
    }
    if (!made.ok()) return made;
    if (hold(**made)) {
      FQ_TRY_SET(const bool named, (*made)->has_name());
      if (named) return made;
    }
    // Somebody took the moment between making and holding it for an orphan's.
    remove_blob(disk, name);
  }
  return Error{ErrorKind::later, "blobs: housekeeping removes them meanwhile; try again", 0};
}

}  // namespace

std::string blob_file_name(const BlobName& name) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(kDirectory);
  for (const uint8_t byte : name.random) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

Result<NewBlob> NewBlob::write(Disk& disk, Bytes payload) {
  BlobName name;
  FQ_TRY_SET(std::unique_ptr<File> file, make_held(disk, name));
  NewBlob blob(disk, name);
  blob.file_ = std::move(file);
  FQ_TRY(blob.file_->write_at(0, payload));
  FQ_TRY(blob.file_->sync_all());
  FQ_TRY(disk.sync_directory("blobs"));
  FQ_POINT("blob.written");
  blob.crc_ = crc32c(0, payload);
  return blob;
}

NewBlob::~NewBlob() {
  if (file_ != nullptr) remove_blob(*disk_, name_);
}

bool is_lost(const Error& error) {
  const bool no_file = error.sys == ELOOP || error.sys == EISDIR || error.sys == ENXIO;
  return error.sys == ENOENT || error.kind == ErrorKind::bad_data ||
         (error.kind == ErrorKind::unusable && no_file);
}

std::string lost_payload_text(const Error& error) {
  return (error.sys == ENOENT ? "its payload is lost: " : "its payload is damaged: ") + error.text;
}

bool hides_blob(const MessageItem& item) {
  return item.is_lost() && item.payload_bytes > kInlinePayloadBytesMax;
}

Result<std::unique_ptr<File>> open_whole_blob(Disk& disk, const MessageItem& item) {
  if (item.is_lost()) return Error{ErrorKind::io, "damaged/: holds what is left of its record", ENOENT};
  const std::string name = blob_file_name(*item.blob);
  Result<std::unique_ptr<File>> file = disk.open(name, OpenMode::read);
  if (!file.ok() && file.error().sys == ENOENT) return Error{ErrorKind::io, name + ": is gone", ENOENT};
  if (!file.ok() && is_lost(file.error())) {
    // Where blobs/ itself is a symbolic link, say, no payload is lost: somebody has to put it right.
    const Result<void> there = disk.make_directory("blobs");
    if (!there.ok()) return Error{there.error().kind, there.error().text, 0};
    return Error{file.error().kind, text_within(disk, file.error()), file.error().sys};
  }
  if (!file.ok()) return file;
  uint32_t crc = 0;
  std::vector<std::byte> block(kReadBytes);
  uint64_t at = 0;
  for (;;) {
    FQ_TRY_SET(const size_t got, read_blob(disk, **file, at, block));
    if (got == 0) break;
    crc = crc32c(crc, Bytes(block).first(got));
    at += got;
  }
  if (at != item.payload_bytes) {
    return Error{ErrorKind::bad_data,
                 name + ": has " + counted(at, "byte") + " instead of " + std::to_string(item.payload_bytes),
                 0};
  }
  if (crc != item.blob_crc) return Error{ErrorKind::bad_data, name + ": its checksum does not match", 0};
  return file;
}

Result<std::string> read_whole_blob(Disk& disk, const MessageItem& item) {
  FQ_TRY_SET(const std::unique_ptr<File> file, open_whole_blob(disk, item));
  std::string bytes(item.payload_bytes, '\0');
  FQ_TRY_SET(const size_t got, read_blob(disk, *file, 0, std::as_writable_bytes(std::span(bytes))));
  if (got == bytes.size()) return bytes;
  return Error{ErrorKind::bad_data, blob_file_name(*item.blob) + ": became shorter", 0};
}

Result<BlobNames> list_blobs(Disk& disk) {
  BlobNames names;
  Result<std::vector<std::string>> listed = disk.list("blobs");
  if (!listed.ok() && listed.error().sys == ENOENT) return names;
  FQ_TRY_SET(const std::vector<std::string> found, std::move(listed));
  for (const std::string& name : found) {
    const std::string path = std::string(kDirectory) + name;
    if (!is_blob_name(name)) {
      names.strange.push_back(path + ": not made by fq; move it away");
      continue;
    }
    const Result<std::unique_ptr<File>> file = disk.open(path, OpenMode::read);
    if (file.ok()) names.own.push_back(path);
    // Gone meanwhile is fine.
    if (!file.ok() && file.error().kind == ErrorKind::unusable)
      names.strange.push_back(text_within(disk, file.error()));
  }
  return names;
}

Result<bool> keep_blob(Disk& disk, const std::string& path) {
  FQ_TRY(disk.make_directory("damaged"));
  const std::string name = path.substr(kDirectory.size());
  std::string free = name + ".blob";
  // What was kept before stays: a payload may be put back and be lost once more.
  const auto is_free = [&] {
    const Result<std::unique_ptr<File>> there = disk.open("damaged/" + free, OpenMode::read);
    return !there.ok() && there.error().sys == ENOENT;
  };
  for (int n = 2; n <= kKeptMax && !is_free(); ++n) free = name + "." + std::to_string(n) + ".blob";
  Result<void> moved = disk.rename(path, "damaged/" + free);
  if (!moved.ok() && moved.error().sys == ENOENT) return false;
  FQ_TRY(std::move(moved));
  // The new name first: a crash in between leaves two, and not none.
  FQ_TRY(disk.sync_directory("damaged"));
  FQ_TRY(disk.sync_directory("blobs"));
  return true;
}

/// What stays behind on an error is an orphan, which a later look at blobs/ takes away.
void remove_blob(Disk& disk, const BlobName& name) { static_cast<void>(disk.remove(blob_file_name(name))); }

}  // namespace fq
