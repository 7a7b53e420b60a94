// policy_test - the policy file's layer and the run-time one: what holds, survives, and how much may be held.

// System.
#include <atomic>
#include <thread>
// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

PolicyValue value(PolicyKey key, int64_t number, int64_t second = 0) { return {key, number, second, {}}; }

void load(SpoolFixture& q, const Policy& policy, uint64_t version) {
  FileIdentity identity;
  identity.inode = version;
  REQUIRE(q.door().policy_load(policy, identity).ok());
}

void set(SpoolFixture& q, const std::string& path, const PolicyValue& value) {
  REQUIRE(q.door().policy_set(path, {{value}, {}}).ok());
}

/// What a push of this says, "" when it is accepted.
std::string refusal(SpoolFixture& q, const std::string& tenant, const std::string& payload,
                    const PushOptions& options = {}) {
  NewMessage message;
  message.tenant = tenant;
  message.payload = as_bytes(payload);
  const Result<PushReply> reply = q.door().push({&message, 1}, options);
  if (!reply.ok()) {
    CHECK(reply.error().kind == ErrorKind::later);
    return reply.error().text;
  }
  CHECK(reply->items[0].status == PushStatus::accepted);
  return "";
}

LeaseReply lease(SpoolFixture& q, const LeaseRequest& request) { return q.lease_from(q.door(), request); }

