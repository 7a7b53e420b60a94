// watch - a view again and again: over itself on a terminal, else one after the other with a blank line
// between.
//
// Between two views signals come through, so Ctrl-C ends it as it ends any command, and a reader that leaves
// is noticed at once and not at the next view.
#pragma once

// System.
#include <cstdint>
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/result.h"

namespace fq::cli {

class Arguments;
class Output;
struct Screen;

class Watch {
 public:
  explicit Watch(Output& out) : out_(out) {}

  /// In one write; on a terminal as many lines as it has, elsewhere with a blank line before what is not the
  /// first.
  Result<void> show(std::string_view text, const Screen& screen);
  /// Returns an error when nobody reads any more.
  Result<void> pause(int64_t ms);

 private:
  Output& out_;
  bool first_ = true;
};

/// The value of --watch, or its default. A time behind a blank is no operand of any command that has it.
Result<int64_t> watched_every_ms(const Arguments& arguments);

/// How many lines Watch shows of a view.
size_t lines_watched(const Screen& screen);

/// `text` so that it replaces what is on the screen: each line to its end, and what is below.
std::string over_the_last(std::string_view text, const Screen& screen);

}  // namespace fq::cli
