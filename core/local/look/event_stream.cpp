#include "core/local/look/event_stream.h"

// System.
#include <algorithm>
#include <cerrno>
// fq, below us.
#include "core/base/text/counted.h"
#include "core/base/fault_point.h"
#include "core/journal/file_records.h"
#include "core/journal/holes.h"
// fq, this room.
#include "core/local/shared/journal_size.h"
#include "core/local/files/blobs.h"
#include "core/local/shared/sleep.h"

namespace fq {

namespace {

constexpr int kLoadTries = 100;  // against a ring and files that move on under us; each a moment

}  // namespace

/// Where the record at the log's position lies, as of now. False: the stream ends there.
Result<bool> EventStream::place_block(FilePlace& place, uint64_t& ring_start) {
  EventLog& log = *log_;
  bool skipped = false;
  bool at_end = false;
  uint32_t oldest = 0;
  uint64_t gap = 0;  // bytes that no file of the table holds: a rebuild found them gone
  FQ_TRY(locked([&]() -> Result<void> {
    const SegmentHeader& shared = header();
    const JournalTable& table = stream().table();
    const uint64_t end = shared.committed_end.load(std::memory_order_acquire);
    ring_start = shared.ring_start.load(std::memory_order_acquire);
    oldest = shared.oldest_file;
    // After a power cut the end may lie before what a reader has seen already.
    log.position = std::min(log.position, end);
    // One that goes has lost its name already and is still in the table.
    const bool goes = oldest == log.nameless_file && JournalSize(header()).dead_files() > 0;
    const uint64_t oldest_start = goes ? table.slot(oldest).end : table.slot(oldest).start;
    skipped = log.position < oldest_start;
    log.position = std::max<uint64_t>(log.position, std::min(oldest_start, end));
    at_end = log.position == end;
    if (at_end) return {};
    const uint32_t number = table.find(log.position).value_or(oldest);
    const JournalSlot& slot = table.slot(number);
    place = *table.place(log.position);
    log.block.limit = slot.state == FileState::current
                          ? end
                          : std::min<uint64_t>(end, std::max<uint64_t>(slot.end, log.position));
    // Past the last record of a file that was cut: the next file's first one.
    gap = 0;
    if (log.block.limit == log.position && number < shared.current_file) {
      gap = table.slot(number + 1).start - log.position;
      log.position = table.slot(number + 1).start;
      place = *table.place(log.position);
      log.block.limit = log.position;
    }
    const bool moving = place.key.number != number;
    if (moving) log.block.limit = std::min<uint64_t>(shared.resealed_end, ring_start);
    return {};
  }));
  files().forget_before(oldest);
  if (skipped && log.begun) {
    notices_.push_back(object() + ": the file to be read next was freed meanwhile; going on with the oldest");
  }
  if (gap != 0) {
    notices_.push_back(journal_file_name(place.key.number) + ": what was before it is lost; its events, " +
                       counted(gap, "byte") + ", cannot be shown; see fq check");
  }
  if (at_end) log.begun = true;
  return !at_end;
}

/// After a look at a file that cannot be opened. Given back meanwhile: its place is looked for anew. Else
/// what it held is lost: it is told, and passed.
Result<void> EventStream::pass_lost(const FileKey& key, const Error& why) {
  EventLog& log = *log_;
  log.nameless_file = key.number;
  bool lost = false;
  FQ_TRY(locked([&]() -> Result<void> {
    const SegmentHeader& shared = header();
    lost = key.number >= shared.oldest_file && key.number <= shared.current_file &&
           stream().table().key(key.number).salt == key.salt &&
           !(key.number == shared.oldest_file && JournalSize(header()).dead_files() > 0);
    return {};
  }));
  if (!lost) return {};
  const std::string name = journal_file_name(key.number);
  const std::string what = why.sys == ENOENT ? name + ": the file is missing" : text_within(disk(), why);
  notices_.push_back(what + "; its events, " + counted(log.block.limit - log.position, "byte") +
                     ", cannot be shown; see fq check");
  log.position = log.block.limit;
  return {};
}

/// A block from the log's position on. False: the stream ends there.
Result<bool> EventStream::load() {
  EventLog& log = *log_;
  EventLog::Block& block = log.block;
  {
    FQ_POINT("log.block");
    const SignalsAllowed now(true);
  }
  for (int attempt = 0; attempt < kLoadTries; ++attempt) {
    FilePlace place;
    uint64_t ring_start = 0;
    block.filled = 0;
    FQ_TRY_SET(const bool more, place_block(place, ring_start));
    if (!more) return false;
    if (block.limit <= log.position) continue;
    block.key = place.key;
    block.begin = log.position;
    block.file_start = log.position - (place.offset - kFirstRecordOffset);
    block.from_ring = log.position >= ring_start;
    block.bytes.resize(EventLog::kBlockBytes);
    if (!block.from_ring) block.limit = std::min(block.limit, ring_start);
    const auto want = static_cast<size_t>(
        std::min<uint64_t>(block.limit - log.position, block.from_ring ? kRingBytes : block.bytes.size()));
    const MutableBytes to = MutableBytes(block.bytes).first(want);
    if (block.from_ring) {
      // Written out meanwhile: then it is in the file.
      if (!stream().copy_out(log.position, to)) continue;
      block.filled = want;
      return log.begun = true;
    }
    Result<File*> file = files().get(place.key);
    if (!file.ok() && !is_lost(file.error())) return std::move(file).error();
    if (!file.ok()) {
      FQ_TRY(pass_lost(place.key, file.error()));
      continue;
    }
    HolePages holes;  // told like other records that cannot be read
    FQ_TRY_SET(block.filled, read_around_holes(**file, place.offset, to, holes));
    return log.begun = true;
  }
  return Error{ErrorKind::later, object() + ": its journal grows faster than it can be read", 0};
}

/// The record at the log's position, or the next one that can be read. False: the stream ends there.
Result<bool> EventStream::next(RecordHeader& header, Bytes& body) {
  EventLog& log = *log_;
  bool fresh = false;  // the block was loaded for this record
  while (log.position < log.end) {
    const MutableBytes rest = log.at_position();
    // Until what a failed file was to hold is in another one, it has the seal of the failed one in the ring.
    if (log.block.from_ring && rest.size() >= kRecordHeaderBytes + 8) reseal_record(log.block.key, rest);
    if (const auto found = record_at(file_seed(log.block.key), rest, log.position)) {
      header = found->header;
      body = found->body;
      return true;
    }
    if (fresh) FQ_TRY(skip_unreadable());
    FQ_TRY_SET(const bool more, load());
    if (!more) return false;
    fresh = true;
  }
  return false;
}

/// To the next record of the file that can be read, or behind the file. Says so.
Result<void> EventStream::skip_unreadable() {
  EventLog& log = *log_;
  const uint64_t offset = kFirstRecordOffset + (log.position - log.block.file_start);
  uint64_t next = log.block.limit;
  if (!log.block.from_ring) {
    const Result<File*> file = files().get(log.block.key);
    // Given back or lost while we looked: who opens it next says which.
    if (!file.ok()) return {};
    FileWindow window(Holes::taken);
    const uint64_t end = kFirstRecordOffset + (log.block.limit - log.block.file_start);
    window.reset(**file, end);
    FileRecords records(window, log.block.key, log.block.file_start, end);
    if (const auto found = records.find_from(offset, 0, UINT64_MAX))
      next = records.position_of(found->offset);
    if (window.failure()) return *window.failure();
  }
  notices_.push_back(journal_file_name(log.block.key.number) + ": " + std::to_string(next - log.position) +
                     " bytes at byte " + std::to_string(offset) + " cannot be read; see fq check");
  log.position = next;
  return {};
}

}  // namespace fq
