// entitlement_test - what weights promise, while some have something waiting and others not.
#include "core/simulate/entitlement.h"

// System.
#include <map>
// Tests.
#include "tests/catch.h"

namespace fq::test {

namespace {

class EntitlementFixture {
 public:
  void waits(const std::string& tenant) { entitlement.begin_waiting(entitlement.leaf_of(tenant)); }
  void starts(const std::string& tenant) { entitlement.end_waiting(entitlement.leaf_of(tenant)); }
  void serve(int turns) {
    for (int i = 0; i < turns; ++i) entitlement.serve(1);
  }
  double owed(const std::string& tenant) { return entitlement.owed(entitlement.leaf_of(tenant)); }

  std::map<std::string, uint32_t, std::less<>> weights;
  Entitlement entitlement{[this](std::string_view path) {
    const auto found = weights.find(path);
    return found == weights.end() ? 1000 : found->second;
  }};
};

}  // namespace

TEST_CASE("those that wait are owed equal parts, and weights are parts") {
  EntitlementFixture e;
  e.weights["b"] = 3000;
  for (const char* tenant : {"a", "b"}) e.waits(tenant);
  e.serve(100);
  CHECK(e.owed("a") == Approx(25));
  CHECK(e.owed("b") == Approx(75));
}

TEST_CASE("who has nothing waiting is owed nothing, and nothing for the time before") {
  EntitlementFixture e;
  e.waits("a");
  e.serve(100);
  e.waits("b");
  e.serve(10);
  e.starts("a");
  e.serve(7);
  CHECK(e.owed("a") == Approx(105));
  CHECK(e.owed("b") == Approx(12));
}

TEST_CASE("one of several messages that starts leaves its tenant waiting") {
  EntitlementFixture e;
  for (const char* tenant : {"a", "a", "b"}) e.waits(tenant);
  e.starts("a");
  e.serve(10);
  CHECK(e.owed("a") == Approx(5));
}

TEST_CASE("an account is owed its part, whoever of it waits") {
  EntitlementFixture e;
  for (const char* tenant : {"x/1", "x/2", "y"}) e.waits(tenant);
  e.serve(40);
  e.starts("x/2");
  e.serve(40);
  CHECK(e.owed("x/1") == Approx(30));
  CHECK(e.owed("x/2") == Approx(10));
  CHECK(e.owed("y") == Approx(40));
}

TEST_CASE("an account's own messages are beside those below it") {
  EntitlementFixture e;
  for (const char* tenant : {"x", "x/1"}) e.waits(tenant);
  e.serve(10);
  CHECK(e.owed("x") == Approx(5));
  CHECK(e.owed("x/1") == Approx(5));
}

TEST_CASE("a weight that changes holds from then on") {
  EntitlementFixture e;
  for (const char* tenant : {"a", "b"}) e.waits(tenant);
  e.serve(10);
  e.weights["b"] = 4000;
  e.entitlement.reweigh();
  e.serve(10);
  CHECK(e.owed("a") == Approx(7));
  CHECK(e.owed("b") == Approx(13));
}

TEST_CASE("turns that nobody waited for are owed to nobody") {
  EntitlementFixture e;
  e.serve(10);
  e.waits("a");
  e.starts("a");
  CHECK(e.owed("a") == 0);
}

}  // namespace fq::test
