// undo_test - a transaction is done whole or not at all, wherever its process dies.
//
// A kill is simulated by a copy of the whole region: before each store of the transaction the region is
// copied as a dead process would have left it, and the rollback of every copy has to give the old state.
#include "core/base/memory/undo.h"

// System.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <random>
#include <vector>
// Tests.
#include "tests/catch.h"
#include "tests/knobs.h"

namespace fq {

namespace {

constexpr uint32_t kOpensBox = 1;
constexpr uint32_t kOpensFields = 2;
template <class T>
using Field = Shared<T, kOpensFields>;

struct BoxFront {
  Shared<uint32_t> count, weight;
  Shared<uint64_t> large;
};
/// Of which the front is opened as a whole.
struct Box : BoxFront {
  using Noted = BoxFront;
  Shared<uint64_t> behind;
};

/// Fields that are opened together.
struct Fields {
  Field<uint32_t> word[6];
  Field<uint64_t> large;
};

struct Cells {
  Box boxes[3];
  Shared<uint64_t> before_fields;
  Fields fields;
  Shared<uint8_t> tiny[16];
  Shared<uint16_t> small[16];
  Shared<uint32_t> medium[16];
  Shared<uint64_t> large[16];
};

/// A region as processes share it: the log and the fields in one block of bytes.
class UndoneRegion {
 public:
  UndoneRegion() : bytes_(sizeof(UndoLog) + sizeof(Cells) + 8) {}

  std::byte* base() { return bytes_.data(); }
  UndoLog& log() { return *reinterpret_cast<UndoLog*>(base()); }
  Cells& cells() { return *reinterpret_cast<Cells*>(base() + sizeof(UndoLog)); }
  Txn begin() { return Txn(base(), bytes_.size(), log()); }
  bool rollback() { return undo_rollback(base(), bytes_.size(), log()); }
  /// All that is not the log: what must be as before after a rollback.
  std::vector<std::byte> fields() const { return {bytes_.begin() + sizeof(UndoLog), bytes_.end()}; }

