// transcript - the output of a job, as far as it is kept: in memory while that is little, then where others
// read it.
//
// Most jobs write a line and end, and cost no file. Output that has a caller goes on at once; other output as
// soon as it is long, or has lain here for a moment: a person may follow it.
#pragma once

// System.
#include <array>
#include <memory>
// fq, below us.
#include "core/api/job_output.h"
#include "core/base/clock.h"

namespace fq::worker {

class Transcript {
 public:
  static constexpr uint64_t kInMemoryBytes = 16 * 1024;  // of both channels
  static constexpr int64_t kMomentMs = 50;               // chosen: a follower sees what was written so soon

  /// Keeps nothing.
  Transcript() = default;
  /// `bytes_max` of each channel. `run` may be null: then only the beginning is kept.
  Transcript(std::shared_ptr<RunOutput> run, uint64_t bytes_max);

  bool keeps() const { return keeps_; }
  /// False: the caller is to read first.
  bool has_room(Channel channel) const { return !open_ || run_->has_room(channel); }
  void write(Channel channel, std::string_view bytes);
  /// When on_time() has something to do; kNever: nothing.
  int64_t next_ms() const { return hand_on_at_ms_; }
  void on_time(int64_t now_ms);
  /// Nothing more comes. False: what came is still on its way; to be asked again.
  bool close();
  /// Why others cannot read it, so that only the beginning is kept; "": they can, or need not.
  std::string fault() const { return open_ ? run_->fault() : fault_; }
  /// Once, when it is closed.
  JobOutput take();

 private:
  struct Part {
    std::string text;
    uint64_t lost_bytes = 0;
  };
  bool hand_on();
  bool is_too_long() const;

  std::shared_ptr<RunOutput> run_;
  uint64_t bytes_max_ = 0;
  bool keeps_ = false;
  bool open_ = false;     // others read it: nothing is in memory any more
  bool refused_ = false;  // they cannot
  std::string fault_;
  int64_t hand_on_at_ms_ = kNever;
  std::array<Part, 2> parts_;
};

}  // namespace fq::worker
