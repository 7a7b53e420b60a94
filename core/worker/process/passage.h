// passage - the worker's own standard output or error, written to without ever being waited for.
//
// A person may look at us through a pager that stands still. So bytes that cannot be written now are held;
// while there is no room, the jobs' pipes are not read and no job is started: the jobs wait instead of us.
// Bytes over the limit all the same are bounded by the jobs that ran then: a pipe each, and a line a message.
#pragma once

// System.
#include <cstdint>
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/descriptor.h"

namespace fq::worker {

class Passage {
 public:
  /// Over 1 or 2.
  explicit Passage(int descriptor);

  /// Bytes over the limit go in all the same; see has_room().
  void write(std::string_view bytes);
  /// A line of ours: behind the one that somebody has begun, where that ends within a moment.
  void say(std::string_view line);
  /// When on_time() is wanted; kNever: it is not.
  int64_t next_ms() const { return said_.empty() ? kNever : say_at_ms_; }
  void on_time(int64_t now_ms);
  /// A line that is left out, and counted, where there is no room: for what may be said without end.
  void remark(std::string_view line);
  /// Writes what is held, as far as that goes now.
  void flush();
  bool has_room() const { return held_.size() < kHeldBytesMax; }
  bool holds_something() const { return !held_.empty(); }
  /// For epoll; -1 where it cannot be waited for (a file): then it never holds anything.
  int descriptor() const { return own_ ? own_.get() : descriptor_; }
  /// It has a reader that may leave, and whoever writes then gets SIGPIPE.
  bool has_reader() const { return is_pipe_ || is_socket_; }
  /// And what is written to `descriptor` is read by the same one, in the same place.
  bool has_reader_of(int descriptor) const;
  /// Its reader has left: later bytes are dropped.
  bool broken() const { return broken_; }
  /// Once, at the very end: waits until it is out, but not for ever. Returns: how many bytes never came out.
  uint64_t finish(int64_t patience_ms);

 private:
  static constexpr size_t kHeldBytesMax = 256 * 1024;
  long write_some(std::string_view bytes) const;

  int descriptor_;
  Descriptor own_;  // the same file opened anew without blocking; empty where that cannot be
  bool is_pipe_ = false;
  bool is_socket_ = false;
  bool broken_ = false;
  std::string held_;
  bool in_line_ = false;  // what was written last has begun a line
  std::string said_;      // until that ends, or this time
  int64_t say_at_ms_ = 0;
  uint64_t lost_bytes_ = 0;
};

}  // namespace fq::worker
