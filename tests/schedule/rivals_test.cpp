// rivals_test - how many turns come before one's own, counted instead of served.
#include "core/schedule/look/rivals.h"

// System.
#include <map>
#include <string>
#include <vector>
// Tests.
#include "tests/knobs.h"
#include "tests/schedule/history.h"

namespace fq::test {
namespace {

/// Its place at the latest, with `ahead` of its own tenant before it.
uint64_t place_max(const Schedule& s, TenantIndex leaf, uint64_t ahead) {
  uint64_t turns = ahead + 1;
  for (auto node = static_cast<uint32_t>(leaf); node != static_cast<uint32_t>(kRootTenant);) {
    Rivals rivals(s.region(), node, turns);
    rivals.look(s.region(), 0, s.root().tenant_supply.high_water);
    turns = rivals.turns();
    node = rivals.parent();
  }
  return turns;
}

}  // namespace

TEST_CASE("a place that is worked out is never before the real one, and not far behind it") {
  const std::vector<std::string> flat{"a", "b", "c", "d", "e"};
  const std::vector<std::string> tree{"a", "b", "c/x", "c/y", "c/z/1", "d/1", "d"};
  for (uint32_t seed = 1; seed <= (is_whole_form() ? 400 : 60); ++seed) {
    Dice dice(seed);
    ScheduleFixture q;
    for (const std::string& tenant : seed % 2 == 0 ? flat : tree) {
      if (dice.roll(2) == 0) q.set(tenant, PolicyKey::weight, 100 + dice.roll(5'000));
      for (uint32_t n = dice.roll(60); n > 0; --n) q.push(tenant);
    }
    for (uint32_t n = dice.roll(30); n > 0; --n) {
      if (q.lease() == 0) break;
    }
    const Schedule s = q.schedule();
    Preview preview(s, kRootTenant);
    std::map<uint32_t, uint64_t> ahead;
    uint64_t place = 0;
    while (const auto slot = preview.next()) {
      const TenantIndex leaf{s.messages().entry(*slot).tenant.get()};
      const uint64_t most = place_max(s, leaf, ahead[static_cast<uint32_t>(leaf)]++);
      ++place;
      INFO("seed " << seed << ", place " << place << " of " << s.tenants().path_of(leaf));
      REQUIRE(most >= place);
      // One turn of each of the others may be at the same time. In an account what is one too many there is
      // one more turn of the account, in which others above it have some.
      if (seed % 2 == 0) REQUIRE(most < place + flat.size());
    }
  }
}

TEST_CASE("between two turns another gets as many as its weight says") {
  ScheduleFixture q;
  q.set("heavy", PolicyKey::weight, 2'500);
  q.push("heavy").push("light").push("other");
  const Schedule s = q.schedule();
  const auto between = [&](const char* tenant) {
    Rivals rivals(s.region(), static_cast<uint32_t>(*s.tenants().find(tenant)), 1);
    rivals.look(s.region(), 0, s.root().tenant_supply.high_water);
    return rivals.between();
  };
  CHECK(between("light") == 3);
  CHECK(between("heavy") == 1);
}

}  // namespace fq::test
