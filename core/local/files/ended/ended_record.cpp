// ended_record - see ended_record.h.
//
//   offset size field                     (little-endian)
//        0    4 magic "fqE3"
//        4    4 bytes of the record, a multiple of 8
//        8    8 id
//       16    8 told until (wall time, ms)
//       24    8 ended at (likewise)
//       32    8 bytes of its output in output/
//       40    4 bytes of the body
//       44    4 CRC32C of the body
//       48    1 verdict: a RecordType
//       49    1 1: there is an output
//       50    2 zero
//       52    4 CRC32C of bytes 0..52, seeded with the file's number and the place
//       56      the body: its fields as they are put below, texts as {u32 bytes, bytes}
#include "core/local/files/ended/ended_record.h"

// System.
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
// fq, below us.
#include "core/base/crc32c.h"
#include "core/journal/codec_parts.h"

namespace fq {

namespace {

constexpr uint32_t kEndedMagic = 0x33457166;
constexpr size_t kEndedHeadBytes = 56;
constexpr size_t kSealAt = 52;
constexpr size_t kAlign = 8;
constexpr uint64_t kRecordMax = 64 * 1024 * 1024;    // chosen: far above what is ever written
constexpr uint64_t kScannedMost = 32 * 1024 * 1024;  // chosen: no file of ours gets so long
constexpr size_t kScanBytes = 64 * 1024;             // arbitrary; of records in a row
constexpr size_t kLookBytes = 1024;                  // behind a long one
constexpr size_t kFixedBytes = 96;                   // of the body
constexpr uint8_t kHasExit = 1, kHasSignal = 2, kHasErrorExit = 4, kHasErrorSignal = 8, kHasInline = 16;

using Texts = std::array<std::string_view, 10>;

Texts texts_of(const EndedRecord& record) {
  const auto* output = record.output ? &*record.output : nullptr;
  return {record.tenant,
          record.key,
          record.tags,
          record.job,
          record.terms,
          record.error_reason,
          record.error_stderr,
          output != nullptr ? std::string_view(output->out) : std::string_view(),
          output != nullptr ? std::string_view(output->err) : std::string_view(),
          record.steps};
}

size_t body_bytes(const EndedRecord& record) {
  size_t bytes = kFixedBytes;
  for (const std::string_view text : texts_of(record)) bytes += sizeof(uint32_t) + text.size();
  return bytes;
}

uint32_t seal_of(const std::byte* head, uint32_t file, uint64_t offset) {
  std::array<std::byte, 12> place;
  put_number(place.data(), file);
  put_number(place.data() + 4, offset);
  return crc32c(crc32c(0, place), Bytes(head, kSealAt));
}

void encode_body(MutableBytes body, const EndedRecord& record) {
  codec::ByteWriter to(body);
  to.put(record.pushed_wall_ms);
  to.put(record.started_wall_ms);
  to.put(record.error_wall_ms);
  to.put(record.priority);
  to.put(record.pid);
  to.put(record.deliveries);
  to.put(record.attempts);
  to.put(record.attempts_max);
  to.put(record.crashes);
  const int present = (record.exit ? kHasExit : 0) | (record.signal ? kHasSignal : 0) |
                      (record.error_exit ? kHasErrorExit : 0) | (record.error_signal ? kHasErrorSignal : 0) |
                      (record.output ? kHasInline : 0);
  to.put(static_cast<uint16_t>(present));
  to.put(record.exit.value_or(0));
  to.put(record.signal.value_or(0));
  to.put(record.error_exit.value_or(0));
  to.put(record.error_signal.value_or(0));
  to(codec::Zeros<12>{});
  const EndedOutput output =
      record.output ? EndedOutput{"", "", record.output->out_gap, record.output->err_gap} : EndedOutput{};
  for (const Gap& gap : {output.out_gap, output.err_gap}) {
    to.put(gap.at);
    to.put(gap.bytes);
  }
  for (const std::string_view text : texts_of(record)) {
    to.put(static_cast<uint32_t>(text.size()));
    to.put_text(text);
  }
  FQ_ASSERT(to.full());
}

std::optional<EndedRecord> decode_body(const EndedPlace& place, Bytes body) {
  EndedRecord record;
  record.id = MessageId{place.id};
  record.verdict = place.verdict;
  record.until_wall_ms = place.until_wall_ms;
  record.ended_wall_ms = place.ended_wall_ms;
  record.output_bytes = place.output_bytes;
  codec::ByteReader from(body);
  record.pushed_wall_ms = from.get<int64_t>();
  record.started_wall_ms = from.get<int64_t>();
  record.error_wall_ms = from.get<int64_t>();
  record.priority = from.get<int32_t>();
  record.pid = from.get<uint32_t>();
  record.deliveries = from.get<uint32_t>();
  record.attempts = from.get<uint16_t>();
  record.attempts_max = from.get<uint16_t>();
  record.crashes = from.get<uint16_t>();
  const auto present = from.get<uint16_t>();
  const auto number_if = [&](int bit) {
    const auto number = from.get<int16_t>();
    return (present & bit) != 0 ? std::optional<int16_t>(number) : std::nullopt;
  };
  record.exit = number_if(kHasExit);
  record.signal = number_if(kHasSignal);
  record.error_exit = number_if(kHasErrorExit);
  record.error_signal = number_if(kHasErrorSignal);
  from.take(12);
  EndedOutput output;
  for (Gap* const gap : {&output.out_gap, &output.err_gap}) {
    gap->at = from.get<uint64_t>();
    gap->bytes = from.get<uint64_t>();
  }
  const auto text = [&] { return std::string(from.take_text(from.get<uint32_t>())); };
  record.tenant = text();
  record.key = text();
  record.tags = text();
  record.job = text();
  record.terms = text();
  record.error_reason = text();
  record.error_stderr = text();
  output.out = text();
  output.err = text();
  record.steps = text();
  if ((present & kHasInline) != 0) record.output = std::move(output);
  if (!from.ended_well()) return std::nullopt;
  return record;
}

/// What the head at `at` says, if it is one.
std::optional<EndedPlace> head_at(const std::byte* at, uint32_t file, uint64_t offset, uint64_t left) {
  if (get_number<uint32_t>(at) != kEndedMagic) return std::nullopt;
  if (get_number<uint32_t>(at + kSealAt) != seal_of(at, file, offset)) return std::nullopt;
  EndedPlace place;
  place.file = file;
  place.offset = offset;
  place.bytes = get_number<uint32_t>(at + 4);
  const auto body = get_number<uint32_t>(at + 40);
  const bool fits = place.bytes >= kEndedHeadBytes && place.bytes % kAlign == 0 && place.bytes <= left;
  if (!fits || body > place.bytes - kEndedHeadBytes) return std::nullopt;
  place.id = get_number<uint64_t>(at + 8);
  place.until_wall_ms = get_number<int64_t>(at + 16);
  place.ended_wall_ms = get_number<int64_t>(at + 24);
  place.output_bytes = get_number<uint64_t>(at + 32);
  place.verdict = static_cast<RecordType>(at[48]);
  place.has_output = at[49] != std::byte{0};
  return place;
}

/// A file read from front to end, a part at a time.
class EndedWindow {
 public:
  explicit EndedWindow(File& file) : file_(file) {}
  /// The bytes at `offset`, as many as are wanted. Needs: so many are there.
  Result<const std::byte*> at(uint64_t offset, size_t wanted) {
    if (offset < begin_ || offset + wanted > begin_ + filled_) {
      bytes_.resize(offset <= begin_ + filled_ ? kScanBytes : kLookBytes);
      FQ_TRY_SET(filled_, file_.read_at(offset, bytes_));
      begin_ = offset;
      if (filled_ < wanted) return Error{ErrorKind::io, "a file of ended/ was cut while it was read", 0};
    }
    return bytes_.data() + (offset - begin_);
  }

