// input - standard input and files, read while signals come through.
//
// Reader gives what comes, knows whether more is there right now (a batch ends when the input pauses) and
// never blocks with signals held back.
#pragma once

// System.
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/result.h"

namespace fq::cli {

/// A descriptor and what it is called in messages. Closes it unless it is standard input.
class Reader {
 public:
  static Result<Reader> standard_input();
  static Result<Reader> file(const std::string& path);
  Reader(Reader&& other) noexcept : descriptor_(other.descriptor_), name_(std::move(other.name_)) {
    other.descriptor_ = 0;
  }
  ~Reader();

  /// Appends what comes next to `to`; false at the end.
  Result<bool> read_some(std::string& to);
  /// Whether read_some would answer at once.
  bool ready() const;
  /// All of it; is_too_long() when it is longer than `bytes_max`.
  Result<std::string> read_all(uint64_t bytes_max);
  /// Why a read_all() failed: else the system could not read it, which may be bad_data, too.
  static bool is_too_long(const Error& why) { return why.kind == ErrorKind::bad_data && why.sys == 0; }
  const std::string& name() const { return name_; }

 private:
  Reader(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  int descriptor_;
  std::string name_;
};

/// Why standard input is not read unasked: "a terminal", "/dev/null" or "closed"; "" when it may be.
std::string_view why_not_read_unasked();
/// For a command that would have read it. `instead`: what to give for it.
Error not_read_unasked(const std::string& instead);

/// Keeps closed standard descriptors from being given to files that the engine opens. Once, at the start.
void hold_standard_descriptors();
/// Leaves them closed again, for a program that looks for itself.
void let_go_of_standard_descriptors();

/// `operands` with "-" replaced by the lines of standard input, empty ones left out.
Result<std::vector<std::string>> expand_dash(const std::vector<std::string>& operands);

/// ErrorKind::bad_data: a payload of `bytes` (or more) is over the limit.
Error payload_too_long(std::string_view name, uint64_t bytes_max);

}  // namespace fq::cli
