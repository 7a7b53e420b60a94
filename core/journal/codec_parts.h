// codec_parts - the parts that only the codec files use: the counter, reader and writer of fields, and the
// pieces that several records are made of.
//
// A record's fields are listed once, in a template fields(v, record): with a ByteCounter for v the list says
// how long the record is, with a ByteWriter it encodes it, with a ByteReader it decodes it and refuses bytes
// that are not such a record (the parts under `if constexpr (V::kReads)`). Lengths and flags that lie before
// the fields they describe are locals of the list: taken from the record when it is written, overwritten when
// it is read.
//
// A ByteReader that meets its end is broken from then on and leaves fields as they are, so a decoder reads
// all its fields first and asks once. Sizes are compared with the bytes left, never added to a place.
#pragma once

// System.
#include <concepts>
#include <cstddef>
#include <type_traits>
// fq, below us.
#include "core/base/assert.h"
#include "core/base/crc32c.h"
// fq, this room.
#include "core/journal/codec.h"

namespace fq::codec {

/// `R` is the record or, where it is only read, the same const.
template <class R, class Record>
concept Of = std::same_as<std::remove_const_t<R>, Record>;

/// For fields that a later format may use.
template <size_t kBytes>
struct Zeros {
  uint8_t bytes[kBytes] = {};
};

template <class T>
inline constexpr bool kIsZeros = false;
template <size_t kBytes>
inline constexpr bool kIsZeros<Zeros<kBytes>> = true;

/// A number, an enum, an array of numbers or zeros: as many bytes as it has in memory, and never padding.
template <class T, class Field = std::remove_cvref_t<T>>
inline constexpr size_t kFieldBytes = [] {
  using Number = std::remove_all_extents_t<Field>;
  static_assert(std::is_integral_v<Number> || std::is_enum_v<Number> || kIsZeros<Field>);
  return sizeof(Field);
}();

/// A text behind the fields that tell its length.
template <class String>
struct Text {
  String& text;
  size_t bytes;
};
template <class String>
Text(String&, size_t) -> Text<String>;  // clang++ 14 deduces none of its own for an aggregate

inline uint16_t size16(size_t bytes) {
  FQ_ASSERT(bytes <= UINT16_MAX);
  return static_cast<uint16_t>(bytes);
}

class ByteReader {
 public:
  static constexpr bool kReads = true;
  explicit ByteReader(Bytes bytes) : left_(bytes) {}

  /// Fields one behind the other: one look at the bytes left for all of them.
  template <class... Fields>
  void operator()(Fields&&... fields) {
    const Bytes bytes = take((kFieldBytes<Fields> + ...));
    if (bytes.empty()) return;
    const std::byte* at = bytes.data();
    (get_field(at, fields), ...);
  }
  /// The value of a length before it is read.
  uint16_t size(size_t) const { return 0; }
  /// Texts one behind the other, in the same way.
  template <class... Strings>
  void operator()(Text<Strings>... texts) {
    std::string_view all = take_text((texts.bytes + ...));
    if (broken_) return;
    ((texts.text = all.substr(0, texts.bytes), all.remove_prefix(texts.bytes)), ...);
  }
  /// Up to the end.
  void rest(Bytes& into) { into = take(left_.size()); }
  void item(MessageItem& into) {
    if (!decode_item(take(left_.size()), into)) fail();
  }

  template <class T>
  T get() {
    T value{};
    (*this)(value);
    return value;
  }
  Bytes take(size_t bytes) {
    if (bytes > left_.size()) {
      fail();
      return {};
    }
    const Bytes taken = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return taken;
  }
  std::string_view take_text(size_t bytes) { return as_text(take(bytes)); }
  void fail() {
    broken_ = true;
    left_ = {};
  }
  size_t left() const { return left_.size(); }
  bool broken() const { return broken_; }
  bool ended_well() const { return !broken_ && left_.empty(); }

 private:
  template <class Field>
  void get_field(const std::byte*& at, Field& field) {
    std::memcpy(&field, at, sizeof field);
    at += sizeof field;
    if constexpr (kIsZeros<Field>)
      for (const uint8_t byte : field.bytes) broken_ |= byte != 0;
  }

