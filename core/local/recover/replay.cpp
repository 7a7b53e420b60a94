#include "core/local/recover/replay.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/engine/interruption.h"
#include "core/journal/read_record.h"
// fq, this room.
#include "core/local/recover/new_segment.h"
#include "core/local/shared/apply.h"
#include "core/local/shared/needs.h"

namespace fq {

namespace {

class Replayer {
 public:
  Replayer(Store& store, const ReplayUntil& until)
      : store_(store), header_(store.header()), apply_(store), until_(until) {}

  Result<void> visit(const ScannedRecord& record) {
    if (record.header.position >= until_.tail) return {};
    FQ_TRY(unless_raised(until_.interrupt));
    note_file(record);
    FQ_TRY(end_push_step(record));
    if (record.header.type == RecordType::pushed && record.header.position >= until_.applied_end) return {};
    if (record.header.type != RecordType::clock) {
      const int64_t now_ms = store_.boot_of(record.header.at_wall_ms);
      fire_until(now_ms);
      last_boot_ms_ = std::max(last_boot_ms_, now_ms);
    }
    // Each kind of record has its apply() below: a new one does not compile without.
    return decoder_.read(record.header, record.body, Result<void>(),
                         [&](auto& body) { return apply(record, body); });
  }

  KernelIdentity boot{};
  bool has_clock = false;

 private:
  template <class Body>
  void in_txn(Body&& body) {
    Txn txn = store_.begin();
    body(txn);
    txn.commit();
  }

  /// Asks only when what was kept free the last time may be used up.
  Result<void> make_room(const Need& need) {
    since_grown_ += need;
    if (since_grown_.is_within(kGrowthMargin)) return {};
    since_grown_ = {};
    Need ahead = need;
    return grow_alone(store_, ahead += kGrowthMargin);
  }

  /// The file table grows as files come by, so that live messages are counted where they lie.
  void note_file(const ScannedRecord& record) {
    const uint32_t number = record.file_number;
    if (seen_file_ && number == header_.current_file) return;
    // Nothing else may tell the time: the last CLOCK may lie in a file that was given back, or is lost.
    if (record.file_clock && !tells(*record.file_clock)) {
      set_clock(*record.file_clock, record.header.at_wall_ms);
    }
    in_txn([&](Txn& txn) {
      if (!seen_file_) txn.set(header_.oldest_file, number);
      for (uint32_t n = seen_file_ ? header_.current_file + 1 : number; n <= number; ++n) {
        JournalSlot& slot = header_.files[n % kJournalFilesMax];
        txn.set(slot.number, n);
        txn.set(slot.start, record.header.position);
        txn.set(slot.end, record.header.position);
        txn.set(slot.live, 0);
        txn.set(slot.state, FileState::sealed);
      }
      txn.set(header_.current_file, number);
      txn.set(header_.newest_file, number);
    });
    seen_file_ = true;
  }

  /// A step that pushed stands for its message, which is the next record or was not written any more.
  Result<void> end_push_step(const ScannedRecord& next) {
    if (pushing_.body.empty()) return {};
    const std::vector<std::byte> body = std::exchange(pushing_.body, {});
    const std::optional<SteppedRecord> step = decode_stepped(body);
    const bool pushed = next.header.type == RecordType::pushed && step &&
                        PushedReader(next.body, next.header.count).first_id() == step->child;
    const auto slot = pushed ? store_.schedule().messages().find(step->id) : std::nullopt;
    FQ_TRY(grow_alone(store_, slot ? need_of(*step) : Need{}));
    if (slot)
      in_txn([&](Txn& txn) { apply_.stepped(txn, *step, *slot, pushing_.header.position, body.size()); });
    return {};
  }

  void fire_until(int64_t now_ms) {
    while (store_.schedule().timers().next_ms() <= now_ms) {
      uint32_t fired = 0;
      in_txn([&](Txn& txn) { fired = store_.schedule().timers().fire(txn, now_ms); });
      if (fired == 0) return;
    }
  }

  Result<void> apply(const ScannedRecord& record, PushedReader& reader) {
    uint64_t id = number(reader.first_id());
    while (const MessageItem* item = reader.next()) {
      FQ_TRY(make_room(need_of(*item)));
      const uint64_t position = record.header.position + kRecordHeaderBytes + reader.item_offset();
      in_txn([&](Txn& txn) {
        // A second record of an id that is there already is a file put twice: the first one holds.
        if (id >= header_.next_id || !store_.schedule().messages().find(MessageId{id})) {
          apply_.message(txn, *item, MessageId{id}, position, record.header.at_wall_ms);
        }
      });
      ++id;
    }
    return {};
  }

