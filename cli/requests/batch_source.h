// batch_source - many messages by --lines, --null or --ndjson, in batches that are all or nothing.
//
// A batch is up to 1,024 messages or 256 KiB, or what has come when the input pauses. A bad line ends the
// command, names itself, and leaves its whole batch out.
#pragma once

// System.
#include <optional>
#include <string>
#include <string_view>
#include <vector>
// fq, this room.
#include "cli/requests/push_options.h"
#include "cli/requests/pusher.h"
#include "cli/requests/splitter.h"

namespace fq::cli {

enum class BatchForm { lines, null, ndjson };

class BatchSource {
 public:
  /// `settings`: of the queue. All have to outlive it.
  BatchSource(Reader& source, BatchForm form, const PushFields& defaults, const Settings& settings);

  /// Waits for the next batch and reads it, where there is none that has yet to go.
  Result<void> read();
  /// Refuses what is read where it cannot be the first of its queue, which would be made in this spool.
  Result<void> check_first(const std::string& spool) const;
  /// All of it, a batch after the other.
  Result<void> push(Pusher& pusher);

 private:
  struct Line {
    PushLine line;
    uint64_t number = 0;
    NewMessage message() const { return message_of(line.fields, line.payload); }
  };
  Result<PushLine> parse(std::string_view item) const;
  bool fits(uint64_t more_bytes) const;
  void add(Line line);
  Result<void> send(Pusher& pusher);
  std::string which_are_missing(const std::vector<PushStatus>& statuses) const;
  Error at_line(Error error, const Line& line) const;

  const BatchForm form_;
  const PushFields& defaults_;
  const Settings& settings_;
  Splitter splitter_;
  std::vector<Line> batch_;
  uint64_t bytes_ = 0;
  std::optional<Line> left_over_;  // for which the batch had no room
  bool at_end_ = false;
};

}  // namespace fq::cli
