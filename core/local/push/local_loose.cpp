#include "core/local/push/local_loose.h"

// fq, this room.
#include "core/local/shared/loose_blobs.h"

namespace fq {

Result<void> LocalQueue::PushedBlobs::begin(std::span<const NewMessage> messages) {
  uint64_t bytes = 0;
  for (const NewMessage& message : messages) {
    if (message.payload.size() > kInlinePayloadBytesMax) bytes += message.payload.size();
  }
  if (bytes == 0) return {};
  bool due = false;
  FQ_TRY(queue_.locked([&]() -> Result<void> {
    due = LooseBlobs(queue_.header()).is_due();
    return {};
  }));
  // Where pushes alone are killed nobody else would. A fault in that is none of ours.
  if (due) static_cast<void>(queue_.keep_house());
  FQ_TRY(queue_.locked([&]() -> Result<void> {
    Txn txn = queue_.store().begin();
    LooseBlobs(queue_.header()).add(txn, bytes);
    txn.commit();
    return {};
  }));
  bytes_ = bytes;
  return {};
}

Result<void> LocalQueue::PushedBlobs::write(Bytes payload, MessageItem& item) {
  FQ_TRY_SET(NewBlob blob, NewBlob::write(queue_.disk(), payload));
  item.blob = blob.name();
  item.blob_crc = blob.crc();
  blobs_.push_back(std::move(blob));
  return {};
}

void LocalQueue::note_blobs_done(uint64_t bytes) {
  if (bytes == 0) return;
  // Where that cannot be, blobs/ is looked through a little sooner.
  static_cast<void>(locked([&]() -> Result<void> {
    Txn txn = store().begin();
    LooseBlobs(header()).drop(txn, bytes);
    txn.commit();
    return {};
  }));
}

void LocalQueue::name_blobs(const std::vector<ItemPlace>& places, std::vector<LooseBlob>& blobs) {
  for (const ItemPlace& place : places) {
    const Result<bool> found = messages_.read(place);
    // One that cannot be read now stays loose: a later look at blobs/ takes it away.
    if (found.ok() && *found && messages_.item().blob)
      blobs.push_back({*messages_.item().blob, messages_.item().payload_bytes});
  }
}

void LocalQueue::remove_blobs(std::span<const LooseBlob> blobs) {
  uint64_t bytes = 0;
  for (const LooseBlob& blob : blobs) {
    remove_blob(disk(), blob.name);
    bytes += blob.bytes;
  }
  note_blobs_done(bytes);
}

}  // namespace fq