  Result<void> apply(const ScannedRecord& record, const PolicyRecord& policy) {
    FQ_TRY(grow_alone(
        store_, Growth::need_of_setting(policy.path, node_patch(policy.patch.set, policy.patch.unset))));
    in_txn([&](Txn& txn) { apply_.policy(txn, policy, record.header.position, record.header.at_wall_ms); });
    return {};
  }

  Result<void> apply(const ScannedRecord& record, const ScheduledRecord& schedule) {
    FQ_TRY(grow_alone(store_, Growth::need_of_schedule(schedule.name)));
    const uint64_t bytes = padded(kRecordHeaderBytes + record.body.size());
    in_txn([&](Txn& txn) { apply_.scheduled(txn, schedule, record.header.position, bytes); });
    return {};
  }

  Result<void> apply(const ScannedRecord& record, const SkippedRecord& skipped) {
    in_txn([&](Txn& txn) {
      if (record.header.type == RecordType::unscheduled) return apply_.unscheduled(txn, skipped.name);
      apply_.skipped(txn, skipped);
    });
    return {};
  }

  /// Of a message that is not known it is told again behind the record that makes it known.
  Result<void> apply(const ScannedRecord& record, const SteppedRecord& step) {
    // What it has pushed follows it, if both were written.
    if (step.kind == StepKind::push && !step.carried) {
      pushing_.header = record.header;
      pushing_.body.assign(record.body.begin(), record.body.end());
      return {};
    }
    const auto slot = store_.schedule().messages().find(step.id);
    FQ_TRY(grow_alone(store_, slot ? need_of(step) : Need{}));
    if (slot)
      in_txn([&](Txn& txn) { apply_.stepped(txn, step, *slot, record.header.position, record.body.size()); });
    return {};
  }

  Result<void> apply(const ScannedRecord& record, const ReplacedRecord& replaced) {
    const std::optional<SlotIndex> slot = store_.schedule().messages().find(replaced.event.id);
    if (slot) in_txn([&](Txn& txn) { apply_.replaced(txn, replaced, *slot, record.header.position); });
    return {};
  }

  Result<void> apply(const ScannedRecord& record, const KeysRecord& keys) {
    for (const KeptKey& key : keys.keys) {
      FQ_TRY(grow_alone(store_, Need{.keys = 1}));
      in_txn([&](Txn& txn) { apply_.kept(txn, key, record.header.position); });
    }
    return {};
  }

  Result<void> apply(const ScannedRecord& record, const MovedRecord& moved) {
    FQ_TRY(grow_alone(store_, need_of(moved.message)));
    in_txn([&](Txn& txn) {
      const HolderIndex holder = moved.state == SlotState::leased && moved.state_wall_ms == 0
                                     ? holder_of(txn, moved.pid, moved.pid_started)
                                     : kHeldByTime;
      const uint64_t item =
          record.header.position + kRecordHeaderBytes + moved_item_offset(record.body, moved);
      apply_.moved(txn, moved, record.header.position, item, holder, record.header.at_wall_ms);
    });
    return {};
  }

  Result<void> apply(const ScannedRecord& record, const EditedRecord& edited) {
    FQ_TRY(grow_alone(store_, need_of(edited.now.message)));
    in_txn([&](Txn& txn) {
      const uint64_t item =
          record.header.position + kRecordHeaderBytes + moved_item_offset(record.body, edited.now);
      apply_.edited(txn, edited, record.header.position, item, record.header.at_wall_ms);
    });
    return {};
  }

  Result<void> apply(const ScannedRecord& record, const EventRecord& event) {
    uint64_t serial = number(event.detail.first_serial);
    for (const EventItem& item : event.items) {
      in_txn([&](Txn& txn) {
        const std::optional<SlotIndex> slot = store_.schedule().messages().find(item.id);
        // An event whose message was lost with a damaged record speaks of nothing; of one whose file was
        // given back only its end matters.
        if (!slot) {
          if (ends_message(record.header.type))
            store_.schedule().dependents().note_ended(txn, item.id, record.header.type == RecordType::acked);
          return;
        }
        const bool by_process = record.header.type == RecordType::leased && event.detail.until_wall_ms == 0;
        const HolderIndex holder =
            by_process ? holder_of(txn, event.detail.pid, event.detail.pid_started) : kHeldByTime;
        apply_.event(txn, record.header.type, *slot, event.detail, Serial{serial}, holder,
                     record.header.position, record.header.at_wall_ms);
      });
      ++serial;
    }
    return {};
  }

