// outbox - lines on their way to a command that may be slow to read them.
//
// Bounded by bytes, as far as its writer asks for room first. It knows where each line begins, so that lines
// that the command has not begun to read can be taken back.
#pragma once

// System.
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace fq::worker {

class Outbox {
 public:
  static constexpr size_t kHeldBytesMax = size_t{1} << 20;  // arbitrary: some pipes full

  bool empty() const { return text_.size() == written_; }
  /// The last line may be over it.
  bool has_room() const { return text_.size() - written_ < kHeldBytesMax; }
  void add(std::string receipt, std::string_view line);
  /// Writes as much as `descriptor`, which does not block, takes now. False: it has no reader any more.
  bool write_to(int descriptor);
  /// All lines but the one that is begun; their receipts.
  std::vector<std::string> take_back();

 private:
  struct Line {
    uint64_t end = 0;  // counted from the first byte ever
    std::string receipt;
  };
  void note_written(size_t bytes);

  std::string text_;
  size_t written_ = 0;       // of text_
  uint64_t erased_ = 0;      // before text_
  uint64_t line_begin_ = 0;  // of lines_[0]
  std::deque<Line> lines_;   // not quite written
};

}  // namespace fq::worker
