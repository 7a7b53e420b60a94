// layout - the segment of one queue: header, locks, stream, file table, settings, schedule, holders, ring.
//
// The header lies at the start of the segment; the ring of unwritten journal bytes follows at kRingPage,
// the chunks of the schedule's arrays behind it. Lock order, always downwards, never two of one rank:
//   1  rebuild      flock          serialises rebuilders
//   2  lock         flock          shared while attached; exclusive proves that none is
//   3  life         LifeLock       one a consumer, for as long as it lives
//   4  policy_lock  RobustMutex    one loads the policy file
//      checking     RobustMutex    one holds the segment against the journal
//   5  compaction   RobustMutex    one compactor, one maker of journal files
//   6  flush        RobustMutex    one leader writes and syncs
//   7  state        RobustMutex    append and apply; no system call, malloc or payload CRC inside
//
// To change anything here nothing needs raising: the layout hash in the header follows the sizes and
// offsets, and a segment of another layout is rebuilt from the journal.
//
// Stream invariants (positions only grow)
//  J1  durable_end <= ring_start <= applied_end <= servable_end <= tail, and tail - ring_start fits the ring.
//  J2  Bytes before ring_start are in their files; before durable_end they are on disk.
//  J3  Messages of pushed records before applied_end are in the schedule, none behind it is.
//  J4  committed_end is tail as of the last commit; a process that repairs the state lock sets it.
//  J5  [durable_end, ring_start) is not empty only after records left the ring unsynced that may be lost:
//      solid_end, where the last one ends that may not, is no further than durable_end or behind ring_start.
#pragma once

// System.
#include <cstddef>
// fq, below us.
#include "core/api/settings.h"
#include "core/schedule/schedule.h"
#include "core/shm/life_lock.h"
#include "core/shm/segment.h"

