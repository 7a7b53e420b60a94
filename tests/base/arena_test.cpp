// arena_test - arrays that grow by chunks, and the bounds that hold against hostile bytes.
#include "core/base/memory/arena.h"

// System.
#include <memory>
// Tests.
#include "tests/catch.h"

namespace fq {

namespace {

struct Item {
  Shared<uint64_t> value;
  Shared<uint64_t> other;
};
using Items = ChunkedArray<Item, 2, 0>;

/// A region of 4 MiB: log and array head on the first pages, chunks behind.
class ArenaRegion {
 public:
  static constexpr uint64_t kBytes = 4 * 1024 * 1024;
  static constexpr uint32_t kFirstPage = 32;

  ArenaRegion()
      : bytes_(std::make_unique<std::byte[]>(kBytes)),
        arena_(bytes_.get(), kFirstPage * kPageBytes, kBytes) {}

  UndoLog& log() { return *reinterpret_cast<UndoLog*>(bytes_.get()); }
  Items& items() { return *reinterpret_cast<Items*>(bytes_.get() + sizeof(UndoLog)); }
  Arena& arena() { return arena_; }
  Txn begin() { return Txn(bytes_.get(), kBytes, log()); }

  uint32_t grow() {
    const uint32_t chunk_bytes = Arena::next_chunk_bytes(items());
    Txn txn = begin();
    Arena::add_chunk(txn, items(), next_page_);
    txn.commit();
    next_page_ += chunk_bytes / kPageBytes;
    return chunk_bytes;
  }
  void learn() {
    arena_.make_room(items());
    arena_.learn(items());
    arena_.note_learned();
  }

