#include "cli/requests/push_options.h"

#include "tests/catch.h"

using namespace fq;
using namespace fq::cli;

namespace {

PushLine line_of(std::string_view text, const PushFields& defaults = {}, Order order = Order::priority) {
  Result<PushLine> line = parse_push_line(text, defaults, order);
  INFO(text);
  if (!line) FAIL(line.error().text);
  return std::move(line).value();
}

std::string line_fault_of(std::string_view text, const PushFields& defaults = {},
                          Order order = Order::priority) {
  const Result<PushLine> line = parse_push_line(text, defaults, order);
  INFO(text);
  REQUIRE_FALSE(line.ok());
  return line.error().text;
}

}  // namespace

TEST_CASE("a line gives payload and fields, and the options fill what it leaves out") {
  PushFields defaults;
  defaults.tenant = "acme";
  defaults.priority = 3;
  defaults.tags = {{"a", "1"}, {"b", "2"}};
  const PushLine line =
      line_of(R"({"payload":"x","priority":-5,"attempts":2,"delay":"5s","tags":{"b":"3"}})", defaults);
  CHECK(line.payload == "x");
  CHECK(line.fields.tenant == "acme");
  CHECK(line.fields.priority == -5);
  CHECK(line.fields.attempts_max == 2U);
  CHECK(line.fields.delay_ms == 5000);
  CHECK(line.fields.tags == std::vector<Tag>{{"a", "1"}, {"b", "3"}});
}

