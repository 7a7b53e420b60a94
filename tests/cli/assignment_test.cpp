#include "cli/policy/assignment.h"

#include "tests/catch.h"

using namespace fq;
using namespace fq::cli;

namespace {

PolicyPatch patch_of(std::vector<std::string> words, PolicyNode node = kTenantNode) {
  Result<PolicyPatch> patch = to_patch("tenant set", words, node);
  if (!patch) FAIL(patch.error().text);
  return *patch;
}

std::string words_fault_of(std::vector<std::string> words, PolicyNode node = kTenantNode) {
  const Result<PolicyPatch> patch = to_patch("tenant set", words, node);
  REQUIRE_FALSE(patch.ok());
  CHECK(patch.error().kind == ErrorKind::usage);
  return patch.error().text;
}

}  // namespace

TEST_CASE("assignments set and take back, several in one patch") {
  const PolicyPatch patch = patch_of({"weight=0.5", "rate=", "pool=stripe", "burst="});
  CHECK(patch.set == PolicyValues{{PolicyKey::weight, 500, 0, {}}, {PolicyKey::pool, 0, 0, "stripe"}});
  CHECK(patch.unset == std::vector<PolicyKey>{PolicyKey::rate, PolicyKey::burst});
}

TEST_CASE("of the same key the last assignment holds") {
  PolicyPatch patch = patch_of({"weight=2", "weight=", "weight=3"});
  CHECK(patch.set == PolicyValues{{PolicyKey::weight, 3000, 0, {}}});
  CHECK(patch.unset.empty());
  patch = patch_of({"weight=2", "weight="});
  CHECK(patch.set.empty());
  CHECK(patch.unset == std::vector<PolicyKey>{PolicyKey::weight});
}

TEST_CASE("an assignment that is none is named") {
  CHECK(words_fault_of({}) == "tenant set: needs KEY=VALUE; write for instance weight=2");
  CHECK(words_fault_of({"weight=2", "x"}) == "tenant set: 'x' is not KEY=VALUE; write for instance weight=2");
  CHECK(words_fault_of({"weight"}) == "tenant set: weight: needs a value; write weight=VALUE");
  CHECK(words_fault_of({"wieght="}) == "tenant set: unknown key 'wieght'; did you mean 'weight'?");
  CHECK(words_fault_of({"attempts="}) == "tenant set: 'attempts' is a key of queues, not of tenants");
  CHECK(words_fault_of({"rate=5=/s"}).find(", not '5=/s'") != std::string::npos);
  CHECK(words_fault_of({"weight=2"}, kQueueNode) ==
        "tenant set: 'weight' is a key of tenants, not of queues");
}