 private:
  static_assert(sizeof(UndoLog) + sizeof(Items) < kFirstPage * kPageBytes);
  std::unique_ptr<std::byte[]> bytes_;
  Arena arena_;
  uint32_t next_page_ = kFirstPage;
};

}  // namespace

TEST_CASE("an array without a chunk has no elements") {
  ArenaRegion region;
  CHECK(region.items().capacity == 0);
  CHECK_THROWS_AS(region.arena().at(region.items(), 0), RegionDamaged);
}

TEST_CASE("the elements of a chunk are there and the one behind is not") {
  ArenaRegion region;
  CHECK(region.grow() == Items::kSmallBytes);
  CHECK(region.items().capacity == Items::kPerSmall);
  CHECK_NOTHROW(region.arena().at(region.items(), Items::kPerSmall - 1));
  CHECK_THROWS_AS(region.arena().at(region.items(), Items::kPerSmall), RegionDamaged);
}

TEST_CASE("a damaged place of a chunk gives no element, neither on the log nor behind the end") {
  constexpr auto kEndPage = static_cast<uint32_t>(ArenaRegion::kBytes / kPageBytes);
  ArenaRegion region;
  region.grow();
  const auto place = [&](uint32_t page) {
    Txn txn = region.begin();
    txn.set(region.items().chunk_page[0], page);
    txn.commit();
  };
  for (const uint32_t page : {0u, 1u, ArenaRegion::kFirstPage - 1, kEndPage, UINT32_MAX}) {
    place(page);
    CHECK_THROWS_AS(region.arena().at(region.items(), 0), RegionDamaged);
  }
  for (const uint32_t page : {ArenaRegion::kFirstPage, kEndPage - 1}) {
    place(page);
    CHECK_NOTHROW(region.arena().at(region.items(), 0));
  }
}

TEST_CASE("chunks are small at first, then large, then there are no more") {
  ArenaRegion region;
  for (uint32_t i = 0; i < kSmallChunks; ++i) CHECK(region.grow() == Items::kSmallBytes);
  CHECK(region.grow() == Items::kLargeBytes);
  CHECK(region.grow() == Items::kLargeBytes);
  CHECK(Arena::next_chunk_bytes(region.items()) == 0);
  CHECK(region.items().capacity == Items::kInSmall + 2 * Items::kPerLarge);
}

TEST_CASE("elements lie where they lay once their chunks were learned, and new chunks are found too") {
  ArenaRegion region;
  for (uint32_t i = 0; i < kSmallChunks + 1; ++i) region.grow();
  const Arena stranger = region.arena();
  region.learn();
  CHECK(!region.arena().is_behind());
  const uint32_t known = region.items().capacity;
  region.grow();
  bool same = true;
  for (uint32_t i = 0; i < known; ++i)
    same = same && &region.arena().at(region.items(), i) == &stranger.at(region.items(), i);
  CHECK(same);
  CHECK(!region.arena().is_behind());
  for (uint32_t i = 0; i < kUnknownMax; ++i) {
    CHECK(!region.arena().is_behind());
    CHECK(&region.arena().at(region.items(), known) == &stranger.at(region.items(), known));
  }
  CHECK(region.arena().is_behind());
  CHECK_THROWS_AS(region.arena().at(region.items(), region.items().capacity), RegionDamaged);
}

TEST_CASE("a chunk that was taken back with its transaction is not remembered") {
  ArenaRegion region;
  for (int i = 0; i < 3; ++i) region.grow();
  region.learn();
  const uint32_t first_new = region.items().capacity;
  const auto address_in_chunk_at = [&](uint32_t page, bool commits) {
    Txn txn = region.begin();
    Arena::add_chunk(txn, region.items(), page);
    const void* const address = &region.arena().at(region.items(), first_new);
    if (commits) txn.commit();
    return address;
  };
  const void* const taken_back = address_in_chunk_at(ArenaRegion::kFirstPage + 100, false);
  const void* const kept = address_in_chunk_at(ArenaRegion::kFirstPage + 200, true);
  CHECK(taken_back != kept);
  region.learn();
  CHECK(&region.arena().at(region.items(), first_new) == kept);
}

TEST_CASE("a chunk in a damaged place is not learned") {
  ArenaRegion region;
  region.grow();
  Txn txn = region.begin();
  txn.set(region.items().chunk_page[0], ArenaRegion::kFirstPage - 1);
  txn.commit();
  region.learn();
  CHECK_THROWS_AS(region.arena().at(region.items(), 0), RegionDamaged);
}

TEST_CASE("no two elements share bytes, across chunks of both sizes") {
  ArenaRegion region;
  for (uint32_t i = 0; i < kSmallChunks + 2; ++i) region.grow();
  const uint32_t capacity = region.items().capacity;
  for (uint32_t i = 0; i < capacity; ++i) {
    Txn txn = region.begin();
    txn.set(region.arena().at(region.items(), i).value, i);
    txn.set(region.arena().at(region.items(), i).other, uint64_t{i} * 3);
    txn.commit();
  }
  bool same = true;
  for (uint32_t i = 0; i < capacity; ++i) {
    const Item& item = region.arena().at(region.items(), i);
    same = same && item.value == i && item.other == uint64_t{i} * 3;
  }
  CHECK(same);
}

TEST_CASE("a growth that is undone leaves the array as it was") {
  ArenaRegion region;
  region.grow();
  {
    Txn txn = region.begin();
    Arena::add_chunk(txn, region.items(), 100);
    CHECK(region.items().capacity == 2 * Items::kPerSmall);
  }
  CHECK(region.items().capacity == Items::kPerSmall);
  CHECK(region.items().chunk_count == 1);
}

TEST_CASE("a chunk that claims to lie outside the region is damage") {
  ArenaRegion region;
  region.grow();
  {
    Txn txn = region.begin();
    txn.set(region.items().chunk_page[0], UINT32_MAX);
    txn.commit();
  }
  CHECK_THROWS_AS(region.arena().at(region.items(), 0), RegionDamaged);
}

TEST_CASE("a capacity beyond the chunks is damage and not a wild access") {
  ArenaRegion region;
  region.grow();
  {
    Txn txn = region.begin();
    txn.set(region.items().capacity, UINT32_MAX);
    txn.set(region.items().chunk_page[1], UINT32_MAX);
    txn.commit();
  }
  CHECK_THROWS_AS(region.arena().at(region.items(), Items::kPerSmall), RegionDamaged);
  CHECK_THROWS_AS(region.arena().at(region.items(), UINT32_MAX - 1), RegionDamaged);
}

}  // namespace fq
