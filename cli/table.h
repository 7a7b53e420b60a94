// table - columns for a person: left-aligned texts, numbers to the right, two spaces between.
//
// Widths count what a terminal shows, not bytes: wide East Asian characters and emoji are two columns,
// accents that join the character before them none.
#pragma once

// System.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fq::cli {

class Table {
 public:
  Table() = default;
  /// `texts`: columns that stand to the left even if every cell looks like a number.
  explicit Table(std::vector<size_t> texts) : texts_(std::move(texts)) {}

  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  /// All rows; columns whose cells below the heading are numbers stand to the right.
  std::string text() const;

 private:
  std::vector<size_t> texts_;
  std::vector<std::vector<std::string>> rows_;
};

/// Columns that `text` takes on a terminal.
size_t columns_of(std::string_view text);

}  // namespace fq::cli
