// flush - one leader writes and syncs for all: the way of the ring's bytes to the disk.
//
// The process that holds the flush lock is the leader. It writes what lies in the ring behind ring_start,
// syncs, lets the messages that became durable be served, and only then publishes durable_end. A leader that
// dies is simply repeated: the next one writes the same bytes to the same places. A file that failed a
// write or a sync is never written or synced again: everything past durable_end goes on in another one,
// under the same positions and sequence numbers (core/local/recover/salvage.cpp).
#pragma once

// fq, this room.
#include "core/local/shared/gate.h"
#include "core/local/files/lock_file.h"
#include "core/local/files/open_files.h"

namespace fq {

/// How much a leader does.
enum class FlushGoal {
  durable,  // write and sync
  room,     // write, so that the ring gets room; sync only what may not be lost
  tidy,     // write what may be written without a sync, and keep it in the ring all the same: a leader
            // that dies in its sync is repeated from there
};

/// A stretch of the stream within one file.
struct FlushPiece {
  FileKey key;
  FileKey previous;    // the file before it; number 0: none
  uint64_t start = 0;  // of the file, in the stream
  uint64_t from = 0;
  uint64_t to = 0;
  OpenedRecord opened;  // where `from` begins the file
};

/// The work of a leader, as it found the stream under the state lock.
struct FlushPlan {
  uint64_t durable_end = 0;
  uint64_t ring_start = 0;
  uint64_t target = 0;
  bool awaited = false;  // messages wait for a sync before they can be served
  bool solid = false;    // something that may not be lost is not on disk
  bool salvage = false;  // an earlier leader moved the unsynced end to another file and did not finish
  FileKey failed_key;    // salvage: where [durable_end, ring_start) still lies
  uint64_t failed_start = 0;
  std::vector<FlushPiece> pieces;
};

class Flusher {
 public:
  Flusher(Gate& gate, OpenFiles& files, const LockFile& lock_file)
      : gate_(gate), files_(files), lock_file_(lock_file) {}

  /// Returns once the stream is on disk up to `end`. An Error means unknown (`io`), naming the process
  /// that holds the flush lock where that is the reason; also where the record that ends there was lost
  /// meanwhile.
  Result<void> wait_durable(uint64_t end);
  /// Of what others have written: where their lock does not come, nothing that was asked for is unknown.
  Result<void> wait_durable_of_others(uint64_t end);
  /// Writes what is committed, so that the ring gets room; waits for the disk only where something else
  /// than what may be lost would leave it.
  Result<void> make_room();
  /// Before leaving: lazy bytes get as far as the kernel, from where a killed process cannot take them back.
  void tidy();
  /// Without any wait for another process: one that leads now does it as well.
  void try_sync();

 private:
  struct Patience;
  Taken take_lock();
  Result<void> lead_and_tell(FlushGoal goal);
  Result<void> lost_meanwhile(uint64_t end) const;
  Result<void> take_turn(FlushGoal goal, uint32_t seen, Patience& patience);
  Result<void> lead(FlushGoal goal);
  Result<void> lead_once(FlushGoal goal);
  Result<FlushPlan> make_plan(FlushGoal goal);
  Result<void> write_pieces(const FlushPlan& plan);
  Result<void> write_opened(File& file, const FlushPiece& piece);
  Result<void> write_from_ring(File& file, const FlushPiece& piece);
  Result<void> sync_file(const FileKey& key);
  /// Notes for all leaders that the file took no write or sync: never another one.
  Error failed(Error error);
  Result<void> publish(const FlushPlan& plan, bool synced);

  // core/local/recover/salvage.cpp
  Result<void> continue_in_new_file();
  Result<void> make_room_for(uint64_t bytes, FileKey& key);
  Result<void> make_large_file(uint64_t bytes, FileKey& key);
  Result<void> write_salvaged(const FlushPlan& plan);
  /// A record that says nothing new, for what it stands behind.
  void append_fence(Txn& txn, Body& body);
  void recount_live(Txn& txn, uint64_t durable_end, uint32_t first, uint32_t last);
  Result<std::vector<std::byte>> gather(const FlushPlan& plan);
  Result<void> read_failed(const FlushPlan& plan, MutableBytes to);
  /// Seals for the files they go to what was gathered.
  Result<void> reseal(const FlushPlan& plan, MutableBytes bytes);
  Result<void> note_lost(const FileKey& failed, uint64_t from, uint64_t end);

  Gate& gate_;
  OpenFiles& files_;
  const LockFile& lock_file_;
};

}  // namespace fq
