#include "cli/table.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/utf8.h"

namespace fq::cli {

namespace {

bool is_wide(uint32_t code) {
  return (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) ||
         (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
         (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
         (code >= 0x1f300 && code <= 0x1faff) || (code >= 0x20000 && code <= 0x3fffd);
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.-") == std::string_view::npos;
}

}  // namespace

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const Utf8Char next = utf8_next(text);
    columns += next.bytes > 0 && is_wide(next.code) ? 2U : 1U;
    text.remove_prefix(std::max<size_t>(next.bytes, 1));
  }
  return columns;
}

std::string Table::text() const {
  std::vector<size_t> widths;
  std::vector<bool> right;
  for (size_t r = 0; r < rows_.size(); ++r) {
    widths.resize(std::max(widths.size(), rows_[r].size()), 0);
    right.resize(widths.size(), true);
    for (size_t c = 0; c < rows_[r].size(); ++c) {
      widths[c] = std::max(widths[c], columns_of(rows_[r][c]));
      if (r > 0) right[c] = right[c] && is_number(rows_[r][c]);
    }
  }
  std::string all;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string padding(widths[c] - columns_of(row[c]), ' ');
      if (c > 0) line += "  ";
      line += right[c] ? padding + row[c] : row[c] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    all += line + "\n";
  }
  return all;
}

}  // namespace fq::cli
