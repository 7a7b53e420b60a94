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

namespace fq {

namespace {

struct Cells {
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

void change_something(Txn& txn, Cells& cells, std::mt19937& random) {
  const uint32_t which = random() % 16;
  const uint32_t value = static_cast<uint32_t>(random());
  switch (random() % 4) {
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
  std::mt19937 random(20261121);
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

TEST_CASE("an entry that is counted before its store undoes nothing") {
  UndoneRegion region;
  region.log().entries[0] = {sizeof(UndoLog) << 4 | 1, 0};
  region.log().count = 1;  // killed after the count, before the store
  const std::vector<std::byte> before = region.fields();
  CHECK(region.rollback());
  CHECK(region.fields() == before);
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
    std::memset(half.base() + sizeof(UndoLog) + offsetof(Cells, large) + 2 * sizeof(uint64_t), 0, 8);
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
  const uint64_t field = sizeof(UndoLog) << 4;
  const std::array<UndoEntry, 4> bad = {UndoEntry{field | 0, 1}, UndoEntry{field | 9, 1},
                                        UndoEntry{uint64_t{1} << 40 << 4 | 8, 1}, UndoEntry{UINT64_MAX, 1}};
  for (const UndoEntry& entry : bad) {
    UndoneRegion region;
    region.log().entries[0] = {field | 8, 99};  // good, but must not be applied alone
    region.log().entries[1] = entry;
    region.log().count = 2;
    const std::vector<std::byte> before = region.fields();
    CHECK(!region.rollback());
    CHECK(region.fields() == before);
  }
  UndoneRegion region;
  region.log().count = kUndoEntries + 1;
  CHECK(!region.rollback());
}

TEST_CASE("the log holds as many entries as it says") {
  UndoneRegion region;
  Txn txn = region.begin();
  for (uint32_t i = 0; i < kUndoEntries; ++i) txn.set(region.cells().medium[i % 16], i);
  CHECK(txn.noted() == kUndoEntries);
  txn.commit();
}

}  // namespace fq
