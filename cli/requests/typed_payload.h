// typed_payload - a payload that is given as an argument, by --payload or by --file, and never read unasked.
#pragma once

// System.
#include <optional>
#include <string>
// fq, below us.
#include "core/base/result.h"
// fq, this room.
#include "cli/words/arguments.h"

namespace fq::cli {

struct TypedPayload {
  std::optional<std::string> text;
  std::optional<std::string> file;  // "-": standard input

  bool is_given() const { return text || file; }
  /// "" where none was given. ErrorKind::bad_data: it is longer.
  Result<std::string> read(uint64_t most) const;
};

/// `operand`: the one that is the payload, or null; "-" is standard input.
Result<TypedPayload> typed_payload_of(const Arguments& arguments, const std::string* operand);

}  // namespace fq::cli
