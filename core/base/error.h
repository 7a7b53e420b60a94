// error - a fault of the environment, as a value.
//
// An Error is made at the leaf that saw the fault and is prefixed by at most one layer above it. Its text
// follows `object: what is wrong; what to do`, lower case, no full stop. Only cli prints it and turns its
// kind into an exit code. Expected things (an empty queue) are values, bugs are asserts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fq {

/// Each kind has one exit code, in cli/words/exit_code.h.
enum class ErrorKind {
  missing,   // no such queue, spool or message
  usage,     // an argument breaks a rule of the contract
  bad_data,  // a payload or a line that cannot be read, damage found by check
  unusable,  // refused file system, other format version, another pid namespace at work
  io,        // the outcome is unknown
  later,     // full, a limit, a lock held by a stopped process
  denied,    // no permission
  config,    // fq.toml or the environment is wrong
};

struct Error {
  ErrorKind kind = ErrorKind::io;
  std::string text;
  int sys = 0;  // errno where a system call failed, else 0
  /// By itself, as a server that is away comes back: who waits asks again. Of an outcome that is unknown this
  /// is for who may do it twice.
  bool passes = false;
  /// Of a batch: which of it is at fault, from 0, where one is.
  std::optional<size_t> item = {};
  /// Of a push that a limit refused: with PushOptions::block it waits for room.
  bool could_wait = false;
};

/// Out of line: code that runs only after a fault is not to lie beside the code that always runs.
struct ErrorDeleter {
  void operator()(Error* error) const noexcept;
};

/// The one place where errno becomes an Error: "object: call: what errno says". ENOSPC, EDQUOT, EFBIG,
/// EMFILE, ENFILE and ENOMEM are `later`, EACCES, EPERM and EROFS `denied`, ENOTDIR, ELOOP and
/// ENAMETOOLONG `unusable`, the rest `io`.
Error sys_error(std::string_view call, std::string_view object, int sys);

}  // namespace fq
