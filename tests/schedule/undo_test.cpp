// A change that is cut off anywhere leaves nothing; no change is too large for the log; damage is met.
#include "tests/knobs.h"
#include "tests/schedule/history.h"

// System.
#include <cstring>

namespace fq::test {
namespace {

/// Where the notes of the log end, in words; the last first.
std::vector<uint32_t> note_ends(const UndoLog& log) {
  std::vector<uint32_t> ends;
  for (uint32_t end = log.count; end > 0; end = undo_note_before(log, end)->begins_at) ends.push_back(end);
  return ends;
}

/// The region as a process leaves it that is killed after the notes that end at this word of the log: what
/// was changed since holds its old value, and the log ends there.
void kill_at(std::vector<uint64_t>& region, uint32_t word) {
  auto& header = *reinterpret_cast<Header*>(region.data());
  auto* base = reinterpret_cast<std::byte*>(region.data());
  while (header.log.count > word) {
    const UndoNote note = *undo_note_before(header.log, header.log.count);
    std::memcpy(base + note.offset, note.old, note.bytes);
    header.log.count = note.begins_at;
  }
}

}  // namespace

TEST_CASE("a change that is killed at any store is undone to the last byte of what is in use") {
  const uint32_t seed = GENERATE(range(1u, 7u));
  INFO("seed " << seed);
  Dice dice(seed);
  ScheduleFixture q(4), copy(4), original(4);
  for (int i = 0; i < 260; ++i) {
    q.now += dice.roll(60) == 0 ? 30'000 : dice.roll(20);
    if (seed % 2 == 0 && i % 40 == 0) load_random_pools(q, dice);
    q.make_room(kRoomOfChange);
    const bool deep = i > 60 && i % (is_whole_form() ? 4 : 20) == 0;
    if (deep) original.words = q.words;
    Schedule s = q.schedule();
    Txn txn = q.open();
    for (uint32_t n = 1 + dice.roll(3); n > 0; --n) {
      random_change(s, txn, dice, q.last_id, q.now);  // several in one transaction
      if (!s.growth().fits(kRoomOfChange)) break;
    }
    REQUIRE(txn.noted() < kUndoEntries / 2);
    const std::vector<uint32_t> ends = note_ends(q.header().log);
    for (size_t k = 0; deep && k <= ends.size(); k += 1 + dice.roll(12)) {
      copy.words = q.words;
      kill_at(copy.words, k == ends.size() ? 0 : ends[k]);
      REQUIRE(undo_rollback(copy.base(), copy.bytes(), copy.header().log));
      REQUIRE(copy.faults().empty());
      REQUIRE(schedule_differences(original.schedule(), copy.schedule(), 0).empty());
      REQUIRE(original.preview_ids() == copy.preview_ids());
      // The log itself and places that were never used may differ; the header may not.
      REQUIRE(std::memcmp(copy.base(), original.words.data(), sizeof(ScheduleRoot)) == 0);
    }
    txn.commit();
    REQUIRE(q.faults().empty());
  }
}

TEST_CASE("no single change comes near the size of the log") {
  const bool ranked = GENERATE(false, true);
  const bool pooled = GENERATE(false, true);
  ScheduleFixture q(128);
  const PolicyValues in_p = {{PolicyKey::pool, 0, 0, "p"}}, in_q = {{PolicyKey::pool, 0, 0, "q"}};
  const PolicyValues terms = {{PolicyKey::concurrency, 2000, 0, {}}};
  if (pooled)
    q.load_rules({{"*", in_p}, {"a/b/*", in_q}, {"*/*/*/*/*/*/*", in_p}}, {{"p", terms}, {"q", terms}});
  if (ranked) q.set_terms({.scope = Scope::queue, .ages = true});
  const std::string deep = "a/b/c/d/e/f/g/" + std::string(200, 'n');
  for (uint32_t i = 0; i < 20'000; ++i) {
    q.add({.tenant = i % 2 == 0 ? deep : "a/b/c/d/e/f/h" + std::to_string(i % 999),
           .key = std::string(60, 'k') + std::to_string((i * 7919) % 20'000),
           .attempts_max = 1});
  }
  CHECK(q.noted_most < 700);
  q.noted_most = 0;
  Dice dice(5);
  for (uint32_t i = 0; i < 6000; ++i) {
    const uint64_t id = q.lease("", q.now + 1 + dice.roll(2000));
    if (i % 3 == 0) q.give_back(id, false, q.now + dice.roll(900));
    if (i % 3 == 1) q.ack(id);
  }
  CHECK(q.noted_most < 400);
  q.wait_until(q.now + 5000);
  CHECK(q.noted_most < 1200);
  CHECK(q.faults().empty());
}

TEST_CASE("a damaged region gives an exception or a list of faults and nothing worse") {
  const uint32_t seed = GENERATE(range(1u, 401u));
  Dice dice(seed);
  ScheduleFixture q(2);
  if (seed % 2 == 0) load_random_pools(q, dice);
  for (int i = 0; i < 150; ++i) {
    q.make_room(kRoomOfChange);
    q.now += dice.roll(20);
    q.change([&](Schedule& s, Txn& txn) { random_change(s, txn, dice, q.last_id, q.now); });
  }
  const uint32_t used = q.next_page * (kPageBytes / 8);
  for (uint32_t n = 1 + dice.roll(40); n > 0; --n) {
    const bool in_root = dice.roll(3) == 0;
    const uint32_t word = in_root ? dice.roll(sizeof(ScheduleRoot) / 8)
                                  : sizeof(Header) / 8 + dice.roll(used - uint32_t{sizeof(Header) / 8});
    q.words[word] =
        dice.roll(2) == 0 ? dice.roll(200) : (uint64_t{dice.roll(UINT32_MAX)} << 32 | dice.roll(300));
  }
  const auto faults = schedule_faults(q.schedule());
  CHECK(faults.size() <= 100);
  for (int i = 0; i < 60; ++i) {
    try {
      Schedule s = q.schedule();
      if (!s.growth().fits(kRoomOfChange)) break;
      Txn txn = q.open();
      random_change(s, txn, dice, q.last_id, q.now);
      txn.commit();
      Preview preview(s, kRootTenant);
      for (int n = 0; n < 50 && preview.next(); ++n) continue;
    } catch (const RegionDamaged&) {
      // As it should be; the owner rebuilds.
    }
  }
}

}  // namespace fq::test
