// event_log_test - what a reader of the journal keeps in mind, however long it reads.

// fq, below us.
#include "core/local/look/event_log.h"
// Tests.
#include "tests/catch.h"

namespace fq::test {

namespace {

std::string path_of(uint64_t i) { return "customer-" + std::to_string(i); }

}  // namespace

TEST_CASE("the names of tenants whose messages have ended are forgotten, and those of others are not") {
  EventLog log;
  MessageItem item;
  const auto learn = [&](uint64_t id) {
    const std::string path = path_of(id);
    item.tenant = path;
    log.by_id.set(id, log.owner_of(item));
  };
  constexpr uint64_t kStaying = 1000;
  for (uint64_t id = 1; id <= 200'000; ++id) {
    learn(id);
    if (id % kStaying != 0) log.by_id.forget(id);
    log.forget_names();
  }
  CHECK(log.tenants.count() < 10'000);
  for (uint64_t id = kStaying; id <= 200'000; id += kStaying)
    REQUIRE(log.tenants.path(log.by_id.get(id)) == path_of(id));
  // Who comes again is known by one number.
  learn(1);
  learn(2);
  learn(kStaying);
  item.tenant = "customer-1";
  CHECK(log.owner_of(item) == log.by_id.get(1));
  CHECK(log.by_id.get(1) != log.by_id.get(2));
  CHECK(log.tenants.path(log.by_id.get(kStaying)) == path_of(kStaying));
}

TEST_CASE("whose messages nobody knows, and who has the wanted tag, is no matter of names that are forgotten") {
  EventLog log;
  log.tag = Tag{"kind", "mail"};
  log.by_id.set(1, EventLog::kNobody);
  const uint32_t tagged = log.tenants.number_of("a") | EventLog::kTagged;
  log.by_id.set(2, tagged);
  for (uint64_t i = 0; i < 10'000; ++i) {
    log.tenants.number_of(path_of(i));
    log.forget_names();
  }
  CHECK(log.by_id.get(1) == EventLog::kNobody);
  CHECK(log.tenants.path(log.by_id.get(2) & ~EventLog::kTagged) == "a");
  CHECK(log.tenants.count() < 5'000);
}

}  // namespace fq::test