  Result<void> apply(const ScannedRecord&, const LowRecord& low) {
    in_txn([&](Txn& txn) { apply_.low(txn, low); });
    return {};
  }
  Result<void> apply(const ScannedRecord&, const LimitsRecord& limits) {
    in_txn([&](Txn& txn) { apply_.limits(txn, limits); });
    return {};
  }
  Result<void> apply(const ScannedRecord& record, const ClockRecord& clock) {
    set_clock(clock, record.header.at_wall_ms);
    return {};
  }

  bool is_this_boot(const ClockRecord& clock) const {
    return has_clock && std::memcmp(boot.boot_id, clock.boot_id, sizeof boot.boot_id) == 0;
  }

  bool tells(const ClockRecord& clock) const {
    return is_this_boot(clock) && header_.wall_minus_boot_ms == clock.wall_minus_boot_ms;
  }

  void set_clock(const ClockRecord& clock, int64_t at_wall_ms) {
    if (has_clock && !is_this_boot(clock)) {
      const int64_t new_boot_ms = at_wall_ms - clock.wall_minus_boot_ms;
      apply_reboot(store_, last_boot_ms_, new_boot_ms, clock.wall_minus_boot_ms);
      last_boot_ms_ = new_boot_ms;
    }
    in_txn([&](Txn& txn) { txn.set(header_.wall_minus_boot_ms, clock.wall_minus_boot_ms); });
    follow_clock(store_, clock.wall_minus_boot_ms, last_boot_ms_ + clock.wall_minus_boot_ms);
    std::memcpy(boot.boot_id, clock.boot_id, sizeof boot.boot_id);
    has_clock = true;
  }

  HolderIndex holder_of(Txn& txn, uint32_t pid, uint64_t started) {
    const uint32_t used = header_.holders_used;
    for (uint32_t i = 0; i < used; ++i) {
      if (header_.holders[i].pid == pid && header_.holders[i].started == started)
        return static_cast<HolderIndex>(i);
    }
    // More holders than there can be: the lease is kept by nobody, and is given back as of a dead one.
    const uint32_t index = used < kHoldersMax ? used : kHoldersMax - 1;
    txn.set(header_.holders[index].pid, pid);
    txn.set(header_.holders[index].started, started);
    txn.set(header_.holders[index].carried, 1);
    txn.set(header_.holders[index].job_limit_ms, kNever);  // nobody knows it any more
    if (used < kHoldersMax) txn.set(header_.holders_used, used + 1);
    return static_cast<HolderIndex>(index);
  }

  Store& store_;
  SegmentHeader& header_;
  Apply apply_;
  RecordDecoder decoder_;
  ReplayUntil until_;
  struct {
    RecordHeader header;
    std::vector<std::byte> body;  // empty: none
  } pushing_;
  bool seen_file_ = false;
  Need since_grown_ = kGrowthMargin;
  int64_t last_boot_ms_ = 0;

