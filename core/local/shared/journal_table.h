// journal_table - the files of the journal: the stretch of the stream that each holds, and how much room is
// left.
//
// A view over SegmentHeader::files; numbers from oldest_file to newest_file are all there. Needs the state
// lock, except find() for positions before committed_end, whose slots no longer change until the file is
// recycled (the salt tells).
#pragma once

// System.
#include <atomic>
#include <optional>
// fq, below us.
#include "core/journal/codec.h"
#include "core/journal/journal_name.h"
// fq, this room.
#include "core/local/shared/store.h"

namespace fq {

/// Where a stream position lies on disk.
struct FilePlace {
  FileKey key;
  uint64_t offset = 0;
};

class JournalTable {
 public:
  explicit JournalTable(SegmentHeader& header) : header_(header) {}

  JournalSlot& slot(uint32_t number) const { return header_.files[number % kJournalFilesMax]; }
  FileKey key(uint32_t number) const { return {number, slot(number).salt}; }

  /// The file that holds this position of the stream; none when it was removed.
  std::optional<uint32_t> find(uint64_t position) const {
    // search() tells where the table cannot be so.
    const uint32_t current = header_.current_file;
    if (position >= slot(current).start && current - header_.oldest_file < kJournalFilesMax) return current;
    // That of its neighbour, mostly.
    const JournalSlot& last = slot(last_found_);
    const bool is_there = last.number == last_found_ && last.state == FileState::sealed &&
                          last.start <= position && position < last.end;
    return is_there ? last_found_ : search(position);
  }
  /// In line: each delivery comes here.
  std::optional<FilePlace> place(uint64_t position) const {
    std::optional<uint32_t> number = find(position);
    if (!number) return std::nullopt;
    // While the unsynced end is being moved to another file, it still lies where it was.
    const bool moving = position >= header_.durable_end.load(std::memory_order_acquire) &&
                        position < header_.resealed_end &&
                        position < header_.ring_start.load(std::memory_order_acquire);
    if (moving) number = header_.salvage_file.get();
    return FilePlace{key(*number), kFirstRecordOffset + (position - slot(*number).start)};
  }

  /// Whether a file that was the queue's is so no more, and may be written for something else. No lock needed.
  bool is_given_back(uint32_t number) const {
    // What was read before is not of later than that.
    std::atomic_thread_fence(std::memory_order_acquire);
    return number < header_.oldest_file.peek();
  }
  /// Whether what the ring has left, up to this position and more, is in the file that it was appended to,
  /// and not in a later one because that failed. No lock needed.
  bool holds(uint32_t number, uint64_t position) const {
    const JournalSlot& of = slot(number);
    return of.state.peek() == FileState::current || position < of.end.peek();
  }
  /// Free bytes for records in the current file.
  uint64_t current_room() const;
  /// Whether the current file and the ready ones have room for records of `bytes` in all, all of one file,
  /// and for `kept` more.
  bool has_room(uint64_t bytes, uint64_t kept) const;
  bool has_ready() const { return header_.newest_file > header_.current_file; }
  bool is_full() const {
    return header_.newest_file - header_.oldest_file + 2 >= kJournalFilesMax ||
           header_.newest_file >= kJournalNumberMax;
  }
  uint64_t journal_bytes() const;  // of all files

  /// Records behind the tail go to the next ready file. Needs: has_ready().
  void open_next(Txn& txn);
  void add_ready(Txn& txn, const FileKey& key, uint64_t bytes);
  /// The oldest file is none of the queue any more. Needs: it is not the current one.
  void remove_oldest(Txn& txn);
  /// After the files before the current one were changed in another way.
  void recount_sealed(Txn& txn);

  void add_live(Txn& txn, uint64_t position, uint32_t messages = 1);
  /// In line: each end of a message comes here.
  void remove_live(Txn& txn, uint64_t position) {
    const std::optional<uint32_t> number = find(position);
    // A message whose file is gone was damaged away; there is nothing to count down.
    if (!number) return;
    if (slot(*number).live == 0) region_damaged("a file holds fewer messages than none");
    txn.set(slot(*number).live, slot(*number).live - 1);
  }

 private:
  std::optional<uint32_t> search(uint64_t position) const;

  SegmentHeader& header_;
  mutable uint32_t last_found_ = 0;  // number; a hint
};

}  // namespace fq
