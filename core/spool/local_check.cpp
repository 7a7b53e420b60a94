// local_check - the live segment held against a rebuild from the journal.
//
// The segment is copied under the lock, the journal replayed up to the same point into private memory, and
// the two compared. What is not compared, because a rebuild starts it anew: turns, tokens, averages.
#include "core/spool/local_checked.h"

// System.
#include <algorithm>

namespace fq {

namespace {

constexpr int64_t kTimerSlackMs = 2;  // wall and boot time are both cut to milliseconds
constexpr size_t kFindingsMax = 100;
constexpr int kCheckTries = 5;

void add(std::vector<std::string>& findings, const std::string& prefix,
         const std::vector<std::string>& more) {
  for (const std::string& each : more) {
    if (findings.size() < kFindingsMax) findings.push_back(prefix + each);
  }
}

Result<std::unique_ptr<Store>> private_store() {
  FQ_TRY_SET(std::unique_ptr<SegmentMemory> memory, private_segment());
  return std::make_unique<Store>(std::move(memory));
}

}  // namespace

Result<LocalQueue::Checked> LocalQueue::check_settled() {
  // A file that goes while it is read would look like damage: such a look is made again.
  for (int attempt = 0;; ++attempt) {
    uint32_t before = 0;
    uint32_t after = 0;
    FQ_TRY(locked([&]() -> Result<void> { return before = header().oldest_file, Result<void>(); }));
    Result<Checked> checked = check_once();
    FQ_TRY(locked([&]() -> Result<void> { return after = header().oldest_file, Result<void>(); }));
    if (before == after || attempt == kCheckTries) return checked;
  }
}

Result<LocalQueue::Checked> LocalQueue::check_once() {
  FQ_TRY_SET(const std::unique_ptr<Store> live, private_store());
  FQ_TRY_SET(const std::unique_ptr<Store> rebuilt, private_store());
  Now now;
  FQ_TRY(locked([&]() -> Result<void> {
    now = gate().now();
    while (gate().fire_timers(now, 1024)) {
    }
    gate().apply_pending();
    // Whole, under the lock: nothing less is one moment of the queue.
    std::memcpy(live->memory().base(), store().memory().base(), header().segment_bytes);
    return {};
  }));
  const SegmentHeader& copy = live->header();
  FQ_TRY(session_->flusher.wait_durable(copy.tail));
  const ReplayUntil until{copy.tail, copy.applied_end};
  FQ_TRY(initialise_segment(*rebuilt));
  {
    Txn txn = rebuilt->begin();
    for (size_t i = 0; i < 2; ++i) txn.set(rebuilt->header().key_secret[i], copy.key_secret[i]);
    txn.commit();
  }
  FQ_TRY_SET(const Replayed replayed, replay_journal(attachment_->disk(), *rebuilt, until));
  for (;;) {
    Txn txn = rebuilt->begin();
    const bool fired = rebuilt->schedule().fire(txn, now.boot_ms) > 0;
    txn.commit();
    if (!fired) break;
  }

  Checked checked;
  CheckReport& report = checked.report;
  report.records = replayed.scan.records;
  const StateCounts& counts = copy.schedule.counts;
  report.messages = uint64_t{counts.ready} + counts.delayed + counts.leased + counts.dead + counts.held;
  const std::vector<std::string> faults = schedule_faults(live->schedule());
  const std::vector<std::string> differences =
      schedule_differences(live->schedule(), rebuilt->schedule(), kTimerSlackMs);
  checked.segment_is_whole = faults.empty();
  checked.differs = !differences.empty();
  add(report.findings, "segment: ", faults);
  add(report.findings, "segment and journal differ: ", differences);
  for (const JournalDamage& damage : replayed.scan.damage) {
    add(report.findings, journal_file_name(damage.file_number) + ": ",
        {damage.what + " at byte " + std::to_string(damage.offset) + ", " + std::to_string(damage.bytes) +
         " bytes"});
  }
  checked.damage = replayed.scan.damage;
  for (const std::string& name : replayed.scan.unknown)
    add(report.findings, "journal/" + name, {": not made by fq; move it away"});
  checked.unknown_files = !replayed.scan.unknown.empty();
  Result<std::vector<std::string>> set_aside = attachment_->disk().list("damaged");
  if (set_aside.ok()) {
    for (const std::string& name : *set_aside) report.set_aside.push_back("damaged/" + name);
    std::sort(report.set_aside.begin(), report.set_aside.end());
  }
  return checked;
}

}  // namespace fq
