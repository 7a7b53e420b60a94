// ended_log - the messages that have ended and are still told of: ended/, beside the journal.
//
// It is no part of the truth, and is never synced: a power cut may take its newest records. Records are
// appended to files of bounded size before the records of the journal that end the messages; the oldest file
// goes first, with its outputs, when there are too many records or bytes, and each when all in it has had its
// time. Where most of a file has had its time, the rest is copied forward.
//
//   ended/<n>    records, see ended_record.h
//   ended/state  the counts, so that an append looks at nothing else; made anew from the records where a
//                killed writer left it behind
//   ended/lock   flock of the one that writes
#pragma once

// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "core/local/files/ended/ended_index.h"
#include "core/local/files/lock_file.h"

namespace fq {

inline constexpr uint32_t kEndedRecordsMax = 10'000;
inline constexpr uint64_t kEndedBytesMax = 256 * 1024 * 1024;         // with outputs
inline constexpr uint64_t kEndedInlineBytesMax = 16 * 1024;           // of an output; a longer one is a file
inline constexpr uint32_t kEndedFileRecords = kEndedRecordsMax / 16;  // the records that go at once
inline constexpr uint64_t kEndedFileBytes = kEndedBytesMax / 16;      // the same in bytes
// Of one message: a longer one would leave no room for any record beside it.
inline constexpr uint64_t kEndedOutputBytesMax = kEndedBytesMax - kEndedFileBytes;

class EndedLog {
 public:
  explicit EndedLog(Disk& disk) : disk_(disk) {}

  /// Within the time; false when another has it for longer.
  Result<bool> lock(int64_t timeout_ms);
  void unlock();

  // Changes need the lock.
  Result<void> append(std::span<const EndedRecord> records, int64_t now_wall_ms);
  enum class Depth {
    records,  // and their outputs
    strays,   // also looks for outputs without a record
  };
  Result<void> sweep(int64_t now_wall_ms, Depth depth);
  /// Whether there is something that a sweep would find. Without the lock: a hint.
  bool is_due(int64_t now_wall_ms);

  /// Whether there are records or outputs.
  bool holds_something();
  /// The record of a message that has ended.
  Result<std::optional<EndedRecord>> find(MessageId id, int64_t now_wall_ms);
  Result<std::optional<JobOutput>> output(MessageId id, int64_t now_wall_ms);
  /// Of each message that is told of its record, the one that ended last first.
  Result<std::vector<EndedPlace>> newest_first(int64_t now_wall_ms);

 private:
  /// The contents of ended/state.
  struct State {
    uint32_t file = 1;  // that is written
    uint32_t file_records = 0;
    uint64_t file_end = 0;
    uint64_t file_bytes = 0;  // with outputs
    uint32_t records = 0;     // of all files
    uint64_t bytes = 0;
    int64_t due_wall_ms = 0;     // when some may have had their time
    int64_t strays_wall_ms = 0;  // when strays are looked for
  };
  Result<bool> read_state();
  Result<void> write_state();
  Result<void> load(int64_t now_wall_ms);
  Result<void> recount(int64_t now_wall_ms);
  Result<void> add(const EndedRecord& record);
  Result<void> write_out();
  Result<void> start_file();
  Result<void> drop_oldest();
  Result<void> drop(uint32_t file);
  Result<void> drop_output(const EndedPlace& place);
  void uncount(const EndedIndex::FileHeads& heads);
  Result<void> move_forward(const EndedIndex::FileHeads& heads, int64_t now_wall_ms);
  Result<void> sweep_loaded(int64_t now_wall_ms, Depth depth);
  Result<void> sweep_file(uint32_t file, const EndedIndex::FileHeads& heads, int64_t now_wall_ms);

  Disk& disk_;
  std::optional<LockFile> lock_;
  std::unique_ptr<File> state_file_;
  State state_;
  std::string batch_;  // encoded and not written yet: it ends at state_.file_end
  EndedIndex index_;
};

}  // namespace fq
