// lost_header - see the header.
#include "core/journal/lost_header.h"

// System.
#include <algorithm>
#include <cerrno>
#include <vector>
// fq, below us.
#include "core/base/fault_point.h"

namespace fq {

namespace {

constexpr uint64_t kProofBytes = 1024 * 1024;  // read of a file for one record that is whole: larger than any

}  // namespace

Result<bool> shows_key(File& file, const FileKey& key) {
  FQ_TRY_SET(const uint64_t bytes, file.size());
  FileWindow window(Holes::taken);  // what can be read is proof enough
  window.reset(file, std::min(bytes, kProofBytes));
  const Bytes opened = window.at(kFileHeaderBytes, kOpenedBytes);
  bool shown = decode_opened(key, opened).has_value();
  FileRecords records(window, key, 0, std::min(bytes, kProofBytes));
  shown = shown || records.find_header(kFirstRecordOffset, records.end()).has_value();
  if (window.failure()) return *window.failure();
  return shown;
}

Result<std::optional<FileKey>> find_lost_key(File& file, uint32_t number, FileWindow& window) {
  FQ_TRY_SET(const uint64_t bytes, file.size());
  window.reset(file, std::min<uint64_t>(bytes, kFirstRecordOffset));
  const Bytes front = window.at(kFileHeaderBytes, kOpenedBytes);
  if (window.failure()) return *window.failure();
  const std::vector<std::byte> opened_bytes(front.begin(), front.end());
  const uint64_t end = std::min(bytes, kProofBytes);
  for (const size_t copy : {size_t{0}, size_t{1}}) {
    const std::optional<FileKey> key = key_of_opened(number, opened_bytes, copy);
    if (!key) continue;
    const std::optional<OpenedRecord> opened = decode_opened(*key, opened_bytes);
    if (!opened) continue;
    window.reset(file, end);
    FileRecords records(window, *key, opened->start_position, end);
    const bool proved = records.find_from(kFirstRecordOffset, opened->first_seq, UINT64_MAX).has_value();
    if (window.failure()) return *window.failure();
    if (proved) return key;
  }
  return std::optional<FileKey>();
}

Result<size_t> read_front(File& file, MutableBytes to) {
  Result<size_t> got = file.read_at(0, to);
  if (!got.ok() && got.error().sys == EIO) return size_t{0};
  return got;
}

Result<void> write_header_anew(Disk& disk, const FileHeader& header) {
  FQ_TRY_SET(const auto file, disk.open(journal_file_name(header.key.number), OpenMode::write));
  FQ_TRY(file->write_at(0, encode_file_header(header)));
  FQ_POINT("header.written");
  return file->sync_all();
}

}  // namespace fq