namespace fq {

inline constexpr char kSegmentMagic[8] = {'f', 'q', 's', 'e', 'g', 'm', 't', '\n'};

// 512 KiB: twice the largest record, so that one can be appended while another is written.
inline constexpr uint64_t kRingBytes = 512 * 1024;

// 2048 files of at most 64 MiB are 128 GiB of journal; larger journals take larger files.
inline constexpr uint32_t kJournalFilesMax = 2048;

// Ids and serials are handed out below a durable limit that moves in steps of this.
inline constexpr uint64_t kLimitStep = uint64_t{1} << 20;

// Unique keys of messages that are not applied yet are counted by eight bits of their hash: a push that finds
// a count waits until it is applied. Chosen: few meet by accident, and a batch adds to each once.
inline constexpr uint32_t kPendingKeys = 256;

enum class FileState : uint32_t { none = 0, ready = 1, current = 2, sealed = 3, failed = 4 };

/// One journal file, at index number % kJournalFilesMax.
struct JournalSlot {
  Shared<uint32_t> number;
  Shared<FileState> state;
  Shared<uint64_t> salt;
  Shared<uint64_t> start;  // stream position of its first record
  Shared<uint64_t> end;    // sealed, failed: nothing of it is valid from here on
  Shared<uint64_t> bytes;  // of the file
  Shared<uint32_t> live;   // messages whose payload record it holds
  Shared<uint32_t> lost;   // 1: a message, or a hole, was given up there; goes to damaged/, is not used again
};

/// A consumer that holds leases by living.
struct HolderSlot {
  LifeLock life;
  Shared<uint32_t> pid;  // 0: free
  Shared<uint32_t> next_free;
  Shared<uint64_t> started;         // of a carried holder: as /proc tells, since its life lock is elsewhere
  Shared<uint32_t> carried;         // 1: taken over from a segment that was rebuilt; no life lock
  Shared<int64_t> job_limit_ms;     // how long after its death its orphans keep messages
  Shared<int64_t> orphaned_at_ms;   // boot time: seen dead with such jobs; 0: not
  Shared<int64_t> ask_again_at_ms;  // boot time: not before is it asked whether such jobs still live
  Shared<uint32_t> slots;           // of a worker: jobs at once; 0: it is none
  Shared<uint32_t> messages;        // of a worker: of one job, at most
  Shared<int64_t> since_ms;         // boot time; 0: not known
  Shared<uint32_t> changes;         // its leases were ended or extended by others so often; it sleeps on this
};

using SharedSettings = SettingFields<Shared>;

/// The layers that `settings` in the header is put together from: see policy_layers.h.
struct SharedPolicy {
  SharedSettings file;                                  // defaults where it says nothing
  SharedSettings run_time;                              // those of run_time_keys count
  Shared<uint64_t> run_time_keys;                       // bit n: PolicyKey n
  Shared<uint64_t> file_device, file_inode, file_size;  // FileIdentity
  Shared<int64_t> file_changed_ns, file_modified_ns;
  Shared<uint64_t> file_for_queue;
  Shared<uint32_t> draining;  // pushes are refused
  Shared<uint32_t> zero;
};

/// A pin on journal files beside that of messages: things of which only old records tell. Before the files of
/// these can go they are written down anew, by a walk over an array of the schedule that any process goes on
/// with.
struct Pin {
  Shared<uint64_t> record;     // no record before it tells of one; 0: there is none
  Shared<uint64_t> since;      // the same, of those that came since the walk began
  Shared<uint64_t> walk_from;  // where the stream ended when the walk began; 0: there is no walk
  Shared<uint32_t> walk_next;  // elements before it were written down anew
  Shared<uint32_t> zero;
};

/// Payloads in blobs/ that a process has still to see to, see loose_blobs.h.
struct LooseBlobsCount {
  Shared<uint64_t> bytes;
  Shared<uint64_t> looked_at;  // bytes, when blobs/ was last looked through
  Shared<uint32_t> of_damage;  // 1: blobs found there go to damaged/, records were lost
  Shared<uint32_t> zero;
};

/// The tie of a segment to its boot, its namespace and its directory. Constant once the segment is ready.
struct SegmentIdentity {
  char magic[8];
  uint64_t layout_hash;
  uint8_t boot_id[16];
  uint64_t pid_namespace;
  uint64_t first_process;  // of it; 0: the kernel has no number for that
  uint64_t time_namespace;
  uint64_t lock_device;
  uint64_t lock_inode;
  uint8_t nonce[16];
  uint64_t generation;
};

enum class Phase : uint32_t {
  making = 0,  // not whole yet
  working = 1,
  poisoned = 2,  // found damaged: rebuild it
  retired = 3,   // another segment has taken its place: attach anew
};

// The part that is opened as a whole (Txn::open), beside those that the schedule names.
inline constexpr uint32_t kOpensEnds = kOpensRing + 1;
template <class T>
using EndField = Shared<T, kOpensEnds>;

// Of SegmentHeader::nothing_moves.
inline constexpr uint32_t kNothingMoves = 1;
inline constexpr uint32_t kNothingLeft = 2;

struct SegmentHeader {
  // Constant after creation.
  SegmentIdentity identity;
  uint32_t identity_crc;

  // Atomic: read and written without a lock.
  std::atomic<Phase> phase;
  std::atomic<uint64_t> committed_end;
  std::atomic<uint64_t> durable_end;  // written by the leader, under flush
  std::atomic<uint64_t> ring_start;   // written by the leader, under flush
  std::atomic<uint64_t> written_end;  // by the leader too; a hint: bytes before it need no second tidy write
  // Of the last salvage: the stretch with the records that the failed file did not give back.
  std::atomic<uint64_t> lost_from, lost_end;
  std::atomic<uint32_t> sync_failed;  // sticky: no file takes the journal any more
  std::atomic<uint32_t> sync_under_way;
  std::atomic<uint32_t> file_failed;    // the current file took no write or sync: the next leader moves on
  EventWord ready_event;                // something can be served, or a waiter has to look again
  EventWord sync_event;                 // durable_end moved, or the leader gave up
  std::atomic<uint32_t> ready_waiters;  // a hint that may drift up: costs a system call, never skips one
  std::atomic<uint32_t>
      selective_waiters;  // those of them with a filter, which do not take just any message; a hint too
  std::atomic<uint32_t> sync_waiters;
  EventWord end_event;                // messages ended
  std::atomic<uint32_t> end_waiters;  // a hint too
  // kNothingMoves: when it was last looked at, no message was on its way from or to another queue;
  // kNothingLeft: the journal tells of none that went to another one. In a new segment both are unknown (0);
  // a process that has the spool's MoveLock sets them.
  std::atomic<uint32_t> nothing_moves;

  RobustMutex policy_lock;
  RobustMutex compaction;
  RobustMutex flush;
  RobustMutex state;
  RobustMutex checking;

