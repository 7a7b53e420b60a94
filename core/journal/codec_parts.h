// codec_parts - what the codec files share and nobody else needs: a reader that cannot leave its bytes,
// a writer that cannot either, and the pieces that several records are made of.
//
// A ByteReader that meets its end is broken from then on and gives zeros, so a decoder reads all its
// fields first and asks once. Sizes are compared with what is left, never added to a place.
#pragma once

// System.
#include <cstddef>
// fq, below us.
#include "core/base/assert.h"
// fq, this room.
#include "core/journal/codec.h"

namespace fq::codec {

class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) : left_(bytes) {}

  template <class T>
  T get() {
    const Bytes bytes = take(sizeof(T));
    return bytes.size() == sizeof(T) ? get_number<T>(bytes.data()) : T{};
  }
  Bytes take(size_t bytes) {
    if (bytes > left_.size()) {
      broken_ = true;
      left_ = {};
      return {};
    }
    const Bytes taken = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return taken;
  }
  std::string_view take_text(size_t bytes) { return as_text(take(bytes)); }
  /// For fields that a later format may use.
  void expect_zero(size_t bytes) {
    for (const std::byte byte : take(bytes))
      if (byte != std::byte{0}) broken_ = true;
  }
  void fail() { broken_ = true; }
  size_t left() const { return left_.size(); }
  bool broken() const { return broken_; }
  bool ended_well() const { return !broken_ && left_.empty(); }

 private:
  Bytes left_;
  bool broken_ = false;
};

class ByteWriter {
 public:
  explicit ByteWriter(MutableBytes to) : at_(to.data()), end_(to.data() + to.size()) {}

  template <class T>
  void put(T value) {
    put_number(room(sizeof value), value);
  }
  void put_bytes(Bytes bytes) {
    if (!bytes.empty()) std::memcpy(room(bytes.size()), bytes.data(), bytes.size());
  }
  void put_text(std::string_view text) { put_bytes(as_bytes(text)); }
  void put_zeros(size_t bytes) {
    if (bytes > 0) std::memset(room(bytes), 0, bytes);
  }
  bool full() const { return at_ == end_; }

  /// The next `bytes`, to be filled by the caller: one check for many fields.
  std::byte* room(size_t bytes) {
    FQ_ASSERT(bytes <= static_cast<size_t>(end_ - at_));
    std::byte* at = at_;
    at_ += bytes;
    return at;
  }

 private:
  std::byte* at_;
  std::byte* end_;
};

// ---- message items: {u32 content bytes, u32 crc of the content, content} ------------------------

inline constexpr uint32_t kItemFrameBytes = 8;
size_t item_bytes(const MessageItem& item);
/// `to` is item_bytes(item) long.
void encode_item(MutableBytes to, const MessageItem& item);
/// Whether these bytes are items, each as its CRC says, whose frames together have this CRC.
bool items_are_whole(Bytes items, uint32_t frames_crc);
/// The content alone, its CRC not looked at. False when it breaks the format; `item` is then half-filled.
bool decode_item_content(Bytes content, MessageItem& item);

// ---- why something went wrong: exit, signal, reason, stderr_tail --------------------------------

inline constexpr size_t kReasonBytesMax = 1024;
inline constexpr size_t kStderrTailBytesMax = 4096;
size_t outcome_bytes(const EventDetail& detail);
void encode_outcome(ByteWriter& to, const EventDetail& detail);
void decode_outcome(ByteReader& from, EventDetail& detail);

/// Whether events of this type carry a detail, and ids at all.
bool is_event(RecordType type);

}  // namespace fq::codec
