#include "cli/terminal/screen.h"

// System.
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cmath>
// fq, this room.
#include "cli/terminal/environment.h"
#include "cli/terminal/output.h"
#include "cli/terminal/shown.h"

namespace fq::cli {

namespace {

constexpr size_t kUsualColumns = 80;
constexpr size_t kUsualRows = 24;
constexpr int kTerminal = 1;  // standard output

constexpr std::array<std::string_view, 9> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
constexpr std::array<std::string_view, 9> kHeights = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kPlainHeights = " .:-=+*#@";

}  // namespace

Screen screen_of(Output& out) {
  Screen screen;
  screen.utf8 = locale_shows_utf8();
  if (!out.is_terminal()) return screen;
  screen.columns = kUsualColumns;
  screen.rows = kUsualRows;
  winsize size{};
  if (::ioctl(kTerminal, TIOCGWINSZ, &size) == 0) {
    if (size.ws_col > 0) screen.columns = size.ws_col;
    if (size.ws_row > 0) screen.rows = size.ws_row;
  }
  const std::optional<std::string> term = environment("TERM");
  screen.moves = term && *term != "dumb";
  screen.colour = screen.moves && !environment("NO_COLOR");
  return screen;
}

std::string painted(std::string_view text, std::string_view colour, const Screen& screen) {
  if (!screen.colour || text.empty()) return std::string(text);
  std::string all = "\x1b[";
  return all.append(colour).append("m").append(text).append("\x1b[0m");
}

std::string bar(double part, size_t columns, bool utf8) {
  const double wanted = std::clamp(part, 0.0, 1.0) * static_cast<double>(columns);
  std::string text;
  if (!utf8) {
    auto whole = static_cast<size_t>(std::lround(wanted));
    if (wanted > 0 && whole == 0) whole = 1;
    return text.assign(whole, '#');
  }
  auto eighths = static_cast<size_t>(std::lround(wanted * 8));
  if (wanted > 0 && eighths == 0) eighths = 1;
  for (; eighths >= 8; eighths -= 8) text += kEighths[8];
  return text.append(kEighths[eighths]);
}

std::string heights(const double* from, size_t count, bool utf8) {
  const double most = count == 0 ? 0 : *std::max_element(from, from + count);
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    auto level = most > 0 ? static_cast<size_t>(std::lround(from[i] / most * 8)) : 0;
    if (from[i] > 0 && level == 0) level = 1;
    if (utf8) {
      text += kHeights[level];
    } else {
      text += kPlainHeights[level];
    }
  }
  return text;
}

}  // namespace fq::cli
