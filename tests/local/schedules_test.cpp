// schedules_test - as many schedules as a queue may have.

// fq, below us.
#include "core/api/schedules.h"
#include "core/base/limits.h"
// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

TEST_CASE("a queue has as many schedules as there may be, and not one more") {
  SpoolFixture q;
  q.sync_lazily();
  std::vector<ScheduleDefinition> all(kSchedulesMax + 1);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].name = "n" + std::to_string(i);
    all[i].spec = "@yearly";
    all[i].message.payload = as_bytes(std::string_view("x"));
  }
  Schedules& schedules = *q.door().schedules();
  const Result<void> too_many = schedules.load(all);
  REQUIRE_FALSE(too_many.ok());
  CHECK(too_many.error().kind == ErrorKind::later);
  CHECK(too_many.error().text.find("has 65536 schedules, the limit is 65536") != std::string::npos);
  CHECK(schedules.get(all[kSchedulesMax - 1].name).value());
  CHECK_FALSE(schedules.get(all[kSchedulesMax].name).value());
  all[0].spec = "@daily";
  CHECK(schedules.set(all[0]).ok());  // it is there already
  CHECK_FALSE(schedules.set(all[kSchedulesMax]).ok());
  CHECK(schedules.remove(all[0].name).value());
  CHECK(schedules.set(all[kSchedulesMax]).ok());
}

}  // namespace fq::test
