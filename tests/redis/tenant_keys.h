// tenant_keys - what is kept of tenants on a server, and how they come to have nothing.
#pragma once

// System.
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
// Tests.
#include "tests/redis/sharded_fixture.h"

namespace fq::test {

/// All keys of a prefix.
using Keys = std::function<std::set<std::string>(const std::string& prefix)>;

inline const PolicyPatch kNothingSet{
    {}, {PolicyKey::weight, PolicyKey::paused, PolicyKey::concurrency, PolicyKey::limited, PolicyKey::pool}};

/// Those of tenants, or with a list of some, behind their tags. The root of the tree is always there.
inline std::string of_tenants(const std::set<std::string>& keys) {
  static const std::set<std::string> kinds = {"n",  "c",  "cn", "il", "nn", "am", "rk", "ov", "nt",
                                              "tn", "rn", "q",  "r",  "rg", "k",  "g",  "gs"};
  std::string found;
  for (const std::string& key : keys) {
    const std::string name = key.substr(key.find("}:") + 2);
    if (name != "n:" && kinds.contains(name.substr(0, name.find(':')))) found += name + " ";
  }
  return found;
}

/// Time goes on, and in the shard of each account somebody calls: the lower tenants are forgotten first.
inline void forget_idle(Queue& queue, FakeClock& clock, std::initializer_list<std::string> accounts) {
  for (int levels = 0; levels < 4; ++levels) {
    clock.advance(3'600'000);
    for (const std::string& account : accounts)
      REQUIRE(queue.policy_set(account + "/nobody", kNothingSet).ok());
  }
}

/// All messages end, and nothing is set for any of these tenants any more.
inline void leave_nothing(Queue& queue, const std::map<MessageId, MessageId>& ids,
                          std::initializer_list<std::string> tenants) {
  std::vector<MessageId> all;
  for (const auto& [models, mine] : ids) all.push_back(mine);
  if (!all.empty()) answered(queue.mutate(all, Action::cancel));
  for (const std::string& path : tenants) REQUIRE(queue.policy_set(path, kNothingSet).ok());
}

inline std::string account_of(std::string_view tenant) {
  return std::string(tenant.substr(0, tenant.find('/')));
}

/// The receipt of a message in the same shard, of pairs of a receipt and the model's.
inline std::optional<Receipt> held_with(const std::vector<std::pair<Receipt, Receipt>>& taken, MessageId id) {
  for (const auto& [mine, models] : taken) {
    if (shard_of(MessageId{std::stoull(mine.text())}) == shard_of(id)) return mine;
  }
  return std::nullopt;
}

}  // namespace fq::test