 private:
  std::vector<std::byte> bytes_;
};

Opened<Box> open(Txn& txn, Box& box) { return txn.open<kOpensBox>(box); }
auto open(Txn& txn, Fields& fields) { return txn.open_fields<kOpensFields, sizeof(Fields)>(&fields); }

void change_something(Txn& txn, Cells& cells, std::mt19937& random) {
  const uint32_t which = random() % 16;
  const uint32_t value = static_cast<uint32_t>(random());
  Box& box = cells.boxes[which % 3];
  switch (random() % 9) {
    case 4:
      return open(txn, box).set(&Box::count, value);
    case 5:  // opened or not
      return txn.set(box.count, value);
    case 6:
      return open(txn, box).set(&Box::large, uint64_t{value} << 20);
    case 7:
      return open(txn, cells.fields).set(cells.fields.word[which % 6], value);
    case 8:  // opened or not
      return txn.set(cells.fields.large, uint64_t{value} << 20);
    case 0:
      return txn.set(cells.tiny[which], static_cast<uint8_t>(value));
    case 1:
      return txn.set(cells.small[which], static_cast<uint16_t>(value));
    case 2:
      return txn.set(cells.medium[which], value);
    default:
      return txn.set(cells.large[which], uint64_t{value} << 20);
  }
}

}  // namespace

TEST_CASE("a committed transaction stays") {
  UndoneRegion region;
  {
    Txn txn = region.begin();
    txn.set(region.cells().medium[3], 7);
    txn.commit();
  }
  CHECK(region.rollback());
  CHECK(region.cells().medium[3] == 7);
}

TEST_CASE("a transaction that is left without a commit is taken back") {
  UndoneRegion region;
  {
    Txn txn = region.begin();
    txn.set(region.cells().medium[3], 7);
    CHECK(region.cells().medium[3] == 7);
  }
  CHECK(region.cells().medium[3] == 0);
  CHECK(region.log().count == 0);
}

TEST_CASE("a field that was set twice gets its first value back") {
  UndoneRegion region;
  {
    Txn txn = region.begin();
    txn.set(region.cells().large[0], 1);
    txn.set(region.cells().large[0], 2);
    CHECK(txn.noted() == 2);
  }
  CHECK(region.cells().large[0] == 0);
}

TEST_CASE("a rollback touches no neighbour of the field") {
  UndoneRegion region;
  {
    Txn txn = region.begin();
    for (auto& cell : region.cells().tiny) txn.set(cell, 0xAA);
    txn.commit();
  }
  {
    Txn txn = region.begin();
    txn.set(region.cells().tiny[5], 1);
  }
  for (const auto& cell : region.cells().tiny) CHECK(cell == 0xAA);
}

TEST_CASE("a process killed between any two stores leaves what can be undone") {
  const uint64_t seed = test::seed_of_run();
  INFO("FQ_SEED=" << seed);
  std::mt19937 random(static_cast<uint32_t>(seed));
  for (int round = 0; round < 20; ++round) {
    UndoneRegion region;
    {
      Txn txn = region.begin();
      for (int i = 0; i < 50; ++i) change_something(txn, region.cells(), random);
      txn.commit();
    }
    const std::vector<std::byte> before = region.fields();
    std::vector<UndoneRegion> killed;
    {
      Txn txn = region.begin();
      for (int i = 0; i < 40; ++i) {
        change_something(txn, region.cells(), random);
        killed.push_back(region);
      }
      txn.commit();
    }
    for (UndoneRegion& left : killed) {
      REQUIRE(left.rollback());
      REQUIRE(left.fields() == before);
    }
  }
}

TEST_CASE("a note that is counted before its store undoes nothing") {
  UndoneRegion region;
  {
    Txn txn = region.begin();
    txn.set(region.cells().medium[3], 7);
    txn.commit();
  }
  const std::vector<std::byte> before = region.fields();
  UndoneRegion killed;
  {
    Txn txn = region.begin();
    open(txn, region.cells().boxes[1]);
    txn.set(region.cells().medium[3], 7);  // what it was: as if it had not come to that
    killed = region;
    txn.commit();
  }
  CHECK(killed.log().count != 0);
  CHECK(killed.rollback());
  CHECK(killed.fields() == before);
}

TEST_CASE("what was opened comes back whole, and a store into it needs no note of its own") {
  UndoneRegion region;
  Box& box = region.cells().boxes[1];
  Fields& fields = region.cells().fields;
  {
    Txn txn = region.begin();
    txn.set(box.count, 5);
    for (auto& word : fields.word) txn.set(word, 5);
    txn.commit();
  }
  {
    Txn txn = region.begin();
    const Opened<Box> opened = open(txn, box);
    open(txn, fields);
    const uint32_t noted = txn.noted();
    opened.set(&Box::count, 6);
    opened.set(&Box::weight, 6);
    open(txn, box).set(&Box::large, 7);
    for (auto& word : fields.word) open(txn, fields).set(word, 6);
    txn.set(fields.large, 7);
    CHECK(txn.noted() == noted);
    CHECK(opened->count == 6);
    CHECK(fields.large == 7);
  }
  CHECK(box.count == 5);
  CHECK(box.weight == 0);
  CHECK(box.large == 0);
  for (const auto& word : fields.word) CHECK(word == 5);
  CHECK(fields.large == 0);
}

TEST_CASE("who opens one after another of a kind changes each of them for nothing but this transaction") {
  UndoneRegion region;
  Cells& cells = region.cells();
  {
    Txn txn = region.begin();
    const Opened<Box> first = open(txn, cells.boxes[0]), second = open(txn, cells.boxes[1]);
    first.set(&Box::large, 1);
    second.set(&Box::large, 2);
    open(txn, cells.boxes[0]).set(&Box::large, 3);  // noted again: what is put back last is what was first
  }
  CHECK(cells.boxes[0].large == 0);
  CHECK(cells.boxes[1].large == 0);
}

TEST_CASE("a store outside what was opened comes back too") {
  UndoneRegion region;
  Cells& cells = region.cells();
  {
    Txn txn = region.begin();
    txn.set(cells.fields.large, 1);  // nothing is open yet
    open(txn, cells.boxes[1]);
    open(txn, cells.fields);
    txn.set(cells.boxes[1].behind, 2);
    txn.set(cells.boxes[0].behind, 3);  // right before it
    txn.set(cells.boxes[2].count, 4);
    txn.set(cells.before_fields, 5);
    txn.set(cells.tiny[0], 6);
  }
  CHECK(cells.fields.large == 0);
  for (const Box& box : cells.boxes) CHECK(box.behind == 0);
  CHECK(cells.boxes[2].count == 0);
  CHECK(cells.before_fields == 0);
  CHECK(cells.tiny[0] == 0);
}

TEST_CASE("what one transaction has opened is not open in the next") {
  UndoneRegion region;
  Cells& cells = region.cells();
  Box& box = cells.boxes[0];
  {
    Txn txn = region.begin();
    open(txn, box).set(&Box::large, 1);
    open(txn, cells.fields).set(cells.fields.large, 1);
    txn.commit();
    open(txn, box).set(&Box::large, 2);
    txn.set(cells.fields.large, 2);
  }
  CHECK(box.large == 1);
  CHECK(cells.fields.large == 1);
}

TEST_CASE("who notes nothing may store anywhere, opened or not") {
  UndoneRegion region;
  Txn txn(Txn::Private{}, region.base(), region.log());
  txn.set(region.cells().boxes[0].large, 1);
  open(txn, region.cells().boxes[1]).set(&Box::large, 2);
  txn.set(region.cells().fields.large, 2);
  txn.set(region.cells().medium[0], 3);
  txn.commit();
  txn.set(region.cells().boxes[0].large, 4);
  CHECK(region.log().count == 0);
  CHECK(region.cells().boxes[0].large == 4);
}

TEST_CASE("a process killed inside a rollback leaves one that can be done again") {
  UndoneRegion region;
  {
    Txn txn = region.begin();
    txn.set(region.cells().large[1], 11);
    txn.set(region.cells().large[2], 22);
    UndoneRegion half = region;
    half.cells();
    // The youngest entry was put back, the count not yet cleared.
    std::memset(static_cast<void*>(&half.cells().large[2]), 0, 8);
    REQUIRE(half.rollback());
    CHECK(half.cells().large[1] == 0);
    CHECK(half.cells().large[2] == 0);
    txn.commit();
  }
}

TEST_CASE("a transaction on a log that is not empty ends its process, committed or not") {
  for (const bool commits : {true, false}) {
    UndoneRegion region;
    region.log().count = 1;  // of somebody who died, and whose lock was not repaired
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::signal(SIGABRT, SIG_DFL);
      {
        Txn txn = region.begin();
        if (commits) txn.commit();
      }
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGABRT);
  }
}

