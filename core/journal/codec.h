// codec - records to bytes and back, field by field, little-endian.
//
//   offset size field                     (the header; 48 bytes)
//        0    4 magic "fqr1"
//        4    4 bytes of header and body, without the padding to 8
//        8    8 seq
//       16    8 stream position
//       24    8 at_wall_ms
//       32    4 position - durable position; 2^32 - 1: too far to tell, read back as durable 0
//       36    1 type
//       37    1 flags
//       38    2 count of items
//       40    4 CRC32C of the body, unseeded (computed before any lock)
//       44    4 CRC32C of bytes 0..44, seeded with the file's salt and number
// The seeded header keeps stale or hostile bytes from ever parsing as a record; since it holds the body's CRC
// it also ties the body to its place.
//
// To change this, or to add a type that older builds do not know: 1 raise kJournalFormat, unless no release
// has the one that it is at, 2 add a golden spool of the old format to tests/process/formats. Each build so
// far reads all earlier formats and writes the newest, and no file has records of two.
#pragma once

// System.
#include <array>
#include <string>
// fq, this room.
#include "core/journal/record.h"

namespace fq {

inline constexpr uint32_t kJournalFormat = 2;
inline constexpr uint32_t kOldestFormat = 1;  // without the types above `reheld`
inline constexpr uint32_t kRecordHeaderBytes = 48;
inline constexpr uint32_t kRecordAlign = 8;
// No record is above half of the ring of unwritten bytes (512 KiB).
inline constexpr uint32_t kRecordBytesMax = 256 * 1024;
/// The bytes that `acked` takes for one message on disk: the closing room that each live message keeps free.
inline constexpr uint32_t kClosingBytes = 64;
/// And those that `buried` takes for one, without a word of why.
inline constexpr uint32_t kBurialBytes = 88;

constexpr uint64_t padded(uint64_t bytes) { return (bytes + kRecordAlign - 1) & ~uint64_t{kRecordAlign - 1}; }

/// The seed of the header CRCs of a file.
struct FileKey {
  uint32_t number = 0;
  uint64_t salt = 0;
};

// ---- bodies -------------------------------------------------------------------------------------

/// An encoded body with its CRC, ready to be put behind a header. Used again and again: encoding keeps
/// the capacity, so that what is encoded under the state lock allocates nothing.
struct Body {
  RecordType type{};
  uint8_t flags = 0;
  uint16_t count = 0;
  uint32_t crc = 0;
  std::vector<std::byte> bytes;
};

/// The bytes that its record takes in a file.
inline uint64_t record_bytes(const Body& body) { return padded(kRecordHeaderBytes + body.bytes.size()); }

/// The first id is not known before the lock, everything else of a push is encoded before it. So a pushed
/// body begins with 8 bytes for the first id that its CRC leaves out; the header CRC covers them instead.
/// False: they are more than a record may hold.
[[nodiscard]] bool encode_pushed(Body& into, std::span<const MessageItem> items, bool lazy);
/// Where the first item of a pushed body begins, and what each takes of it.
inline constexpr uint32_t kFirstItemOffset = 8;
/// Before the content of each message: {u32 content bytes, u32 crc of the content}.
inline constexpr uint32_t kItemFrameBytes = 8;
size_t pushed_item_bytes(const MessageItem& item);
void encode_event(Body& into, RecordType type, std::span<const EventItem> items, const EventDetail& detail);
/// `type`: of the same kind.
void encode_moved(Body& into, const MovedRecord& moved, RecordType type = RecordType::moved);
/// Where the item begins in a replaced body.
inline constexpr uint32_t kReplacedItemOffset = 24;
void encode_replaced(Body& into, const ReplacedRecord& replaced);
void encode_edited(Body& into, const EditedRecord& edited, RecordType type = RecordType::edited);
void encode_keys(Body& into, const KeysRecord& keys);
void encode_low(Body& into, const LowRecord& low);
void encode_limits(Body& into, const LimitsRecord& limits);
void encode_clock(Body& into, const ClockRecord& clock);
void encode_policy(Body& into, const PolicyRecord& policy);
void encode_scheduled(Body& into, const ScheduledRecord& schedule);
void encode_stepped(Body& into, const SteppedRecord& step);
/// `skipped` or `unscheduled`.
void encode_skipped(Body& into, RecordType type, const SkippedRecord& skipped);

/// Bytes that encode_event gives for `items` ids with this detail (header included, padded).
uint64_t event_record_bytes(RecordType type, size_t items, const EventDetail& detail);
/// Of a detail that says nothing.
uint64_t event_record_bytes(RecordType type, size_t items);

// ---- headers: encoded under the lock ------------------------------------------------------------

using HeaderBytes = std::array<std::byte, kRecordHeaderBytes>;

inline constexpr uint32_t kRecordMagic = 0x31727166;  // "fqr1"

/// A field of a record's header by its place in it, to be read alone as well: of bytes that were checked, or
/// that nobody but us can have written.
template <class T>
struct HeaderField {
  size_t offset;

