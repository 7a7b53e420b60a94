// blobs - payloads too long for the journal, one file each: blobs/<32 hex digits>.
//
// Durable (file and name) before the record that speaks of them, gone after their message's end is durable.
// While its push is under way a blob is held by flock, so that no process takes it for an orphan.
#pragma once

// System.
#include <string>
// fq, below us.
#include "core/base/disk/disk.h"
#include "core/journal/record.h"

namespace fq {

std::string blob_file_name(const BlobName& name);

/// A blob on disk whose record is not written yet; removed again unless keep() was called.
class NewBlob {
 public:
  static Result<NewBlob> write(Disk& disk, Bytes payload);
  NewBlob(NewBlob&&) noexcept = default;
  NewBlob& operator=(NewBlob&&) noexcept = delete;
  ~NewBlob();

  const BlobName& name() const { return name_; }
  uint32_t crc() const { return crc_; }
  void keep() { file_.reset(); }

 private:
  NewBlob(Disk& disk, BlobName name) : disk_(&disk), name_(name) {}
  Disk* disk_;
  BlobName name_;
  std::unique_ptr<File> file_;  // holds the flock
  uint32_t crc_ = 0;
};

/// A blob that is to be removed.
struct LooseBlob {
  BlobName name;
  uint64_t bytes = 0;
};

/// A blob that holds what its message's item says. The Error's text is "blobs/...: " and what is wrong, where
/// it is lost. Reads all of it.
Result<std::unique_ptr<File>> open_whole_blob(Disk& disk, const MessageItem& item);
/// The contents of such a blob.
Result<std::string> read_whole_blob(Disk& disk, const MessageItem& item);
/// Whether a file itself is gone (sys = ENOENT), damaged (`bad_data`) or has something in its place that is
/// no file, rather than only not to be had now.
bool is_lost(const Error& error);
/// Of a payload: "its payload is lost: blobs/...: is gone".
std::string lost_payload_text(const Error& error);
/// Whether some blob may be its payload: the record that named it is lost.
bool hides_blob(const MessageItem& item);
void remove_blob(Disk& disk, const BlobName& name);

struct BlobNames {
  std::vector<std::string> own;      // "blobs/...", as fq names them
  std::vector<std::string> strange;  // files that fq did not make: a line each
};
Result<BlobNames> list_blobs(Disk& disk);

/// Puts a blob, or what is in its place, into damaged/: there it is "<32 hex digits>.blob", or "....2.blob"
/// and so on where that is taken. Never opened, nor followed. False: it is not there.
Result<bool> keep_blob(Disk& disk, const std::string& path);

}  // namespace fq
