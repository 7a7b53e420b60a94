// The structures by themselves, against those of the standard library.
#include "tests/schedule/fixture.h"

// System.
#include <map>
#include <set>
#include <utility>
// fq, this room.
#include "core/schedule/memory/id_index.h"
#include "core/base/name_hash.h"

namespace fq::test {

namespace {

/// Elements that are looked at to find one, on average, of so many ids of which every `step`th is left.
double looks_each(uint32_t count, uint64_t step) {
  std::vector<uint32_t> lengths(count / EntryIndexKind::kLoad);
  const auto buckets = static_cast<uint32_t>(lengths.size());
  for (uint64_t i = 1; i <= count; ++i) ++lengths[EntryIndex::bucket_of(hash_id(i * step), buckets)];
  uint64_t looks = 0;
  for (const uint32_t length : lengths) looks += uint64_t{length} * (length + 1) / 2;
  return static_cast<double>(looks) / count;
}

}  // namespace

TEST_CASE("one bit of an id's hash is that of all of it") {
  Dice dice(1);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t id = uint64_t{dice.roll(1u << 30)} * dice.roll(1u << 20) + dice.roll(1000);
    INFO(id);
    for (uint32_t bit = 1; bit != 0; bit <<= 1) REQUIRE(hash_id_has(id, bit) == ((hash_id(id) & bit) != 0));
  }
}

TEST_CASE("a lane gives the least first whatever comes and goes") {
  const uint32_t seed = GENERATE(range(1u, 9u));
  INFO("seed " << seed);
  Dice dice(seed);
  ScheduleFixture q;
  using Place = std::pair<int, uint64_t>;  // priority downwards, id
  std::set<Place> model;
  std::set<uint64_t> away;
  const auto first = [&] { return model.empty() ? 0 : model.begin()->second; };
  const auto place = [&](uint64_t id) { return Place{-q.schedule().views().priority_of(q.slot(id)), id}; };
  for (int i = 0; i < 3000; ++i) {
    const uint32_t what = dice.roll(seed % 2 == 0 ? 3 : 4);
    if (what == 0 || model.empty()) {
      q.add({.tenant = "a", .priority = dice.roll(3) == 0 ? static_cast<int>(dice.roll(5)) - 2 : 0});
      model.insert(place(q.last_id));
    } else if (what == 1 && !away.empty()) {
      const uint64_t id = *std::next(away.begin(), dice.roll(static_cast<uint32_t>(away.size())));
      q.give_back(id);
      model.insert(place(id));
      away.erase(id);
    } else if (what == 2) {
      const uint64_t id = std::next(model.begin(), dice.roll(static_cast<uint32_t>(model.size())))->second;
      q.change([&](Schedule& s, Txn& txn) { s.messages().lease(txn, q.slot(id), {.now_ms = q.now}); });
      model.erase(place(id));
      away.insert(id);
    } else {
      const uint64_t id = first();
      REQUIRE(q.lease() == id);
      model.erase(place(id));
      away.insert(id);
    }
    const auto next = q.schedule().tenants().first_ready(*q.schedule().tenants().find("a"));
    REQUIRE((next ? q.schedule().messages().entry(*next).id.get() : 0) == first());
    if (i % 300 == 0) REQUIRE(q.faults().empty());
  }
  CHECK(q.faults().empty());
}

TEST_CASE("the delay heap gives what is due first") {
  const uint32_t seed = GENERATE(range(1u, 6u));
  INFO("seed " << seed);
  Dice dice(seed);
  ScheduleFixture q;
  std::map<uint64_t, int64_t> model;  // id, due
  const auto earliest = [&] {
    int64_t least = kNever;
    for (const auto& [id, due] : model) least = std::min(least, due);
    return least;
  };
  for (int i = 0; i < 1200; ++i) {
    if (dice.roll(3) != 0 || model.empty()) {
      const int64_t due = q.now + 1 + dice.roll(500);
      model[q.add({.tenant = "a", .due_ms = due})] = due;
    } else if (dice.roll(2) == 0) {
      const auto it = std::next(model.begin(), dice.roll(static_cast<uint32_t>(model.size())));
      q.kick(it->first);
      model.erase(it);
    } else {
      q.wait_until(q.now + dice.roll(40));
      std::erase_if(model, [&](const auto& each) { return each.second <= q.now; });
    }
    REQUIRE(q.schedule().timers().next_ms() == earliest());
    REQUIRE(q.root().counts.delayed == model.size());
  }
  CHECK(q.faults().empty());
}

TEST_CASE("ids are found however their numbers lie") {
  const uint64_t stride = GENERATE(1u, 16u, 64u, 1024u, 4097u);
  ScheduleFixture q(64);
  std::vector<uint64_t> ids;
  for (uint32_t i = 0; i < 3000; ++i) {
    q.last_id += stride - 1;
    ids.push_back(q.add({.tenant = "a"}));
  }
  CHECK(q.root().id_bucket_count > 1400);
  for (const uint64_t id : ids) REQUIRE(q.entry(id).id == id);
  CHECK_FALSE(q.schedule().messages().find(MessageId{q.last_id + 1}).has_value());
  for (size_t i = 0; i < ids.size(); i += 2) q.ack(ids[i]);
  for (size_t i = 0; i < ids.size(); ++i)
    REQUIRE(q.schedule().messages().find(MessageId{ids[i]}).has_value() == (i % 2 == 1));
  CHECK(q.faults().empty());
}