 public:
  int64_t last_boot_ms() const { return last_boot_ms_; }
};

/// The table as the scan saw the files: keys, sizes, and where each one's records begin and end.
void finish_table(Store& store, const ScanResult& scan) {
  SegmentHeader& header = store.header();
  uint32_t next = scan.files.empty() ? 0 : scan.files.front().key.number;
  for (const JournalFile& file : scan.files) {
    Txn txn = store.begin();
    // A file given up after a failed sync leaves its number behind: an empty stretch, or find() goes astray.
    for (; next < file.key.number; ++next) {
      JournalSlot& gap = header.files[next % kJournalFilesMax];
      if (gap.number == next) continue;
      txn.set(gap.number, next);
      txn.set(gap.start, file.start_position);
      txn.set(gap.end, file.start_position);
      txn.set(gap.state, FileState::sealed);
    }
    ++next;
    JournalSlot& slot = header.files[file.key.number % kJournalFilesMax];
    if (slot.number != file.key.number) txn.set(slot.live, 0);
    txn.set(slot.number, file.key.number);
    txn.set(slot.salt, file.key.salt);
    txn.set(slot.bytes, file.file_bytes);
    txn.set(slot.start, file.start_position);
    txn.set(slot.end, file.end_position);
    txn.set(slot.state, FileState::sealed);
    txn.commit();
  }
  if (scan.files.empty()) return;
  Txn txn = store.begin();
  txn.set(header.oldest_file, scan.files.front().key.number);
  txn.set(header.current_file, scan.files.back().key.number);
  txn.set(header.newest_file, scan.files.back().key.number);
  JournalTable(header).recount_sealed(txn);
  txn.commit();
}

}  // namespace

void follow_clock(Store& store, int64_t wall_minus_boot_ms, int64_t now_wall_ms) {
  const Timetable timetable = store.schedule().timetable();
  for (uint32_t i = 0; i < timetable.end(); ++i) {
    Txn txn = store.begin();
    timetable.follow_clock(txn, i, wall_minus_boot_ms, now_wall_ms);
    txn.commit();
  }
}

void apply_reboot(Store& store, int64_t old_boot_ms, int64_t new_boot_ms, int64_t wall_minus_boot_ms) {
  SegmentHeader& header = store.header();
  Schedule& schedule = store.schedule();
  for (std::optional<SlotIndex> slot = schedule.views().next_slot(SlotIndex{0}); slot;
       slot = schedule.views().next_slot(SlotIndex{static_cast<uint32_t>(*slot) + 1})) {
    if (static_cast<SlotState>(schedule.messages().entry(*slot).state.get()) != SlotState::leased) continue;
    Txn txn = store.begin();
    schedule.messages().requeue(txn, *slot, false, false, old_boot_ms, old_boot_ms);
    txn.commit();
  }
  for (uint32_t i = 0; i < header.holders_used; ++i) {
    Txn txn = store.begin();
    txn.set(header.holders[i].pid, 0);
    txn.set(header.holders[i].carried, 0);
    txn.commit();
  }
  const int64_t shift_ms = header.wall_minus_boot_ms - wall_minus_boot_ms;
  schedule.timers().shift(old_boot_ms, new_boot_ms, shift_ms);
  Txn txn = store.begin();
  txn.set(header.holders_used, 0);
  txn.set(header.wall_minus_boot_ms, wall_minus_boot_ms);
  txn.set(header.last_boot_ms, new_boot_ms);
  txn.commit();
}

namespace {

Result<Replayed> replay_all(Disk& disk, Store& store, Holes holes, const ReplayUntil& until) {
  Replayer replayer(store, until);
  FQ_TRY_SET(ScanResult scan,
             scan_journal(
                 disk, [&](const ScannedRecord& record) { return replayer.visit(record); }, holes));
  finish_table(store, scan);
  store.schedule().dependents().note_all_ended();
  // Where the disk is full turns go as without: the next push makes the room.
  if (!can_rank(store.header().schedule)) static_cast<void>(grow_alone(store, Need{}));
  SegmentHeader& header = store.header();
  Txn txn = store.begin();
  txn.set(header.next_seq, scan.next_seq);
  txn.set(header.tail, scan.end_position);
  txn.set(header.applied_end, scan.end_position);
  txn.set(header.servable_end, scan.end_position);
  txn.set(header.last_boot_ms, replayer.last_boot_ms());
  txn.set(header.made_bytes, header.segment_bytes);
  txn.commit();
  header.committed_end.store(scan.end_position, std::memory_order_release);
  header.ring_start.store(scan.end_position, std::memory_order_release);
  header.durable_end.store(scan.end_position, std::memory_order_release);
  Replayed replayed;
  replayed.scan = std::move(scan);
  replayed.last_boot = replayer.boot;
  replayed.has_clock = replayer.has_clock;
  return replayed;
}

}  // namespace

Result<Replayed> replay_journal(Disk& disk, Store& store, Holes holes, const ReplayUntil& until) {
  try {
    return replay_all(disk, store, holes, until);
  } catch (const RegionDamaged& contradiction) {
    // Valid records that cannot all be true: no crash makes them, so a person has to look.
    return Error{ErrorKind::bad_data,
                 std::string("journal: its records contradict each other: ") + contradiction.what, 0};
  }
}

}  // namespace fq
