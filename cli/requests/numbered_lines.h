// numbered_lines - the lines of a file, one after the other, each known by its number when it is at fault.
#pragma once

// System.
#include <cstdint>
#include <string>
#include <string_view>
// fq, this room.
#include "cli/terminal/input.h"

namespace fq::cli {

/// How long a line of JSON may be that holds a text of n bytes (six each at most: \u0001) and other keys.
constexpr uint64_t json_line_bytes_max(uint64_t text_bytes_max) {
  constexpr uint64_t kOtherKeysBytes = uint64_t{1} << 20;
  return text_bytes_max > UINT64_MAX / 8 ? UINT64_MAX / 2 : text_bytes_max * 6 + kOtherKeysBytes;
}

class NumberedLines {
 public:
  /// `bytes_max`: of one; a longer one "is too long for `what`".
  NumberedLines(Reader reader, size_t bytes_max, std::string_view what)
      : reader_(std::move(reader)), bytes_max_(bytes_max), what_(what) {}

  /// From the next line on: what it may be is not known before the first one.
  void set_bytes_max(size_t bytes_max) { bytes_max_ = bytes_max; }
  /// False: there are no more. The line is good until the next call.
  Result<bool> next(std::string_view& line);
  /// Of the line that was given last: bad data, with its number.
  Error fault(const Error& error) const;
  const std::string& name() const { return reader_.name(); }

 private:
  Reader reader_;
  size_t bytes_max_;
  const std::string_view what_;
  std::string text_;
  size_t at_ = 0;
  bool at_end_ = false;
  uint64_t number_ = 0;
};

}  // namespace fq::cli