TEST_CASE("texts of any length come back as they went in") {
  ScheduleFixture q;
  const Region region{q.arena(), q.header().root};
  q.make_room({.text_cells = 400});
  std::map<uint32_t, std::string> texts;
  Dice dice(3);
  for (int i = 0; i < 400; ++i) {
    if (texts.size() < 20) {
      std::string text(dice.roll(kTextBytesMax + 1), static_cast<char>('a' + dice.roll(20)));
      q.change([&](Schedule&, Txn& txn) { texts[text_add(txn, region, text)] = text; });
    } else {
      const auto it = std::next(texts.begin(), dice.roll(20));
      q.change([&](Schedule&, Txn& txn) { text_remove(txn, region, it->first); });
      texts.erase(it);
    }
    for (const auto& [at, text] : texts) REQUIRE(text_of(region, at) == text);
  }
  for (const auto& [a, x] : texts) {
    for (const auto& [b, y] : texts) REQUIRE((text_compare(region, a, b) < 0) == (x < y));
  }
}

TEST_CASE("a name's hash is SipHash-1-3") {
  // Key 00..0f, message 00..0e; the vector of the reference implementation with one and three rounds.
  std::string message;
  for (char c = 0; c < 15; ++c) message.push_back(c);
  const uint64_t k0 = 0x0706050403020100, k1 = 0x0f0e0d0c0b0a0908;
  CHECK(hash_name(k0, k1, "") == 0xabac0158050fc4dc);
  CHECK(hash_name(k0, k1, message) == 0xd320d86d2a519956);
}

TEST_CASE("ids in a row, in whatever number, lie in short chains") {
  const uint32_t count = GENERATE(10'000u, 14'000u, 16'384u, 100'000u, 300'000u, 1'000'000u, 3'000'000u);
  CHECK(looks_each(count, 1) < 1.8);
}

TEST_CASE("whatever pattern of ids is left, they lie in short chains") {
  const auto [count, step] = GENERATE(table<uint32_t, uint64_t>(
      {{10'000, 63}, {10'000, 64}, {10'000, 1'024}, {10'000, 65'536}, {100'000, 2}, {1'000'000, 2}}));
  INFO(count << " ids, every " << step);
  CHECK(looks_each(count, step) < 2.5);
}

TEST_CASE("no pattern of ids makes long chains") {
  for (uint64_t step = 2; step < 10'000; step += step < 300 ? 1 : 19) {
    INFO("every " << step);
    REQUIRE(looks_each(10'000, step) < 5);
  }
  // 64 times the numbers of Fibonacci: nothing suits the golden ratio more.
  for (uint64_t last = 1, next = 1; next < 1'000'000; last = std::exchange(next, last + next)) {
    INFO("every " << 64 * next);
    REQUIRE(looks_each(10'000, 64 * next) < 5);
  }
}

TEST_CASE("thousands of tenants are found by their paths") {
  ScheduleFixture q;
  for (int i = 0; i < 3000; ++i)
    q.push("account_" + std::to_string(i % 50) + "/function_with_a_long_name_" + std::to_string(i));
  CHECK(q.root().tenant_bucket_count > 3000);
  CHECK(q.tenant_of(77) == "account_26/function_with_a_long_name_76");
  CHECK(q.faults().empty());
  for (int i = 0; i < 50; ++i) CHECK(q.serve_tenants(1).starts_with("account_" + std::to_string(i) + "/"));
}

TEST_CASE("the last outcomes are kept and the oldest give way") {
  ScheduleFixture q(32);
  for (uint32_t i = 0; i < kOutcomesMax + 500; ++i) {
    q.push("a");
    q.ack(q.lease());
  }
  CHECK_FALSE(q.schedule().past().outcome(MessageId{500}).has_value());
  CHECK(q.schedule().past().outcome(MessageId{501}).has_value());
  CHECK(q.schedule().past().outcome(MessageId{q.last_id}).has_value());
  CHECK(q.root().entry_supply.used == kOutcomesMax);
  CHECK(q.faults().empty());
}

TEST_CASE("a full bucket halves a tenant's histogram") {
  ScheduleFixture q;
  Histogram& histogram = const_cast<Tenant&>(q.tenant("")).wait;
  q.change([&](Schedule&, Txn& txn) {
    for (int i = 0; i < 100; ++i) histogram_note(txn, histogram, 0);
    for (int i = 0; i < 256; ++i) histogram_note(txn, histogram, 1000);
  });
  CHECK(histogram.bucket[0] == 50);
  CHECK(histogram.bucket[10] == 128);
  CHECK(histogram_percentile_ms(histogram, 0.9) == 1000);
}

TEST_CASE("room grows with the pushes and finishing needs none") {
  ScheduleFixture q;
  const Need need = Growth::need_of("a/b/c", "key");
  CHECK(need.tenants >= 3);
  CHECK(need.text_cells == 4);
  CHECK(q.schedule().growth().fits(need));
  CHECK_FALSE(q.schedule().growth().fits({.messages = 10'000}));
  q.push("a", 5000);
  CHECK(q.root().heap.capacity >= q.root().entries.capacity + q.root().tenants.capacity);
  const uint32_t page = q.next_page;
  for (int i = 0; i < 5000; ++i) q.lease("", q.now + 50);
  q.wait_until(q.now + 50);
  q.serve_ids();
  CHECK(q.next_page == page);
}

}  // namespace fq::test
