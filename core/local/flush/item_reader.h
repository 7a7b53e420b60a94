// item_reader - a message's bytes, from the ring while it is fresh, else from its file.
//
// Needs no lock: where a message lies is looked up under it (find_item), the bytes are read afterwards and
// proved by their own CRC. A small cache of journal blocks serves a process that reads many messages in a
// row; blocks never change until their file is recycled, which the salt tells. A read here and there, as
// turns and priorities make one do, need not copy a whole block for each message: of a block only pieces are
// read, until the reading goes on where a piece or the block before has ended, or many were wanted.
#pragma once

// System.
#include <array>
#include <memory>
#include <vector>
// fq, this room.
#include "core/local/files/open_files.h"
#include "core/local/shared/stream.h"

namespace fq {

/// Where a message's item lies, as seen under the state lock.
struct ItemPlace {
  uint64_t position = 0;
  FilePlace file;
  uint64_t written_end = 0;  // stream bytes before this had left the ring for their files
  bool blob = false;
};

/// An item with the bytes that its views point into, unless these lie in the reader: good until its next use.
struct StoredItem {
  std::vector<std::byte> bytes;
  MessageItem item;
};

class ItemReader {
 public:
  ItemReader(Stream& stream, OpenFiles& files) : stream_(stream), files_(files) {}

  /// Needs: the state lock. None when its file was removed.
  static std::optional<ItemPlace> find_item(const Stream& stream, const SegmentHeader& header,
                                            const Entry& entry);

  /// Reads into `stored`, whose memory is used again. False: the record is gone (moved or recycled since:
  /// look it up again) or damaged, which is also what the disk does not give back.
  Result<bool> read(const ItemPlace& place, StoredItem& stored, bool lasting = false);

  /// Drops the cached blocks: their bytes may be of before a write.
  void forget() { blocks_ = {}; }

  /// A whole record at a stream position: header and body. False as above.
  Result<bool> read_record(const FilePlace& place, uint64_t position, uint64_t written_end,
                           std::vector<std::byte>& record);

 private:
  static constexpr size_t kBlockBytes = 32 * 1024;  // arbitrary
  static constexpr size_t kPieceBytes = 1024;  // a few small messages; to copy more costs more than the call
  static constexpr uint32_t kPieces = 8;       // of a block; they cost as much as the whole
  static constexpr size_t kBlocks = 32;
  struct Block {
    uint64_t salt = 0;
    uint64_t number = UINT64_MAX;
    size_t begin = 0, end = 0;           // what is known of it
    uint32_t pieces = 0;                 // that were read of it
    std::unique_ptr<std::byte[]> bytes;  // kBlockBytes, once something is

    bool is_of(const FilePlace& place) const {
      return salt == place.key.salt && number == place.offset / kBlockBytes;
    }
    bool holds(size_t from, size_t size) const { return begin <= from && from + size <= end; }
  };

  Block& block_of(const FilePlace& place) {
    return blocks_[(place.offset / kBlockBytes + place.key.number * 7) % kBlocks];
  }
  /// Where the item lies whole in a cached block: decoded there, its views point into the block.
  bool read_block(const ItemPlace& place, MessageItem& item);
  bool read_ring(uint64_t position, std::vector<std::byte>& bytes);
  Result<bool> read_file(const ItemPlace& place, std::vector<std::byte>& bytes);
  Result<bool> read_cached(const FilePlace& place, uint64_t readable, MutableBytes to);
  /// Reads what is wanted of a block, or all of it. False: the file is gone.
  Result<bool> fill(Block& block, const FilePlace& at, size_t part, uint64_t readable);

  Stream& stream_;
  OpenFiles& files_;
  std::array<Block, kBlocks> blocks_;
  uint64_t last_filled_ = UINT64_MAX;  // number of the block that was read to its end most recently
};

}  // namespace fq
