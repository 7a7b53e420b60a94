// text_pool - names and sort keys of any length up to 300 bytes, in cells of 28.
//
// A text is a chain of cells; its first two bytes are its length, so 26 bytes fit one cell. Its last cell's
// link means nothing: the length says where it ends. That makes taking and freeing cheap, since a chain on
// the free list is used as it lies there.
#pragma once

// System.
#include <span>
#include <string>
#include <string_view>
// fq, this room.
#include "core/schedule/memory/region.h"

namespace fq {

inline constexpr uint32_t kTextCellBytes = 28;
inline constexpr uint32_t kTextBytesMax = 300;

constexpr uint32_t text_cells(size_t bytes) {
  return static_cast<uint32_t>((bytes + 2 + kTextCellBytes - 1) / kTextCellBytes);
}

/// Needs: room for text_cells(text.size()) cells, text of at most kTextBytesMax bytes.
uint32_t text_add(Txn& txn, const Region& region, std::string_view text);
void text_remove(Txn& txn, const Region& region, uint32_t text);
std::string text_of(const Region& region, uint32_t text);
/// The same without allocating: for what runs under a lock.
std::string_view text_copy(const Region& region, uint32_t text, std::span<char, kTextBytesMax> into);
uint32_t text_length(const Region& region, uint32_t text);
bool text_equals(const Region& region, uint32_t text, std::string_view other);
/// As memcmp, a shorter one before what it begins.
int text_compare(const Region& region, uint32_t a, uint32_t b);

}  // namespace fq
