// text_pool - see text_pool.h. Words are written as little-endian bytes, so a cell reads as plain bytes.
#include "core/schedule/memory/text_pool.h"

// System.
#include <algorithm>
#include <cstring>
// fq, below us.
#include "core/base/bytes.h"

namespace fq {
namespace {

const std::byte* bytes_of(const TextCell& cell) { return reinterpret_cast<const std::byte*>(&cell.words); }

/// Reads a text from its start, cell by cell.
class Reader {
 public:
  Reader(const Region& region, uint32_t text) : region_(region), cell_(&region.text(text)) {
    left_ = get_number<uint16_t>(bytes_of(*cell_));
    if (left_ > kTextBytesMax) throw RegionDamaged{"a text is too long"};
  }
  uint32_t left() const { return left_; }
  /// The bytes of this cell that are not read yet; empty at the end.
  std::string_view piece() {
    if (at_ == kTextCellBytes && left_ > 0) {
      cell_ = &region_.text(cell_->next);
      at_ = 0;
    }
    const uint32_t bytes = std::min(left_, kTextCellBytes - at_);
    return {reinterpret_cast<const char*>(bytes_of(*cell_)) + at_, bytes};
  }
  void skip(uint32_t bytes) {
    at_ += bytes;
    left_ -= bytes;
  }

 private:
  const Region& region_;
  const TextCell* cell_;
  uint32_t left_ = 0;
  uint32_t at_ = 2;
};

void fill(Txn& txn, TextCell& cell, const std::byte* bytes) {
  for (uint32_t i = 0; i < 7; ++i) put(txn, cell.words[i], get_number<uint32_t>(bytes + i * 4));
}

}  // namespace

uint32_t text_add(Txn& txn, const Region& region, std::string_view text) {
  FQ_ASSERT(text.size() <= kTextBytesMax);
  std::byte buffer[(kTextBytesMax + 2 + kTextCellBytes)] = {};
  put_number(buffer, static_cast<uint16_t>(text.size()));
  std::memcpy(buffer + 2, text.data(), text.size());
  Supply& supply = region.root.text_supply;
  const uint32_t cells = text_cells(text.size());
  uint32_t first = kNoIndex, last = kNoIndex;
  uint32_t free_head = supply.free_head, high_water = supply.high_water;
  for (uint32_t i = 0; i < cells; ++i) {
    const uint32_t index = free_head != kNoIndex ? free_head : high_water++;
    TextCell& cell = region.text(index);
    if (index == free_head) free_head = cell.next;
    fill(txn, cell, buffer + i * kTextCellBytes);
    if (i == 0) {
      first = index;
    } else {
      put(txn, region.text(last).next, index);
    }
    last = index;
  }
  put(txn, supply.free_head, free_head);
  put(txn, supply.high_water, high_water);
  add_to(txn, supply.used, cells);
  return first;
}

void text_remove(Txn& txn, const Region& region, uint32_t text) {
  const uint32_t cells = text_cells(text_length(region, text));
  uint32_t last = text;
  for (uint32_t i = 1; i < cells; ++i) last = region.text(last).next;
  Supply& supply = region.root.text_supply;
  txn.set(region.text(last).next, supply.free_head.get());
  txn.set(supply.free_head, text);
  take_from(txn, supply.used, cells);
}

std::string text_of(const Region& region, uint32_t text) {
  std::string out;
  Reader reader(region, text);
  while (reader.left() > 0) {
    const std::string_view piece = reader.piece();
    out += piece;
    reader.skip(static_cast<uint32_t>(piece.size()));
  }
  return out;
}

std::string_view text_copy(const Region& region, uint32_t text, std::span<char, kTextBytesMax> into) {
  Reader reader(region, text);
  size_t length = 0;
  while (reader.left() > 0) {
    const std::string_view piece = reader.piece();
    std::memcpy(into.data() + length, piece.data(), piece.size());
    length += piece.size();
    reader.skip(static_cast<uint32_t>(piece.size()));
  }
  return {into.data(), length};
}

uint32_t text_length(const Region& region, uint32_t text) { return Reader(region, text).left(); }

bool text_equals(const Region& region, uint32_t text, std::string_view other) {
  if (other.size() <= kTextCellBytes - 2) {  // each push looks up a short name
    const std::byte* bytes = bytes_of(region.text(text));
    return get_number<uint16_t>(bytes) == other.size() &&
           std::memcmp(bytes + 2, other.data(), other.size()) == 0;
  }
  Reader reader(region, text);
  if (reader.left() != other.size()) return false;
  while (reader.left() > 0) {
    const std::string_view piece = reader.piece();
    if (std::memcmp(piece.data(), other.data(), piece.size()) != 0) return false;
    other.remove_prefix(piece.size());
    reader.skip(static_cast<uint32_t>(piece.size()));
  }
  return true;
}

int text_compare(const Region& region, uint32_t a, uint32_t b) {
  Reader left(region, a), right(region, b);
  while (left.left() > 0 && right.left() > 0) {
    const std::string_view x = left.piece(), y = right.piece();
    const auto bytes = static_cast<uint32_t>(std::min(x.size(), y.size()));
    if (const int order = std::memcmp(x.data(), y.data(), bytes); order != 0) return order;
    left.skip(bytes);
    right.skip(bytes);
  }
  return left.left() == right.left() ? 0 : left.left() < right.left() ? -1 : 1;
}

}  // namespace fq