  // Guarded by state. The fields that every operation touches come first; the undo log is mostly untouched.
  Shared<uint64_t> segment_bytes;  // of the file; where the next chunk goes
  Shared<uint64_t> resealed_end;   // records before it may carry the seal of a file that failed
  // From here to next_serial: opened by each change.
  EndField<int64_t> last_boot_ms;  // time never goes back from one operation to the next
  EndField<uint64_t> tail;
  EndField<uint64_t> applied_end;
  EndField<uint64_t> servable_end;
  EndField<uint64_t> solid_end;
  EndField<uint64_t> next_seq;
  EndField<uint64_t> next_id;
  EndField<uint64_t> next_serial;
  Shared<uint32_t> applied_item;  // within the pushed record at applied_end
  Shared<uint32_t> zero;
  Shared<uint64_t> id_limit;  // durable: ids and serials below may be handed out
  Shared<uint64_t> serial_limit;
  Shared<uint64_t> id_limit_pending;  // appended, not yet known durable
  Shared<uint64_t> serial_limit_pending;
  Shared<uint64_t> limits_position;  // where the pending LIMITS record ends
  Shared<int64_t> wall_minus_boot_ms;
  Shared<int64_t> clock_step_ms;      // by which the wall clock was set last
  Shared<uint64_t> clock_position;    // of that record; those before it tell times by the clock of then
  Shared<uint64_t> pending_messages;  // room kept for pushed records that are not applied yet
  Shared<uint64_t> pending_tenants;
  Shared<uint64_t> pending_cells;
  Shared<uint64_t> pending_extras;
  Shared<uint64_t> pending_key_count;
  Shared<uint64_t> pending_waits;
  Shared<uint64_t> key_secret[2];  // of unique keys, from `secret`; zero: none yet
  Pin kept_keys;                   // whose messages were acked
  Pin run_time_settings;
  Pin schedules;
  Pin steps;
  Pin replaced;                    // messages that have another payload than their push gave them
  Shared<uint64_t> pending_bytes;  // of payload
  LooseBlobsCount loose_blobs;
  Shared<uint64_t> sealed_bytes;  // of the files before the current one, all of each
  Shared<uint64_t> made_bytes;    // segment_bytes as a replay of the journal had left them
  Shared<uint32_t> current_file;  // number
  Shared<uint32_t> oldest_file;
  Shared<uint32_t> newest_file;  // the highest number, ready ones included
  Shared<uint32_t> free_holder;
  Shared<uint32_t> holders_used;  // high-water mark
  Shared<uint32_t> copied_file;   // compaction: the file that is copied forward, and how far the
  Shared<uint32_t> copied_slots;  // messages were looked through for it
  Shared<uint32_t> zero2;
  Shared<uint32_t> salvage_file;  // where unsynced bytes that left the ring still lie
  SharedSettings settings;        // that hold
  SharedPolicy policy;
  ScheduleRoot schedule;
  Shared<uint32_t> pending_keys[kPendingKeys];  // of what is not applied yet, by some bits of their hash
  HolderSlot holders[kHoldersMax];
  JournalSlot files[kJournalFilesMax];
  UndoLog undo;
  ChangedBlocks changed;  // for a copy of the segment, see segment_copy.h

  /// A push with this key, or with one of the same bits, is not applied yet.
  bool may_be_pending(const KeyHash& key) const { return pending_keys[key.half[0] % kPendingKeys] != 0; }
};
static_assert(std::is_standard_layout_v<SegmentHeader>);

inline constexpr uint64_t kRingOffset = (sizeof(SegmentHeader) + kPageBytes - 1) / kPageBytes * kPageBytes;
inline constexpr uint64_t kFirstChunkOffset = kRingOffset + kRingBytes;
static_assert(kFirstChunkOffset % kPageBytes == 0);

/// For a change that appends records.
using OpenedEnds = OpenedFields<kOpensEnds>;
[[gnu::always_inline]] inline OpenedEnds open_ends(Txn& txn, SegmentHeader& header) {
  constexpr size_t kBytes = offsetof(SegmentHeader, applied_item) - offsetof(SegmentHeader, last_boot_ms);
  return txn.open_fields<kOpensEnds, kBytes>(&header.last_boot_ms);
}

/// Differs whenever a build lays the segment out differently, its C library's locks included.
uint64_t layout_hash();

uint32_t identity_crc(const SegmentIdentity& identity);

}  // namespace fq
