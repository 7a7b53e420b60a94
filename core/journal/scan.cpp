// scan - the whole journal read back: each valid record once, in order, and the end told from damage.
//
// A bad place is judged by what is proven of it. A later file's OPENED proves everything before its start;
// a record proves what it says was on disk when it was written. Below a proven point a bad place is damage
// and the scan goes on behind it; above, it is the tail of a crash and the stream ends there. The proof
// may stand behind the bad place, so the rest of the last file is searched for one before the stream is
// cut. What the disk does not give back is damage wherever it is: nobody knows that it was not proven.

// System.
#include <algorithm>
#include <cerrno>
// fq, this room.
#include "core/journal/chain.h"
#include "core/journal/file_records.h"
#include "core/journal/journal.h"

namespace fq {

namespace {

using Visit = std::function<Result<void>(const ScannedRecord&)>;

class Scan {
 public:
  Scan(Disk& disk, const Visit& visit, Holes holes) : disk_(disk), visit_(visit), window_(holes) {}

  Result<ScanResult> run();

 private:
  /// What is known of the end of a file from the one after it.
  struct Fence {
    uint64_t position = UINT64_MAX;  // nothing at or past it is valid
    uint64_t seq = UINT64_MAX;       // the first record there has this one, or a higher one
    bool seq_exact = false;
    bool last = true;     // no file after it
    bool joined = false;  // the one after it follows without a gap
  };

  Result<void> drop_before_low();
  Result<void> read_chain();
  Result<void> read_file(const ChainFile& file, const Fence& fence);
  Result<void> read_records(FileRecords& records, JournalFile& file, const Fence& fence);
  Result<void> hand_out(const PlacedRecord& record, const JournalFile& file);
  bool is_proven(FileRecords& records, uint64_t offset, std::optional<uint64_t>& next_offset);
  void begin_file(const ChainFile& file);
  void report_missing(uint32_t number, uint64_t lost);
  void report_headless();
  void report_gaps_at_start();
  void report_gaps_at_end();
  bool came_meanwhile(uint32_t number) const;
  bool is_told(uint32_t number) const;
  bool is_replaced(const ChainFile& file) const;
  void sort_others();

