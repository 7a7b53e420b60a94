// bit_rot_test - a journal of 64 KiB, rotten in every way: what was hit is lost and told, all else is there.
//
// Every bit flipped, every length cut, blocks of 512 bytes and 4 KiB zeroed, overwritten, doubled and
// swapped, files set back to an older copy. Each record of the journal proves that those before it were on
// disk, so the rule is simple: whatever is whole is found, and whatever is not is reported, but behind the
// last whole record it is a torn tail and silence. FQ_LONG=1 goes through all cases; the short form takes
// each seventh bit, and a sanitized build (FQ_HISTORIES is set) a small sample of everything.
#include "core/journal/journal.h"

// System.
#include <cstdio>
#include <random>
// fq, this room.
#include "tests/journal/journal_writer.h"
#include "tests/knobs.h"

using namespace fq;
using namespace fq::test;

namespace {

constexpr uint64_t kFileBytes = 40 * 1024;
constexpr uint32_t kFiles = 2;

/// Two files that together hold more than 64 KiB of records of several kinds.
struct Rotten {
  Rotten() : journal(disk) {
    for (uint32_t number = 1; number <= kFiles; ++number) journal.make(number, kFileBytes);
    for (uint32_t number = 1; number <= kFiles; ++number) {
      journal.use(number);
      while (journal.position - journal.start < 33'000) {
        journal.sync().push(std::string(journal.seq * 53 % 900, 'p')).sync().ack(journal.seq);
        if (journal.seq % 10 == 0) journal.sync().batch(5);
      }
    }
    for (uint32_t number = 1; number <= kFiles; ++number) {
      whole.push_back(disk.content(journal_file_name(number)));
      now.push_back(&disk.rot(journal_file_name(number)));
    }
  }

  std::string& bytes(uint32_t number) { return *now[number - 1]; }
  void heal() {
    for (uint32_t number = 1; number <= kFiles; ++number) bytes(number) = whole[number - 1];
  }
  /// Without the padding, which belongs to nobody.
  uint64_t end_of(const Written& record) const {
    return record.offset +
           get_number<uint32_t>(as_bytes(whole[record.file_number - 1]).data() + record.offset + 4);
  }
  bool is_whole(const Written& record) {
    const std::string& here = bytes(record.file_number);
    const std::string& before = whole[record.file_number - 1];
    const uint64_t end = end_of(record);
    return here.size() >= end &&
           std::memcmp(here.data() + record.offset, before.data() + record.offset, end - record.offset) == 0;
  }
  uint64_t used_bytes() const {
    uint64_t sum = 0;
    for (const Written& record : journal.records) sum += record.end_offset - record.offset;
    return sum;
  }

  /// Scans and compares with the rule; what is wrong, or nothing.
  std::string fault() {
    const Scanned scanned = scan(disk);
    disk.forget_operations();
    uint64_t lost = 0, lost_since_whole = 0;
    size_t found = 0;
    for (const Written& record : journal.records) {
      if (!is_whole(record)) {
        ++lost_since_whole;
        continue;
      }
      if (found >= scanned.seqs.size() || scanned.seqs[found] != record.seq)
        return "lost " + std::to_string(record.seq);
      ++found;
      lost += std::exchange(lost_since_whole, 0);
    }
    if (found != scanned.seqs.size()) return "more than there was";
    if (scanned.lost != lost)
      return "told of " + std::to_string(scanned.lost) + " lost, " + std::to_string(lost) + " are";
    return lost > 0 && scanned.result.damage.empty() ? "silent" : std::string();
  }

  FakeDisk disk;
  JournalWriter journal;
  std::vector<std::string> whole;
  std::vector<std::string*> now;
};

/// How far a loop goes at once; `sample` where everything takes ten times as long.
uint64_t stride(uint64_t sample, uint64_t short_form = 1) {
  if (is_long_form()) return 1;
  return std::getenv("FQ_HISTORIES") != nullptr ? sample : short_form;
}

/// Overwrites blocks from the first one that holds records only, one way or another.
template <class Change>
uint64_t for_each_block(Rotten& t, uint64_t block_bytes, const Change& change) {
  uint64_t cases = 0;
  const uint64_t first = (kFirstRecordOffset + block_bytes - 1) / block_bytes;
  for (uint32_t number = 1; number <= kFiles; ++number) {
    for (uint64_t block = first; (block + 1) * block_bytes <= kFileBytes; ++block) {
      cases += change(number, block * block_bytes);
      t.heal();
    }
  }
  return cases;
}

}  // namespace