bool says(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("the most exact rule holds, and another file takes its place for those that are there") {
  SpoolFixture q;
  load(q,
       {{},
        {{"*", {value(PolicyKey::concurrency, 1)}},
         {"free-*", {value(PolicyKey::max_messages, 2)}},
         {"free-1", {value(PolicyKey::max_messages, 3)}}},
        {}},
       1);
  for (int i = 0; i < 3; ++i) {
    const std::string payload = std::to_string(i);
    CHECK(refusal(q, "free-1", payload).empty());
    CHECK(refusal(q, "free-2", payload).empty() == (i < 2));
    CHECK(refusal(q, "other", payload).empty());
  }
  CHECK(says(refusal(q, "free-1", "x"), "tenant 'free-1': has 3 messages, the limit is 3 (max_messages)"));
  CHECK(lease(q, {.want = 99}).deliveries.size() == 3);  // one of each
  load(q, {{}, {{"free-1", {value(PolicyKey::concurrency, 2)}}}, {}}, 2);
  CHECK(refusal(q, "free-2", "x").empty());
  CHECK(lease(q, {.want = 99}).deliveries.size() == 1 + 2 + 2);  // free-1 one more, the others all
  load(q, {}, 3);
  CHECK(lease(q, {.want = 99}).deliveries.size() == 1);
  q.check_clean();
}

TEST_CASE("what was set at run time wins over the file, survives the segment, and can be taken back") {
  SpoolFixture q;
  load(q, {{value(PolicyKey::attempts, 7)}, {{"a", {value(PolicyKey::max_messages, 1)}}}, {}}, 1);
  set(q, "", value(PolicyKey::attempts, 9));
  set(q, "a", value(PolicyKey::max_messages, 2));
  CHECK(q.door().settings()->attempts_max == 9);
  q.lose_segment();
  load(q, {{value(PolicyKey::attempts, 7)}, {{"a", {value(PolicyKey::max_messages, 1)}}}, {}}, 1);
  CHECK(q.door().settings()->attempts_max == 9);
  CHECK(refusal(q, "a", "1").empty());
  CHECK(refusal(q, "a", "2").empty());
  CHECK_FALSE(refusal(q, "a", "3").empty());
  const OverridePage page = q.door().policy_overrides({}, 100).value();
  REQUIRE(page.overrides.size() == 2);
  CHECK(page.overrides[0].path.empty());
  CHECK(page.overrides[0].values == PolicyValues{value(PolicyKey::attempts, 9)});
  CHECK(page.overrides[1].path == "a");
  CHECK(page.overrides[1].values == PolicyValues{value(PolicyKey::max_messages, 2)});
  REQUIRE(q.door().policy_set("", {{}, {PolicyKey::attempts}}).ok());
  REQUIRE(q.door().policy_set("a", {{}, {PolicyKey::max_messages}}).ok());
  CHECK(q.door().settings()->attempts_max == 7);
  CHECK(q.drain() == "1 2");
  CHECK(refusal(q, "a", "4").empty());
  CHECK_FALSE(refusal(q, "a", "5").empty());
  CHECK(q.door().policy_overrides({}, 100)->overrides.empty());
  q.check_clean();
}

TEST_CASE("a limit of bytes holds for a node and all below it, and dead messages do not count") {
  SpoolFixture q;
  set(q, "acme", value(PolicyKey::max_bytes, 10));
  CHECK(refusal(q, "acme/a", "12345").empty());
  CHECK(refusal(q, "acme/b/c", "12345").empty());
  CHECK(says(refusal(q, "acme", "1"), "tenant 'acme': has 10 bytes, the limit is 10 (max_bytes)"));
  CHECK(refusal(q, "other", "1234567890123").empty());
  const LeaseReply taken = lease(q, {.tenant = "acme/a"});
  Settle bury;
  bury.receipt = taken.deliveries.at(0).receipt;
  bury.verdict = Verdict::bury;
  REQUIRE(q.door().settle({&bury, 1}, nullptr)->items[0] == SettleStatus::ok);
  CHECK(refusal(q, "acme", "12345").empty());
  q.check_clean();
}

TEST_CASE("a batch is taken whole or not at all") {
  SpoolFixture q;
  set(q, "", value(PolicyKey::max_messages, 3));
  std::vector<NewMessage> four(4);
  // It never fits, so that a push that would wait for room is told so at once.
  for (const bool block : {false, true}) {
    const PushReply never = q.door().push(four, {.block = block}).value();
    REQUIRE(never.items.size() == 4);
    for (const PushResult& each : never.items) CHECK(each.status == PushStatus::full);
    CHECK(says(never.error->text, "max_messages"));
  }
  CHECK(q.door().push(std::span(four).first(3), {}).value().items[2].status == PushStatus::accepted);
  CHECK_FALSE(refusal(q, "a", "").empty());
}

TEST_CASE("eight who push at once are let in up to the limit, and not one more", "[threads]") {
  SpoolFixture q;
  set(q, "a", value(PolicyKey::max_messages, 50));
  std::atomic<int> accepted{0};
  std::vector<std::thread> pushers;
  for (int i = 0; i < 8; ++i) {
    pushers.emplace_back([&, own = std::shared_ptr<Queue>(q.open())] {
      NewMessage message{.tenant = "a/x", .payload = as_bytes(std::string_view("m"))};
      for (int n = 0; n < 20; ++n) accepted += own->push({&message, 1}, {}).ok() ? 1 : 0;
    });
  }
  for (std::thread& each : pushers) each.join();
  CHECK(accepted == 50);
  CHECK(q.stats().ready == 50);
}

TEST_CASE("a draining queue takes no more and serves the rest") {
  SpoolFixture q;
  CHECK(refusal(q, "a", "1").empty());
  set(q, "", value(PolicyKey::draining, 1));
  CHECK(says(refusal(q, "a", "2"), "draining"));
  q.lose_segment();
  CHECK(says(refusal(q, "a", "2"), "draining"));
  CHECK(q.drain() == "1");
  REQUIRE(q.door().policy_set("", {{}, {PolicyKey::draining}}).ok());
  CHECK(refusal(q, "a", "3").empty());
  q.check_clean();
}

TEST_CASE("a push that may wait is told when its time is over") {
  SpoolFixture q;
  set(q, "a", value(PolicyKey::max_messages, 1));
  CHECK(refusal(q, "a", "1").empty());
  PushOptions options;
  options.block = true;
  options.wait_ms = 0;
  CHECK(says(refusal(q, "a", "2", options), "max_messages"));
}

TEST_CASE("what is paused keeps no drain waiting") {
  SpoolFixture q;
  CHECK(refusal(q, "a/x", "1").empty());
  CHECK(refusal(q, "a", "2").empty());
  CHECK(refusal(q, "b", "3").empty());
  set(q, "a/x", value(PolicyKey::paused, 1));
  set(q, "a", value(PolicyKey::paused, 1));
  const auto why = [&] {
    return lease(q, {.look = true, .wait = true, .wait_ms = 0, .until_idle = true}).why_empty;
  };
  CHECK(why() == WhyEmpty::servable);
  q.drain();
  CHECK(why() == WhyEmpty::idle);
  set(q, "a", value(PolicyKey::concurrency, 1));
  REQUIRE(q.door().policy_set("a", {{}, {PolicyKey::paused}}).ok());
  CHECK(why() == WhyEmpty::servable);
}

}  // namespace fq::test