  T of(Bytes header) const { return get_number<T>(header.subspan(offset, sizeof(T)).data()); }
  void put(MutableBytes header, T value) const {
    put_number(header.subspan(offset, sizeof value).data(), value);
  }
  constexpr size_t end() const { return offset + sizeof(T); }
};
namespace header_field {
inline constexpr HeaderField<uint32_t> magic{0};
inline constexpr HeaderField<uint32_t> bytes{magic.end()};
inline constexpr HeaderField<uint64_t> seq{bytes.end()};
inline constexpr HeaderField<uint64_t> position{seq.end()};
inline constexpr HeaderField<int64_t> at_wall_ms{position.end()};
inline constexpr HeaderField<uint32_t> durable_distance{at_wall_ms.end()};
inline constexpr HeaderField<RecordType> type{durable_distance.end()};
inline constexpr HeaderField<uint8_t> flags{type.end()};
inline constexpr HeaderField<uint16_t> count{flags.end()};
inline constexpr HeaderField<uint32_t> body_crc{count.end()};
inline constexpr HeaderField<uint32_t> header_crc{body_crc.end()};
static_assert(header_crc.end() == kRecordHeaderBytes);
}  // namespace header_field

/// CRC of what makes one file differ from another, with which its header CRCs begin.
uint32_t file_seed(const FileKey& key);

/// Fills `header.bytes`, type, flags and count from the body and encodes it. For a pushed body `first_id`
/// is also written into body.bytes[0..8); other types pass MessageId{0}.
HeaderBytes encode_header(uint32_t seed, const RecordHeader& header, Body& body, MessageId first_id);

/// Seals a header anew for another file: same record, other salt. `record` is the whole record, header
/// first; its header CRC is replaced. Needs: it was valid under some key.
void reseal_record(const FileKey& to, MutableBytes record);

/// Checks magic, type, length and header CRC. `bytes` begins at the header and holds at least
/// kRecordHeaderBytes + 8 bytes; none when it is no record of this file.
std::optional<RecordHeader> decode_header(const FileKey& key, Bytes bytes);
/// The same for a caller that asks often: with the file's file_seed().
std::optional<RecordHeader> decode_header(uint32_t seed, Bytes bytes);
/// Whether `body` (header.bytes - kRecordHeaderBytes of it) is what the header's CRC says.
bool body_is_whole(Bytes header, Bytes body, RecordType type);
/// The body behind this header, which `bytes` begin with; none when it is not whole, or not all there.
std::optional<Bytes> whole_body(const RecordHeader& header, Bytes bytes);

/// A record at the front of some bytes.
struct FoundRecord {
  RecordHeader header;
  Bytes body;
};
/// The record of this position of the stream that begins at the front of `bytes`: under its own key, whole,
/// and in its place. None: there is none, or not all of it.
std::optional<FoundRecord> record_at(uint32_t seed, Bytes bytes, uint64_t position);

// ---- bodies, read back: none when they break the format -----------------------------------------

/// Walks the messages of a pushed body.
class PushedReader {
 public:
  explicit PushedReader(Bytes body, uint16_t count);
  MessageId first_id() const;
  /// The next message, good until the next call; none at the end or on a broken item (then broken() is true).
  const MessageItem* next();
  /// Where the item that next() gave last begins, in bytes from the body's start, and its length with
  /// its own length and CRC: what read_item needs to find it alone.
  uint32_t item_offset() const { return item_offset_; }
  uint32_t item_bytes() const { return item_bytes_; }
  bool broken() const { return broken_; }

