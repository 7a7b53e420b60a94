// full_disk_test - the disk becomes full at any point of any work: pushes are refused, what was accepted is
// served and acked with no byte free, and nothing of it is lost.
//
// A case leaves some room, pushes until it is refused, takes the rest of the room away, and drains the queue
// with not one byte free at any time. Cases differ in what runs out of room (records that need another
// journal file, payloads beside the journal, memory for tenants, the making of the queue itself, compaction,
// inodes, acks of many small messages) and in how much room there was. FQ_LONG tries some 270 offsets; they
// are printed with their seed.

// System.
#include <cstdio>
#include <cstring>
#include <random>
// fq, below us.
#include "core/journal/journal.h"
#include "core/local/shared/layout.h"
// Tests.
#include "tests/knobs.h"
#include "tests/left_out.h"
#include "tests/process/small_disk.h"

namespace fq::test {

namespace {

constexpr uint64_t kPage = 4096;
const std::string kObject = "queue 'default'";

std::string padded_to(std::string text, size_t bytes) {
  text.resize(std::max(text.size(), bytes), '.');
  return text;
}

/// A queue on a small disk, and what it has accepted.
class FullDisk {
 public:
  FullDisk(const std::string& limits, uint64_t seed)
      : disk_(beside_, limits), spool_(disk_.path() + "/spool"), random_(seed) {}

  bool possible() const { return disk_.mounted(); }
  SmallDisk& disk() { return disk_; }
  const Spool& spool() const { return spool_; }
  size_t accepted() const { return accepted_; }
  void came_and_went(size_t messages) { accepted_ += messages; }
  uint64_t below(uint64_t n) { return random_() % n; }

  /// Whether it was accepted; else refused in the way that is promised.
  bool push(size_t bytes, const std::string& tenant = "default") {
    const std::string payload = padded_to(std::to_string(pushed_++) + "-", bytes);
    return accept(spool_.fq({"push", "-t", tenant}, {.env = {}, .input = payload}), {payload});
  }
  bool push_batch(size_t count, size_t bytes, const std::string& tenant = {}) {
    std::vector<std::string> payloads;
    Start how;
    for (size_t i = 0; i < count; ++i) {
      payloads.push_back(padded_to(std::to_string(pushed_++) + "-", bytes));
      // A tenant each, where none is named: they take memory of their own.
      const std::string whose = tenant.empty() ? padded_to("tenant" + std::to_string(pushed_), 200) : tenant;
      how.input += "{\"payload\":\"" + payloads.back() + "\",\"tenant\":\"" + whose + "\"}\n";
    }
    return accept(spool_.fq({"push", "--ndjson"}, how), payloads);
  }

  /// Out again until so many are left, one by one or many at once, with the disk full all the time.
  void drain(size_t left = 0) {
    while (there_.size() > left) {
      disk_.fill();
      disk_.take_inodes();
      CHECK(disk_.free_bytes() == 0);
      const bool done =
          below(3) == 0 ? lease_and_ack() : pop(left == 0 && below(4) == 0 ? 500 : 1 + below(7));
      if (!done) break;
    }
    INFO(there_.size() << " of " << accepted_ << " are still there");
    CHECK(there_.size() <= left);
    if (left == 0) CHECK(spool_.fq({"pop"}).exit == 1);
  }

  /// One message and one ack at a time until nothing of a tenant is left, with the disk full all the time.
  void drain_one_by_one(const std::string& tenant) {
    disk_.take_inodes();
    const std::unique_ptr<Queue> queue = spool_.door();
    for (;;) {
      disk_.fill();  // what was given back meanwhile is gone too
      const auto leased = queue->lease({.tenant = tenant});
      REQUIRE(leased.ok());
      if (leased->deliveries.empty()) break;
      served(leased->deliveries[0].payload.read_all().value());
      const Settle ack{.receipt = leased->deliveries[0].receipt};
      const auto acked = queue->settle({&ack, 1});
      INFO("ack: " << (acked.ok() ? "" : acked.error().text) << ", " << there_.size() << " are left");
      REQUIRE(acked.ok());
      REQUIRE(acked->items.at(0) == SettleStatus::ok);
    }
  }