  Bytes left_;
  bool broken_ = false;
};

class ByteWriter {
 public:
  static constexpr bool kReads = false;
  explicit ByteWriter(MutableBytes to) : at_(to.data()), end_(to.data() + to.size()) {}

  /// Fields one behind the other: one look at the room for all of them.
  template <class... Fields>
  void operator()(const Fields&... fields) {
    std::byte* at = room((kFieldBytes<Fields> + ...));
    ((std::memcpy(at, &fields, sizeof fields), at += sizeof fields), ...);
  }
  uint16_t size(size_t bytes) const { return size16(bytes); }
  template <class... Strings>
  void operator()(Text<Strings>... texts) {
    (put_text(texts.text), ...);
  }
  void rest(Bytes bytes) { put_bytes(bytes); }
  void item(const MessageItem& item);

  template <class T>
  void put(T value) {
    (*this)(value);
  }
  void put_bytes(Bytes bytes) {
    if (!bytes.empty()) std::memcpy(room(bytes.size()), bytes.data(), bytes.size());
  }
  void put_text(std::string_view text) { put_bytes(as_bytes(text)); }
  bool full() const { return at_ == end_; }
  size_t room_left() const { return static_cast<size_t>(end_ - at_); }

 private:
  std::byte* room(size_t bytes) {
    FQ_ASSERT(bytes <= static_cast<size_t>(end_ - at_));
    std::byte* at = at_;
    at_ += bytes;
    return at;
  }

  std::byte* at_;
  std::byte* end_;
};

class ByteCounter {
 public:
  static constexpr bool kReads = false;

  template <class... Fields>
  void operator()(const Fields&...) {
    bytes_ += (kFieldBytes<Fields> + ...);
  }
  /// Not checked: the writer does that.
  uint16_t size(size_t) const { return 0; }
  template <class... Strings>
  void operator()(Text<Strings>... texts) {
    bytes_ += (texts.text.size() + ...);
  }
  void rest(Bytes bytes) { bytes_ += bytes.size(); }
  void item(const MessageItem& item);
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

template <class Record>
size_t bytes_of(const Record& record) {
  ByteCounter counter;
  fields(counter, record);
  return counter.bytes();
}

/// `to` is bytes_of(record) long.
template <class Record>
void encode(MutableBytes to, const Record& record) {
  ByteWriter writer(to);
  fields(writer, record);
  FQ_ASSERT(writer.full());
}

/// For a record that lies in an item as a text of its own.
template <class Record>
std::string encode_text(const Record& record) {
  std::string text(bytes_of(record), '\0');
  encode(std::as_writable_bytes(std::span(text)), record);
  return text;
}

/// To the last byte: too long is as wrong as too short.
template <class Record>
bool decode(Bytes bytes, Record& record) {
  ByteReader reader(bytes);
  fields(reader, record);
  return reader.ended_well();
}

template <class Record>
void encode_body(Body& into, RecordType type, uint16_t count, const Record& record) {
  into.type = type;
  into.flags = 0;
  into.count = count;
  into.bytes.resize(bytes_of(record));
  FQ_ASSERT(into.bytes.size() <= kRecordBytesMax);
  encode(into.bytes, record);
  into.crc = crc32c(0, into.bytes);
}

template <class Record>
std::optional<Record> decode_body(Bytes body) {
  std::optional<Record> record(std::in_place);
  if (!decode(body, *record)) record.reset();
  return record;
}

// ---- message items: kItemFrameBytes, then the content -------------------------------------------

size_t item_bytes(const MessageItem& item);
/// At the start of `to`, which is at least item_bytes(item) long; returns that.
size_t encode_item(MutableBytes to, const MessageItem& item);
/// Whether these bytes are items, each as its CRC says, whose frames together have this CRC.
bool items_are_whole(Bytes items, uint32_t frames_crc);
/// The content alone, its CRC not looked at. False when it breaks the format; `item` is then half-filled.
bool decode_item_content(Bytes content, MessageItem& item);

inline void ByteWriter::item(const MessageItem& item) { encode_item({room(item_bytes(item)), at_}, item); }
inline void ByteCounter::item(const MessageItem& item) { bytes_ += item_bytes(item); }

}  // namespace fq::codec
