#include "core/policy/policy_value.h"

#include "core/api/settings.h"
#include "tests/catch.h"

using namespace fq;

namespace {

PolicyValue value_of_text(std::string_view key, std::string_view text) {
  const PolicyKeySpec* spec = find_policy_key(key);
  INFO(key << "=" << text);
  REQUIRE(spec != nullptr);
  Result<PolicyValue> value = parse_policy_value(*spec, text);
  if (!value) FAIL(value.error().text);
  CHECK(value->key == spec->key);
  return *value;
}

struct Row {
  std::string_view key;
  std::string_view text;
  int64_t number;
  int64_t second;
  std::string_view back;  // "": as typed
};

constexpr Row kGood[] = {
    {"order", "priority", 0, 0, ""},
    {"order", "fifo", 1, 0, ""},
    {"order", "key", 2, 0, ""},
    {"scope", "tenant", 0, 0, ""},
    {"scope", "queue", 1, 0, ""},
    {"fair_by", "turns", 0, 0, ""},
    {"fair_by", "bytes", 1, 0, ""},
    {"fair_by", "time", 2, 0, ""},
    {"sync", "lazy", 1, 0, ""},
    {"linger", "none", 0, 0, ""},
    {"linger", "3s", 3000, 0, ""},
    {"batch", "unlimited", kUnlimited, 0, ""},
    {"batch", "1", 1, 0, ""},
    {"attempts", "65535", 65535, 0, ""},
    {"backoff", "250ms..5m", 250, 300'000, ""},
    {"backoff", "5s..5s", 5000, 5000, ""},
    {"timeout", "none", 0, 0, ""},
    {"timeout", "90s", 90'000, 0, "1m30s"},
    {"lease", "1ms", 1, 0, ""},
    {"weight", "0.1", 100, 0, ""},
    {"weight", "1000", 1'000'000, 0, ""},
    {"weight", "2.50", 2500, 0, "2.5"},
    {"weight", "0.125", 125, 0, ""},
    {"weight", "3.001", 3001, 0, ""},
    {"max_messages", "1000000000", 1'000'000'000, 0, ""},
    {"max_bytes", "unlimited", kUnlimited, 0, ""},
    {"max_bytes", "10MB", 10'000'000, 0, ""},
    {"max_bytes", "1024B", 1024, 0, "1KiB"},
    {"max_bytes", "1537B", 1537, 0, ""},
    {"max_payload", "1.5GiB", 1'610'612'736, 0, "1536MiB"},
    {"concurrency", "2", 2, 0, ""},
    {"rate", "unlimited", kUnlimited, 0, ""},
    {"rate", "100000/s", 100'000, 1000, ""},
    {"rate", "6000000/min", 6'000'000, 60'000, ""},
    {"rate", "1/h", 1, 3'600'000, ""},
    {"rate", "1/day", 1, 86'400'000, ""},
    {"burst", "10", 10, 0, ""},
    {"retention", "7d", 604'800'000, 0, ""},
    {"retention", "auto", kRetentionAuto, 0, ""},
    {"retention", "none", 0, 0, ""},
    {"dead_retention", "unlimited", kUnlimited, 0, ""},
    {"dead_retention", "36500d", 3'153'600'000'000, 0, ""},
    {"command_age", "unlimited", kUnlimited, 0, ""},
    {"command_age", "1h30m", 5'400'000, 0, ""},
    {"lock_timeout", "250ms", 250, 0, ""},
};

/// Stands for a field of any type.
struct Any {
  template <class T>
  operator T() const;
};
/// How many fields an aggregate has.
template <class T, class... Each>
constexpr size_t fields_of() {
  if constexpr (requires { T{Each{}..., Any{}}; }) {
    return fields_of<T, Each..., Any>();
  } else {
    return sizeof...(Each);
  }
}

}  // namespace

TEST_CASE("a value of each key is read, and written back so that it reads as the same") {
  for (const Row& row : kGood) {
    const PolicyValue value = value_of_text(row.key, row.text);
    INFO(row.key << "=" << row.text);
    CHECK(value.number == row.number);
    CHECK(value.second == row.second);
    const std::string back = policy_value_text(value);
    CHECK(back == (row.back.empty() ? row.text : row.back));
    CHECK(value_of_text(row.key, back) == value);
  }
  CHECK(value_of_text("pool", "stripe.eu-1_x").text == "stripe.eu-1_x");
  CHECK(value_of_text("pool", "none").text.empty());
  CHECK(policy_value_text(value_of_text("pool", "none")) == "none");
}

TEST_CASE("a value that is none says what it must be") {
  const std::pair<std::string_view, std::vector<std::string_view>> bad[] = {
      {"order", {"", "lifo", "Fifo", "priority|fifo", "0"}},
      {"scope", {"", "all"}},
      {"fair_by", {"", "size"}},
      {"sync", {"", "true"}},
      {"linger", {"", "0s", "3", "unlimited", "-1s"}},
      {"batch", {"", "0", "-1", "none", "1000000001", "1.5", "1e3", "+5", " 5"}},
      {"attempts", {"", "0", "65536", "unlimited", "99999999999999999999"}},
      {"backoff", {"", "5s", "1h..5s", "5..6", "5s..", "5s...6s", "none"}},
      {"timeout", {"", "0s", "unlimited", "5", "99999999d"}},
      {"lease", {"", "0ms", "none", "60"}},
      {"weight",
       {"", "0", "0.099", "1000.001", "1001", "1.0001", "1.", ".5", "-1", "1e2", "nan", "inf", "unlimited",
        "1.2.3", "0x10", "99999999999999999999"}},
      {"max_messages", {"", "0", "none", "5k"}},
      {"max_bytes", {"", "0B", "5", "none", "0.3B", "16777216TiB", "8388608TiB"}},
      {"max_payload", {"", "0B", "unlimited", "64"}},
      {"concurrency", {"", "0", "none"}},
      {"rate",
       {"", "0/s", "100", "100/", "/s", "100/sec", "100/m", "100001/s", "6000001/min", "360000001/h",
        "8640000001/day", "1.5/s", "-1/s", "100 / s", "none", "100/s/s", "99999999999999999999/s"}},
      {"burst", {"", "0", "unlimited"}},
      {"pool", {"", "-x", ".x", "a b", "a/b", "*", "\xc3\xa9"}},
      {"retention", {"", "0s", "unlimited", "Auto", "auto ", "-1s", "forever"}},
      {"dead_retention", {"", "none", "0s"}},
      {"command_age", {"", "none", "0s", "7"}},
      {"lock_timeout", {"", "none", "0s"}},
  };
  size_t keys = 0;
  for (const auto& [key, texts] : bad) {
    const PolicyKeySpec* spec = find_policy_key(key);
    REQUIRE(spec != nullptr);
    ++keys;
    for (const std::string_view text : texts) {
      INFO(key << "=" << text);
      const Result<PolicyValue> value = parse_policy_value(*spec, text);
      REQUIRE_FALSE(value.ok());
      CHECK(value.error().text.find("must be ") == 0);
    }
  }
  CHECK(keys == policy_keys().size());
}

TEST_CASE("the table's defaults are those that a queue has") {
  for (const PolicyKeySpec& spec : policy_keys()) {
    INFO(spec.name);
    const std::optional<PolicyValue> settings = value_of(Settings{}, spec.key);
    if (settings) CHECK(standard_of(spec) == *settings);
    // What is not of Settings is unlimited, or as the manual says it.
    if (!settings && spec.standard == "unlimited") CHECK(standard_of(spec).number == kUnlimited);
  }
  CHECK(standard_of(*find_policy_key("weight")).number == 1000);
  CHECK(standard_of(*find_policy_key("burst")).number == 1);
  CHECK(standard_of(*find_policy_key("pool")).text.empty());
}

TEST_CASE("each field of the settings is one of a key") {
  size_t visited = 0;
  visit_settings(Settings{}, [&](PolicyKey, const auto&... fields) { visited += sizeof...(fields); });
  CHECK(visited == fields_of<Settings>());
}

TEST_CASE("values are JSON as fq.toml would have them") {
  const auto json_of = [](std::string_view key, std::string_view text) {
    std::string json;
    JsonWriter writer(json);
    write_policy_value(writer, value_of_text(key, text));
    return json;
  };
  CHECK(json_of("attempts", "5") == "5");
  CHECK(json_of("weight", "0.5") == "0.5");
  CHECK(json_of("batch", "unlimited") == "\"unlimited\"");
  CHECK(json_of("linger", "none") == "\"none\"");
  CHECK(json_of("order", "priority") == "\"priority\"");
  CHECK(json_of("rate", "5/min") == "\"5/min\"");
  CHECK(json_of("pool", "none") == "\"none\"");
}

TEST_CASE("a key of another kind of node is told as such, and words of others lead to ours") {
  CHECK(unknown_key_text("lease", kTenantNode) == "'lease' is a key of queues, not of tenants");
  CHECK(unknown_key_text("weight", kQueueNode) == "'weight' is a key of tenants, not of queues");
  CHECK(unknown_key_text("max_bytes", kPoolNode) ==
        "'max_bytes' is a key of queues and tenants, not of pools");
  CHECK(unknown_key_text("wieght", kTenantNode) == "unknown key 'wieght'; did you mean 'weight'?");
  CHECK(unknown_key_text("visibility_timeout", kQueueNode) ==
        "unknown key 'visibility_timeout'; did you mean 'lease'?");
  CHECK(unknown_key_text("ttr", kTenantNode).find("known are weight, max_messages") != std::string::npos);
  CHECK(unknown_key_text("paused", kTenantNode).find("fq tenant pause") != std::string::npos);
}
