#include "cli/terminal/table.h"

// System.
#include <algorithm>
#include <cstdint>
#include <map>
// fq, this room.
#include "cli/terminal/shown.h"

namespace fq::cli {

namespace {

constexpr size_t kGap = 2;  // columns between two

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.-%") == std::string_view::npos;
}

}  // namespace

std::vector<Table::Column> Table::columns(const Screen& screen) const {
  std::vector<Column> columns;
  for (size_t r = 0; r < rows_.size(); ++r) {
    const std::vector<std::string>& cells = rows_[r].cells;
    columns.resize(std::max(columns.size(), cells.size()));
    for (size_t c = 0; c < cells.size(); ++c) {
      columns[c].width = std::max(columns[c].width, columns_of(cells[c]));
      if (r > 0) columns[c].right = columns[c].right && is_number(cells[c]);
    }
  }
  for (const size_t text : texts_) {
    if (text < columns.size()) columns[text].right = false;
  }
  for (const size_t right : rights_) {
    if (right < columns.size()) columns[right].right = true;
  }
  for (const size_t hidden : hidden_) {
    if (hidden < columns.size()) columns[hidden].shown = false;
  }
  fit(columns, screen.columns);
  return columns;
}

bool Table::is_name(size_t c) const { return std::find(names_.begin(), names_.end(), c) != names_.end(); }

bool Table::is_cropped(size_t c) const {
  return std::find(cropped_.begin(), cropped_.end(), c) != cropped_.end();
}

size_t Table::least_of(const std::vector<Column>& columns, size_t c) const {
  return is_elastic(c) ? std::min(columns[c].width, least_) : columns[c].width;
}

void Table::fit(std::vector<Column>& columns, size_t room) const {
  size_t all = 0;
  for (size_t c = 0; c < columns.size(); ++c) all += columns[c].shown ? least_of(columns, c) + kGap : 0;
  size_t spared = 0;
  for (; spared < spared_.size() && all > room && all - kGap > room; ++spared) {
    const size_t c = spared_[spared];
    if (!columns[c].shown) continue;
    columns[c].shown = false;
    all -= least_of(columns, c) + kGap;
  }
  std::vector<Column> whole = columns;
  fit_names(columns, room);
  // Another column is left out for it when two names look the same, if that helps.
  std::vector<Column> wider = columns;
  for (; spared < spared_.size() && look_alike(wider); ++spared) {
    whole[spared_[spared]].shown = false;
    wider = whole;
    fit_names(wider, room);
  }
  if (!look_alike(wider)) columns = std::move(wider);
}

void Table::fit_names(std::vector<Column>& columns, size_t room) const {
  std::vector<Column*> names;
  size_t others = 0;
  for (size_t c = 0; c < columns.size(); ++c) {
    if (!columns[c].shown) continue;
    if (is_elastic(c)) names.push_back(&columns[c]);
    others += kGap + (is_elastic(c) ? 0 : columns[c].width);
  }
  // What is free goes to the names, the shortest first: what that does not need is for the next one.
  std::sort(names.begin(), names.end(), [](const Column* a, const Column* b) { return a->width < b->width; });
  size_t free = room > SIZE_MAX - kGap ? room : room + kGap - std::min(others, room + kGap);
  for (size_t i = 0; i < names.size(); ++i) {
    const size_t width = std::max(free / (names.size() - i), floor_);
    names[i]->cut = width < names[i]->width;
    names[i]->width = std::min(names[i]->width, width);
    free -= std::min(free, names[i]->width);
  }
}

bool Table::look_alike(const std::vector<Column>& columns) const {
  if (std::none_of(names_.begin(), names_.end(), [&](size_t c) { return columns[c].cut; })) return false;
  std::map<std::string, std::string> seen;
  for (const Row& row : rows_) {
    std::string whole, cut;
    for (const size_t c : names_) {
      whole.append(row.cells[c]).append("\n");
      if (columns[c].shown) cut.append(cut_middle(row.cells[c], columns[c].width)).append("\n");
    }
    const auto [at, is_new] = seen.try_emplace(std::move(cut), whole);
    if (!is_new && at->second != whole) return true;
  }
  return false;
}

std::string Table::line(const Row& row, const std::vector<Column>& columns, const Screen& screen) const {
  std::string line;
  size_t spaces = 0;  // before the next cell; none at a line's end
  const auto pad = [&] {
    line.append(spaces, ' ');
    spaces = 0;
  };
  for (size_t c = 0; c < row.cells.size(); ++c) {
    const Column& column = columns[c];
    if (!column.shown) continue;
    const std::string cell = !column.cut     ? row.cells[c]
                             : is_cropped(c) ? cut_end(row.cells[c], column.width)
                                             : cut_middle(row.cells[c], column.width);
    const size_t padding = column.width - columns_of(cell);
    if (column.right) spaces += padding;
    const auto colour = std::find_if(row.colours.begin(), row.colours.end(),
                                     [&](const Colour& each) { return each.column == c; });
    if (cell.find_first_not_of(' ') == std::string::npos) {
      spaces += cell.size();
    } else {
      pad();
      line +=
          colour != row.colours.end() && row.colour.empty() ? painted(cell, colour->colour, screen) : cell;
    }
    if (!column.right) spaces += padding;
    spaces += kGap;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return painted(line, row.colour, row.colour.empty() ? Screen() : screen);
}

std::vector<std::string> Table::lines(const Screen& screen) const {
  const std::vector<Column> shown = columns(screen);
  std::vector<std::string> lines;
  lines.reserve(rows_.size());
  for (const Row& row : rows_) lines.push_back(line(row, shown, screen));
  return lines;
}

std::string Table::text(const Screen& screen) const {
  std::string all;
  for (const std::string& each : lines(screen)) all += each + "\n";
  return all;
}

}  // namespace fq::cli
