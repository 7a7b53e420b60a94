// numbered_lines - the lines of a file, one after the other, each known by its number when it is at fault.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, this room.
#include "cli/terminal/input.h"

namespace fq::cli {

class NumberedLines {
 public:
  /// `bytes_max`: of one; a longer one "is too long for `what`".
  NumberedLines(Reader reader, size_t bytes_max, std::string_view what)
      : reader_(std::move(reader)), bytes_max_(bytes_max), what_(what) {}

  /// False: there are no more. The line is good until the next call.
  Result<bool> next(std::string_view& line);
  /// Of the line that was given last: bad data, with its number.
  Error fault(const Error& error) const;
  const std::string& name() const { return reader_.name(); }

 private:
  Reader reader_;
  const size_t bytes_max_;
  const std::string_view what_;
  std::string text_;
  size_t at_ = 0;
  bool at_end_ = false;
  uint64_t number_ = 0;
};

}  // namespace fq::cli