 private:
  File& file_;
  std::vector<std::byte> bytes_;
  uint64_t begin_ = 0;
  size_t filled_ = 0;
};

}  // namespace

std::string ended_file_name(uint32_t file) { return "ended/" + std::to_string(file); }

uint32_t ended_file_number(std::string_view name) {
  uint32_t number = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == name.data() + name.size();
  return whole && name[0] != '0' ? number : 0;
}

uint64_t ended_record_bytes(const EndedRecord& record) {
  return (kEndedHeadBytes + body_bytes(record) + kAlign - 1) / kAlign * kAlign;
}

void encode_ended(std::string& to, const EndedRecord& record, uint32_t file, uint64_t offset) {
  const size_t from = to.size();
  const size_t body = body_bytes(record);
  const uint64_t bytes = ended_record_bytes(record);
  to.resize(from + bytes, '\0');
  std::byte* const at = std::as_writable_bytes(std::span(to)).data() + from;
  encode_body(MutableBytes(at + kEndedHeadBytes, body), record);
  put_number(at, kEndedMagic);
  put_number(at + 4, static_cast<uint32_t>(bytes));
  put_number(at + 8, number(record.id));
  put_number(at + 16, record.until_wall_ms);
  put_number(at + 24, record.ended_wall_ms);
  put_number(at + 32, record.output_bytes);
  put_number(at + 40, static_cast<uint32_t>(body));
  put_number(at + 44, crc32c(0, Bytes(at + kEndedHeadBytes, body)));
  at[48] = static_cast<std::byte>(record.verdict);
  at[49] = static_cast<std::byte>(record.output || record.output_bytes != 0 ? 1 : 0);
  put_number(at + kSealAt, seal_of(at, file, offset));
}

Result<std::optional<EndedRecord>> read_ended(Disk& disk, const EndedPlace& place) {
  const Result<std::unique_ptr<File>> file = disk.open(ended_file_name(place.file), OpenMode::read);
  if (!file.ok() && file.error().sys == ENOENT) return std::optional<EndedRecord>();
  if (!file.ok()) return file.error();
  if (place.bytes > kRecordMax) return std::optional<EndedRecord>();
  std::vector<std::byte> bytes(place.bytes);
  FQ_TRY_SET(const size_t got, (*file)->read_at(place.offset, bytes));
  const bool whole = got == bytes.size() && head_at(bytes.data(), place.file, place.offset, got);
  if (!whole) return std::optional<EndedRecord>();
  const Bytes body = Bytes(bytes).subspan(kEndedHeadBytes, get_number<uint32_t>(bytes.data() + 40));
  if (crc32c(0, body) != get_number<uint32_t>(bytes.data() + 44)) return std::optional<EndedRecord>();
  return decode_body(place, body);
}

Result<uint64_t> scan_ended(Disk& disk, uint32_t file, uint64_t from,
                            const std::function<void(const EndedPlace&)>& visit) {
  const Result<std::unique_ptr<File>> opened = disk.open(ended_file_name(file), OpenMode::read);
  const bool none =
      !opened.ok() && (opened.error().sys == ENOENT || opened.error().kind == ErrorKind::unusable);
  if (none) return uint64_t{0};
  if (!opened.ok()) return opened.error();
  FQ_TRY_SET(const uint64_t there, (*opened)->size());
  const uint64_t size = std::min(there, kScannedMost);
  EndedWindow window(**opened);
  uint64_t end = from;
  for (uint64_t at = from; at + kEndedHeadBytes <= size;) {
    FQ_TRY_SET(const std::byte* const bytes, window.at(at, kEndedHeadBytes));
    const std::optional<EndedPlace> place = head_at(bytes, file, at, size - at);
    if (place) visit(*place);
    at += place ? place->bytes : kAlign;
    if (place) end = at;
  }
  return end;
}

}  // namespace fq
