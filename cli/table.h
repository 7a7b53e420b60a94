// table - columns for a person: left-aligned texts, numbers to the right, two spaces between.
//
// Widths count characters, not bytes, so that names in any script stay in line where each takes a column;
// wide East Asian characters count as two.
#pragma once

// System.
#include <string>
#include <vector>

namespace fq::cli {

class Table {
 public:
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  /// All rows; columns whose cells below the heading are numbers stand to the right.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// Columns that `text` takes on a terminal.
size_t columns_of(std::string_view text);

}  // namespace fq::cli
