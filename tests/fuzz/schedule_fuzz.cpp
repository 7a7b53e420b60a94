// schedule_fuzz - a segment's schedule with any of its bytes changed.
//
// The input is a list of places and values that are written over a schedule of some hundred changes, its
// undo log included. It is repaired, checked, looked at and changed as by a process that attaches: the end
// is a list of faults or RegionDamaged, never a crash and never a hang.

// System.
#include <algorithm>
// fq, below us.
#include "core/journal/codec_parts.h"
#include "tests/schedule/history.h"

using namespace fq;
using namespace fq::test;

namespace {

constexpr int kPatchesMax = 64;
constexpr int kChanges = 24;

/// A schedule in use, made once; each input gets a copy.
struct Original {
  Original() {
    Dice dice(7);
    for (int i = 0; i < 300; ++i) {
      q.make_room(kRoomOfChange);
      q.now += dice.roll(20);
      q.change([&](Schedule& s, Txn& txn) { random_change(s, txn, dice, q.last_id, q.now); });
    }
    words.assign(q.words.begin(), q.words.begin() + q.next_page * (kPageBytes / 8));
    last_id = q.last_id;
    now = q.now;
  }
  /// All that an earlier input changed, gone.
  void heal() {
    std::copy(words.begin(), words.end(), q.words.begin());
    q.last_id = last_id;
  }

  ScheduleFixture q{1};
  std::vector<uint64_t> words;
  uint64_t last_id = 0;
  int64_t now = 0;
};

/// A small number, one near the largest, or any; at a place of two, four or eight bytes.
void patch(codec::ByteReader& input, MutableBytes region) {
  const auto kind = input.get<uint8_t>();
  const uint64_t word = input.get<uint32_t>() % (region.size() / 8);
  // The root is small beside the arrays, and all depends on it.
  const uint64_t at = ((kind & 1) != 0 ? word % (sizeof(ScheduleRoot) / 8) : word) * 8;
  std::byte* to = region.data() + at;
  switch (kind >> 1 & 3) {
    case 0:
      put_number(to + (kind >> 3 & 1) * 4, uint32_t{input.get<uint8_t>()});
      break;
    case 1:
      put_number(to + (kind >> 3 & 1) * 4, UINT32_MAX - input.get<uint8_t>() % 4);
      break;
    case 2:
      put_number(to + (kind >> 3 & 3) * 2, input.get<uint16_t>());
      break;
    default:
      put_number(to, input.get<uint64_t>());
  }
}

void look(const Schedule& schedule) {
  Preview preview(schedule, kRootTenant);
  for (int n = 0; n < 20; ++n) {
    const auto slot = preview.next();
    if (!slot) break;
    (void)schedule.views().key_of(*slot);
    (void)schedule.views().priority_of(*slot);
    (void)schedule.tenants().path_of(TenantIndex{schedule.messages().entry(*slot).tenant.get()});
  }
  for (uint64_t id = 1; id < 60; ++id) (void)schedule.past().outcome(MessageId{id});
  (void)schedule.timers().next_ms();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Original original;
  original.heal();
  ScheduleFixture& q = original.q;
  codec::ByteReader input(std::as_bytes(std::span(data, size)));
  Dice dice(input.get<uint16_t>());
  const MutableBytes region(q.base(), original.words.size() * 8);
  for (int n = 0; n < kPatchesMax && input.left() > 0; ++n) patch(input, region);

  if (!undo_rollback(q.base(), q.bytes(), q.header().log)) return 0;  // rebuilt
  FQ_ASSERT(schedule_faults(q.schedule()).size() <= 101);             // and one line for the rest
  for (int i = 0; i < kChanges; ++i) {
    try {
      Schedule schedule = q.schedule();
      if (!schedule.growth().fits(kRoomOfChange)) break;
      if (i % 8 == 0) look(schedule);
      Txn txn = q.open();
      random_change(schedule, txn, dice, q.last_id, original.now + i);
      schedule.timers().fire(txn, original.now + i);
      txn.commit();
    } catch (const RegionDamaged&) {
      // As it should be; the owner rebuilds.
    }
  }
  return 0;
}
