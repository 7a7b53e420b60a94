// job_output - the output of jobs on its way to its readers: while they run, and after.
//
// A run is one start of a message's job. The worker hands its output to a RunOutput; an OutputFollower reads
// it, run after run, until the message has ended. Output that is too long to be kept loses its middle, but
// where the message has a caller that lives: no byte that the caller has not read goes, and the job is held
// back instead.
#pragma once

// System.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/bytes.h"
#include "core/base/result.h"
// fq, this room.
#include "core/api/interrupt.h"

namespace fq {

enum class Channel : uint8_t { out, err };
inline constexpr Channel kChannels[] = {Channel::out, Channel::err};

/// Bytes that are not there, before the byte `at` of those that are.
struct Gap {
  uint64_t at = 0;
  uint64_t bytes = 0;
  bool operator==(const Gap&) const = default;
};

struct RunTerms {
  uint64_t bytes_max = 0;      // kept of each channel: the first and the last half
  bool waits_for_call = true;  // false: unread bytes go too, and the job is never held back
};

/// The output of one run. Of one thread at a time, which need not be the queue's; it may outlive the queue's
/// object. When it is gone, only its caller may still begin to read it.
class RunOutput {
 public:
  virtual ~RunOutput() = default;

  /// Whether it has a caller, which listens for all that we know.
  virtual bool is_called() const = 0;
  /// From now on others read it. An Error: they cannot, and nothing may be written.
  virtual Result<void> open() = 0;
  /// False: its caller is to read first. Bytes written all the same are taken, but not without end.
  virtual bool has_room(Channel channel) = 0;
  /// Needs: open. Bytes that cannot be kept are counted.
  virtual void write(Channel channel, std::string_view bytes) = 0;
  /// Nothing more comes.
  virtual void close() = 0;

  /// Whether its calls wait for a server.
  virtual bool is_far() const { return false; }
  /// Once close() was called: false where that takes its time. Until then it is still used.
  virtual bool is_closed() const { return true; }
  /// Why others cannot read it, where open() did not know that yet: then only the beginning is kept. "": they
  /// can.
  virtual std::string fault() const { return {}; }

  // The part that is kept after the message has ended. Needs: closed.
  virtual uint64_t kept_bytes(Channel channel) const = 0;
  virtual Gap gap(Channel channel) const = 0;
  /// Fills `to` with the kept bytes from `from` on.
  virtual Result<void> read_kept(Channel channel, uint64_t from, MutableBytes to) const = 0;
};

/// The output of a job, as far as it is kept.
struct JobOutput {
  std::string out;
  std::string err;
  int64_t keep_ms = 0;
  Gap out_gap = {};
  Gap err_gap = {};
  std::shared_ptr<const RunOutput> run = {};  // to be kept: its output, and the gaps in it, are there
};

struct FollowStep {
  enum class What {
    bytes,       // of a channel, in `bytes`
    missing,     // `count` bytes of a channel; 0: an unknown number, of either
    run,         // the next steps are of the run `count`, counted from 1 as deliveries are
    broken_off,  // its worker died: the end of the output of this run is missing
    ended,       // the message has ended, and all that its job wrote was told
    timed_out,
    interrupted,
  };
  What what = What::ended;
  Channel channel = Channel::out;
  std::string_view bytes;  // until the next call
  uint64_t count = 0;
};

/// How long to wait where there is nothing now; none: as long as it takes.
struct FollowWait {
  std::optional<int64_t> wait_ms;
  bool only_there = false;  // nothing that a run writes after it was begun to be read
  Interrupt* interrupt = nullptr;
};

/// Used like its queue, which outlives it.
class OutputFollower {
 public:
  virtual ~OutputFollower() = default;
  virtual Result<FollowStep> next(const FollowWait& wait) = 0;
};

}  // namespace fq
