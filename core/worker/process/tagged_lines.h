// tagged_lines - the output of a job, cut into lines that each begin with the tag of its message.
//
// A line goes on only when it is whole, so that those of jobs that run at once are never mixed; a line that
// is too long for that goes on in parts, each a line.
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

  /// The part of `bytes`, and of the bytes before them, that goes on now.
  std::string take(std::string_view bytes);
  /// The rest: a last line without an end gets one.
  std::string finish();

 private:
  std::string tag_;
  std::string begun_;  // of a line that is not whole yet
};

}  // namespace fq::worker
