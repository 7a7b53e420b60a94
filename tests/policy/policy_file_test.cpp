#include <random>

#include "tests/policy/fixture.h"
#include "tests/processor_time.h"

using namespace fq;
using namespace fq::test;

namespace {

/// Rules in their order: "a:1 b:2", where the number is the weight's.
std::string weights_of(const FilePolicy& policy) {
  std::string text;
  for (const FileRule& rule : policy.tenants) {
    for (const FileValue& value : rule.values) {
      text += (text.empty() ? "" : " ") + rule.name + ":" + std::to_string(value.value.number / 1000);
    }
  }
  return text;
}

constexpr std::string_view kOfTheManual = R"(
[queue."*"]
order = "priority"
scope = "tenant"
fair_by = "turns"
linger = "none"
batch = "unlimited"
sync = "always"
attempts = 5
backoff = "5s..1h"
timeout = "none"
lease = "60s"
max_messages = "unlimited"
max_bytes = "unlimited"
max_payload = "1GiB"
concurrency = "unlimited"
retention = "auto"
dead_retention = "unlimited"
command_age = "7d"
lock_timeout = "5s"

[queue."*".tenant."free-*"]
weight = 1
concurrency = 2
rate = "100/min"
burst = 10
max_messages = 10000
pool = "stripe"

[queue."*".pool.stripe]
concurrency = 10
rate = "50/s"
)";

}  // namespace

TEST_CASE("without an entry every value is the default") {
  CHECK(settings_of("") == Settings{});
  CHECK(settings_of("[queue.other]\nattempts = 9\n") == Settings{});
}

TEST_CASE("the file of the contract says what its comments say") {
  Settings standard;
  standard.attempts_by_kind = 0;  // they are set, for commands too
  CHECK(settings_of(kOfTheManual) == standard);
  const FilePolicy policy = policy_of(kOfTheManual);
  REQUIRE(policy.tenants.size() == 1);
  CHECK(policy.tenants[0].name == "free-*");
  CHECK(without_lines(policy).tenants[0].values.size() == 6);
  REQUIRE(policy.pools.size() == 1);
  CHECK(policy.pools[0].name == "stripe");
  CHECK(without_lines(policy).pools[0].values ==
        PolicyValues{{PolicyKey::concurrency, 10, 0, {}}, {PolicyKey::rate, 50, 1000, {}}});
}

TEST_CASE("every key of the file reaches its setting") {
  const Settings settings = settings_of(R"(
[queue."*"]
order = "key"
scope = "queue"
fair_by = "time"
linger = "3s"
batch = 100
sync = "lazy"
lease = "5m"
attempts = 3
max_payload = "64KiB"
lock_timeout = "250ms"
timeout = "2m"
backoff = "250ms..5m"
retention = "7d"
dead_retention = "30d"
command_age = "2d"
)");
  Settings expected;
  expected.order = Order::key;
  expected.scope = Scope::queue;
  expected.fair_by = FairBy::time;
  expected.linger_ms = 3000;
  expected.batch_max = 100;
  expected.sync = SyncMode::lazy;
  expected.lease_ms = 300'000;
  expected.attempts_max = 3;
  expected.attempts_by_kind = 0;
  expected.payload_bytes_max = 65536;
  expected.lock_timeout_ms = 250;
  expected.timeout_ms = 120'000;
  expected.backoff_base_ms = 250;
  expected.backoff_max_ms = 300'000;
  expected.retention_ms = 604'800'000;
  expected.dead_retention_ms = 2'592'000'000;
  expected.command_age_ms = 172'800'000;
  CHECK(settings == expected);
}

TEST_CASE("a plain name wins over patterns, more literal characters over fewer, the later over the earlier") {
  CHECK(settings_of("[queue.mail]\nattempts = 1\n[queue.\"*\"]\nattempts = 2\n").attempts_max == 1);
  CHECK(settings_of("[queue.\"ma*\"]\nattempts = 1\n[queue.\"*\"]\nattempts = 2\n").attempts_max == 1);
  CHECK(settings_of("[queue.\"m*l\"]\nattempts = 1\n[queue.\"ma*\"]\nattempts = 2\n").attempts_max == 2);
  CHECK(settings_of("[queue.\"ma*\"]\nattempts = 2\n[queue.\"m*l\"]\nattempts = 1\n").attempts_max == 1);
}

TEST_CASE("each value comes from the most exact entry that sets it, with its line") {
  const std::string toml = "[queue.mail]\nlease = \"5s\"\n[queue.\"*\"]\nattempts = 2\nlease = \"9s\"\n";
  CHECK(settings_of(toml).lease_ms == 5000);
  CHECK(settings_of(toml).attempts_max == 2);
  for (const FileValue& value : policy_of(toml).queue) {
    CHECK(value.line == (value.value.key == PolicyKey::lease ? 2U : 4U));
  }
}

