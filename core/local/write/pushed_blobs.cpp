#include "core/local/write/pushed_blobs.h"

// fq, below us.
#include "core/base/disk/disk_full.h"
#include "core/base/limits.h"
// fq, this room.
#include "core/local/shared/loose_blobs.h"

namespace fq {

Result<void> PushedBlobs::begin(std::span<const NewMessage> messages) {
  uint64_t bytes = 0;
  for (const NewMessage& message : messages) {
    if (message.payload.size() > kInlinePayloadBytesMax) bytes += message.payload.size();
  }
  if (bytes == 0) return {};
  bool due = false;
  FQ_TRY(locked([&]() -> Result<void> {
    due = LooseBlobs(header()).is_due();
    return {};
  }));
  // Where pushes alone are killed nobody else would. A fault in that is none of ours.
  if (due) static_cast<void>(upkeep_.keep_house());
  FQ_TRY(locked([&]() -> Result<void> {
    Txn txn = store().begin();
    LooseBlobs(header()).add(txn, bytes);
    txn.commit();
    return {};
  }));
  bytes_ = bytes;
  return {};
}

Result<void> PushedBlobs::write(Bytes payload, MessageItem& item) {
  Result<NewBlob> written = NewBlob::write(disk(), payload);
  if (!written.ok() && is_disk_full(written.error())) return refuse_full();
  FQ_TRY_SET(NewBlob blob, std::move(written));
  item.blob = blob.name();
  item.blob_crc = blob.crc();
  blobs_.push_back(std::move(blob));
  return {};
}

}  // namespace fq