TEST_CASE("every flipped bit of a 64 KiB journal is found and costs the record that it lies in",
          "[bit rot]") {
  Rotten t;
  REQUIRE(t.used_bytes() >= 64 * 1024);
  REQUIRE(t.fault() == "");
  uint64_t flips = 0;
  for (const Written& record : t.journal.records) {
    std::string& bytes = t.bytes(record.file_number);
    // Primes, so that all bits of a byte get their turn.
    const uint64_t far = stride(1009, 7);
    for (uint64_t bit = record.offset * 8 + flips % far; bit < record.end_offset * 8; bit += far, ++flips) {
      const char flipped = static_cast<char>(1 << bit % 8);
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ flipped);
      if (const std::string fault = t.fault(); !fault.empty())
        FAIL("record " << record.seq << " bit " << bit << ": " << fault);
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ flipped);
    }
  }
  // Header and OPENED stand twice: nothing is lost by one bit.
  for (uint32_t number = 1; number <= kFiles; ++number) {
    for (uint64_t bit = 0; bit < kFirstRecordOffset * 8; bit += stride(1009, 7), ++flips) {
      std::string& bytes = t.bytes(number);
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
      if (const std::string fault = t.fault(); !fault.empty())
        FAIL("file " << number << " bit " << bit << ": " << fault);
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    }
  }
  std::printf("bit rot: %llu flips\n", static_cast<unsigned long long>(flips));
  CHECK(flips > 500);
}

TEST_CASE("a 64 KiB journal cut at any byte keeps every record before the cut and all of the other file",
          "[bit rot]") {
  Rotten t;
  uint64_t cuts = 0;
  for (uint32_t number = 1; number <= kFiles; ++number) {
    for (uint64_t cut = kFileBytes; cut > kFirstRecordOffset; cut -= std::min(cut, stride(97)), ++cuts) {
      t.bytes(number).resize(cut);
      if (const std::string fault = t.fault(); !fault.empty())
        FAIL("file " << number << " cut at " << cut << ": " << fault);
    }
    t.heal();
  }
  std::printf("bit rot: %llu cuts\n", static_cast<unsigned long long>(cuts));
  CHECK(cuts > 500);
}

TEST_CASE("a block of zeros, of garbage or of another place costs the records that it hits", "[bit rot]") {
  Rotten t;
  const uint64_t seed = seed_of_run();
  INFO("FQ_SEED=" << seed);
  std::mt19937_64 random(seed);
  uint64_t cases = 0;
  for (const uint64_t block_bytes : {uint64_t{512}, uint64_t{4096}}) {
    const uint64_t far = stride(11);
    cases += for_each_block(t, block_bytes, [&](uint32_t number, uint64_t at) {
      std::string garbage(block_bytes, '\0');
      const auto put = [&](const std::string& block, const char* what) {
        t.bytes(number).replace(at, block_bytes, block);
        if (const std::string fault = t.fault(); !fault.empty()) FAIL(what << " at " << at << ": " << fault);
      };
      put(garbage, "zeros");
      for (char& each : garbage) each = static_cast<char>(random());
      put(garbage, "garbage");
      uint64_t tried = 2;
      for (uint32_t other = 1; other <= kFiles; ++other) {
        for (uint64_t from = random() % far * block_bytes; from + block_bytes <= kFileBytes;
             from += far * block_bytes, ++tried)
          put(t.whole[other - 1].substr(from, block_bytes), "a double");
      }
      return tried;
    });
  }
  std::printf("bit rot: %llu blocks\n", static_cast<unsigned long long>(cases));
  CHECK(cases > 500);
}

TEST_CASE("two blocks that changed places cost the records that they hit", "[bit rot]") {
  Rotten t;
  uint64_t cases = 0;
  for (const uint64_t block_bytes : {uint64_t{512}, uint64_t{4096}}) {
    const uint64_t first = (kFirstRecordOffset + block_bytes - 1) / block_bytes * block_bytes;
    cases += for_each_block(t, block_bytes, [&](uint32_t number, uint64_t at) {
      uint64_t tried = 0;
      for (uint32_t other = number; other <= kFiles; ++other) {
        for (uint64_t with = other == number ? at + block_bytes : first; with + block_bytes <= kFileBytes;
             with += stride(7) * block_bytes, ++tried) {
          t.heal();
          t.bytes(number).replace(at, block_bytes, t.whole[other - 1], with, block_bytes);
          t.bytes(other).replace(with, block_bytes, t.whole[number - 1], at, block_bytes);
          if (const std::string fault = t.fault(); !fault.empty())
            FAIL(at << " with " << with << ": " << fault);
        }
      }
      return tried;
    });
  }
  std::printf("bit rot: %llu swaps\n", static_cast<unsigned long long>(cases));
  CHECK(cases > 500);
}

TEST_CASE("a file set back to an older copy costs what it has not heard of", "[bit rot]") {
  Rotten t;
  for (const Written& record : t.journal.records) {
    t.heal();
    t.bytes(record.file_number).replace(record.offset, std::string::npos, kFileBytes - record.offset, '\0');
    INFO("file " << record.file_number << " as before record " << record.seq);
    CHECK(t.fault() == "");
  }
}