  Disk& disk_;
  const Visit& visit_;
  FileWindow window_;
  Inventory inventory_;
  std::vector<ChainFile> chain_;
  ScanResult result_;
  bool quiet_ = false;      // looking for LOW only: nothing is handed out or reported
  bool seq_known_ = false;  // false: whatever comes first is right
  uint64_t next_seq_ = 1;
  uint64_t proof_ = 0;       // the stream was on disk up to here
  uint32_t low_number_ = 0;  // files below are done with
};

Result<ScanResult> Scan::run() {
  FQ_TRY_SET(inventory_, take_inventory(disk_, window_));
  FQ_TRY(drop_before_low());
  FQ_TRY(read_chain());
  report_gaps_at_start();
  report_headless();
  sort_others();
  report_gaps_at_end();
  result_.next_seq = next_seq_;
  result_.durable_position = proof_;
  result_.number_max = inventory_.number_max;
  result_.unknown = std::move(inventory_.unknown);
  result_.leftovers = std::move(inventory_.leftovers);
  return std::move(result_);
}

// A file that LOW had let go may be back after a crash, without those between it and the rest. What it
// says is outdated and must not be handed out, so LOW has to be known first: rare, hence a pass of its own.
// With all of those between, up to the first that LOW keeps, it says what it always said: where that first
// one is missing, it alone has what was copied forward into that.
Result<void> Scan::drop_before_low() {
  chain_ = link_chain(inventory_, true);
  size_t begin = chain_.size();
  while (begin > 0 && (begin == chain_.size() || chain_[begin].joins_previous)) --begin;
  if (begin == 0) return {};  // no gap
  std::vector<ChainFile> all = std::move(chain_);
  chain_.assign(all.begin() + static_cast<ptrdiff_t>(begin), all.end());
  quiet_ = true;
  FQ_TRY(read_chain());
  quiet_ = false;
  result_ = {};
  seq_known_ = false;
  next_seq_ = 1;
  proof_ = 0;
  const uint32_t low = std::min(low_number_, chain_.front().key.number);
  size_t from = 0;
  while (all[from].key.number < low) ++from;
  bool joins = all[from].joins_previous || (from > 0 && all[from - 1].key.number + 1 == low);
  for (; from > 0 && joins; joins = all[from].joins_previous) --from;
  chain_.assign(all.begin() + static_cast<ptrdiff_t>(from), all.end());
  return {};
}

Result<void> Scan::read_chain() {
  std::vector<Fence> fences(chain_.size());
  Fence fence;
  for (size_t i = chain_.size(); i-- > 0;) {
    fences[i] = fence;
    const ChainFile& file = chain_[i];
    fence.last = false;
    fence.joined = file.joins_previous;
    if (file.start_position <= fence.position) {
      fence.position = file.start_position;
      fence.seq_exact = file.first_seq != 0;
      if (fence.seq_exact) fence.seq = file.first_seq;
    }
    proof_ = std::max(proof_, file.start_position);
  }
  for (size_t i = 0; i < chain_.size(); ++i) {
    if (i > 0 && !chain_[i].joins_previous) {
      const uint64_t lost = chain_[i].first_seq > next_seq_ ? chain_[i].first_seq - next_seq_ : 0;
      report_missing(chain_[i].previous_number, lost);
    }
    FQ_TRY(read_file(chain_[i], fences[i]));
  }
  return {};
}

void Scan::begin_file(const ChainFile& file) {
  if (file.first_seq != 0 && (!seq_known_ || !file.joins_previous)) {
    next_seq_ = std::max(next_seq_, file.first_seq);
    seq_known_ = true;
  }
  if (file.header_lost)
    result_.damage.push_back({file.key.number, 0, kFileHeaderBytes, 0, "the file header is damaged"});
  if (!file.opened)
    result_.damage.push_back(
        {file.key.number, kFileHeaderBytes, kOpenedBytes, 0, "the opening record is damaged"});
}

Result<void> Scan::read_file(const ChainFile& file, const Fence& fence) {
  begin_file(file);
  JournalFile found{file.key,
                    file.file_bytes,
                    true,
                    file.start_position,
                    file.start_position,
                    file.first_seq,
                    file.clock,
                    file.header_lost,
                    file.older_format};
  if (fence.position > file.start_position) {
    const uint64_t room = fence.position - file.start_position;
    const bool fence_inside =
        file.file_bytes > kFirstRecordOffset && room < file.file_bytes - kFirstRecordOffset;
    const uint64_t end = fence_inside ? kFirstRecordOffset + room : file.file_bytes;
    FQ_TRY_SET(const auto opened, disk_.open(journal_file_name(file.key.number), OpenMode::read));
    window_.reset(*opened, end);
    FileRecords records(window_, file.key, file.start_position, end);
    FQ_TRY(read_records(records, found, fence));
    if (window_.failure()) return *window_.failure();
  }
  result_.end_position = std::min(found.end_position, fence.position);
  if (!quiet_) result_.files.push_back(found);
  return {};
}

Result<void> Scan::read_records(FileRecords& records, JournalFile& file, const Fence& fence) {
  uint64_t offset = kFirstRecordOffset;
  while (true) {
    if (const auto record = records.at(offset); record && (!seq_known_ || record->header.seq == next_seq_)) {
      FQ_TRY(hand_out(*record, file));
      offset = record->end_offset();
      file.end_position = records.position_of(offset);
      continue;
    }
    if (window_.failure()) return *window_.failure();
    const bool at_fence = !fence.last && records.position_of(offset) == fence.position;
    if (at_fence && (!fence.joined || !fence.seq_exact || fence.seq == next_seq_)) return {};

    // A bad place. Where does it go on, and is what lies between damage?
    std::optional<uint64_t> next_offset;
    const uint64_t hole_end_here = records.hole_end(offset);
    if (fence.last) {
      const bool proven = is_proven(records, offset, next_offset);
      if (!proven && hole_end_here == 0) return {};
    } else if (const auto next = records.find_from(offset, next_seq_, fence.seq)) {
      next_offset = next->offset;
    }
    if (window_.failure()) return *window_.failure();
    const auto next = next_offset ? records.at(*next_offset) : std::nullopt;
    if (!next && !fence.joined && !fence.last) return {};  // where it ended is not known; the gap is reported

    JournalDamage hole{file.key.number, offset, 0, 0,
                       hole_end_here != 0 ? "records cannot be read" : "records are damaged"};
    const uint64_t next_seq = next ? next->header.seq : (fence.seq_exact ? fence.seq : next_seq_);
    if (seq_known_ && next_seq > next_seq_) hole.records_lost = next_seq - next_seq_;
    uint64_t hole_end = next ? next->offset : records.end();
    if (!next && fence.last && hole_end_here != 0) hole_end = std::min(hole_end, hole_end_here);
    hole.bytes = hole_end > offset ? hole_end - offset : 0;
    if (hole.bytes == 0) hole.what = next || at_fence ? "records are missing" : "the file ends early";
    result_.damage.push_back(std::move(hole));
    next_seq_ = std::max(next_seq_, next_seq);
    if (!next) {
      file.end_position = records.position_of(std::max(offset, hole_end));
      return {};
    }
    offset = *next_offset;
  }
}

// Only for the last file: later ones are a proof themselves.
bool Scan::is_proven(FileRecords& records, uint64_t offset, std::optional<uint64_t>& next_offset) {
  const uint64_t position = records.position_of(offset);
  records.forget_loose_headers();
  auto found = records.find_from(offset, seq_known_ ? next_seq_ : 0, UINT64_MAX);
  if (found) next_offset = found->offset;
  while (found && proof_ <= position) {
    proof_ = std::max(proof_, found->header.durable_position);
    if (proof_ <= position) found = records.find_from(found->end_offset(), next_seq_, UINT64_MAX);
  }
  result_.clean_end = !next_offset && !records.saw_loose_header() && window_.holes().empty();
  return next_offset && proof_ > position;
}

Result<void> Scan::hand_out(const PlacedRecord& record, const JournalFile& file) {
  seq_known_ = true;
  next_seq_ = record.header.seq + 1;
  proof_ = std::max(proof_, record.header.durable_position);
  if (record.header.type == RecordType::low)
    if (const auto low = decode_low(record.body)) low_number_ = std::max(low_number_, low->file_number);
  if (quiet_) return {};
  ++result_.records;
  return visit_(ScannedRecord{record.header, record.body, file.key.number, file.clock});
}

void Scan::report_missing(uint32_t number, uint64_t lost) {
  for (const HeadlessFile& file : inventory_.headless)
    if (file.number == number) {
      const char* what = file.file_bytes == 0 ? "the file is empty" : "nothing in the file can be read";
      result_.damage.push_back({number, 0, file.file_bytes, lost, what});
      return;
    }
  for (const ChainFile& file : inventory_.files)
    if (file.key.number == number) {
      result_.damage.push_back({number, 0, file.file_bytes, lost, "nothing in the file can be read"});
      return;
    }
  result_.damage.push_back({number, 0, 0, lost, "the file is missing"});
}

// What the oldest file follows was let go by LOW, or is missing.
void Scan::report_gaps_at_start() {
  if (chain_.empty()) return;
  const ChainFile& oldest = chain_.front();
  if (!oldest.opened || oldest.previous_number == 0) return;
  if (oldest.previous_number >= low_number_) report_missing(oldest.previous_number, 0);
}

void Scan::report_headless() {
  for (const HeadlessFile& file : inventory_.headless) {
    if (!is_told(file.number) && file.number >= low_number_) report_missing(file.number, 0);
  }
}

// Whether a file that is out of the chain was used, and is in need no more: below LOW, or given up for a
// later one that took over where it began.
bool Scan::is_replaced(const ChainFile& file) const {
  if (file.key.number < low_number_) return true;
  return std::any_of(chain_.begin(), chain_.end(), [&](const ChainFile& later) {
    return later.key.number > file.key.number && later.start_position <= file.start_position;
  });
}

void Scan::sort_others() {
  for (const ChainFile& file : inventory_.files) {
    const bool in_chain = std::any_of(chain_.begin(), chain_.end(),
                                      [&](const ChainFile& c) { return c.key.number == file.key.number; });
    if (in_chain) continue;
    if (file.was_used() && !is_replaced(file)) {
      result_.damage.push_back({file.key.number, 0, file.file_bytes, 0, "its records fit in nowhere"});
      continue;
    }
    // An older number than one in use, or one cut short, was not left like this by us.
    const bool untouched = !file.was_used() && file.file_bytes > kFirstRecordOffset &&
                           (chain_.empty() || file.key.number > chain_.back().key.number);
    JournalFile other{
        file.key,       file.file_bytes, file.opened,      file.start_position, file.start_position,
        file.first_seq, file.clock,      file.header_lost, file.older_format};
    (untouched ? result_.ready : result_.stale).push_back(other);
  }
}

// Files are made one after the other, the name of each on disk before the next one is begun, and what LOW
// lets go lies below a file in use. So no crash leaves one that is ready without the one before it.
void Scan::report_gaps_at_end() {
  uint32_t before = chain_.empty() ? 0 : chain_.back().key.number;
  for (const JournalFile& ready : result_.ready) {
    const uint32_t number = ready.key.number - 1;
    const bool follows = number == before;
    before = ready.key.number;
    if (follows || came_meanwhile(number)) continue;
    if (!is_told(number)) report_missing(number, 0);
    result_.lost_number = number;
  }
  if (!chain_.empty()) return;
  // Without a file in use, which the first one is from the beginning, what cannot be read was in use.
  for (const HeadlessFile& file : inventory_.headless)
    result_.lost_number = std::max(result_.lost_number, file.number);
}

// A file that is not among those that were listed, while others made some. One that is there and cannot be
// opened is not missing, either.
bool Scan::came_meanwhile(uint32_t number) const {
  const bool listed = std::any_of(inventory_.headless.begin(), inventory_.headless.end(),
                                  [&](const HeadlessFile& file) { return file.number == number; });
  if (listed) return false;
  const auto opened = disk_.open(journal_file_name(number), OpenMode::read);
  return opened.ok() || opened.error().sys != ENOENT;
}

bool Scan::is_told(uint32_t number) const {
  return std::any_of(result_.damage.begin(), result_.damage.end(),
                     [&](const JournalDamage& damage) { return damage.file_number == number; });
}

}  // namespace

Result<ScanResult> scan_journal(Disk& disk, const Visit& visit, Holes holes) {
  return Scan(disk, visit, holes).run();
}

}  // namespace fq
