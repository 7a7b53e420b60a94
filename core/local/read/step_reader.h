// step_reader - the results of steps: looked up under the lock, read in the journal without it.
#pragma once

// fq, below us.
#include "core/api/steps.h"
// fq, this room.
#include "core/local/write/link.h"

namespace fq {

/// A step as the lock showed it.
struct StepSnapshot {
  uint32_t index = 0;
  uint64_t id = 0;  // of its message
  uint64_t record = 0;
  uint32_t record_bytes = 0;
  StepKind kind{};
  std::optional<FilePlace> place;
  uint64_t written_end = 0;
};

/// The record of a step, with the bytes that it points into.
struct StoredStep {
  std::vector<std::byte> bytes;
  SteppedRecord record;
};

class StepReader : private Linked {
 public:
  explicit StepReader(Link& link) : Linked(link) {}

  /// Needs: the lock, and that the index is of a step.
  StepSnapshot see(uint32_t index);
  /// Nothing was done to it since. Needs: the lock.
  bool is_unchanged(const StepSnapshot& seen);
  /// False: its record lies there no more, or cannot be read.
  Result<bool> read(const StepSnapshot& seen, StoredStep& stored);
  Result<std::string> output_of(const StoredStep& stored);
  /// All of a message, the oldest first, as far as they can be read. None: there is no such message.
  Result<std::optional<std::vector<StepInfo>>> list(MessageId id);
  /// All of a message, the newest first. False: there is no such message.
  Result<bool> see_all(MessageId id, std::vector<StepSnapshot>& all);
};

/// Where its steps have outputs in blobs/. Needs: the lock.
void find_step_blobs(Link& link, const Entry& entry, std::vector<ItemPlace>& places);

}  // namespace fq
