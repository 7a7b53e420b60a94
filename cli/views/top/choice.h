// choice - the chosen line of a long list, and the part of the list that a screen shows.
#pragma once

// System.
#include <cstddef>
#include <string>
#include <vector>
// fq, this room.
#include "cli/terminal/screen.h"

namespace fq::cli {

class Choice {
 public:
  size_t line() const { return line_; }
  /// As far as there are lines; a line behind the end is the last one.
  void move_to(size_t line, size_t count) { line_ = count == 0 ? 0 : line < count ? line : count - 1; }
  void move_up(size_t lines) { line_ -= lines < line_ ? lines : line_; }
  void move_down(size_t lines, size_t count) { move_to(lines > count ? count : line_ + lines, count); }
  size_t page() const { return page_; }

  /// Of `count` lines those that are shown on `rows`, of which one is the heading: [first(), end()).
  void fit(size_t rows, size_t count);
  size_t first() const { return first_; }
  size_t end() const { return end_; }

  /// For a table that will be marked().
  static Screen screen_beside(const Screen& screen);
  /// The heading and the lines that are shown. The one that is chosen shows without colours too: all others
  /// stand a column further to the right.
  std::string marked(const std::vector<std::string>& heading_and_lines, const Screen& screen) const;

 private:
  size_t line_ = 0;
  size_t first_ = 0, end_ = 0;
  size_t page_ = 1;
};

}  // namespace fq::cli