TEST_CASE("a log that is no log is refused and nothing is changed") {
  constexpr uint64_t kField = sizeof(UndoLog);
  constexpr uint64_t kEnd = sizeof(UndoLog) + sizeof(Cells) + 8;
  for (const uint64_t bad : {kField << 8 | 0,                    // of nothing
                             kField << 8 | (kNoteBytesMax + 1),  // too long
                             kField << 8 | 32,                   // longer than what lies before it
                             uint64_t{1} << 40 << 8 | 8, kEnd << 8 | 1, (kEnd - 7) << 8 | 8, UINT64_MAX}) {
    UndoneRegion region;
    region.log().words[0] = 99;  // a good one, but it must not be applied alone
    region.log().words[1] = kField << 8 | 8;
    region.log().words[2] = 98;
    region.log().words[3] = bad;
    region.log().count = 4;
    const std::vector<std::byte> before = region.fields();
    CHECK(!region.rollback());
    CHECK(region.fields() == before);
  }
  UndoneRegion region;
  region.log().count = kUndoWords + 1;
  CHECK(!region.rollback());
}

TEST_CASE("the log holds as many fields as it says, and a whole struct behind them") {
  UndoneRegion region;
  Txn txn = region.begin();
  for (uint32_t i = 0; i < kUndoEntries - 1; ++i) txn.set(region.cells().medium[i % 16], i);
  CHECK(txn.noted() == kUndoEntries - 1);
  txn.open_fields<kOpensFields, kNoteBytesMax>(&region.cells());
  CHECK(region.log().count <= kUndoWords);
}

}  // namespace fq
