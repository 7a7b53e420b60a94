#include "cli/policy_file.h"

#include "tests/catch.h"

using namespace fq;
using namespace fq::cli;

namespace {

Settings settings_of(std::string_view toml, std::string_view queue = "mail") {
  const Result<Settings> settings = parse_policy(toml, "fq.toml", queue);
  INFO(toml);
  if (!settings) FAIL(settings.error().text);
  return *settings;
}

std::string fault_of(std::string_view toml) {
  const Result<Settings> settings = parse_policy(toml, "fq.toml", "mail");
  INFO(toml);
  REQUIRE_FALSE(settings.ok());
  CHECK(settings.error().kind == ErrorKind::config);
  return settings.error().text;
}

}  // namespace

TEST_CASE("without an entry every value is the default") {
  CHECK(settings_of("") == Settings{});
  CHECK(settings_of("[queue.other]\nattempts = 9\n") == Settings{});
}

TEST_CASE("every key of the file reaches its setting") {
  const Settings settings = settings_of(R"(
[queue."*"]
order = "key"
sync = "lazy"
lease = "5m"
attempts = 3
max_payload = "64KiB"
lock_timeout = "250ms"
timeout = "2m"
backoff = "250ms..5m"
retention = "7d"
)");
  Settings expected;
  expected.order = Order::key;
  expected.sync = SyncMode::lazy;
  expected.lease_ms = 300'000;
  expected.attempts_max = 3;
  expected.payload_bytes_max = 65536;
  expected.lock_timeout_ms = 250;
  expected.timeout_ms = 120'000;
  expected.backoff_base_ms = 250;
  expected.backoff_max_ms = 300'000;
  expected.retention_ms = 604'800'000;
  CHECK(settings == expected);
}

TEST_CASE("a time limit and a retention may be none") {
  const Settings settings = settings_of(R"(
[queue.mail]
timeout = "none"
retention = "none"
[queue."*"]
timeout = "2m"
retention = "7d"
)");
  CHECK(settings.timeout_ms == 0);
  CHECK(settings.retention_ms == 0);
}

TEST_CASE("a plain name wins over patterns, more literal characters over fewer, the later over the earlier") {
  CHECK(settings_of("[queue.mail]\nattempts = 1\n[queue.\"*\"]\nattempts = 2\n").attempts_max == 1);
  CHECK(settings_of("[queue.\"ma*\"]\nattempts = 1\n[queue.\"*\"]\nattempts = 2\n").attempts_max == 1);
  CHECK(settings_of("[queue.\"m*l\"]\nattempts = 1\n[queue.\"ma*\"]\nattempts = 2\n").attempts_max == 2);
  CHECK(settings_of("[queue.\"ma*\"]\nattempts = 2\n[queue.\"m*l\"]\nattempts = 1\n").attempts_max == 1);
}

TEST_CASE("each value comes from the most exact entry that sets it") {
  const Settings settings =
      settings_of("[queue.mail]\nlease = \"5s\"\n[queue.\"*\"]\nattempts = 2\nlease = \"9s\"\n");
  CHECK(settings.lease_ms == 5000);
  CHECK(settings.attempts_max == 2);
}

TEST_CASE("an unknown key names its line and what was meant, also in another queue's table") {
  CHECK(fault_of("\n[queue.other]\natempts = 2\n") ==
        "fq.toml:3: unknown key 'atempts'; did you mean 'attempts'?");
  CHECK(fault_of("[queues.mail]\n").find("did you mean 'queue'") != std::string::npos);
  CHECK(fault_of("[queue]\nattempts = 2\n").find("fq.toml:2") == 0);
  CHECK(fault_of("[queue.mail.tenant.a]\nweight = 2\n").find("unknown key 'tenant'") != std::string::npos);
}

TEST_CASE("a bad value names its line, its key and what it must be") {
  CHECK(fault_of("[queue.mail]\nattempts = 0\n").find("fq.toml:2: attempts: must be") == 0);
  for (const char* line :
       {"attempts = 65536", "attempts = \"5\"", "attempts = 1.5", "lease = 60", "lease = \"60\"",
        "lease = \"0s\"", "lease = \"99999999999d\"", "order = \"lifo\"", "order = 1", "sync = true",
        "max_payload = 5", "max_payload = \"0B\"", "lock_timeout = \"none\"", "timeout = \"0s\"",
        "timeout = 5", "retention = \"unlimited\"", "backoff = \"5s\"", "backoff = \"1h..5s\"",
        "backoff = 5"}) {
    fault_of(std::string("[queue.mail]\n") + line + "\n");
  }
}

TEST_CASE("a file that is no TOML names the line") {
  CHECK(fault_of("[queue.mail]\nattempts = \n").find("fq.toml:2: ") == 0);
  CHECK(fault_of("[queue.mail\n").find("fq.toml:1: ") == 0);
  fault_of("\xff\xfe");
  for (const char* word :
       {"[?", "[queue\u00e9]\n", "[queue\u0499]\n", "[queue.mail]\nattempts = 1 \u3042\n"}) {
    fault_of(word);
  }
  fault_of(std::string("[queue.mail]\nattempts = 1\nattempts = 2\n"));
}
