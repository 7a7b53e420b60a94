// rebuild - a new segment from the journal, in place of one that is gone, foreign or damaged.
//
// One process at a time, under `rebuild`. Alone (proved by the exclusive lock) it makes the new segment and
// renames it over the old. With others attached it first flushes and retires the old one through its own
// locks; they attach anew at their next lock. Where not even the locks can be trusted it raises the
// generation, which stops their leaders, and waits for them to go.
#include "core/local/recover/attachment.h"

// System.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
// fq, below us.
#include "core/base/disk/disk_full.h"
#include "core/base/fault_point.h"
#include "core/journal/chain.h"
// fq, this room.
#include "core/local/flush/flush.h"
#include "core/local/files/queue_mark.h"
#include "core/local/shared/loose_blobs.h"
#include "core/local/shared/policy_layers.h"
#include "core/local/files/queue_directory.h"

namespace fq {

namespace {

constexpr int64_t kRebuildWaitMs = 5'000;  // the settings are in the segment that has to be replaced

Result<void> remove_if_there(Disk& disk, std::string_view name) {
  Result<void> removed = disk.remove(name);
  if (!removed.ok() && removed.error().sys == ENOENT) return {};
  return removed;
}

void hash_keys_with(Store& store, const KeySecret& secret) {
  Txn txn = store.begin();
  for (size_t i = 0; i < 2; ++i) txn.set(store.header().key_secret[i], secret.half[i]);
  txn.commit();
}

}  // namespace

Result<void> Attachment::rebuild() {
  FQ_TRY_SET(LockFile rebuild_lock, LockFile::open(*disk_, "rebuild", true));
  // A process that is rebuilding wants `lock` for itself: not held while we wait for it.
  store_.reset();
  lock_file_->unlock();
  FQ_TRY_SET(const bool mine, rebuild_lock.lock(LockFile::Mode::exclusive, kRebuildWaitMs));
  if (!mine) {
    return Error{ErrorKind::later,
                 object() + ": process " + join_pids(rebuild_lock.holders()) + " is rebuilding it; try again",
                 0};
  }
  FQ_TRY_SET(const bool shared, lock_file_->lock(LockFile::Mode::shared, kRebuildWaitMs));
  if (!shared) {
    return Error{ErrorKind::later,
                 object() + ": process " + join_pids(lock_file_->holders()) +
                     " has exclusive use of it; continue or end it",
                 0};
  }
  // Removed while nobody held it: with nothing attached, the caller looks anew.
  if (!names_lock(location_.spool, location_.queue, lock_file_->device(), lock_file_->inode())) return {};
  FQ_POINT("rebuild.begin");
  return rebuild_locked();
}

Result<void> Attachment::rebuild_locked() {
  // Somebody else may have done it while we waited.
  LockIdentity identity;
  FQ_TRY_SET(const bool has_identity, lock_file_->read(identity));
  FQ_TRY_SET(const Found found, map_existing(identity, has_identity));
  if (found == Found::usable) return {};
  // Before anything is changed: it belongs to an fq that knows more.
  FQ_TRY(check_formats(*disk_));
  const Result<std::vector<std::string>> files = disk_->list("journal");
  if (has_identity && !files.ok() && files.error().sys == ENOENT)
    notices_.push_back(object() + ": journal/ is missing, and all messages with it; begun anew");
  FQ_TRY(check_place(location_.spool, *disk_));
  FQ_TRY_SET(const bool alone, prove_alone(found));
  // What one with faults knew of lost records that show as no damage is gone with it.
  const bool had_faults =
      found == Found::retired ||
      (store_ != nullptr && store_->header().phase.load(std::memory_order_acquire) == Phase::poisoned);
  if (store_ != nullptr) {
    Result<void> retired = retire_old();
    // With nobody attached its locks are held by nobody alive: what could not be rescued is only told.
    if (!retired.ok() && !alone) return retired;
    if (!retired.ok()) notices_.push_back(retired.error().text);
  }
  const bool is_new = create_ && alone && is_unmade(*disk_);
  Result<void> built = build(alone, had_faults);
  if (!built.ok()) return is_new ? take_back(std::move(built).error()) : std::move(built).error();
  // Shared again before anybody can see that we were alone; `rebuild` keeps other rebuilders out.
  FQ_TRY_SET(const bool shared, lock_file_->lock(LockFile::Mode::shared, kRebuildWaitMs));
  FQ_ASSERT(shared);
  return {};
}

/// A queue that is half made would be in the way of whoever goes through all of them.
Error Attachment::take_back(Error why) {
  Result<void> removed = remove_queue_directory(location_.spool, location_.queue);
  if (!removed.ok()) return std::move(removed).error();
  if (!is_disk_full(why)) return why;
  return Error{why.kind, object() + ": the disk is full; it was not made", why.sys};
}

Result<bool> Attachment::prove_alone(Found found) {
  lock_file_->unlock();
  FQ_TRY_SET(bool alone, lock_file_->try_lock(LockFile::Mode::exclusive));
  if (alone) return true;
  const std::string pids = join_pids(lock_file_->holders());
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
    FQ_TRY_SET([[maybe_unused]] const bool shared, lock_file_->lock(LockFile::Mode::shared, kRebuildWaitMs));
    return false;
  }
  // Nothing in that segment can be trusted, its locks neither: its leaders are stopped by the generation.
  LockIdentity identity;
  FQ_TRY_SET(const bool has_identity, lock_file_->read(identity));
  if (has_identity) {
    ++identity.generation;
    FQ_TRY(lock_file_->write(identity));
  }
  FQ_TRY_SET(alone, lock_file_->lock(LockFile::Mode::exclusive, kRebuildWaitMs));
  if (alone) return true;
  return Error{
      ErrorKind::later,
      object() + ": its segment is damaged and process " + pids + " still uses it; end it, then try again",
      0};
}

