// schedule_list_test - the order in which schedules are shown.
#include "tests/api/contract.h"

namespace fq::test {

TEST_CASE("schedules are listed by name, also one that was set where another was removed") {
  ON_EVERY_ENGINE(q);
  Schedules* const schedules = q.door().schedules();
  if (schedules == nullptr) return;  // an engine without them has nothing to keep
  const auto set = [&](const char* name) {
    ScheduleDefinition definition;
    definition.name = name;
    definition.spec = "every 10m";
    REQUIRE(schedules->set(definition).ok());
  };
  for (const char* name : {"c", "b", "e"}) set(name);
  REQUIRE(schedules->remove("c").value());
  for (const char* name : {"d", "a"}) set(name);
  for (const size_t n : {size_t{1}, size_t{3}, size_t{100}}) {
    std::string names;
    Cursor from;
    do {
      const Result<SchedulePage> page = schedules->list(from, n);
      REQUIRE(page.ok());
      CHECK(page->schedules.size() <= n);
      for (const ScheduleInfo& each : page->schedules) names += each.name;
      from = page->next;
    } while (!from.text.empty());
    CHECK(names == "abde");
  }
}

}  // namespace fq::test
