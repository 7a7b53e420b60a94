// screen - the abilities of the place that a view is written to: how wide it is, whether it has colours and
// more characters than ASCII, and whether the cursor can be moved.
#pragma once

// System.
#include <cstddef>
#include <string>
#include <string_view>

namespace fq::cli {

class Output;

struct Screen {
  size_t columns = SIZE_MAX;  // no limit where it is no terminal
  size_t rows = SIZE_MAX;
  bool colour = false;
  bool utf8 = false;
  bool moves = false;  // a terminal that understands escape sequences
};

/// Asked anew each time: a window changes its size.
Screen screen_of(Output& out);

// Colours, as parts of an escape sequence.
inline constexpr std::string_view kHeading = "1";
inline constexpr std::string_view kGood = "32";
inline constexpr std::string_view kBad = "31";
inline constexpr std::string_view kWaiting = "33";
inline constexpr std::string_view kQuiet = "2";
inline constexpr std::string_view kChosen = "7";

/// `text` in that colour where there are colours.
std::string painted(std::string_view text, std::string_view colour, const Screen& screen);

/// A bar of at most `columns`, as long as `part` (0 to 1) of them; more than nothing is at least a little.
std::string bar(double part, size_t columns, bool utf8);

/// A small picture of so many heights, one column each: 0 is empty, the greatest full.
std::string heights(const double* from, size_t count, bool utf8);

}  // namespace fq::cli