Result<void> Attachment::build(bool alone, bool had_faults) {
  LockIdentity identity;
  FQ_TRY_SET(const bool has_identity, lock_file_->read(identity));
  if (!has_identity) {
    // A new queue, or a copy: a segment that came along belongs to the original.
    identity = LockIdentity{};
    FQ_TRY(draw_nonce(location_.spool, identity.nonce));
    identity.device = lock_file_->device();
    identity.inode = lock_file_->inode();
  }
  ++identity.generation;
  FQ_TRY(lock_file_->write(identity));
  // Nobody needs the old segment: on a full disk its room is what the new one is made of.
  if (alone && store_ == nullptr) FQ_TRY(remove_if_there(*disk_, "segment"));
  FQ_TRY_SET(std::unique_ptr<Store> store, make_store(identity.generation, identity));
  FQ_TRY_SET(const KeySecret kept, take_secret(*disk_));
  const KeySecret secret = kept.is_there() ? kept : draw_secret();
  hash_keys_with(*store, secret);
  FQ_TRY_SET(const Replayed replayed, replay_journal(*disk_, *store, holes_));
  if (!kept.is_there()) FQ_TRY(begin_secret_anew(*store, secret));
  FQ_POINT("rebuild.replayed");
  tell_unsaved(store->header().tail);
  FQ_TRY(report_damage(replayed.scan));
  FQ_TRY(remove_unusable(replayed.scan));
  FQ_TRY(choose_files(*store, replayed.scan));
  FQ_TRY(adopt_boot(*store, replayed));
  carry_holders(*store);
  FQ_TRY(take_over_numbers(*store));
  store->header().phase.store(Phase::working, std::memory_order_release);
  FQ_TRY(write_first_records(*store, replayed, had_faults));
  FQ_POINT("rebuild.made");
  store->set_private(false);
  FQ_TRY(disk_->rename(kNewSegment, "segment"));
  FQ_POINT("rebuild.renamed");
  if (store_ != nullptr) left_.push_back(std::move(store_));
  store_ = std::move(store);
  return {};
}

/// Keys were read and the secret with which they had been hashed is not there: what is queued holds its keys
/// under another. Where no key was read none is needed.
Result<void> Attachment::begin_secret_anew(Store& store, const KeySecret& secret) {
  if (store.schedule().region().root.key_supply.used == 0) {
    hash_keys_with(store, KeySecret{});
    return {};
  }
  Result<void> written = write_secret(*disk_, secret);
  // A full disk has no room for it: check tells of it, and --repair writes it.
  if (!written.ok() && written.error().kind != ErrorKind::later) return written;
  notices_.push_back(
      object() + ": secret is missing; made anew, unique keys of messages that ended long ago are forgotten");
  return {};
}