 private:
  Bytes body_;
  uint32_t left_ = 0;
  uint32_t next_offset_ = kFirstItemOffset;
  uint32_t item_offset_ = 0;
  uint32_t item_bytes_ = 0;
  bool broken_ = false;
  MessageItem item_;
};

/// Into `event`, whose vector is used again. False when the body breaks the format.
bool decode_event(RecordType type, uint16_t count, Bytes body, EventRecord& event);
std::optional<MovedRecord> decode_moved(Bytes body);
/// Where the item begins in the body that `moved` was read from, also as a part of an edited one; it goes up
/// to the end.
uint32_t moved_item_offset(Bytes body, const MovedRecord& moved);
std::optional<EditedRecord> decode_edited(Bytes body);
std::optional<ReplacedRecord> decode_replaced(Bytes body);
/// Into `keys`, whose vector is used again. False when the body breaks the format.
bool decode_keys(uint16_t count, Bytes body, KeysRecord& keys);
std::optional<LowRecord> decode_low(Bytes body);
std::optional<LimitsRecord> decode_limits(Bytes body);
std::optional<ClockRecord> decode_clock(Bytes body);
/// Its path points into `body`.
std::optional<PolicyRecord> decode_policy(Bytes body);
/// Their names and texts point into `body`.
std::optional<ScheduledRecord> decode_scheduled(Bytes body);
std::optional<SkippedRecord> decode_skipped(Bytes body);
std::optional<SteppedRecord> decode_stepped(Bytes body);

/// One message item alone, as it lies in a pushed or moved body: {u32 bytes, u32 crc, content}. Checks
/// its own CRC, so that one message of a batch is read without the whole batch.
std::optional<MessageItem> decode_item(Bytes bytes);
/// The same into an object that holds another one, and true; after false it holds nothing of use.
bool decode_item(Bytes bytes, MessageItem& item);

// ---- files --------------------------------------------------------------------------------------

//   journal/<number>.fqj: 4096 bytes of file header, 128 bytes that hold the OPENED record once the file
//   is in use, then records. A record at stream position p of a file that was opened at start s lies at
//   kFirstRecordOffset + (p - s).
inline constexpr uint32_t kFileHeaderBytes = 4096;
inline constexpr uint32_t kFileHeaderCopyBytes = 36;  // one at its start, one in its middle
inline constexpr uint32_t kOpenedBytes = 128;
inline constexpr uint32_t kFirstRecordOffset = kFileHeaderBytes + kOpenedBytes;

struct FileHeader {
  FileKey key;
  int64_t made_wall_ms = 0;
  uint32_t format = kJournalFormat;
};
std::vector<std::byte> encode_file_header(const FileHeader& header);
enum class FileHeaderFault { none, not_ours, other_format, damaged };
/// `header.format` is told of another format, too.
FileHeaderFault decode_file_header(Bytes bytes, FileHeader& header);
/// Whether nothing of it is damaged: none of its two copies, nor what lies between.
bool file_header_is_whole(Bytes bytes);

std::vector<std::byte> encode_opened(const FileKey& key, const OpenedRecord& opened, int64_t at_wall_ms);
std::optional<OpenedRecord> decode_opened(const FileKey& key, Bytes bytes);
/// A key under which a copy (the first or the second) of this OPENED is valid; none where that is none at
/// all. Of what was OPENED once it is as good as the key that it was sealed with: the seals see its seed
/// alone. Only a record under the same key proves it.
std::optional<FileKey> key_of_opened(uint32_t number, Bytes bytes, size_t copy);

// ---- tags ---------------------------------------------------------------------------------------

struct TagView {
  std::string_view name;
  std::string_view value;
};
std::string encode_tags(std::span<const TagView> tags);
/// None when the bytes are no tags.
std::optional<std::vector<TagView>> decode_tags(std::string_view bytes);

// ---- terms --------------------------------------------------------------------------------------

/// Of a message on its way from one queue to another: it is in both, held, until it has left the one.
struct Transit {
  bool leaving = false;      // this queue; else it comes to it
  uint64_t token = 0;        // of this move: by it and the id the two are found to be one
  std::string_view queue;    // the other one, by name
  std::string_view mark;     // and as its receipts tell it: it may get another name
  uint64_t id = 0;           // in the queue that it leaves
  SlotState then{};          // its state once it is there, or back again: ready, delayed or dead
  int64_t then_wall_ms = 0;  // ready, dead: since; delayed: due
};
inline constexpr size_t kTransitMarkBytesMax = 16;

/// The token by which a queue knows, for a while, a message that it imported: a KeptKey of that message.
struct ImportToken {
  uint64_t hash[2] = {};
  int64_t until_wall_ms = 0;
};

/// The part of a push that says when its message holds.
struct MessageTerms {
  int64_t ttl_ms = 0;    // from when it is due, before its first start; 0: none
  bool expired = false;  // moved only: dead for that reason
  std::string_view key;  // of --unique or --debounce; empty: none
  bool debounced = false;
  bool key_lost = false;      // moved only: it holds its key no more
  bool suspended = false;     // moved only: leased, and its end is a sleep until it is due, or for `after`
  bool wait_failed = false;   // moved only: of what a step waited for last not all were acked
  int64_t key_for_ms = 0;     // held so long after the ack
  Bytes after;                // a u64 for each message that it came after, with kAfter...
  std::string_view schedule;  // that made it; empty: none
  int64_t scheduled_wall_ms = 0;
  int64_t next_wall_ms = 0;  // when the schedule is due again; 0: its times went on without this one
  std::optional<Transit> transit;
  std::optional<ImportToken> imported;  // arrived only
};
/// Empty when the terms are.
std::string encode_terms(const MessageTerms& terms);
/// None when the bytes are no terms. Allocates nothing: its views point into `bytes`.
std::optional<MessageTerms> decode_terms(std::string_view bytes);

// ---- jobs ---------------------------------------------------------------------------------------

/// How a worker is to run the message: its own limits, and of a command message what to run.
struct JobTerms {
  std::optional<int64_t> timeout_ms;
  std::optional<int64_t> keep_ms;
  uint64_t call = 0;                   // the call that reads what its job writes; 0: none waits for it
  std::vector<std::string_view> argv;  // empty: no command message
  std::string_view cwd;
  std::vector<std::string_view> env;  // "NAME=value"
};
/// Empty when the terms are.
std::string encode_job(const JobTerms& terms);
/// None when the bytes are no terms.
std::optional<JobTerms> decode_job(std::string_view bytes);
/// The traits that matter under the lock. Needs: they are not empty. Allocates nothing.
struct JobTraits {
  bool kept = false;  // it is said how long it is told of after its end
  bool command = false;
};
JobTraits traits_of_job(std::string_view bytes);

}  // namespace fq
