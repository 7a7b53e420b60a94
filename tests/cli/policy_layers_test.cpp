#include "cli/policy/policy_layers.h"

#include <random>

#include "core/policy/policy_value.h"
#include "core/base/text/pattern.h"
#include "tests/catch.h"

using namespace fq;
using namespace fq::cli;

namespace {

FilePolicy policy_of_mail(std::string_view toml) {
  const Result<PolicyFile> file = PolicyFile::parse(toml, "fq.toml");
  INFO(toml);
  if (!file) FAIL(file.error().text);
  const Result<FilePolicy> policy = file->for_queue("mail");
  REQUIRE(policy.ok());
  return *policy;
}

const HeldValue& find(const std::vector<HeldValue>& values, PolicyKey key) {
  for (const HeldValue& held : values) {
    if (held.value.key == key) return held;
  }
  FAIL("no such key");
  return values.front();
}

PolicyValue weight(int64_t thousandths) { return {PolicyKey::weight, thousandths, 0, {}}; }

}  // namespace

TEST_CASE("what was set at run time holds over the file, and the file over the default") {
  const PolicyLayers layers(policy_of_mail(R"(
[queue.mail]
attempts = 2
lease = "5m"
[queue.mail.tenant."a*"]
weight = 2
burst = 4
)"),
                            {{"", {{PolicyKey::attempts, 9, 0, {}}, {PolicyKey::paused, 1, 0, {}}}},
                             {"acme", {weight(7000), {PolicyKey::limited, 5000, 0, {}}}}});
  const std::vector<HeldValue> queue = layers.of_queue();
  CHECK(find(queue, PolicyKey::attempts).value.number == 9);
  CHECK(find(queue, PolicyKey::attempts).layer == Layer::run_time);
  CHECK(find(queue, PolicyKey::attempts).line == 0);
  CHECK(find(queue, PolicyKey::lease).layer == Layer::file);
  CHECK(find(queue, PolicyKey::lease).line == 4);
  CHECK(find(queue, PolicyKey::order).layer == Layer::standard);
  CHECK(queue.back().value.key == PolicyKey::paused);
  CHECK(queue.size() == policy_key_names(kQueueNode).size() + 1);

  const std::vector<HeldValue> acme = layers.of_tenant("acme");
  CHECK(find(acme, PolicyKey::weight).value.number == 7000);
  CHECK(find(acme, PolicyKey::weight).pattern.empty());
  CHECK(find(acme, PolicyKey::burst).pattern == "a*");
  CHECK(find(acme, PolicyKey::burst).line == 7);
  CHECK(acme.back().value.key == PolicyKey::limited);
  // What holds for a node holds for those below it by the tree, not by their own values.
  CHECK(find(layers.of_tenant("acme/x"), PolicyKey::weight).layer == Layer::standard);
}

TEST_CASE("of what the queue goes on with, only what it tells is shown") {
  Settings settings;
  settings.attempts_max = 7;
  const PolicyLayers layers(FilePolicy(), {{"", {{PolicyKey::lease, 1000, 0, {}}}}});
  const std::vector<HeldValue> values = layers.of_queue(&settings);
  CHECK(find(values, PolicyKey::attempts).layer == Layer::last_good);
  CHECK(find(values, PolicyKey::attempts).value.number == 7);
  CHECK(find(values, PolicyKey::lease).layer == Layer::run_time);
  for (const HeldValue& held : values) CHECK(held.value.key != PolicyKey::concurrency);
}

TEST_CASE("a star in a tenant's name is a character like others") {
  const PolicyLayers layers(policy_of_mail("[queue.mail.tenant.\"free-*\"]\nweight = 2\n"),
                            {{"free-*", {weight(5000)}}});
  CHECK(find(layers.of_tenant("free-*"), PolicyKey::weight).layer == Layer::run_time);
  CHECK(find(layers.of_tenant("free-1"), PolicyKey::weight).value.number == 2000);
}

TEST_CASE("the rules for a path are found as if each were tried") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto word = [&](std::string_view letters) {
    std::string text;
    const size_t size = std::uniform_int_distribution<size_t>(1, 5)(random);
    while (text.size() < size)
      text += letters[std::uniform_int_distribution<size_t>(0, letters.size() - 1)(random)];
    return text;
  };
  size_t matches = 0;
  for (int round = 0; round < 200; ++round) {
    FilePolicy policy;
    for (uint32_t i = 0; i < 40; ++i) {
      policy.tenants.push_back({word("aab*/"), {i + 1, 1}, {{weight(1000 + i), i + 1}}});
    }
    const std::vector<FileRule> rules = policy.tenants;
    const PolicyLayers layers(std::move(policy), {});
    for (int each = 0; each < 20; ++each) {
      const std::string path = word("aab/");
      const FileRule* last = nullptr;
      for (const FileRule& rule : rules) {
        if (pattern_matches(rule.name, path)) last = &rule;
      }
      const HeldValue held = find(layers.of_tenant(path), PolicyKey::weight);
      INFO(path << " by " << (last == nullptr ? "none" : last->name));
      CHECK(held.line == (last == nullptr ? 0U : last->place.line));
      if (last != nullptr) ++matches;
    }
  }
  CHECK(matches > 1000);
}

TEST_CASE("the nodes above a tenant, nearest first") {
  CHECK(nodes_above("acme").empty());
  CHECK(nodes_above("acme/reports/daily") == std::vector<std::string_view>{"acme/reports", "acme"});
}
