// journal_fuzz - journals whose check sums are right and whose contents are not.
//
// The input is a list of steps that write a journal: files, records of each kind with a body of the input's
// own, headers that say anything; all of it sealed with the right CRCs, so that the reader has only its own
// checks to rely on. Then bytes are flipped and files are cut. What the scan hands out is decoded to its
// last field, and comes once and in order.

// System.
#include <map>
// fq, below us.
#include "core/base/crc32c.h"
#include "core/base/sort_key.h"
#include "core/journal/codec_parts.h"
#include "core/journal/journal.h"
#include "core/journal/read_record.h"
#include "tests/fakes/fake_disk.h"

using namespace fq;
using namespace fq::test;
using codec::ByteReader;

namespace {

constexpr size_t kFileBytesMax = 16 * 1024;
constexpr int kStepsMax = 64;

class Script {
 public:
  explicit Script(Bytes input) : input_(input) {}

  void write_to(FakeDisk& disk) {
    for (int step = 0; step < kStepsMax && input_.left() > 0; ++step) run(input_.get<uint8_t>());
    (void)disk.make_directory("journal");
    for (auto& [number, bytes] : files_) disk.put(journal_file_name(number), std::move(bytes));
  }

 private:
  static FileKey key_of(uint32_t number) { return {number, 0x5a17'0000'0000'0000ULL + number}; }

  void run(uint8_t kind) {
    switch (kind % 9) {
      case 0:
        return begin_file();
      case 1:
        return append_raw();
      case 2:
        return append_pushed();
      case 3:
        return append_event();
      case 4:
        return append_moved();
      case 5:
        return append_fixed();
      case 6:
        return append_any_header();
      case 7:
        return flip();
      default:
        return cut();
    }
  }

  /// Mostly what is right, now and then anything.
  template <class T>
  T bend(T right) {
    const auto how = input_.get<uint8_t>();
    if (how < 0xf0) return right;
    return how < 0xf8 ? static_cast<T>(right + how % 8 - 3) : input_.get<T>();
  }

  Bytes some_bytes(size_t most) {
    const size_t wanted = input_.get<uint16_t>() % (most + 1);
    return input_.take(std::min(wanted, input_.left()));
  }

  void begin_file() {
    const uint32_t previous = current_;
    current_ = 1 + input_.get<uint8_t>() % 5;
    start_ = position_ = bend(position_);
    const OpenedRecord opened{bend(previous), start_, bend(seq_), {}};
    std::vector<std::byte> bytes = encode_file_header({key_of(current_), 1000});
    if (bend(uint8_t{1}) == 1) {
      const auto sealed = encode_opened(key_of(current_), opened, 1000);
      bytes.insert(bytes.end(), sealed.begin(), sealed.end());
    }
    bytes.resize(kFileBytesMax);
    files_[current_] = as_text(bytes);
  }

  void append_raw() {
    body_.type = static_cast<RecordType>(input_.get<uint8_t>() % (static_cast<int>(kLastType) + 2));
    body_.flags = input_.get<uint8_t>();
    body_.count = input_.get<uint16_t>();
    set_body(some_bytes(512));
    append();
  }

  // An item whose content is the input's, with its right CRC.
  void add_item() {
    const Bytes content = some_bytes(160);
    const size_t at = body_.bytes.size();
    body_.bytes.resize(at + kItemFrameBytes);
    put_number(body_.bytes.data() + at, static_cast<uint32_t>(content.size()));
    put_number(body_.bytes.data() + at + 4, crc32c(0, content));
    body_.crc = crc32c(body_.crc, Bytes(body_.bytes).subspan(at));
    body_.bytes.insert(body_.bytes.end(), content.begin(), content.end());
  }

  void append_pushed() {
    body_.type = RecordType::pushed;
    body_.flags = input_.get<uint8_t>() & kFlagLazy;
    body_.bytes.assign(8, std::byte{0});
    body_.crc = 0;
    const unsigned items = input_.get<uint8_t>() % 8;
    for (unsigned i = 0; i < items; ++i) add_item();
    body_.count = bend(static_cast<uint16_t>(items));
    append();
  }

  void append_event() {
    body_.type = static_cast<RecordType>(2 + input_.get<uint8_t>() % 9);
    body_.flags = 0;
    body_.count = bend(static_cast<uint16_t>(input_.get<uint8_t>() % 16));
    set_body(some_bytes(512));
    append();
  }

  void append_moved() {
    constexpr RecordType kTypes[] = {RecordType::moved, RecordType::replaced, RecordType::edited};
    body_.type = kTypes[input_.get<uint8_t>() % std::size(kTypes)];
    body_.flags = 0;
    body_.count = 1;
    set_body(some_bytes(512));
    add_item();
    body_.crc = crc32c(0, body_.bytes);
    append();
  }

  void append_fixed() {
    switch (input_.get<uint8_t>() % 5) {
      case 3:
        body_.type = RecordType::keys;
        body_.flags = 0;
        body_.count = bend(static_cast<uint16_t>(input_.get<uint8_t>() % 4));
        set_body(some_bytes(160));
        break;
      case 0: {
        LowRecord low;
        low.file_number = bend(input_.get<uint8_t>() % 6u);
        encode_low(body_, low);
        break;
      }
      case 1:
        encode_limits(body_, {input_.get<uint64_t>(), input_.get<uint64_t>()});
        break;
      case 2:
        encode_policy(body_, {as_text(some_bytes(64)),
                              {{{PolicyKey{input_.get<uint8_t>()}, input_.get<int64_t>(), 0, {}}},
                               {PolicyKey{input_.get<uint8_t>()}}}});
        break;
      default:
        encode_clock(body_, {{}, input_.get<int64_t>()});
    }
    append();
  }

  // A header of any content over what comes, sealed.
  void append_any_header() {
    body_.type = RecordType::limits;
    set_body(some_bytes(64));
    std::vector<std::byte> record = sealed_record();
    const Bytes fields = input_.take(std::min<size_t>(40, input_.left()));
    std::copy(fields.begin(), fields.end(), record.begin() + 4);
    reseal_record(key_of(current_), record);
    place(record);
  }

  void flip() {
    std::string* bytes = some_file();
    const size_t at = input_.get<uint16_t>();
    const auto bits = input_.get<uint8_t>();
    if (bytes != nullptr && at < bytes->size()) (*bytes)[at] = static_cast<char>((*bytes)[at] ^ bits);
  }

  void cut() {
    std::string* bytes = some_file();
    const size_t size = input_.get<uint16_t>();
    if (bytes != nullptr && size < bytes->size()) bytes->resize(size);
  }

  std::string* some_file() {
    const auto found = files_.find(1 + input_.get<uint8_t>() % 5);
    return found == files_.end() ? nullptr : &found->second;
  }

  void set_body(Bytes bytes) {
    body_.bytes.assign(bytes.begin(), bytes.end());
    if (body_.bytes.size() < 8) body_.bytes.resize(8);
    body_.crc = crc32c(0, body_.bytes);
  }

  std::vector<std::byte> sealed_record() {
    RecordHeader header;
    header.seq = seq_ = bend(seq_);
    header.position = bend(position_);
    header.durable_position = std::min(bend(position_), header.position);
    const MessageId first_id{bend(seq_)};
    const HeaderBytes sealed = encode_header(file_seed(key_of(current_)), header, body_, first_id);
    std::vector<std::byte> record(sealed.begin(), sealed.end());
    record.insert(record.end(), body_.bytes.begin(), body_.bytes.end());
    record.resize(padded(record.size()));
    return record;
  }

  void append() { place(sealed_record()); }

  void place(Bytes record) {
    ++seq_;
    const uint64_t offset = kFirstRecordOffset + (position_ - start_);
    position_ += record.size();
    std::string& file = files_[current_];
    if (offset <= file.size() && record.size() <= file.size() - offset)
      file.replace(offset, record.size(), as_text(record));
  }

  ByteReader input_;
  std::map<uint32_t, std::string> files_;
  Body body_;
  uint32_t current_ = 0;
  uint64_t start_ = 0, position_ = 0, seq_ = 1;
};

/// Reads it to its last field. What was found whole can be read alone.
void decode(const ScannedRecord& record) {
  const Visitor visit{
      [&](PushedReader& messages) {
        while (const MessageItem* item = messages.next()) {
          (void)decode_tags(item->tags);
          (void)decode_terms(item->terms);
          (void)decode_job(item->job);
          (void)decode_sort_key(item->key);
          FQ_ASSERT(decode_item(record.body.subspan(messages.item_offset(), messages.item_bytes())));
        }
        return true;
      },
      [&](const MovedRecord& moved) {
        return decode_item(record.body.subspan(moved_item_offset(record.body, moved))).has_value();
      },
      [&](const EditedRecord& edited) {
        return decode_item(record.body.subspan(moved_item_offset(record.body, edited.now))).has_value();
      },
      [&](const ReplacedRecord&) {
        return decode_item(record.body.subspan(kReplacedItemOffset)).has_value();
      },
      [](const auto&) { return true; }};
  RecordDecoder decoder;
  FQ_ASSERT(decoder.read(record.header, record.body, true, visit));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FakeDisk disk;
  Script(std::as_bytes(std::span(data, size))).write_to(disk);
  uint64_t next_seq = 0;
  const auto scanned = scan_journal(disk, [&](const ScannedRecord& record) -> Result<void> {
    FQ_ASSERT(record.header.seq >= next_seq);
    next_seq = record.header.seq + 1;
    decode(record);
    return {};
  });
  if (!scanned.ok()) return 0;
  FQ_ASSERT(scanned.value().next_seq >= next_seq);
  for (const JournalDamage& damage : scanned.value().damage) (void)keep_damage(disk, damage);
  return 0;
}
