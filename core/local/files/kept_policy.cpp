#include "core/local/files/kept_policy.h"

// System.
#include <cerrno>
// fq, below us.
#include "core/base/bytes.h"
#include "core/base/fault_point.h"

namespace fq {

namespace {

constexpr std::string_view kPolicy = "policy";
constexpr std::string_view kNewPolicy = "policy.new";
constexpr uint64_t kBytesMax = uint64_t{16} << 20;  // arbitrary: what is larger was not written by us

Result<void> remove_old(Disk& disk, std::string_view name) {
  Result<void> removed = disk.remove(name);
  if (!removed.ok() && removed.error().sys != ENOENT) return removed;
  return {};
}

}  // namespace

Result<std::string> read_kept_policy(Disk& disk) {
  const Result<std::unique_ptr<File>> file = disk.open(kPolicy, OpenMode::read);
  if (!file.ok() && file.error().sys == ENOENT) return std::string();
  if (!file.ok()) return file.error();
  FQ_TRY_SET(const uint64_t bytes, (*file)->size());
  if (bytes > kBytesMax) return std::string();
  std::string text(bytes, '\0');
  FQ_TRY_SET(const size_t got, (*file)->read_at(0, std::as_writable_bytes(std::span(text))));
  text.resize(got);
  return text;
}

Result<void> keep_policy(Disk& disk, std::string_view text) {
  if (text.empty()) {
    FQ_TRY(remove_old(disk, kPolicy));
    return disk.sync_directory("");
  }
  FQ_TRY(remove_old(disk, kNewPolicy));  // of somebody who died
  FQ_TRY_SET(const std::unique_ptr<File> file, disk.open(kNewPolicy, OpenMode::create_new));
  FQ_TRY(file->write_at(0, as_bytes(text)));
  FQ_TRY(file->sync_data());
  FQ_POINT("policy.kept");
  FQ_TRY(disk.rename(kNewPolicy, kPolicy));
  return disk.sync_directory("");
}

}  // namespace fq
