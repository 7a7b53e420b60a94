// journal_writer - a journal on a fake disk, written record by record, and what a scan of it must give.
#pragma once

// System.
#include <algorithm>
#include <string>
#include <vector>
// fq, below us.
#include "core/journal/journal.h"
#include "tests/catch.h"
#include "tests/fakes/fake_disk.h"
#include "tests/knobs.h"

namespace fq::test {

/// A record that was written and where.
struct Written {
  uint64_t seq = 0;
  uint64_t position = 0;
  uint32_t file_number = 0;
  uint64_t offset = 0;
  uint64_t end_offset = 0;
};

class JournalWriter {
 public:
  explicit JournalWriter(FakeDisk& on) : disk(on) { REQUIRE(disk.make_directory("journal").ok()); }

  static FileKey key_of(uint32_t number) {
    return {number, 0x5a17'0000'0000'0000ULL + uint64_t{number} * 77};
  }

  JournalWriter& make(uint32_t number, uint64_t bytes = 16 * 1024) {
    REQUIRE(make_journal_file(disk, {key_of(number), 1000}, bytes).ok());
    return *this;
  }
  /// Goes on in `number`: from here, or from `start` as after a cut.
  JournalWriter& use(uint32_t number) {
    sync();
    const OpenedRecord opened{current, position, seq};
    write(number, kFileHeaderBytes, encode_opened(key_of(number), opened, 1000));
    current = number;
    start = position;
    return *this;
  }
  JournalWriter& push(std::string_view payload) {
    MessageItem item;
    item.tenant = "acme";
    item.payload = as_bytes(payload);
    REQUIRE(encode_pushed(body, std::span(&item, 1), false));
    return append(MessageId{seq});
  }
  JournalWriter& batch(size_t count) {
    std::vector<MessageItem> items(count);
    for (MessageItem& item : items) item.tenant = "acme", item.payload = as_bytes("one of many");
    REQUIRE(encode_pushed(body, items, false));
    return append(MessageId{seq});
  }
  JournalWriter& ack(uint64_t id) {
    const EventItem item{MessageId{id}, 0};
    encode_event(body, RecordType::acked, std::span(&item, 1), {});
    return append(MessageId{0});
  }
  JournalWriter& low(uint32_t number) {
    LowRecord low_record;
    low_record.file_number = number;
    encode_low(body, low_record);
    return append(MessageId{0});
  }
  /// Everything so far is durable; the next record says so.
  JournalWriter& sync() {
    durable = position;
    return *this;
  }
  /// `body` at the end of the stream.
  JournalWriter& append(MessageId first_id) {
    RecordHeader header;
    header.seq = seq;
    header.position = position;
    header.at_wall_ms = 1234;
    header.durable_position = durable;
    const HeaderBytes sealed = encode_header(file_seed(key_of(current)), header, body, first_id);
    std::vector<std::byte> bytes(padded(sealed.size() + body.bytes.size()));
    std::copy(sealed.begin(), sealed.end(), bytes.begin());
    std::copy(body.bytes.begin(), body.bytes.end(), bytes.begin() + kRecordHeaderBytes);
    const uint64_t offset = kFirstRecordOffset + (position - start);
    write(current, offset, bytes);
    records.push_back({seq, position, current, offset, offset + bytes.size()});
    ++seq;
    position += bytes.size();
    return *this;
  }
  void write(uint32_t number, uint64_t offset, Bytes bytes) {
    std::string content = disk.content(journal_file_name(number));
    if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
    content.replace(offset, bytes.size(), as_text(bytes));
    disk.put(journal_file_name(number), std::move(content));
  }

  FakeDisk& disk;
  Body body;
  uint32_t current = 0;
  uint64_t start = 0;
  uint64_t position = 0;
  uint64_t durable = 0;
  uint64_t seq = 1;
  std::vector<Written> records;
};

struct Scanned {
  ScanResult result;
  std::vector<uint64_t> seqs;
  uint64_t lost = 0;  // by all damage together
};

inline Scanned scan(Disk& disk) {
  Scanned scanned;
  auto result = scan_journal(disk, [&](const ScannedRecord& record) -> Result<void> {
    scanned.seqs.push_back(record.header.seq);
    return {};
  });
  INFO((result.ok() ? std::string() : result.error().text));
  REQUIRE(result.ok());
  scanned.result = std::move(result).value();
  for (const JournalDamage& damage : scanned.result.damage) scanned.lost += damage.records_lost;
  return scanned;
}

/// 1, 2, ... last without those in `but`.
inline std::vector<uint64_t> all_up_to(uint64_t last, std::vector<uint64_t> but = {}) {
  std::vector<uint64_t> seqs;
  for (uint64_t seq = 1; seq <= last; ++seq)
    if (std::find(but.begin(), but.end(), seq) == but.end()) seqs.push_back(seq);
  return seqs;
}

inline void flip_bit(FakeDisk& disk, uint32_t number, uint64_t offset, int bit) {
  std::string content = disk.content(journal_file_name(number));
  content[offset] = static_cast<char>(static_cast<unsigned char>(content[offset]) ^ (1u << bit));
  disk.put(journal_file_name(number), std::move(content));
}

/// How far a loop over cases goes at once: by one in the long form.
inline uint64_t step(uint64_t short_form) { return is_long_form() ? 1 : short_form; }

/// Three files of four pushes each; all but the last two records are proven.
struct ThreeFiles {
  ThreeFiles() : journal(disk) {
    journal.make(1, 8192).make(2, 8192).make(3, 8192);
    for (uint32_t number = 1; number <= 3; ++number) {
      journal.use(number);
      for (int i = 0; i < 4; ++i) {
        if (number == 3 && i == 3) journal.sync();
        journal.push("payload " + std::to_string(i));
      }
    }
  }
  const Written& record(uint64_t seq) const { return journal.records[seq - 1]; }

  FakeDisk disk;
  JournalWriter journal;
};

}  // namespace fq::test