TEST_CASE("a line says how long it may run and be kept") {
  PushFields defaults;
  defaults.timeout_ms = 1;
  const PushLine line = line_of(R"({"payload":"x","keep":"1d"})", defaults);
  CHECK(line.fields.timeout_ms == 1);
  CHECK(line.fields.keep_ms == 86'400'000);
  CHECK(line_of(R"({"payload":"x","timeout":"5m"})", defaults).fields.timeout_ms == 300'000);
  line_fault_of(R"({"payload":"x","keep":"0s"})");
  line_fault_of(R"({"payload":"x","timeout":5})");
}

TEST_CASE("a line says how long it may wait") {
  CHECK(line_of(R"({"payload":"x","ttl":"90s"})").fields.ttl_ms == 90'000);
  line_fault_of(R"({"payload":"x","ttl":"0s"})");
  line_fault_of(R"({"payload":"x","ttl":90})");
  line_fault_of(R"({"payload":"x","ttl":"90"})");
}

TEST_CASE("null is absent") {
  PushFields defaults;
  defaults.tenant = "acme";
  CHECK(
      line_of(R"({"payload":"x","payload_base64":null,"tenant":null,"tags":null})", defaults).fields.tenant ==
      "acme");
}

TEST_CASE("a time of the line takes the place of the options' time") {
  PushFields defaults;
  defaults.delay_ms = 1000;
  const PushLine line = line_of(R"({"payload":"x","at":"@5"})", defaults);
  CHECK_FALSE(line.fields.delay_ms);
  CHECK(line.fields.at_wall_ms == 5000);
}

TEST_CASE("a payload may hold any byte") {
  CHECK(line_of(R"({"payload_base64":"AP8="})").payload == std::string("\0\xff", 2));
  CHECK(line_of(R"({"payload":"a\u0000b"})").payload == std::string("a\0b", 3));
}

TEST_CASE("a bad line says what is wrong") {
  CHECK(line_fault_of(R"({"paylod":"x"})") == "unknown key 'paylod'; did you mean 'payload'?");
  CHECK(line_fault_of(R"({"tenant":"a"})") == "has no payload; give payload or payload_base64");
  for (const char* text : {"",
                           "x",
                           R"({"payload":5})",
                           R"({"payload":"x","payload_base64":"eA=="})",
                           R"({"payload_base64":"*"})",
                           R"({"payload":"x","tenant":"a//b"})",
                           R"({"payload":"x","tenant":""})",
                           R"({"payload":"x","priority":"5"})",
                           R"({"payload":"x","priority":1.5})",
                           R"({"payload":"x","priority":2147483648})",
                           R"({"payload":"x","attempts":0})",
                           R"({"payload":"x","delay":5})",
                           R"({"payload":"x","delay":"99999999999d"})",
                           R"({"payload":"x","at":"now"})",
                           R"({"payload":"x","at":"@5","delay":"5s"})",
                           R"({"payload":"x","tags":["a"]})",
                           R"({"payload":"x","tags":{"a-b":"c"}})",
                           R"({"payload":"x","tags":{"a":"b\u0000c"}})",
                           R"({"payload":"x","unique":""})",
                           R"({"payload":"x","unique":5})",
                           R"({"payload":"x","unique_for":"5"})",
                           R"({"payload":"x","debounce":"k"})"}) {
    line_fault_of(text);
  }
}

TEST_CASE("a priority or key that the queue's order would ignore is refused") {
  CHECK(line_fault_of(R"({"payload":"x","priority":1})", {}, Order::fifo).find("fifo") != std::string::npos);
  CHECK_FALSE(line_of(R"({"payload":"x","priority":0})", {}, Order::fifo).fields.priority);
  line_fault_of(R"({"payload":"x","key":"5"})", {}, Order::priority);
  line_fault_of(R"({"payload":"x","priority":1})", {}, Order::key);
  CHECK(line_of(R"({"payload":"x","key":5})", {}, Order::key).fields.key ==
        line_of(R"({"payload":"x","key":"5"})", {}, Order::key).fields.key);
}

TEST_CASE("a line says what is run, where and with which variables") {
  const PushLine line = line_of(R"({"argv":["a","-b",""],"cwd":"/tmp","env":{"A":"1","B":null,"C":"=x"}})");
  CHECK(line.payload.empty());
  REQUIRE(line.fields.command);
  CHECK(line.fields.command->argv == std::vector<std::string>{"a", "-b", ""});
  CHECK(line.fields.command->cwd == "/tmp");
  CHECK(line.fields.command->env == std::vector<std::string>{"A=1", "C==x"});
  CHECK_FALSE(line_of(R"({"argv":["a"]})").fields.command->cwd.empty());
  CHECK_FALSE(line_of(R"({"payload":"x","argv":null,"cwd":null,"env":null})").fields.command);
  for (const char* bad : {R"({"argv":[]})", R"({"argv":"a"})", R"({"argv":[1]})", R"({"argv":[""]})",
                          R"({"argv":["a\u0000b"]})", R"({"argv":["a"],"cwd":"here"})", R"({"argv":["a"],"cwd":1})",
                          R"({"argv":["a"],"env":["A=1"]})", R"({"argv":["a"],"env":{"A=B":"1"}})",
                          R"({"argv":["a"],"env":{"":"1"}})", R"({"argv":["a"],"env":{"A":1}})",
                          R"({"payload":"x","cwd":"/tmp"})", R"({"payload":"x","env":{"A":"1"}})"}) {
    line_fault_of(bad);
  }
}

TEST_CASE("what JSON tells of how it went is ignored, and max_attempts are its attempts") {
  const PushLine line = line_of(
      R"({"id":7,"queue":"q","state":"dead","payload":"x","priority":0,"attempts":3,"max_attempts":5,"receipt":null,)"
      R"("worker":{"pid":1},"last_error":{"exit":3},"pushed_at":"2026-11-02T08:00:00Z","due_at":null,"lost":null})");
  CHECK(line.fields.attempts_max == 5U);
  CHECK_FALSE(line.fields.priority);
  CHECK(line_of(R"({"payload":"x","attempts":0,"max_attempts":2})").fields.attempts_max == 2U);
  CHECK(line_of(R"({"payload":"x","max_attempts":null,"attempts":2})").fields.attempts_max == 2U);
  line_fault_of(R"({"payload":"x","attempts":0,"max_attempts":null})");
  line_fault_of(R"({"payload":"x","max_attempts":0})");
}

TEST_CASE("due_at holds while it is to come") {
  CHECK(line_of(R"({"payload":"x","due_at":"2100-01-01T00:00:00Z"})").fields.at_wall_ms == 4'102'444'800'000);
  CHECK_FALSE(line_of(R"({"payload":"x","due_at":"2000-01-01T00:00:00Z"})").fields.at_wall_ms);
  CHECK(line_of(R"({"payload":"x","due_at":"2000-01-01T00:00:00Z","delay":"5s"})").fields.delay_ms == 5000);
  line_fault_of(R"({"payload":"x","due_at":"2100-01-01T00:00:00Z","delay":"5s"})");
  line_fault_of(R"({"payload":"x","due_at":"soon"})");
}
