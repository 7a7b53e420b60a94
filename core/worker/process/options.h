// options - the options of a worker, after cli has read and checked every word of them.
#pragma once

// System.
#include <sys/resource.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>
// fq, below us.
#include "core/api/queue.h"
#include "core/base/backoff.h"

namespace fq::worker {

enum class OutputPolicy { inherit, keep, fail, discard };
enum class BatchFormat { ndjson, lines, null };
enum class Stay {
  forever,
  once,   // one message or batch
  drain,  // until the queue is idle
};

struct ResourceLimit {
  int resource = 0;
  rlim_t value = 0;
};

struct Options {
  std::vector<std::string> command;  // empty: only command messages
  bool shell = false;                // command is one text for `sh -c`
  uint32_t slots_min = 1;            // slots_min < slots_max: as many as the backlog asks for
  uint32_t slots_max = 1;
  Stay stay = Stay::forever;
  std::optional<uint32_t> attempts;
  std::optional<int64_t> timeout_ms;  // 0: none, whatever the queue says
  std::optional<BackoffRange> backoff;
  int64_t grace_ms = 10'000;
  uint32_t batch = 0;  // 0: no batches
  int64_t linger_ms = 0;
  BatchFormat batch_format = BatchFormat::ndjson;
  bool stream = false;
  uint32_t prefetch = 64;
  OutputPolicy output = OutputPolicy::inherit;
  uint64_t output_bytes_max = uint64_t{16} << 20;
  bool output_max_given = false;  // it holds for output that has a caller, too
  std::optional<int> nice;
  unsigned umask = 022;  // of the jobs
  std::vector<ResourceLimit> limits;
  bool verbose = false;
  bool tags_output = false;              // each line of output begins with its message's id and tenant
  bool strict = false;                   // drain: told of what was run and not acked
  bool looked_on = false;                // a person sees each line as it is written
  std::string spool;                     // absolute, for the jobs
  std::vector<std::string> environment;  // of the jobs, "NAME=value"
  std::string notify_socket, watchdog_us, watchdog_pid;  // as systemd sets them; "" where it does not
};

/// One queue that the worker serves.
struct Source {
  std::string name;
  std::unique_ptr<Queue> queue;
};

/// The words that the worker leaves to cli.
struct Voice {
  /// A line for a person, as it is written.
  std::function<std::string(std::string_view)> spoken;
  /// A message of this queue as one line of JSON.
  std::function<Result<std::string>(const std::string&, const Delivery&)> line;
  std::function<Result<void>(const std::string&, Queue&)> refresh_policy;
  /// strict: of this queue, a message that was run, or buried instead, and whose ack this worker knows
  /// nothing of.
  std::function<void(const std::string&, MessageId)> not_acked;
  /// The bytes that bring the cursor of standard output to the start of a line, wherever it is; "": it is not
  /// a terminal.
  std::function<std::string()> line_start;
};

enum class End {
  done,
  nothing,   // once: there was none
  away,      // likewise, as far as the queues could be looked at
  unusable,  // the command cannot be started
  killed,    // by a second signal
};

/// Serves until told to stop. Needs: every signal is blocked in all threads.
Result<End> work(std::vector<Source> sources, const Options& options, const Voice& voice);

}  // namespace fq::worker
