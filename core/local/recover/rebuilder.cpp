#include "core/local/recover/rebuilder.h"

// System.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
// fq, below us.
#include "core/base/disk/disk_full.h"
#include "core/base/fault_point.h"
#include "core/journal/chain.h"
#include "core/journal/journal_name.h"
// fq, this room.
#include "core/local/flush/flush.h"
#include "core/local/files/jobs/outputs.h"
#include "core/local/files/queue_mark.h"
#include "core/local/shared/loose_blobs.h"
#include "core/local/shared/policy_layers.h"
#include "core/local/files/queue_directory.h"

namespace fq {

namespace {

constexpr int64_t kRebuildWaitMs = 5'000;  // the settings are in the segment that has to be replaced

void hash_keys_with(Store& store, const KeySecret& secret) {
  Txn txn = store.begin();
  for (size_t i = 0; i < 2; ++i) txn.set(store.header().key_secret[i], secret.half[i]);
  txn.commit();
}

/// Whether something is there that comes into a queue only when it has been made.
bool has_traces(Disk& queue) {
  for (const char* name : {"segment", "secret", "policy", "running", "calls"})
    if (queue.open(name, OpenMode::read).ok()) return true;
  for (const char* name : {"blobs", "output", "ended", "damaged"}) {
    const Result<std::vector<std::string>> below = queue.list(name);
    if (below.ok() && !below->empty()) return true;
  }
  return false;
}

/// As of a file in the midst: in the journal that is begun anew, too. How the lost ones were numbered nobody
/// knows.
void tell_lost_journal(ScanResult& scan) {
  scan.lost_number = 1;
  scan.damage.push_back({scan.lost_number, 0, 0, 0, "the file is missing"});
}

}  // namespace

Result<void> Rebuilder::rebuild() {
  FQ_TRY_SET(LockFile rebuild_lock, LockFile::open(disk(), "rebuild", true));
  // A process that is rebuilding wants `lock` for itself: not held while we wait for it.
  grip_.unmap();
  lock_file().unlock();
  FQ_TRY_SET(const bool mine, rebuild_lock.lock(LockFile::Mode::exclusive, kRebuildWaitMs));
  if (!mine) {
    return Error{ErrorKind::later,
                 object() + ": process " + join_pids(rebuild_lock.holders()) + " is rebuilding it; try again",
                 0};
  }
  FQ_TRY_SET(const bool shared, lock_file().lock(LockFile::Mode::shared, kRebuildWaitMs));
  if (!shared) {
    return Error{ErrorKind::later,
                 object() + ": process " + join_pids(lock_file().holders()) +
                     " has exclusive use of it; continue or end it",
                 0};
  }
  // Removed while nobody held it: with nothing attached, the caller looks anew.
  if (!grip_.names_own_lock()) return {};
  FQ_POINT("rebuild.begin");
  return rebuild_locked();
}

Result<void> Rebuilder::rebuild_locked() {
  // Somebody else may have done it while we waited.
  LockIdentity identity;
  FQ_TRY_SET(const bool has_identity, lock_file().read(identity));
  FQ_TRY_SET(const Found found, grip_.map_segment_there(identity, has_identity));
  if (found == Found::usable) return {};
  // Before anything is changed: it belongs to an fq that knows more.
  FQ_TRY(check_formats(disk()));
  const bool lost_all = has_lost_journal(has_identity);
  FQ_TRY(check_place(location().spool, disk()));
  FQ_TRY_SET(const bool alone, prove_alone(found));
  // What one with faults knew of lost records that show as no damage is gone with it.
  const bool had_faults = found == Found::retired ||
                          (grip_.store() != nullptr &&
                           grip_.store()->header().phase.load(std::memory_order_acquire) == Phase::poisoned);
  if (grip_.store() != nullptr) {
    Result<void> retired = rescue_.retire();
    // With nobody attached its locks are held by nobody alive: what could not be rescued is only told.
    if (!retired.ok() && !alone) return retired;
    if (!retired.ok()) notice(retired.error().text);
  }
  const bool is_new = grip_.may_create() && alone && is_unmade(disk());
  Result<void> built = build(alone, had_faults, lost_all);
  if (!built.ok()) return is_new ? take_back(std::move(built).error()) : std::move(built).error();
  // Shared again before anybody can see that we were alone; `rebuild` keeps other rebuilders out.
  FQ_TRY_SET(const bool shared, lock_file().lock(LockFile::Mode::shared, kRebuildWaitMs));
  FQ_ASSERT(shared);
  return {};
}

/// Whether there is no file of the journal where one was. A queue that is being made has its first file
/// before anything else is in it, and the directory of that before its lock.
bool Rebuilder::has_lost_journal(bool has_identity) {
  const Result<std::vector<std::string>> names = disk().list("journal");
  const bool is_gone = !names.ok() && names.error().sys == ENOENT;
  // What is left of a file that was being made, or is somebody else's, is none.
  const bool is_empty = names.ok() && std::none_of(names->begin(), names->end(), [](const std::string& name) {
                          return parse_journal_name(name).has_value();
                        });
  if (!is_gone && !is_empty) return false;
  if (!has_traces(disk()) && !(is_gone && has_identity)) return false;
  notice(object() + ": journal/ is " + (is_gone ? "missing" : "empty") +
         ", and all messages with it; begun anew");
  return true;
}

/// A queue that is half made would be in the way of whoever goes through all of them.
Error Rebuilder::take_back(Error why) {
  Result<void> removed = remove_queue_directory(location().spool, location().queue);
  if (!removed.ok()) return std::move(removed).error();
  if (!is_disk_full(why)) return why;
  return Error{why.kind, object() + ": the disk is full; it was not made", why.sys};
}

Result<bool> Rebuilder::prove_alone(Found found) {
  lock_file().unlock();
  FQ_TRY_SET(bool alone, lock_file().try_lock(LockFile::Mode::exclusive));
  if (alone) return true;
  const std::string pids = join_pids(lock_file().holders());
  if (found == Found::foreign) {
    return Error{
        ErrorKind::unusable,
        object() + ": another pid or time namespace is at work in it (process " + pids + " or hidden)", 0};
  }
  if (found == Found::other_build) {
    return Error{ErrorKind::unusable,
                 object() + ": another build of fq is at work in it (process " + pids + "); end it first", 0};
  }
  // Those who are attached leave by themselves at their next lock. A retired one they may be leaving right
  // now, to wait for `rebuild` with the shared lock held: waiting for them in turn would be a deadlock.
  if (found == Found::poisoned || found == Found::retired) {
    FQ_TRY_SET([[maybe_unused]] const bool shared, lock_file().lock(LockFile::Mode::shared, kRebuildWaitMs));
    return false;
  }
  // Nothing in that segment can be trusted, its locks neither: its leaders are stopped by the generation.
  LockIdentity identity;
  FQ_TRY_SET(const bool has_identity, lock_file().read(identity));
  if (has_identity) {
    ++identity.generation;
    FQ_TRY(lock_file().write(identity));
  }
  FQ_TRY_SET(alone, lock_file().lock(LockFile::Mode::exclusive, kRebuildWaitMs));
  if (alone) return true;
  return Error{
      ErrorKind::later,
      object() + ": its segment is damaged and process " + pids + " still uses it; end it, then try again",
      0};
}

Result<void> Rebuilder::build(bool alone, bool had_faults, bool lost_all) {
  LockIdentity identity;
  FQ_TRY_SET(const bool has_identity, lock_file().read(identity));
  if (!has_identity) {
    // A new queue, or a copy: a segment that came along belongs to the original.
    identity = LockIdentity{};
    FQ_TRY(draw_nonce(location().spool, identity.nonce));
    identity.device = lock_file().device();
    identity.inode = lock_file().inode();
  }
  ++identity.generation;
  FQ_TRY(lock_file().write(identity));
  // Nobody needs the old segment: on a full disk its room is what the new one is made of. But it may be all
  // that shows that there was a journal.
  if (alone && !lost_all && grip_.store() == nullptr) FQ_TRY(remove_segment(disk(), "segment"));
  FQ_TRY_SET(std::unique_ptr<Store> store, make_segment(grip_, identity));
  FQ_TRY_SET(const KeySecret kept, take_secret(disk()));
  const KeySecret secret = kept.is_there() ? kept : draw_secret();
  hash_keys_with(*store, secret);
  FQ_TRY_SET(Replayed replayed, replay_journal(disk(), *store, holes_));
  if (lost_all) tell_lost_journal(replayed.scan);
  if (!kept.is_there()) FQ_TRY(begin_secret_anew(*store, secret));
  FQ_POINT("rebuild.replayed");
  rescue_.tell_unsaved(store->header().tail);
  FQ_TRY(files_.report_damage(replayed.scan));
  FQ_TRY(files_.remove_unusable(replayed.scan));
  FQ_TRY(files_.choose(*store, replayed.scan));
  FQ_TRY(adopt_boot(*store, replayed));
  carry_holders(*store);
  take_over_numbers(*store, grip_.store(), !replayed.scan.damage.empty());
  store->header().phase.store(Phase::working, std::memory_order_release);
  FQ_TRY(write_first_records(*store, replayed, had_faults));
  FQ_POINT("rebuild.made");
  store->set_private(false);
  FQ_TRY(disk().rename(kNewSegment, "segment"));
  FQ_POINT("rebuild.renamed");
  grip_.replace(std::move(store));
  drop_forsaken_runs(disk());  // of workers of which nobody knows any more, those of another boot
  return {};
}

/// Keys were read and the secret with which they had been hashed is not there: what is queued holds its keys
/// under another. Where no key was read none is needed.
Result<void> Rebuilder::begin_secret_anew(Store& store, const KeySecret& secret) {
  if (store.schedule().region().root.key_supply.used == 0) {
    hash_keys_with(store, KeySecret{});
    return {};
  }
  Result<void> written = write_secret(disk(), secret);
  // A full disk has no room for it: check tells of it, and --repair writes it.
  if (!written.ok() && written.error().kind != ErrorKind::later) return written;
  notice(object() +
         ": secret is missing; made anew, unique keys of messages that ended long ago are forgotten");
  return {};
}

Result<void> Rebuilder::adopt_boot(Store& store, const Replayed& replayed) {
  SegmentHeader& header = store.header();
  const int64_t boot_ms = clock().boot_ms();
  const int64_t offset_ms = clock().wall_ms() - boot_ms;
  const bool same_boot = replayed.has_clock && std::memcmp(replayed.last_boot.boot_id, kernel().boot_id,
                                                           sizeof kernel().boot_id) == 0;
  if (same_boot) return {};
  apply_reboot(store, header.last_boot_ms, boot_ms, offset_ms);
  follow_clock(store, offset_ms, boot_ms + offset_ms);
  return {};
}

/// A process that still lives keeps what it holds; that nobody is attached says nothing of that, since
/// whoever waits for this, and we ourselves, have let go of the segment.
void Rebuilder::carry_holders(Store& store) {
  SegmentHeader& header = store.header();
  for (uint32_t i = 0; i < header.holders_used; ++i) {
    HolderSlot& holder = header.holders[i];
    if (holder.pid == 0) continue;
    const bool lives = process_started(holder.pid).value_or(0) == holder.started;
    const uint64_t started = lives ? holder.started.get() : 0;
    Txn txn = store.begin();
    txn.set(holder.started, started);
    txn.commit();
  }
}

Result<void> Rebuilder::write_first_records(Store& store, const Replayed& replayed, bool had_faults) {
  SegmentHeader& header = store.header();
  Gate gate(store, clock(), object());
  OpenFiles files(disk());
  Flusher flusher(gate, files, lock_file());
  const bool same_boot = replayed.has_clock && std::memcmp(replayed.last_boot.boot_id, kernel().boot_id,
                                                           sizeof kernel().boot_id) == 0;
  uint64_t end = 0;
  FQ_TRY(gate.locked([&]() -> Result<void> {
    Body body;
    Txn txn = store.begin();
    const Now now = gate.note_now(txn);
    if (!same_boot) {
      ClockRecord clock;
      std::memcpy(clock.boot_id, kernel().boot_id, sizeof clock.boot_id);
      clock.wall_minus_boot_ms = header.wall_minus_boot_ms;
      encode_clock(body, clock);
      gate.stream().append(txn, body, MessageId{0}, now.wall_ms);
    }
    if (header.next_id + kLimitStep / 2 > header.id_limit ||
        header.next_serial + kLimitStep / 2 > header.serial_limit) {
      const LimitsRecord limits{header.next_id + kLimitStep, header.next_serial + kLimitStep};
      encode_limits(body, limits);
      gate.stream().append(txn, body, MessageId{0}, now.wall_ms);
      gate.apply().limits(txn, limits);
    }
    txn.set(header.id_limit_pending, header.id_limit);
    txn.set(header.serial_limit_pending, header.serial_limit);
    const bool is_damaged = had_faults || !replayed.scan.damage.empty();
    if (is_damaged || !replayed.scan.files.empty()) LooseBlobs(header).begin(txn, is_damaged);
    txn.commit();
    gate.stream().publish();
    end = header.tail;
    return {};
  }));
  return flusher.wait_durable(end);
}

}  // namespace fq
