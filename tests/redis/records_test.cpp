// records_test - what the server's program writes and what the client reads are the same bytes.
#include "core/redis/records/records.h"

// Tests.
#include "tests/redis/fixture.h"
#include "tests/redis/hex.h"

namespace fq::test {

namespace {

constexpr std::string_view kTag = "fq1:fq:{default:0:0}:";
std::string key(std::string_view what) { return std::string(kTag) + std::string(what); }

/// A whole number as Lua's struct packs it.
std::string number_bytes(double number) {
  return hex(std::string_view(reinterpret_cast<const char*>(&number), sizeof number));
}

}  // namespace

TEST_CASE("a message lies on the server in these bytes") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  NewMessage message;
  message.tenant = "a/b";
  message.payload = as_bytes("hello");
  message.priority = -2;
  message.key = "k1";
  message.attempts_max = 300;
  message.ttl_ms = 7'000;
  message.tags = {{"team", "blue"}};
  REQUIRE(queue->push({&message, 1}).ok());
  const std::string record = command(server, {"GET", key("m:1")}).text;
  const double now = static_cast<double>(clock.boot_ms());
  CHECK(hex(record) ==
        "0100000002"
        "0300"
        "2c01"
        "0000"
        "0000"
        "0000"
        "00000000"
        "feffffff"
        "05000000"
        "00000000" +
            number_bytes(now) + number_bytes(now + 7'000) + number_bytes(now) + number_bytes(7'000) +
            number_bytes(0) + number_bytes(0) + number_bytes(-1) + hex(std::string(kNonceBytes, ' ')) +
            number_bytes(0) + "0000" + number_bytes(0) + hex("a/bk1") +
            "0f000000"
            "0100"
            "0400" +
            hex("team") + "0400" + hex("blue") + "00" + hex("hello"));
  const std::optional<MessageRecord> read = read_record(record);
  REQUIRE(read.has_value());
  CHECK(read->tenant == "a/b");
  CHECK(read->key == "k1");
  CHECK(read->payload == "hello");
  CHECK(read->attempts_max == 300);
  CHECK(read->priority == -2);
  CHECK(read->timer_ms == clock.boot_ms() + 7'000);
  CHECK(read->tags == message.tags);
}

TEST_CASE("a record that is cut anywhere is none") {
  NewMessage message;
  message.payload = as_bytes("hello");
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  REQUIRE(queue->push({&message, 1}).ok());
  const std::string record = command(server, {"GET", key("m:1")}).text;
  REQUIRE(read_record(record).has_value());
  for (size_t cut = 0; cut < record.size(); ++cut)
    CHECK(!read_record(std::string_view(record).substr(0, cut)).has_value());
}

TEST_CASE("ids, serials and times above 10^14 keep every digit") {
  FakeClock clock;
  const TestServer server;
  const auto queue = open_on(told_time_engine(), server.spool(), &clock);
  const std::string root = key("h");
  command(server, {"HSET", root, "n", "8796093022206000", "serial", "9007199254740900"});
  CHECK(number(push_one(*queue, "t", "x")) == 8796093022206001);
  const LeaseReply leased = answered(queue->lease(for_a_minute()));
  REQUIRE(leased.deliveries.size() == 1);
  CHECK(leased.deliveries[0].receipt.text().starts_with("8796093022206001.9007199254740901."));
  CHECK(answered(queue->get(MessageId{8796093022206001}))->state == State::leased);
  Settle ack;
  ack.receipt = leased.deliveries[0].receipt;
  CHECK(answered(queue->settle({&ack, 1})).items.at(0) == SettleStatus::ok);
  CHECK(answered(queue->get(MessageId{8796093022206001}))->state == State::acked);
}

TEST_CASE("what failed is told in the bytes that both know") {
  Settle settle;
  settle.exit = -3;
  settle.reason = "no route";
  settle.stderr_tail = "line\n";
  const std::optional<LastError> read = read_failure(std::string(8, '\0') + failure_bytes(settle));
  REQUIRE(read.has_value());
  CHECK(read->exit == -3);
  CHECK(!read->signal.has_value());
  CHECK(read->reason == "no route");
  CHECK(read->stderr_tail == "line\n");
}

TEST_CASE("a policy comes back as it was, unlimited too") {
  const PolicyValues values = {{PolicyKey::lease, 30'000, 0, {}},
                               {PolicyKey::attempts, 7, 1, {}},
                               {PolicyKey::dead_retention, kUnlimited, 0, {}}};
  CHECK(read_policy_bytes(policy_bytes(values)) == values);
  CHECK(read_policy_bytes(policy_bytes(values).substr(0, 20)).size() == 1);
}

}  // namespace fq::test
