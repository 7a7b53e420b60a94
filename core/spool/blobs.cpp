#include "core/spool/blobs.h"

// System.
#include <sys/file.h>
#include <sys/stat.h>

#include <set>
// fq, below us.
#include "core/base/crc32c.h"
#include "core/base/fault_point.h"
// fq, this room.
#include "core/spool/item_reader.h"
#include "core/spool/process_info.h"

namespace fq {

namespace {

constexpr std::string_view kDirectory = "blobs/";

bool is_blob_name(std::string_view name) {
  return name.size() == 2 * sizeof(BlobName::random) &&
         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_held(const File& file) { return ::flock(file.descriptor(), LOCK_EX | LOCK_NB) != 0; }

/// What stays behind on an error is an orphan, which the next rebuild takes away.
void remove_blob_file(Disk& disk, const std::string& path) { static_cast<void>(disk.remove(path)); }

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
  fill_random(name.random, sizeof name.random);
  NewBlob blob(disk, name);
  FQ_TRY_SET(blob.file_, disk.open(blob_file_name(name), OpenMode::create_new));
  // Held until its record is accepted: an orphan is a blob that nobody holds and no record names.
  ::flock(blob.file_->descriptor(), LOCK_EX);
  struct stat about {};
  const bool named = ::fstat(blob.file_->descriptor(), &about) == 0 && about.st_nlink > 0;
  // A rebuild took the nameless moment between making and holding it for an orphan's.
  if (!named) return Error{ErrorKind::later, "blobs: a rebuild came in between; try again", 0};
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

Result<std::unique_ptr<File>> open_blob(Disk& disk, const BlobName& name) {
  return disk.open(blob_file_name(name), OpenMode::read);
}

void remove_blob(Disk& disk, const BlobName& name) { remove_blob_file(disk, blob_file_name(name)); }

Result<void> remove_unreferenced_blobs(Disk& disk, Store& store) {
  FQ_TRY_SET(const std::vector<std::string> names, disk.list("blobs"));
  if (names.empty()) return {};
  std::set<std::string> wanted;
  Stream stream(store);
  OpenFiles files(disk);
  ItemReader reader(stream, files);
  StoredItem stored;
  const Schedule& schedule = store.schedule();
  for (std::optional<SlotIndex> slot = schedule.next_slot(SlotIndex{0}); slot;
       slot = schedule.next_slot(SlotIndex{static_cast<uint32_t>(*slot) + 1})) {
    if ((schedule.entry(*slot).flags & kEntryBlob) == 0) continue;
    const std::optional<ItemPlace> place =
        ItemReader::find_item(stream, store.header(), schedule.entry(*slot));
    // A message that cannot be read may name any of them: then nothing is taken away.
    if (!place) return {};
    FQ_TRY_SET(const bool found, reader.read(*place, stored));
    if (!found || !stored.item.blob) return {};
    wanted.insert(blob_file_name(*stored.item.blob));
  }
  for (const std::string& name : names) {
    const std::string path = std::string(kDirectory) + name;
    if (!is_blob_name(name) || wanted.count(path) != 0) continue;
    const Result<std::unique_ptr<File>> file = disk.open(path, OpenMode::read);
    // Gone meanwhile, or nothing that fq made: not ours to judge.
    if (file.ok() && !is_held(**file)) remove_blob_file(disk, path);
  }
  return {};
}

}  // namespace fq
