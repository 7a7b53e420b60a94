// passage - the worker's own standard output or error, written to without ever being waited for.
//
// Somebody may look at us through a pager that stands still. So what cannot be written now is held, a
// bounded amount of it; while there is no room, the jobs' pipes are not read, and the jobs wait instead of
// us.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/descriptor.h"

namespace fq::worker {

class Passage {
 public:
  /// Over 1 or 2.
  explicit Passage(int descriptor);

  /// What is over the limit goes in all the same; see has_room().
  void write(std::string_view bytes);
  /// A line that is left out where there is no room: nobody has read the ones before it.
  void say(std::string_view line) {
    if (has_room()) write(line);
  }
  /// Writes what is held, as far as that goes now.
  void flush();
  bool has_room() const { return held_.size() < kHeldBytesMax; }
  bool holds_something() const { return !held_.empty(); }
  /// For epoll; -1 where it cannot be waited for (a file): then it never holds anything.
  int descriptor() const { return own_ ? own_.get() : descriptor_; }
  /// Its reader has left: what comes is dropped.
  bool broken() const { return broken_; }
  /// Once, at the very end: waits until it is out, but not for ever.
  void finish(int64_t patience_ms);

 private:
  static constexpr size_t kHeldBytesMax = 256 * 1024;
  long write_some(std::string_view bytes) const;

  int descriptor_;
  Descriptor own_;  // the same file opened anew without blocking; empty where that cannot be
  bool is_socket_ = false;
  bool broken_ = false;
  std::string held_;
};

}  // namespace fq::worker