Result<std::unique_ptr<Store>> Attachment::make_store(uint64_t generation, const LockIdentity& identity) {
  FQ_TRY(remove_if_there(*disk_, kNewSegment));
  FQ_TRY_SET(std::unique_ptr<File> file, disk_->open(kNewSegment, OpenMode::create_new));
  FQ_TRY_SET(std::unique_ptr<SegmentMemory> memory, map_segment(std::move(file), object()));
  FQ_TRY(memory->extend_to(kFirstChunkOffset));
  auto store = std::make_unique<Store>(std::move(memory));
  store->set_private(true);
  FQ_TRY(initialise_segment(*store));
  SegmentHeader& header = store->header();
  SegmentIdentity& own = header.identity;
  std::memcpy(own.magic, kSegmentMagic, sizeof own.magic);
  own.layout_hash = layout_hash();
  std::memcpy(own.boot_id, kernel_.boot_id, sizeof own.boot_id);
  FQ_TRY_SET(own.pid_namespace, read_pid_namespace());
  own.first_process = numbers_processes() ? read_first_process() : 0;
  FQ_TRY_SET(own.time_namespace, read_time_namespace());
  own.lock_device = identity.device;
  own.lock_inode = identity.inode;
  std::memcpy(own.nonce, identity.nonce, sizeof own.nonce);
  own.generation = generation;
  header.identity_crc = identity_crc(own);
  Txn txn = store->begin();
  store_settings(txn, header.policy.run_time, Settings{});
  store_file_layer(txn, header, Settings{});
  txn.commit();
  return store;
}

Result<void> Attachment::adopt_boot(Store& store, const Replayed& replayed) {
  SegmentHeader& header = store.header();
  const int64_t boot_ms = clock_.boot_ms();
  const int64_t offset_ms = clock_.wall_ms() - boot_ms;
  const bool same_boot = replayed.has_clock && std::memcmp(replayed.last_boot.boot_id, kernel_.boot_id,
                                                           sizeof kernel_.boot_id) == 0;
  if (same_boot) return {};
  apply_reboot(store, header.last_boot_ms, boot_ms, offset_ms);
  follow_clock(store, offset_ms, boot_ms + offset_ms);
  return {};
}

/// A process that still lives keeps what it holds; that nobody is attached says nothing of that, since whoever
/// waits for this, and we ourselves, have let go of the segment.
void Attachment::carry_holders(Store& store) {
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

Result<void> Attachment::take_over_numbers(Store& store) {
  SegmentHeader& header = store.header();
  Txn txn = store.begin();
  const SegmentHeader* old = store_ == nullptr ? nullptr : &store_->header();
  const bool goes_on = old != nullptr && old->next_id >= header.next_id && old->next_id <= old->id_limit &&
                       old->next_serial >= header.next_serial && old->next_serial <= old->serial_limit;
  if (goes_on) {
    txn.set(header.next_id, old->next_id);
    txn.set(header.next_serial, old->next_serial);
  } else {
    // Ids below the limit may have been given out by pushes that never reached the disk.
    txn.set(header.next_id, std::max<uint64_t>(header.next_id, header.id_limit));
    txn.set(header.next_serial, std::max<uint64_t>(header.next_serial, header.serial_limit));
  }
  txn.commit();
  return {};
}

Result<void> Attachment::write_first_records(Store& store, const Replayed& replayed, bool had_faults) {
  SegmentHeader& header = store.header();
  Gate gate(store, clock_, object());
  OpenFiles files(*disk_);
  Flusher flusher(gate, files, *lock_file_);
  const bool same_boot = replayed.has_clock && std::memcmp(replayed.last_boot.boot_id, kernel_.boot_id,
                                                           sizeof kernel_.boot_id) == 0;
  uint64_t end = 0;
  FQ_TRY(gate.locked([&]() -> Result<void> {
    Body body;
    Txn txn = store.begin();
    const Now now = gate.in_order(txn, gate.now());
    if (!same_boot) {
      ClockRecord clock;
      std::memcpy(clock.boot_id, kernel_.boot_id, sizeof clock.boot_id);
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
    if (!replayed.scan.files.empty()) LooseBlobs(header).begin(txn, is_damaged);
    txn.commit();
    gate.stream().publish();
    end = header.tail;
    return {};
  }));
  return flusher.wait_durable(end);
}

}  // namespace fq
