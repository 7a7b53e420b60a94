// deep_limits_test - the largest changes that one verdict or start can make: a limit and a pool at each of
// eight levels, and full rings beside each.
#include "tests/local/fixture.h"

namespace fq::test {

namespace {

constexpr int kAccounts = 18;  // as many as one record of verdicts takes
constexpr int kSiblings = 24;

TenantRule rule(const std::string& pattern, const char* pool) {
  return {pattern, {{PolicyKey::concurrency, 1, 0, {}}, {PolicyKey::pool, 0, 0, pool}}};
}

Policy deep_policy(FairBy fair_by) {
  Policy policy;
  policy.queue = {{PolicyKey::fair_by, static_cast<int64_t>(fair_by), 0, {}}};
  std::string pattern = "*";
  for (int level = 1; level <= 8; ++level) {
    policy.tenants.push_back(rule(pattern, "p"));
    if (level < 8) policy.tenants.push_back(rule(pattern + "/x*", "q"));
    pattern += "/*";
  }
  for (const char* name : {"p", "q"})
    policy.pools.push_back({name, {{PolicyKey::concurrency, 100'000, 0, {}}}});
  return policy;
}

void push_all(Queue& queue, const std::vector<std::string>& tenants) {
  std::vector<NewMessage> batch(tenants.size());
  for (size_t i = 0; i < tenants.size(); ++i) batch[i].tenant = tenants[i];
  for (size_t from = 0; from < batch.size(); from += 500) {
    const size_t count = std::min<size_t>(500, batch.size() - from);
    REQUIRE(queue.push(std::span(batch).subspan(from, count), {.durability = Durability::lazy}).ok());
  }
}

}  // namespace

TEST_CASE("verdicts that free a limit at each of eight levels fit, however many come at once") {
  const FairBy fair_by = GENERATE(FairBy::turns, FairBy::bytes, FairBy::time);
  SpoolFixture q;
  FileIdentity identity;
  identity.inode = 1;
  REQUIRE(q.door().policy_load(deep_policy(fair_by), identity).ok());
  std::vector<std::string> deep, siblings;
  for (int i = 0; i < kAccounts; ++i) {
    std::string path = "t" + std::to_string(i);
    for (const char* level : {"a", "b", "c", "d", "e", "f", "g"}) {
      for (int s = 0; s < kSiblings; ++s) siblings.push_back(path + "/x" + std::to_string(s));
      path += std::string("/") + level;
    }
    deep.insert(deep.end(), 2, path);
  }
  push_all(q.door(), deep);
  std::vector<Delivery> held = q.lease_from(q.door(), {.want = 100}).deliveries;
  REQUIRE(held.size() == kAccounts);
  push_all(q.door(), siblings);
  CHECK(q.lease_from(q.door(), {.want = 100}).deliveries.empty());
  for (const Verdict verdict : {Verdict::release, Verdict::ack}) {
    std::vector<Settle> items(held.size());
    for (size_t i = 0; i < held.size(); ++i) items[i].receipt = held[i].receipt, items[i].verdict = verdict;
    const SettleReply reply = q.door().settle(items, nullptr).value();
    CHECK(std::vector<SettleStatus>(reply.items.begin(), reply.items.end()) ==
          std::vector<SettleStatus>(held.size(), SettleStatus::ok));
    held = q.lease_from(q.door(), {.want = 100}).deliveries;
    CHECK(held.size() == kAccounts);
  }
  q.check_clean();
}

}  // namespace fq::test