  /// After the drain: nothing is left, the sums are right, and it goes on as soon as there is room.
  void check_empty() {
    spool_.check_clean();
    CHECK(spool_.live().empty());
    {
      const std::unique_ptr<Queue> queue = spool_.door();
      const StatsRow row = queue->stats({}).value().rows.at(0);
      CHECK(row.acked == accepted_);
      CHECK(row.pushed >= accepted_);
    }
    disk_.make_room();
    disk_.give_inodes();
    CHECK(spool_.fq({"push", "again"}).exit == 0);
    CHECK(spool_.says({"pop"}) == "again");
    spool_.check_clean();
  }

  /// What a power cut leaves: a segment of another boot, an end of which not all was written, and (not a
  /// cut's doing, but its worst company) no file to go on in.
  void cut_power(bool torn) const {
    if (torn) {
      // Two pops that were written and not synced: the first record of them is lost, the last is not.
      const size_t before = read_journal().records.size();
      for (int i = 0; i < 2; ++i) spool_.fq_killed_at("flush.written:1", {"pop"});
      const RecordPlace lost = read_journal().records.at(before);
      write_at(lost.file, lost.offset + kRecordHeaderBytes, "torn");
    }
    for (const JournalFile& file : read_journal().scan.ready) {
      std::filesystem::remove(spool_.queue(journal_file_name(file.key.number)));
    }
    write_at(spool_.queue("segment"), offsetof(SegmentIdentity, boot_id), "another boot");
  }

  /// What the journal alone holds, once it goes on: neither less nor, from behind its torn end, more.
  void check_journal() const {
    spool_.check_clean();
    const Spool image(beside_.directory() + "/image");
    std::filesystem::remove_all(image.path());
    std::filesystem::copy(spool_.path(), image.path(), std::filesystem::copy_options::recursive);
    CHECK((image.payloads() == there_));
  }

