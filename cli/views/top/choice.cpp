#include "cli/views/top/choice.h"

// System.
#include <algorithm>

namespace fq::cli {

void Choice::fit(size_t rows, size_t count) {
  page_ = std::max<size_t>(rows, 2) - 1;
  if (line_ < first_) first_ = line_;
  if (line_ >= first_ + page_) first_ = line_ - page_ + 1;
  if (first_ + page_ > count) first_ = count > page_ ? count - page_ : 0;
  end_ = std::min(count, first_ + page_);
}

Screen Choice::screen_beside(const Screen& screen) {
  Screen beside = screen;
  if (!screen.colour) beside.columns = std::max<size_t>(screen.columns, 2) - 1;
  return beside;
}

std::string Choice::marked(const std::vector<std::string>& heading_and_lines, const Screen& screen) const {
  std::string text;
  size_t place = first_;
  for (size_t i = 0; i < heading_and_lines.size(); ++i) {
    const bool chosen = i > 0 && place++ == line_;
    text.append(screen.colour ? "" : chosen ? ">" : " ").append(heading_and_lines[i]).append("\n");
  }
  return text;
}

}  // namespace fq::cli
