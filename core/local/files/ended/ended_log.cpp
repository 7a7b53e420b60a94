// ended_log - see ended_log.h.
//
// ended/state          (little-endian)
//   offset size field
//        0    8 magic "fqends1\n"
//        8    4 number of the file that is written
//       12    4 records in it
//       16    8 its end
//       24    8 its bytes with their outputs
//       32    4 records of all files
//       36    4 zero
//       40    8 their bytes with their outputs
//       48    8 when some may have had their time (wall time, ms)
//       56    8 when outputs without a record are looked for (likewise)
//       64    4 CRC32C of bytes 0..64
#include "core/local/files/ended/ended_log.h"

// System.
#include <algorithm>
#include <array>
#include <cerrno>
// fq, below us.
#include "core/base/crc32c.h"
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/files/jobs/outputs.h"

namespace fq {

namespace {

constexpr std::string_view kLockName = "ended/lock";
constexpr std::string_view kStateName = "ended/state";
constexpr std::string_view kStateMagic = "fqends1\n";
constexpr size_t kStateBytes = 68;
constexpr int64_t kBetweenSweepsMs = 60'000;  // at least
constexpr int64_t kDayMs = 86'400'000;
constexpr int kFindTries = 3;        // arbitrary
constexpr uint64_t kMostlyOver = 4;  // a file of which less than this part is still told is copied forward

/// 0: there is none. What is no file of ours is longer than any.
Result<uint64_t> size_of(Disk& disk, uint32_t file) {
  const Result<std::unique_ptr<File>> opened = disk.open(ended_file_name(file), OpenMode::read);
  if (!opened.ok() && opened.error().sys == ENOENT) return uint64_t{0};
  if (!opened.ok() && opened.error().kind == ErrorKind::unusable) return UINT64_MAX;
  if (!opened.ok()) return opened.error();
  return (*opened)->size();
}

/// Also where the clock was set back, or the bytes are wild.
bool is_over(int64_t due_wall_ms, int64_t now_wall_ms) {
  return due_wall_ms <= now_wall_ms || due_wall_ms > now_wall_ms + kDayMs;
}

}  // namespace

Result<bool> EndedLog::lock(int64_t timeout_ms) {
  if (!lock_) {
    Result<LockFile> opened = LockFile::open(disk_, kLockName, true);
    if (!opened.ok() && opened.error().sys == ENOENT) {
      FQ_TRY(disk_.make_directory("ended"));
      opened = LockFile::open(disk_, kLockName, true);
    }
    if (!opened.ok()) return std::move(opened).error();
    lock_.emplace(std::move(opened).value());
  }
  return lock_->lock(LockFile::Mode::exclusive, timeout_ms);
}

void EndedLog::unlock() { lock_->unlock(); }

Result<bool> EndedLog::read_state() {
  if (!state_file_) {
    Result<std::unique_ptr<File>> opened = disk_.open(kStateName, OpenMode::write);
    if (!opened.ok() && opened.error().sys == ENOENT) return false;
    FQ_TRY_SET(state_file_, std::move(opened));
  }
  std::array<std::byte, kStateBytes> bytes;
  FQ_TRY_SET(const size_t got, state_file_->read_at(0, bytes));
  if (got != bytes.size() || as_text(Bytes(bytes).first(kStateMagic.size())) != kStateMagic) return false;
  if (get_number<uint32_t>(bytes.data() + 64) != crc32c(0, Bytes(bytes).first(64))) return false;
  state_.file = get_number<uint32_t>(bytes.data() + 8);
  state_.file_records = get_number<uint32_t>(bytes.data() + 12);
  state_.file_end = get_number<uint64_t>(bytes.data() + 16);
  state_.file_bytes = get_number<uint64_t>(bytes.data() + 24);
  state_.records = get_number<uint32_t>(bytes.data() + 32);
  state_.bytes = get_number<uint64_t>(bytes.data() + 40);
  state_.due_wall_ms = get_number<int64_t>(bytes.data() + 48);
  state_.strays_wall_ms = get_number<int64_t>(bytes.data() + 56);
  return true;
}

Result<void> EndedLog::write_state() {
  std::array<std::byte, kStateBytes> bytes{};
  std::memcpy(bytes.data(), kStateMagic.data(), kStateMagic.size());
  put_number(bytes.data() + 8, state_.file);
  put_number(bytes.data() + 12, state_.file_records);
  put_number(bytes.data() + 16, state_.file_end);
  put_number(bytes.data() + 24, state_.file_bytes);
  put_number(bytes.data() + 32, state_.records);
  put_number(bytes.data() + 40, state_.bytes);
  put_number(bytes.data() + 48, state_.due_wall_ms);
  put_number(bytes.data() + 56, state_.strays_wall_ms);
  put_number(bytes.data() + 64, crc32c(0, Bytes(bytes).first(64)));
  if (!state_file_) {
    FQ_TRY_SET(state_file_, disk_.open(kStateName, OpenMode::create_new));
  }
  return state_file_->write_at(0, bytes);
}

/// The state as the files bear it out.
Result<void> EndedLog::load(int64_t now_wall_ms) {
  batch_.clear();
  state_ = State{};
  state_.strays_wall_ms = now_wall_ms + kDayMs;
  FQ_TRY_SET(const bool known, read_state());
  if (known) {
    FQ_TRY_SET(const uint64_t size, size_of(disk_, state_.file));
    if (size == state_.file_end) return {};
  }
  // A writer was killed, or its disk was full, between a record and the state.
  return recount(now_wall_ms);
}

Result<void> EndedLog::recount(int64_t now_wall_ms) {
  const State before = state_;
  state_ = State{};
  state_.file = before.file;
  state_.strays_wall_ms = before.strays_wall_ms;
  state_.due_wall_ms = now_wall_ms;
  FQ_TRY_SET(const std::vector<uint32_t> files, list_ended(disk_));
  for (const uint32_t file : files) {
    state_.file = file;
    state_.file_records = 0;
    state_.file_bytes = 0;
    FQ_TRY_SET(state_.file_end, scan_ended(disk_, file, 0, [this](const EndedPlace& place) {
                 ++state_.file_records;
                 state_.file_bytes += place.all_bytes();
               }));
    state_.records += state_.file_records;
    state_.bytes += state_.file_bytes;
  }
  FQ_TRY_SET(const uint64_t size, size_of(disk_, state_.file));
  // Nothing is written over what may be half a record, and no number is used again.
  if (size == state_.file_end && state_.file >= before.file) return {};
  state_.file = std::max(state_.file, before.file - 1);
  return start_file();
}

/// What comes goes into another file. Its number is known before it is there: a file behind that of the
/// state would be found too late.
Result<void> EndedLog::start_file() {
  FQ_TRY(write_out());
  ++state_.file;
  state_.file_records = 0;
  state_.file_end = 0;
  state_.file_bytes = 0;
  FQ_TRY(write_state());
  FQ_POINT("ended.file_started");
  return {};
}

Result<void> EndedLog::write_out() {
  if (batch_.empty()) return {};
  const std::string bytes = std::exchange(batch_, {});
  const uint64_t from = state_.file_end - bytes.size();
  const std::string name = ended_file_name(state_.file);
  Result<std::unique_ptr<File>> file = disk_.open(name, OpenMode::write);
  if (!file.ok() && file.error().sys == ENOENT) file = disk_.open(name, OpenMode::create_new);
  if (!file.ok()) return std::move(file).error();
  Result<void> written = (*file)->write_at(from, as_bytes(bytes));
  // Of a full disk nothing is left behind where there was nothing.
  if (!written.ok() && from == 0) static_cast<void>(disk_.remove(name));
  FQ_POINT("ended.written");
  return written;
}

Result<void> EndedLog::add(const EndedRecord& record) {
  const uint64_t bytes = ended_record_bytes(record) + record.output_bytes;
  const bool file_is_full =
      state_.file_records >= kEndedFileRecords || state_.file_bytes + bytes > kEndedFileBytes;
  if (state_.file_records > 0 && file_is_full) FQ_TRY(start_file());
  while (state_.records > 0 && (state_.records >= kEndedRecordsMax || state_.bytes + bytes > kEndedBytesMax))
    FQ_TRY(drop_oldest());
  encode_ended(batch_, record, state_.file, state_.file_end);
  state_.file_end += ended_record_bytes(record);
  state_.file_bytes += bytes;
  state_.bytes += bytes;
  ++state_.file_records;
  ++state_.records;
  state_.due_wall_ms = std::min(state_.due_wall_ms, record.until_wall_ms);
  return {};
}

Result<void> EndedLog::append(std::span<const EndedRecord> records, int64_t now_wall_ms) {
  FQ_TRY(load(now_wall_ms));
  if (is_over(state_.due_wall_ms, now_wall_ms)) {
    const bool strays = is_over(state_.strays_wall_ms, now_wall_ms);
    const Result<void> swept = sweep_loaded(now_wall_ms, strays ? Depth::strays : Depth::records);
    // What cannot be given back now is in the way of nothing that comes.
    if (!swept.ok()) FQ_TRY(load(now_wall_ms));
    if (!swept.ok()) state_.due_wall_ms = now_wall_ms + kBetweenSweepsMs;
  }
  // The next look is not made at once for what is told for a moment only.
  const int64_t due_wall_ms = std::min(state_.due_wall_ms, now_wall_ms + kBetweenSweepsMs);
  for (const EndedRecord& record : records) FQ_TRY(add(record));
  state_.due_wall_ms = std::max(state_.due_wall_ms, due_wall_ms);
  FQ_TRY(write_out());
  FQ_TRY(write_state());
  FQ_POINT("ended.appended");
  return {};
}

Result<void> EndedLog::drop_oldest() {
  FQ_TRY(write_out());
  FQ_TRY(index_.refresh(disk_));
  for (const auto& [number, heads] : index_.files()) {
    if (heads.places.empty()) continue;
    const uint32_t oldest = number;
    if (oldest == state_.file) FQ_TRY(start_file());
    return drop(oldest);
  }
  // Records that are counted and not there: what is there counts.
  state_.records = 0;
  state_.bytes = 0;
  return {};
}

/// With the outputs of its records. Needs: it is not the one that is written.
Result<void> EndedLog::drop(uint32_t file) {
  FQ_TRY(index_.refresh(disk_));
  const auto found = index_.files().find(file);
  if (found == index_.files().end()) return {};
  for (const EndedPlace& place : found->second.places) FQ_TRY(drop_output(place));
  FQ_POINT("ended.outputs_dropped");
  FQ_TRY(disk_.remove(ended_file_name(file)));
  FQ_POINT("ended.file_dropped");
  uncount(found->second);
  return {};
}

void EndedLog::uncount(const EndedIndex::FileHeads& heads) {
  for (const EndedPlace& place : heads.places) {
    state_.records -= std::min(state_.records, 1U);
    state_.bytes -= std::min(state_.bytes, place.all_bytes());
  }
}

/// The file with its output, unless it is that of a later record: a copy of this one, or another end of the
/// same message.
Result<void> EndedLog::drop_output(const EndedPlace& place) {
  if (place.output_bytes == 0) return {};
  const EndedPlace* const newest = index_.newest_output(place.id);
  const bool copied = newest != nullptr && !newest->is(place) && newest->until_wall_ms == place.until_wall_ms;
  return copied ? Result<void>() : remove_output(disk_, MessageId{place.id}, place.until_wall_ms);
}

/// What is still told of a file, into the one that is written. There it stands behind the later records of its
/// message, and says that it takes the place of none.
Result<void> EndedLog::move_forward(const EndedIndex::FileHeads& heads, int64_t now_wall_ms) {
  for (const EndedPlace& place : heads.places) {
    if (!index_.tells(place, now_wall_ms)) continue;
    FQ_TRY_SET(std::optional<EndedRecord> record, read_ended(disk_, place));
    if (!record) continue;
    if (!index_.is_newest(place)) record->verdict = RecordType::buried;
    FQ_TRY(add(*record));
  }
  return write_out();
}

Result<void> EndedLog::sweep_file(uint32_t file, const EndedIndex::FileHeads& heads, int64_t now_wall_ms) {
  uint64_t told_bytes = 0, bytes = 0;
  bool tells = false;
  for (const EndedPlace& place : heads.places) {
    bytes += place.bytes;
    const bool told = index_.tells(place, now_wall_ms);
    if (told) told_bytes += place.bytes;
    if (told) state_.due_wall_ms = std::min(state_.due_wall_ms, place.until_wall_ms);
    tells = tells || told;
    if (!told) FQ_TRY(drop_output(place));
  }
  if (told_bytes * kMostlyOver >= bytes && tells) return {};
  if (file == state_.file) FQ_TRY(start_file());
  if (!tells) return drop(file);
  uncount(heads);
  FQ_TRY(move_forward(heads, now_wall_ms));
  FQ_TRY(write_state());
  FQ_POINT("ended.moved");
  // Their outputs have moved with them.
  FQ_TRY(disk_.remove(ended_file_name(file)));
  FQ_POINT("ended.file_dropped");
  return {};
}

Result<void> EndedLog::sweep_loaded(int64_t now_wall_ms, Depth depth) {
  FQ_TRY(index_.refresh(disk_));
  const std::map<uint32_t, EndedIndex::FileHeads> files = index_.files();
  state_.due_wall_ms = now_wall_ms + kDayMs;
  // One that cannot be given back keeps no other.
  for (const auto& [file, heads] : files) static_cast<void>(sweep_file(file, heads, now_wall_ms));
  if (depth == Depth::strays) {
    FQ_TRY(sweep_outputs(disk_, now_wall_ms));
    state_.strays_wall_ms = now_wall_ms + kDayMs;
  }
  const int64_t due_wall_ms = std::max(state_.due_wall_ms, now_wall_ms + kBetweenSweepsMs);
  const int64_t strays_wall_ms = state_.strays_wall_ms;
  FQ_TRY(recount(now_wall_ms));
  state_.due_wall_ms = due_wall_ms;
  state_.strays_wall_ms = strays_wall_ms;
  return write_state();
}

Result<void> EndedLog::sweep(int64_t now_wall_ms, Depth depth) {
  FQ_TRY(load(now_wall_ms));
  return sweep_loaded(now_wall_ms, depth);
}

bool EndedLog::is_due(int64_t now_wall_ms) {
  const Result<bool> known = read_state();
  if (!known.ok() || !*known) return true;
  return is_over(std::min(state_.due_wall_ms, state_.strays_wall_ms), now_wall_ms);
}

bool EndedLog::holds_something() {
  for (const std::string_view directory : {"ended", "output"}) {
    const Result<std::vector<std::string>> names = disk_.list(directory);
    if (names.ok() && !names->empty()) return true;
  }
  return false;
}

Result<std::optional<EndedRecord>> EndedLog::find(MessageId id, int64_t now_wall_ms) {
  // One that is copied forward while it is looked for is found where it is then.
  for (int attempt = 0; attempt < kFindTries; ++attempt) {
    FQ_TRY(index_.refresh(disk_));
    const EndedPlace* const place = index_.newest(number(id));
    const bool told =
        place != nullptr && place->until_wall_ms > now_wall_ms && place->verdict != RecordType::buried;
    if (!told) break;
    FQ_TRY_SET(std::optional<EndedRecord> record, read_ended(disk_, *place));
    if (record) return record;
  }
  return std::optional<EndedRecord>();
}

Result<std::optional<JobOutput>> EndedLog::output(MessageId id, int64_t now_wall_ms) {
  FQ_TRY(index_.refresh(disk_));
  const EndedPlace* const place = index_.newest_output(number(id));
  // One without a record was kept before there were any, or was written by who was killed before the record.
  if (place == nullptr || place->output_bytes != 0) return read_output(disk_, id, now_wall_ms);
  if (place->until_wall_ms <= now_wall_ms) return std::optional<JobOutput>();
  FQ_TRY_SET(std::optional<EndedRecord> record, read_ended(disk_, *place));
  if (!record || !record->output) return std::optional<JobOutput>();
  return std::optional<JobOutput>(JobOutput{std::move(record->output->out), std::move(record->output->err),
                                            place->until_wall_ms - now_wall_ms, record->output->out_gap,
                                            record->output->err_gap, nullptr});
}

Result<std::vector<EndedPlace>> EndedLog::newest_first(int64_t now_wall_ms) {
  FQ_TRY(index_.refresh(disk_));
  std::vector<EndedPlace> places;
  for (const auto& [file, heads] : index_.files()) {
    for (const EndedPlace& place : heads.places) {
      const bool last = index_.is_newest(place) && place.verdict != RecordType::buried;
      if (last && place.until_wall_ms > now_wall_ms) places.push_back(place);
    }
  }
  std::sort(places.begin(), places.end(), [](const EndedPlace& a, const EndedPlace& b) {
    return a.ended_wall_ms != b.ended_wall_ms ? a.ended_wall_ms > b.ended_wall_ms : a.id > b.id;
  });
  return places;
}

}  // namespace fq
