// load - the load of a simulated queue: its messages, settings, and how long each run takes.
//
// A load can be played several times, so it holds nothing of a simulation. Messages are numbered from 1 in
// the order in which they come, tenants from 0. Times are those of the load's own clock, in milliseconds.
#pragma once

// System.
#include <span>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/policy.h"
#include "core/schedule/memory/layout.h"

namespace fq {

struct Happening {
  enum class What : uint8_t {
    push,    // message `which`
    set,     // Load::setting(which)
    cancel,  // message `which`, unless it runs
    due,     // message `which` is due now, whatever was said before
    start,   // message `which`, as it happened; a simulation that takes turns passes it over
  };
  int64_t at_ms = 0;
  What what{};
  uint64_t which = 0;
};

struct Incoming {
  uint32_t tenant = 0;
  uint32_t bytes = 0;
  int32_t priority = 0;
  int64_t due_ms = 0;                    // at or before it comes: at once
  int64_t ttl_ms = kNever;               // from when it is due
  std::string_view key = {};             // order-preserving bytes
  std::span<const uint64_t> after = {};  // messages, with kAfterAny of core/journal/record.h
};

enum class RunEnding : uint8_t { acked, retried, released, died, buried, cancelled };

/// The values set at run time for a tenant, or with an empty path for the queue. `limited` is a time.
struct Setting {
  std::string path;
  PolicyPatch patch;
};

/// How one run goes, once it has begun.
struct Run {
  int64_t run_ms = 0;
  RunEnding ending = RunEnding::acked;
  int64_t back_ms = 0;  // retried, released: due so long after the run's end
};

class Load {
 public:
  virtual ~Load() = default;

  virtual void rewind() = 0;
  /// When the next thing happens; kNever: nothing more does.
  virtual int64_t next_ms() const = 0;
  virtual Happening take() = 0;

  virtual Incoming arrival(uint64_t message) const = 0;
  virtual uint32_t tenant_of(uint64_t message) const = 0;
  /// Of its nth run, from 0.
  virtual Run run(uint64_t message, uint32_t nth) const = 0;
  virtual const Setting& setting(uint64_t which) const = 0;
  virtual const std::vector<std::string>& tenants() const = 0;
  /// Some messages come after others.
  virtual bool has_followers() const = 0;

  /// Its wait is known from its beginning.
  virtual bool is_whole(uint64_t message) const = 0;
  /// Its wait counts up to here; kNever: however long it is.
  virtual int64_t counts_until_ms(uint64_t message) const = 0;
  virtual int64_t begin_ms() const = 0;
  /// Nothing comes after it, and shares are those of the time before.
  virtual int64_t end_ms() const = 0;
  /// The time since when messages are taken.
  virtual int64_t taken_from_ms() const = 0;
};

}  // namespace fq
