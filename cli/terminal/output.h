// output - standard output (or error), buffered, where every write is checked; and the one place that talks
// on standard error.
//
// A failed write is a value: the caller gives back what it holds before it ends. While a write waits, signals
// come through (see cli/terminal/signals.h); a signal that raised the interrupt fails the write.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace fq::cli {

class Output {
 public:
  explicit Output(int descriptor = 1) : descriptor_(descriptor) {}
  /// Buffers; writes when much has gathered.
  Result<void> write(std::string_view bytes);
  /// Copies `size` bytes of a file without holding them all.
  Result<void> copy_file(int descriptor, uint64_t size);
  Result<void> flush();
  bool is_terminal();
  /// The error of a write, where nobody could read it: for who has nothing to write for a while.
  Result<void> check_reader();
  /// A write has failed; nothing more will come out.
  bool failed() const { return failed_; }

  /// The error of a reader that has left: not a message to anybody.
  static bool reader_left(const Error& error);
  static bool interrupted(const Error& error);

 private:
  /// `caught`: how many signals had come when it began; one more ends it.
  Result<void> write_now(std::string_view bytes, int caught);
  Result<void> write_pieces(std::string_view bytes, int caught);
  void choose_piece();
  long write_piece(std::string_view bytes, int caught) const;
  const int descriptor_;
  Descriptor own_;  // a pipe opened anew, which does not block; empty: it is none
  std::string buffer_;
  bool failed_ = false;
  int terminal_ = -1;  // -1: not asked yet
  size_t piece_ = 0;   // bytes of one write; 0: not asked yet
};

/// One line on standard error, "fq: TEXT", escaped.
void say(std::string_view text);
/// The line that it writes.
std::string spoken(std::string_view text);

}  // namespace fq::cli
