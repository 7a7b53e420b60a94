// calls - the file `calls`: the callers that listen to jobs, and a bell for each of them.
//
// A caller (fq push --wait) has a lock on the byte that stands for its call, as long as it lives: the kernel
// tells of it without taking it. The first page is an array of words; a process that writes the output of a
// job rings the one of its message, and every process that listens to a message with that word looks.
#pragma once

// System.
#include <memory>
// fq, below us.
#include "core/base/ids.h"
#include "core/shm/futex.h"
// fq, this room.
#include "core/local/files/mapped_page.h"

namespace fq {

class Calls {
 public:
  /// Made where it is not there yet. Null on a fake disk.
  static Result<std::unique_ptr<Calls>> open(Disk& disk);

  EventWord& bell(MessageId id) const;
  /// A call of our own: a number that no other call has. It goes on until end(), or until this object is
  /// gone.
  Result<CallId> begin();
  void end(CallId call) const;
  /// Whether the caller still lives. Not for a call of our own.
  bool goes_on(CallId call) const;

 private:
  Calls(std::unique_ptr<File> file, MappedPage page) : file_(std::move(file)), page_(std::move(page)) {}

  std::unique_ptr<File> file_;
  MappedPage page_;
};

}  // namespace fq
