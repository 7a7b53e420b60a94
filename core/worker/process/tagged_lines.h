// tagged_lines - what a job writes, cut into lines that each begin with whose they are.
//
// A line goes on only when it is whole, so that those of jobs that run at once are never mixed; one that is
// too long for that goes on in parts, each a line.
#pragma once

// System.
#include <string>
#include <string_view>

namespace fq::worker {

class TaggedLines {
 public:
  static constexpr size_t kLineBytesMax = 64 * 1024;

  TaggedLines() = default;
  /// `tag` is written as it is; "": lines go on as they come, whole or not.
  explicit TaggedLines(std::string tag) : tag_(std::move(tag)) {}

  /// What of `bytes`, and of what came before, goes on now.
  std::string take(std::string_view bytes);
  /// What is left: a last line without an end gets one.
  std::string finish();

 private:
  std::string tag_;
  std::string begun_;  // of a line that is not whole yet
};

}  // namespace fq::worker
