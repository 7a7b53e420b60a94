// key_secret - see key_secret.h.
#include "core/local/files/key_secret.h"

// System.
#include <array>
#include <cerrno>
// fq, below us.
#include "core/base/bytes.h"
// fq, this room.
#include "core/local/files/process_info.h"

namespace fq {

namespace {

constexpr std::string_view kSecret = "secret";
constexpr std::string_view kNewSecret = "secret.new";

}  // namespace

Result<KeySecret> read_secret(Disk& disk) {
  const Result<std::unique_ptr<File>> file = disk.open(kSecret, OpenMode::read);
  if (!file.ok() && file.error().sys == ENOENT) return KeySecret{};
  if (!file.ok()) return file.error();
  std::array<std::byte, 16> bytes{};
  FQ_TRY_SET(const size_t got, (*file)->read_at(0, bytes));
  if (got < bytes.size()) return KeySecret{};  // cut: made anew
  return KeySecret{{get_number<uint64_t>(bytes.data()), get_number<uint64_t>(bytes.data() + 8)}};
}

Result<KeySecret> take_secret(Disk& disk) {
  FQ_TRY_SET(const KeySecret secret, read_secret(disk));
  if (secret.is_there()) FQ_TRY(disk.sync_directory(""));
  return secret;
}

KeySecret draw_secret() {
  KeySecret secret;
  while (!secret.is_there()) fill_random(secret.half, sizeof secret.half);
  return secret;
}

Result<void> write_secret(Disk& disk, const KeySecret& secret) {
  std::array<std::byte, 16> bytes{};
  put_number(bytes.data(), secret.half[0]);
  put_number(bytes.data() + 8, secret.half[1]);
  Result<void> removed = disk.remove(kNewSecret);  // of somebody who died
  if (!removed.ok() && removed.error().sys != ENOENT) return std::move(removed).error();
  FQ_TRY_SET(const std::unique_ptr<File> file, disk.open(kNewSecret, OpenMode::create_new));
  FQ_TRY(file->write_at(0, bytes));
  FQ_TRY(file->sync_data());
  FQ_TRY(disk.rename(kNewSecret, kSecret));
  return disk.sync_directory("");
}

}  // namespace fq
