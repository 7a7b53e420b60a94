// table - columns for a person: left-aligned texts, numbers to the right, two spaces between.
//
// Where the screen is too narrow, names are cut in the middle and columns are left out in the order in which
// they can be spared.
#pragma once

// System.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
// fq, this room.
#include "cli/terminal/screen.h"

namespace fq::cli {

/// Of a name cut to fewer columns both ends can no longer be told: an escape alone takes up to ten.
inline constexpr size_t kNameLeast = 12;

class Table {
 public:
  Table() = default;
  /// `texts`: columns that stand to the left even if every cell looks like a number.
  explicit Table(std::vector<size_t> texts) : texts_(std::move(texts)) {}

  void row(std::vector<std::string> cells) { rows_.push_back({std::move(cells), {}, {}}); }
  /// A cell of the last row, or the whole row, has this colour (see cli/terminal/screen.h).
  void paint(size_t column, std::string_view colour) { rows_.back().colours.push_back({column, colour}); }
  void paint_row(std::string_view colour) { rows_.back().colour = colour; }
  /// Columns in the order in which they are left out of what is too wide.
  void spare(std::vector<size_t> columns) { spared_ = std::move(columns); }
  /// Columns that are never shown.
  void hide(std::vector<size_t> columns) { hidden_ = std::move(columns); }
  /// Columns of names: they are cut to what the others leave free, but not below `least` while another column
  /// can be left out, and where two would look the same others are left out for them.
  void shorten(std::vector<size_t> columns, size_t least) { names_ = std::move(columns), least_ = least; }
  /// They are never cut below `least`: beside sentences, which are not cut and may be as wide as they like.
  void keep_least() { floor_ = least_; }
  /// Columns of contents: they share what is free with the names, and are cut at their ends. What was cut
  /// there before has its dots once.
  void crop(std::vector<size_t> columns) { cropped_ = std::move(columns); }
  /// Columns that stand to the right whatever is in them.
  void right(std::vector<size_t> columns) { rights_ = std::move(columns); }
  bool empty() const { return rows_.empty(); }
  /// All rows; columns whose cells below the heading are numbers stand to the right.
  std::string text(const Screen& screen = {}) const;
  std::vector<std::string> lines(const Screen& screen) const;

 private:
  struct Colour {
    size_t column;
    std::string_view colour;
  };
  struct Row {
    std::vector<std::string> cells;
    std::vector<Colour> colours;
    std::string_view colour;
  };
  struct Column {
    size_t width = 0;
    bool right = true;
    bool shown = true;
    bool cut = false;  // to its width
  };
  std::vector<Column> columns(const Screen& screen) const;
  void fit(std::vector<Column>& columns, size_t room) const;
  void fit_names(std::vector<Column>& columns, size_t room) const;
  bool look_alike(const std::vector<Column>& columns) const;
  bool is_name(size_t c) const;
  bool is_cropped(size_t c) const;
  bool is_elastic(size_t c) const { return is_cropped(c) || is_name(c); }
  size_t least_of(const std::vector<Column>& columns, size_t c) const;
  std::string line(const Row& row, const std::vector<Column>& columns, const Screen& screen) const;

  std::vector<size_t> texts_;
  std::vector<size_t> rights_;
  std::vector<size_t> spared_;
  std::vector<size_t> hidden_;
  std::vector<size_t> names_;
  size_t least_ = 0;
  size_t floor_ = 1;
  std::vector<size_t> cropped_;
  std::vector<Row> rows_;
};

}  // namespace fq::cli