TEST_CASE("tenant rules come least exact first: by queue, then plain names last, then literal characters") {
  CHECK(weights_of(policy_of(R"(
[queue.mail.tenant."*"]
weight = 1
[queue."*".tenant.acme]
weight = 2
[queue."*".tenant."acme*"]
weight = 3
[queue."*".tenant."*-x"]
weight = 4
[queue."ma*".tenant."*"]
weight = 5
[queue."*".tenant."*acm"]
weight = 6
[queue.other.tenant.acme]
weight = 7
)")) == "*-x:4 *acm:6 acme*:3 acme:2 *:5 *:1");
  CHECK(weights_of(policy_of(
            "[queue.mail.tenant]\nb = { weight = 1 }\n'a*c' = { weight = 2 }\n'*bc' = { weight = 3 }\n")) ==
        "a*c:2 *bc:3 b:1");
  CHECK(weights_of(policy_of("queue.mail.tenant = { '*bc' = { weight = 3 }, 'a*c' = { weight = 2 } }\n")) ==
        "*bc:3 a*c:2");
}

TEST_CASE("only characters that are no star make a pattern more exact") {
  CHECK(weights_of(policy_of("[queue.mail.tenant]\n'abc*' = { weight = 1 }\n'a*b*' = { weight = 2 }\n")) ==
        "a*b*:2 abc*:1");
}

TEST_CASE("a pool is put together from all tables of a queue") {
  const FilePolicy policy = policy_of(R"(
[queue.mail.pool.stripe]
rate = "50/s"
[queue."*".pool.stripe]
concurrency = 10
rate = "5/s"
[queue.other.pool.stripe]
burst = 7
)");
  REQUIRE(policy.pools.size() == 1);
  CHECK(without_lines(policy).pools[0].values ==
        PolicyValues{{PolicyKey::concurrency, 10, 0, {}}, {PolicyKey::rate, 50, 1000, {}}});
  CHECK(policy.pools[0].values[1].line == 3);
}

TEST_CASE("a pool that a tenant names must be there in each queue of its table") {
  CHECK(fault_of("[queue.\"*\".tenant.a]\n\npool = \"stripe\"\n") ==
        "fq.toml:3: pool: 'stripe' is not defined for all these queues; write [queue.\"*\".pool.stripe]");
  CHECK(says(fault_of("[queue.\"*\".tenant.a]\npool = \"stripe\"\n[queue.mail.pool.stripe]\n"), "'stripe'"));
  CHECK(says(fault_of("[queue.other.tenant.a]\npool = \"stripe\"\n[queue.mail.pool.stripe]\n"), "'stripe'"));
  CHECK(says(fault_of("[queue.mail.tenant.a]\npool = \"x\"\n[queue.mail.pool.stripe]\n"), "'x'"));
  CHECK(says(fault_of("[queue.mail.tenant]\na = { pool = 'p' }\nb = { pool = 'x' }\n[queue.mail.pool.p]\n"),
             "'x'"));
  policy_of("[queue.mail.tenant.a]\npool = \"stripe\"\n[queue.\"m*\".pool.stripe]\n");
  policy_of("[queue.\"mail*\".tenant.a]\npool = \"stripe\"\n[queue.\"m*\".pool.stripe]\n");
  policy_of("[queue.\"*\".tenant.a]\npool = \"none\"\n");
}

TEST_CASE("an order across tenants does not go with fifo") {
  CHECK(fault_of("[queue.mail]\norder = \"fifo\"\nscope = \"queue\"\n") ==
        "fq.toml:3: scope: \"queue\" does not go with order = \"fifo\" of line 2");
  CHECK(says(fault_of("[queue.\"*\"]\nscope = \"queue\"\n[queue.other]\norder = \"fifo\"\n"),
             "fq.toml:4: order"));
  policy_of("[queue.\"*\"]\nscope = \"queue\"\n[queue.other]\norder = \"fifo\"\nscope = \"tenant\"\n");
  policy_of("[queue.mail]\nscope = \"queue\"\n[queue.other]\norder = \"fifo\"\n");
  // Each of the two tables makes sense; only the queue that both are for does not.
  const std::string crossed = "[queue.\"m*\"]\nscope = \"queue\"\n[queue.\"*l\"]\norder = \"fifo\"\n";
  CHECK(says(fault_of(crossed), "fq.toml:4: order"));
  policy_of(crossed, "mouse");
}

TEST_CASE("an unknown key names its line and what was meant, also in another queue's table") {
  CHECK(fault_of("\n[queue.other]\natempts = 2\n") ==
        "fq.toml:3: unknown key 'atempts'; did you mean 'attempts'?");
  CHECK(says(fault_of("[queues.mail]\n"), "did you mean 'queue'"));
  CHECK(says(fault_of("[tenant.acme]\nweight = 2\n"),
             "fq.toml:1: unknown key 'tenant'; tables are [queue.NAME]"));
  CHECK(fault_of("[queue]\nattempts = 2\n").find("fq.toml:2") == 0);
  CHECK(fault_of("[queue.mail.tenant.a]\nlease = \"5s\"\n") ==
        "fq.toml:2: 'lease' is a key of queues, not of tenants");
  CHECK(fault_of("[queue.mail]\nweight = 2\n") == "fq.toml:2: 'weight' is a key of tenants, not of queues");
  CHECK(says(fault_of("[queue.mail.pool.p]\nrat = \"5/s\"\n"), "did you mean 'rate'"));
  CHECK(says(fault_of("[queue.mail.tenant]\nweight = 2\n"),
             "fq.toml:2: 'weight' stands outside a tenant's table"));
  CHECK(says(fault_of("[queue.mail]\ntenant = 2\n"), "'tenant' must be a table"));
  CHECK(says(fault_of("[queue.mail.tenant.acme.reports]\nweight = 2\n"), "stands in quotes"));
  CHECK(says(fault_of("[queue.mail]\npaused = true\n"), "fq queue pause"));
}

TEST_CASE("a mistyped kind of table is told the kind that was meant") {
  CHECK(fault_of("\n[queue.mail.tenants.acme]\nweight = 2\n") ==
        "fq.toml:2: unknown key 'tenants'; did you mean 'tenant'?");
  CHECK(fault_of("[queue.mail.pools.p]\nrate = \"5/s\"\n") ==
        "fq.toml:1: unknown key 'pools'; did you mean 'pool'?");
  CHECK(fault_of("[queue.mail.shedule.s]\nspec = \"@daily\"\n") ==
        "fq.toml:1: unknown key 'shedule'; did you mean 'schedule'?");
  CHECK(says(fault_of("[queue.mail.whatever.s]\nspec = \"@daily\"\n"), "known are order"));
}

TEST_CASE("names that no queue, tenant or pool can have are refused") {
  for (const char* table :
       {"[queue.\"a b\"]", "[queue.\"\"]", "[queue.\".x\"]", "[queue.mail.tenant.\"\"]",
        "[queue.mail.tenant.\"a//b\"]", "[queue.mail.tenant.\"/\"]", "[queue.mail.tenant.\"..\"]",
        "[queue.mail.tenant.\"a\\u001bb\"]", "[queue.mail.tenant.\"1/2/3/4/5/6/7/8/9\"]",
        "[queue.mail.pool.\"*\"]", "[queue.mail.pool.none]", "[queue.mail.pool.\"a/b\"]"}) {
    CHECK(says(fault_of(std::string(table) + "\n"), "fq.toml:1: "));
  }
  fault_of("[queue.mail.tenant.\"" + std::string(256, 'x') + "\"]\n");
  policy_of("[queue.mail.tenant.\"" + std::string(255, 'x') + "\"]\n");
  policy_of(
      "[queue.mail.tenant.\"it's \\\"mine\\\"/*\"]\nweight = 2\n[queue.mail.tenant.\"测试\"]\nweight = 3\n");
}

TEST_CASE("a bad value names its line, its key and what it must be") {
  CHECK(fault_of("[queue.mail]\nattempts = 0\n").find("fq.toml:2: attempts: must be") == 0);
  for (const char* line :
       {"attempts = 65536", "attempts = \"5\"", "attempts = 1.5", "lease = 60", "lease = \"60\"",
        "lease = []", "lease = {}", "lease = 2030-01-01", "order = 1", "sync = true", "max_payload = 5",
        "max_messages = \"5\"", "max_messages = -1", "max_messages = 1e3", "rate = 5", "backoff = 5",
        "burst = \"unlimited\"", "batch = 9223372036854775807"}) {
    fault_of(std::string("[queue.mail]\n") + line + "\n");
  }
  for (const char* line :
       {"weight = \"2\"", "weight = 0", "weight = 0.0999", "weight = nan", "weight = inf", "weight = 1e300",
        "weight = true", "weight = -1.0", "pool = 1", "rate = \"1/week\""}) {
    fault_of(std::string("[queue.mail.tenant.a]\n") + line + "\n");
  }
  CHECK(weights_of(policy_of("[queue.mail.tenant.a]\nweight = 2.0\n")) == "a:2");
  CHECK(weights_of(policy_of("[queue.mail.tenant.a]\nweight = 1_0\n")) == "a:10");
  CHECK(policy_of("[queue.mail.tenant.a]\nweight = 1e-1\n").tenants[0].values[0].value.number == 100);
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

TEST_CASE("nothing that is nested is too deep for the stack") {
  const auto many = [](std::string_view part) {
    std::string text;
    while (text.size() < kPolicyFileBytesMax / 2) text += part;
    return text;
  };
  const std::string deep = many("a.") + "a = 1\n";
  CHECK(says(fault_of("\n" + deep), "fq.toml:2: a key has too many parts"));
  CHECK(says(fault_of("[" + many("a . ") + "a]\n"), "fq.toml:1: a key has too many parts"));
  CHECK(says(fault_of("[" + many("\"a\".") + "a]\n"), "fq.toml:1: a key has too many parts"));
  fault_of("a = " + many("["));
  fault_of("a = " + many("{a="));
  fault_of("a = " + many("{a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = [\n"));
  CHECK(says(fault_of("a = '''\n" + deep), "fq.toml:1: a text over several lines"));
  CHECK(says(fault_of("a = 1 # \"\"\"\n" + deep), "fq.toml:2: a key has too many parts"));
  CHECK(says(fault_of("a = \"\\\"\" # '\n" + deep), "fq.toml:2: a key has too many parts"));
  policy_of("# " + many("a.") + "\n[queue.mail] # " + many("a.") + "\n");
  policy_of("[queue.mail.tenant.\"a" + std::string(200, '.') + "b\"]\n");
  policy_of("[queue.mail.tenant]\na = { weight = 0.5, burst = 1 }\n'a\"' = { weight = 0.5 }\n");
}

TEST_CASE("a mangled file is a policy or a fault with its line") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  constexpr std::string_view kBits[] = {"[",  "]",    "\"", "*",    ".", "=", "\n", "queue", "tenant", "pool",
                                        "\0", "\xff", "'",  "\"\"", "{", "}", "#",  "1e9",   "-",      "\\u"};
  size_t good = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string toml(kOfTheManual);
    for (size_t changes = 1 + below(3); changes > 0; --changes) {
      const size_t at = below(toml.size());
      switch (below(4)) {
        case 0:
          toml[at] = static_cast<char>(below(256));
          break;
        case 1:
          toml.erase(at, 1 + below(40));
          break;
        case 2:
          toml.insert(at, kBits[below(std::size(kBits))]);
          break;
        default:
          toml.insert(at, toml.substr(below(toml.size()), below(80)));
          break;
      }
    }
    INFO(toml);
    const Result<FilePolicy> policy = parse(toml);
    if (policy.ok()) ++good;
    if (policy.ok()) continue;
    CHECK(policy.error().kind == ErrorKind::config);
    CHECK(policy.error().text.find("fq.toml:") == 0);
  }
  CHECK(good > 10);  // of 6000, about 50: else the mangling leaves nothing to look at
}

TEST_CASE("ten thousand tenants and a mebibyte are read at once") {
  std::string toml = "[queue.\"*\".pool.p]\nconcurrency = 3\n";
  for (int i = 0; i < 10'000; ++i) {
    toml += "[queue.\"*\".tenant.\"account-" + std::to_string(i) + (i % 2 == 0 ? "" : "*") +
            "\"]\nweight = 2\nconcurrency = 5\nrate = \"100/min\"\npool = \"p\"\n";
  }
  REQUIRE(toml.size() < kPolicyFileBytesMax);
  toml.resize(kPolicyFileBytesMax, '\n');
  const double start_s = processor_s();
  const FilePolicy policy = policy_of(toml);
  const double took_s = processor_s() - start_s;
  CHECK(policy.tenants.size() == 10'000);
  CHECK(took_s < 60);  // 0.15 s, 4 s under sanitizers; what is quadratic takes minutes
}

TEST_CASE("as many queues as there is room for, each with an order, are read at once") {
  // Each begins like all others, or ends so.
  const bool begins = GENERATE(true, false);
  const bool has_pools = !begins;
  std::string toml = "[queue.\"*\"]\norder = \"fifo\"\n";
  for (int i = 0; toml.size() < kPolicyFileBytesMax - 100; ++i) {
    const std::string number = std::to_string(100'000 + i);
    const std::string queue = "queue.'" + (begins ? "a" + number + "*" : "*" + number + "a") + "'";
    toml += "[" + queue + "]\norder=\"key\"\n";
    if (has_pools) toml += "[" + queue + ".pool.p]\n[" + queue + ".tenant.a]\npool=\"p\"\n";
  }
  const double start_s = processor_s();
  policy_of(toml);
  const double took_s = processor_s() - start_s;
  CHECK(took_s < 15);  // 1 s; what is quadratic takes minutes
}
