#include "cli/terminal/table.h"

// System.
#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
// fq, below us.
#include "core/base/text/utf8.h"

namespace fq::cli {

namespace {

constexpr size_t kGap = 2;  // columns between two
constexpr std::string_view kDots = "...";

struct Range {
  uint32_t first;
  uint32_t last;
};

// Of Unicode's East Asian Width what is wide, emoji included.
constexpr Range kWide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x23f0, 0x23f0},   {0x23f3, 0x23f3},
    {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267f, 0x267f},   {0x2693, 0x2693},
    {0x26a1, 0x26a1},   {0x26aa, 0x26ab},   {0x26bd, 0x26be},   {0x26c4, 0x26c5},   {0x26ce, 0x26ce},
    {0x26d4, 0x26d4},   {0x26ea, 0x26ea},   {0x26f2, 0x26f3},   {0x26f5, 0x26f5},   {0x26fa, 0x26fa},
    {0x26fd, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},   {0x2728, 0x2728},   {0x274c, 0x274c},
    {0x274e, 0x274e},   {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27b0, 0x27b0},
    {0x27bf, 0x27bf},   {0x2b1b, 0x2b1c},   {0x2b50, 0x2b50},   {0x2b55, 0x2b55},   {0x2e80, 0x303e},
    {0x3041, 0xa4cf},   {0xa960, 0xa97c},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe19},
    {0xfe30, 0xfe6b},   {0xff01, 0xff60},   {0xffe0, 0xffe6},   {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf},
    {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1faff}, {0x20000, 0x3fffd},
};

// What joins the character before it: accents, vowel signs, joiners, variation selectors.
constexpr Range kJoining[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
    {0x0900, 0x0902}, {0x093c, 0x093c}, {0x0941, 0x0948}, {0x094d, 0x094d}, {0x0e31, 0x0e31},
    {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200c, 0x200d},
    {0x20d0, 0x20ff}, {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
};

bool among(std::span<const Range> ranges, uint32_t code) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), code,
                                      [](uint32_t wanted, const Range& each) { return wanted < each.first; });
  return after != ranges.begin() && code <= (after - 1)->last;
}

size_t columns_of_character(const Utf8Char& character) {
  if (character.bytes == 0 || character.code < 0x300) return 1;
  if (among(kJoining, character.code)) return 0;
  return among(kWide, character.code) ? 2 : 1;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.-%") == std::string_view::npos;
}

/// Bytes of the character or escape that it begins with, and of what joins that.
size_t bytes_of_unit(std::string_view text) {
  size_t bytes = std::max<size_t>(utf8_next(text).bytes, 1);
  if (text.size() > 1 && text[0] == '\\') {
    bytes = text[1] == 'x' ? 4 : text.substr(1).starts_with("u{") ? text.find('}') + 1 : 2;
  }
  bytes = std::min(bytes == 0 ? text.size() : bytes, text.size());
  while (bytes < text.size()) {
    const Utf8Char next = utf8_next(text.substr(bytes));
    if (next.bytes == 0 || columns_of_character(next) != 0) break;
    bytes += next.bytes;
  }
  return bytes;
}

/// Without what lies between a head and a tail of so many columns, dots included; a tail of 0 has none.
std::string cut_between(std::string_view shown, size_t columns, size_t tail_columns) {
  if (columns_of(shown) <= columns) return std::string(shown);
  const std::string_view dots = columns > kDots.size() + 1 ? kDots : "";
  const size_t head_columns = columns - dots.size() - tail_columns;
  size_t head = 0, tail = 0;
  for (size_t used = 0; head < shown.size();) {
    const std::string_view unit = shown.substr(head, bytes_of_unit(shown.substr(head)));
    if ((used += columns_of(unit)) > head_columns) break;
    head += unit.size();
  }
  // From the first unit on behind which there is not more than fits.
  tail = head;
  for (size_t left = columns_of(shown.substr(head)); left > tail_columns;) {
    const std::string_view unit = shown.substr(tail, bytes_of_unit(shown.substr(tail)));
    left -= columns_of(unit);
    tail += unit.size();
  }
  return std::string(shown.substr(0, head)).append(dots).append(shown.substr(tail));
}

}  // namespace

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const Utf8Char next = utf8_next(text);
    columns += columns_of_character(next);
    text.remove_prefix(std::max<size_t>(next.bytes, 1));
  }
  return columns;
}

std::string cut_middle(std::string_view shown, size_t columns) {
  const size_t room = columns > kDots.size() + 1 ? columns - kDots.size() : columns;
  return cut_between(shown, columns, room - room / 2);
}

std::string cut_end(std::string_view shown, size_t columns) { return cut_between(shown, columns, 0); }

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
