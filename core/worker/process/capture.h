// capture - the output of a job's pipe: passed on, kept, its end remembered.
//
// It reads only while there is room to pass on what it read, and while the caller has read enough, so a job
// that floods is slowed down by its own pipe and never fills our memory.
#pragma once

// System.
#include <string>
// fq, below us.
#include "core/base/descriptor.h"
// fq, this room.
#include "core/worker/process/passage.h"
#include "core/worker/process/tagged_lines.h"
#include "core/worker/process/transcript.h"

namespace fq::worker {

inline constexpr size_t kTailBytes = 4096;       // of stderr, kept with a failed attempt
inline constexpr size_t kReadBytes = 64 * 1024;  // as much as a pipe holds

class Capture {
 public:
  struct Terms {
    Passage* passage = nullptr;        // where it goes on to; null: nowhere
    Transcript* transcript = nullptr;  // where it is kept; null: nowhere
    Channel channel = Channel::out;    // of it
    size_t tail_bytes = 0;
    std::string tag = {};  // of each line that goes on; "": none
  };
  /// Blocked: what goes on has no room; held_back: what is kept for the caller has none.
  enum class Progress { more, blocked, held_back, ended };

  Capture() = default;
  /// Reads from `pipe`, which must not block.
  Capture(Descriptor pipe, const Terms& terms) : pipe_(std::move(pipe)), terms_(terms), lines_(terms.tag) {}

  int descriptor() const { return pipe_.get(); }
  bool open() const { return pipe_.get() >= 0; }
  /// Takes in what there is now, a bounded part of it, where there is room for it.
  Progress take_some();
  /// It was blocked, and there is room by now.
  bool can_go_on() const { return is_blocked_ && open() && terms_.passage->has_room(); }
  void go_on() { is_blocked_ = false; }
  /// All that there is now, some pipes full of it at most, whether there is room or not; for a job that has
  /// ended. What its descendants write later is dropped when it is taken.
  void finish();

  const std::string& tail() const { return tail_; }

 private:
  void keep(std::string_view bytes);
  void pass_on(std::string_view bytes);

  Descriptor pipe_;
  Terms terms_;
  TaggedLines lines_;
  std::string tail_;
  bool is_blocked_ = false;
};

}  // namespace fq::worker
