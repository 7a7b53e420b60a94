// journal_size - the limits on the size of the journal, and the share of its free room that each kind of
// record may use.
//
// At rest the journal's files take at most 4 times the live data (messages, keys that are held, settings) and
// 8 MiB, whatever was done before. Housekeeping (core/local/care/housekeeper.h) begins well below that:
//
//   written and not given back           <= 2 live + 2 MiB, else the oldest file is copied forward
//   each file                            <= 3/2 of a wanted one, which is 3/8 live + 1.25 MiB; one that has
//                                        become free is not used again below 1/2 of that
//   ready files                          more than two only while all is below 3 live + 6 MiB, or for what
//                                        follows
//
// A message that was accepted can always be ended, on a full disk too. So ready files keep room for others,
// and the purpose of a record (Purpose) says how much of it that record has to leave:
//
//                          ends   burials   care   takes
//   accept, event          keep   keep      keep   the rest: pushes, kicks, settings; leases, retries...
//   care                   keep   keep      use    LOW, CLOCK, LIMITS, records carried forward
//   bury                   keep   use       use    burials
//   end                    use    use       use    acks, cancels
//
// Ends are 64 bytes for every message, burials 88 for the first 16,384 of those that are not dead. Care is
// one record of the largest size, and the bytes that keys and settings take to be carried forward. On a full
// disk an event or a burial that finds no room is done and not written: after a crash its message is
// where it was before. What is accepted, a push, a kick or a setting, is refused then. Change::append() is
// told the purpose of each record, and asserts in test builds that it leaves what it has to.
#pragma once

// fq, this room.
#include "core/local/shared/journal_table.h"

namespace fq {

/// As many as that, and those that Purpose asks for.
inline constexpr uint32_t kReadyFilesKept = 2;

enum class Purpose { accept, event, care, bury, end };

/// A young queue's journal file; later ones follow the queue's size.
inline constexpr uint64_t kYoungFileBytes = 512 * 1024;
inline constexpr uint64_t kFileBytesMax = 64 * 1024 * 1024;  // chosen: the most that one sync should move

/// A view over the header. Needs: the state lock.
class JournalSize {
 public:
  explicit JournalSize(SegmentHeader& header) : header_(header), table_(header) {}

  /// The size of a journal of nothing but live data, about.
  uint64_t live_bytes() const;
  /// Whether a record of `bytes` leaves the room that is kept for others; with so many messages more to keep
  /// it for.
  bool leaves_room(Purpose purpose, uint64_t bytes, uint64_t more_messages = 0) const;
  /// Whether so many bytes less of free room leave all that records other than pushes need.
  bool can_spare(uint64_t bytes) const;

  /// How many of the oldest files hold no message, and wait for nothing but the pins that is_pinned() tells.
  uint32_t dead_files() const;
  /// Whether some such thing is told by this file or those before it alone.
  bool pins(const Pin& pin, uint32_t number) const;
  bool is_pinned(uint32_t number) const;
  /// Whether none of what follows is so, as a few numbers tell; else it has to be looked at.
  bool is_in_order() const;
  /// Whether the journal is much larger than its live data: the oldest file is to be copied forward.
  bool is_sparse() const;
  /// Whether files that are still to be written are larger, or more, than the queue needs now.
  bool is_oversized() const;
  /// Whether the current file is too large, and files may be made for it to be left. Not more than are kept
  /// and one: together they have all the room that is kept for others.
  bool may_replace_current() const;
  /// Whether a living check reads the files, and they are not so many that they cannot stay for it.
  bool stays_for_check() const;
  /// Whether a file that has become free is of use again.
  bool may_keep(uint32_t number) const;
  uint32_t ready_files() const { return header_.newest_file - header_.current_file; }

  /// Of the next file: half of the journal that there is, so that a busy queue soon has large ones (each
  /// change of file costs three syncs), but in proportion to the live data.
  uint64_t wanted_file_bytes() const;

 private:
  bool is_too_large(uint32_t number) const;
  bool is_too_small(uint32_t number) const;
  uint64_t kept_room(Purpose purpose, uint64_t more_messages) const;
  uint64_t written_bytes() const;

  SegmentHeader& header_;
  JournalTable table_;
};

/// A small part of the disk's free room, which others need too, but a young queue's file at least.
uint64_t next_file_bytes(uint64_t wanted_bytes, uint64_t free_bytes);

}  // namespace fq
