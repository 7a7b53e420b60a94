// schedule_refusals_test - what no schedule can be.
#include "tests/api/schedules_scene.h"

namespace fq::test {

TEST_CASE("what no schedule can be is refused, and nothing is set") {
  WHERE_SCHEDULES_ARE(q);
  const auto refused = [&](auto change) {
    ScheduleDefinition definition = every("10m");
    change(definition);
    const Result<void> done = schedules(q).set(definition);
    return done.ok() ? std::optional<ErrorKind>() : done.error().kind;
  };
  using D = ScheduleDefinition;
  CHECK(refused([](D& d) { d.spec = "0 0 30 2 *"; }) == ErrorKind::bad_data);
  CHECK(refused([](D& d) { d.spec = "every 0s"; }) == ErrorKind::bad_data);
  CHECK(refused([](D& d) { d.zone = "Mars/Phobos"; }) == ErrorKind::usage);
  CHECK(refused([](D& d) { d.name = ".hidden"; }) == ErrorKind::usage);
  CHECK(refused([](D& d) { d.name = std::string(65, 'x'); }) == ErrorKind::usage);
  CHECK(refused([](D& d) { d.message.unique = "k"; }) == ErrorKind::usage);
  CHECK(refused([](D& d) { d.message.delay_ms = 1; }) == ErrorKind::usage);
  CHECK(refused([](D& d) { d.missed = MissedRule{3}; }) == ErrorKind::usage);
  CHECK(refused([](D& d) { d.overlap = OverlapRule{255}; }) == ErrorKind::usage);
  CHECK(refused([](D& d) { d.past.emplace().last = Occurrence{4}; }) == ErrorKind::usage);
  CHECK(refused([](D& d) { d.past.emplace().begun_wall_ms = INT64_MIN; }) == ErrorKind::usage);
  CHECK(refused([](D& d) { d.past.emplace().last_wall_ms = INT64_MAX; }) == ErrorKind::usage);
  CHECK(refused([](D& d) { d.past.emplace().last_id = MessageId{UINT64_MAX}; }) == ErrorKind::usage);
  const std::string large(kInlinePayloadBytesMax + 1, 'x');
  CHECK(refused([&](D& d) { d.message.payload = as_bytes(large); }) == ErrorKind::bad_data);
  CHECK(schedules(q).list({}, 10)->schedules.empty());
}

TEST_CASE("of a file nothing is set where one cannot be, and a limit that it may change keeps none out") {
  WHERE_SCHEDULES_ARE(q);
  std::vector<ScheduleDefinition> both = {every("20m", "a"), every("30m", "b")};
  both[1].zone = "Mars/Phobos";
  CHECK_FALSE(schedules(q).load(both).ok());
  CHECK(schedules(q).list({}, 10)->schedules.empty());
  q.set("", PolicyKey::max_payload, 3);
  CHECK(schedules(q).load({both.data(), 1}).ok());
}

}  // namespace fq::test