 private:
  struct RecordPlace {
    std::string file;
    uint64_t offset = 0;
  };
  struct Journal {
    ScanResult scan;
    std::vector<RecordPlace> records;
  };
  Journal read_journal() const {
    const int directory = ::open(spool_.queue().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<Disk> disk = open_disk(directory, "");
    std::vector<std::pair<uint32_t, uint64_t>> places;  // file, position
    Result<ScanResult> scan = scan_journal(*disk, [&](const ScannedRecord& record) {
      places.emplace_back(record.file_number, record.header.position);
      return Result<void>();
    });
    REQUIRE(scan.ok());
    Journal journal{std::move(scan).value(), {}};
    std::map<uint32_t, uint64_t> starts;
    for (const JournalFile& file : journal.scan.files) starts[file.key.number] = file.start_position;
    for (const auto& [number, position] : places) {
      journal.records.push_back(
          {spool_.queue(journal_file_name(number)), kFirstRecordOffset + (position - starts[number])});
    }
    return journal;
  }

  bool accept(const Outcome& end, const std::vector<std::string>& payloads) {
    if (end.exit == 0) {
      accepted_ += payloads.size();
      there_.insert(payloads.begin(), payloads.end());
      return true;
    }
    INFO("push: exit " << end.exit << " signal " << end.signal << ": " << end.err);
    CHECK(end.exit == 75);
    CHECK(end.err.rfind("fq: ", 0) == 0);
    CHECK(end.out.empty());
    return false;
  }

  bool pop(size_t count) {
    const Outcome end = spool_.fq({"pop", "-n", std::to_string(count)});
    INFO("pop: exit " << end.exit << " signal " << end.signal << ": " << end.err);
    CHECK(end.exit == 0);
    for (const std::string& payload : lines_of(end.out)) served(payload);
    return end.exit == 0;
  }

  bool lease_and_ack() {
    const Outcome leased = spool_.fq({"pop", "--lease", "1h"});
    INFO("pop --lease: exit " << leased.exit << " signal " << leased.signal << ": " << leased.err);
    CHECK(leased.exit == 0);
    if (leased.exit != 0) return false;
    const std::string line = lines_of(leased.out).at(0);
    served(line.substr(line.rfind('\t') + 1));
    const Outcome acked = spool_.fq({"ack", line.substr(0, line.find('\t'))});
    INFO("ack: exit " << acked.exit << " signal " << acked.signal << ": " << acked.err);
    CHECK(acked.exit == 0);
    return acked.exit == 0;
  }

  void served(const std::string& payload) {
    INFO("served and not accepted, or twice: " << payload.substr(0, 20));
    CHECK(there_.erase(payload) == 1);
  }

  const Spool beside_;
  SmallDisk disk_;
  const Spool spool_;
  std::mt19937_64 random_;
  std::set<std::string> there_;
  size_t accepted_ = 0;
  uint64_t pushed_ = 0;
};

/// What is done until the disk is full; `step` says how much room there is, from 0 to kSteps - 1.
struct Work {
  const char* name;
  std::string (*limits)(uint64_t step);
  void (*run)(FullDisk& full, uint64_t step);
};
constexpr uint64_t kSteps = 40;

/// Records of all lengths, so that each file ends at another byte of one.
void records(FullDisk& full, uint64_t step) {
  CHECK(full.push(10));
  full.disk().fill(step * 11 * kPage);
  const size_t bytes = 300 + step * 1511;
  while (full.push(bytes + full.below(50))) {
  }
  while (full.push(100 + full.below(50))) {
  }
}
/// Payloads beside the journal: the room ends within one of their pages.
void large_payloads(FullDisk& full, uint64_t step) {
  CHECK(full.push(10));
  full.disk().fill(kPage * (step * 5 + 1));
  while (full.push(66'000 + full.below(3) * 20'000 + step * 1'000)) {
  }
  while (full.push(10'000)) {
  }
}
/// Many small messages of as many tenants: the segment grows.
void many_tenants(FullDisk& full, uint64_t step) {
  CHECK(full.push(10));
  full.disk().fill(step * 3 * kPage);
  while (full.push_batch(40 + full.below(40), 20)) {
  }
  while (full.push_batch(1, 20)) {
  }
}
/// The queue itself, and its first files.
void first_push(FullDisk& full, uint64_t step) {
  full.disk().fill(step * 13 * kPage);
  // Refused, and then made where the ruins of the first try lie.
  if (!full.push(1'000)) full.disk().make_room();
  CHECK(full.push(1'000));
  full.disk().fill();
  while (full.push(1'000)) {
  }
}
/// A journal whose old files are pinned by one message, while the rest comes and goes: files to drop, and to
/// copy forward, with no room for either.
void compaction(FullDisk& full, uint64_t step) {
  CHECK(full.push_batch(3, 50, "pinned"));
  {
    const std::unique_ptr<Queue> queue = full.spool().door();
    const std::string payload(8000, 'c');
    std::vector<NewMessage> batch(24);
    for (NewMessage& each : batch) each.payload = as_bytes(payload), each.tenant = "churn";
    for (uint64_t round = 0; round < 10 + step; ++round) {
      REQUIRE(queue->push(batch, {.durability = Durability::lazy}).ok());
      const auto leased = queue->lease({.want = batch.size(), .tenant = "churn"});
      REQUIRE(leased.ok());
      std::vector<Settle> acks;
      for (const Delivery& each : leased->deliveries) acks.push_back({.receipt = each.receipt});
      REQUIRE(queue->settle(acks).ok());
      full.came_and_went(batch.size());
    }
  }
  full.disk().fill(step * 7 * kPage);
  while (full.push(3'000 + full.below(3'000))) {
  }
}
/// Messages so small that their acks need as much room as they did, behind one that pins their files.
void small_messages(FullDisk& full, uint64_t step) {
  CHECK(full.push(10, "pinned"));
  for (int i = 0; i < 20; ++i) CHECK(full.push_batch(1000, 10, "small"));
  full.disk().fill(step * 9 * kPage);
  while (full.push_batch(100 + full.below(400), 10, "small")) {
  }
  while (full.push_batch(1, 10, "small")) {
  }
  full.drain_one_by_one("small");
}
/// Bytes there are, inodes are not.
void inodes(FullDisk& full, uint64_t) {
  for (int i = 0; i < 60 && full.push(i % 2 == 0 ? 70'000 : 30'000); ++i) {
  }
}

std::string by_bytes(uint64_t) { return "size=12m,nr_inodes=300"; }
std::string by_inodes(uint64_t step) { return "size=16m,nr_inodes=" + std::to_string(4 + step); }

constexpr Work kWorks[] = {
    {"records", by_bytes, records},
    {"large payloads", by_bytes, large_payloads},
    {"many tenants", by_bytes, many_tenants},
    {"first push", by_bytes, first_push},
    {"compaction", by_bytes, compaction},
    {"small messages", by_bytes, small_messages},
    {"inodes", by_inodes, inodes},
};

}  // namespace

TEST_CASE(
    "wherever the disk becomes full, pushes get 75 and all that was accepted is served with no byte free") {
  const uint64_t seed = seed_of_run();
  INFO("FQ_SEED=" << seed);
  const bool all = is_long_form();
  size_t offsets = 0;
  size_t messages = 0;
  for (const Work& work : kWorks) {
    // The short form takes three of the steps, at equal distances.
    const uint64_t stride = all ? 1 : kSteps / 3;
    for (uint64_t step = seed % stride; step < kSteps; step += stride) {
      FullDisk full(work.limits(step), seed + step);
      if (!full.possible()) {
        leave_out("a small disk needs root");
        return;
      }
      INFO(work.name << ", step " << step);
      work.run(full, step);
      if (full.accepted() == 0) {
        // With so few inodes there is no queue.
        CHECK((work.limits == by_inodes && step < kSteps / 2));
        continue;
      }
      full.drain();
      full.check_empty();
      ++offsets;
      messages += full.accepted();
    }
  }
  std::printf("full disk: FQ_SEED=%llu, full at %zu offsets, %zu messages accepted before\n",
              static_cast<unsigned long long>(seed), offsets, messages);
}

TEST_CASE("a full disk without a segment: what was accepted is there as soon as there is room") {
  FullDisk full("size=4m,nr_inodes=300", 0);
  if (!full.possible()) {
    leave_out("a small disk needs root");
    return;
  }
  while (full.push(20'000)) {
  }
  CHECK(full.accepted() > 20);
  full.disk().fill();
  std::filesystem::remove(full.spool().queue("segment"));
  full.disk().fill();
  CHECK_FALSE(full.push(10));
  full.disk().make_room();
  CHECK(full.spool().live().size() == full.accepted());
  full.drain();
  full.check_empty();
}

TEST_CASE(
    "power cuts on a full disk, also with torn ends and no ready file, leave a queue that can be drained") {
  for (const bool torn : {false, true}) {
    INFO("torn " << torn);
    FullDisk full("size=4m,nr_inodes=300", 0);
    if (!full.possible()) {
      leave_out("a small disk needs root");
      return;
    }
    full.spool().policy("attempts = 60000");  // each kill is one
    while (full.push(20'000)) {
    }
    for (const size_t left : {70U, 40U, 10U, 0U}) {
      full.disk().fill();
      full.cut_power(torn);
      full.check_journal();
      full.drain(left);
    }
    full.check_empty();
  }
}

}  // namespace fq::test
