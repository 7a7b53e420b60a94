// model_policy - what holds in the model: of the queue in layers, of tenants by rules and by what was set.
#include "tests/fakes/model.h"

// System.
#include <map>
#include <set>
// fq, below us.
#include "core/base/text/pattern.h"

namespace fq::test {

void Model::set(const std::string& path, const PolicyPatch& patch) {
  fire_timers();
  note_set(path, patch);
  if (!path.empty()) return set_tenant(path, patch);
  turns_.set(path, patch, clock.boot_ms());
  for (const PolicyKey key : patch.unset) run_time_.erase(key);
  for (const PolicyValue& value : patch.set) run_time_[value.key] = value;
  put_together();
}

/// What was not set is not taken back.
void Model::note_set(const std::string& path, PolicyPatch patch) {
  std::erase_if(patch.unset, [&](PolicyKey key) {
    return path.empty() ? !run_time_.contains(key) : !set_of_[path].contains(key);
  });
  if (patch.set.empty() && patch.unset.empty()) return;
  for (PolicyValue& value : patch.set) {
    if (value.key == PolicyKey::limited) value.number += clock.wall_ms();
  }
  log.emplace_back(MessageId{}, settings_log.size());
  settings_log.push_back({clock.wall_ms(), path, std::move(patch)});
}

void Model::load(const Settings& from_file) {
  fire_timers();
  file_ = from_file;
  put_together();
}

void Model::put_together() {
  Settings all = file_;
  for (const auto& [key, value] : run_time_) take_over(all, {value});
  const bool other_groups = settings.linger_ms != all.linger_ms || settings.batch_max != all.batch_max;
  settings = all;
  turns_.set_fair_by(all.fair_by);
  const bool ranked = all.scope == Scope::queue && all.order != Order::fifo;
  turns_.set_ranked(ranked, all.order == Order::priority);
  if (!other_groups) return;
  turns_.set_groups(all.linger_ms, all.batch_max);
  std::set<std::string> leaves;
  for (const Message& each : messages) {
    if (each.info.state == State::ready) leaves.insert(each.info.tenant + "/");
  }
  for (const std::string& leaf : leaves) {
    if (const auto since_ms = turns_.gathers_since(leaf)) {
      turns_.gather(leaf, *since_ms, clock.boot_ms());
    } else {
      gather(leaf);
    }
  }
}

void Model::set_pools(const std::vector<PoolRule>& pools) {
  fire_timers();
  turns_.set_pools(pools, clock.boot_ms());
}

/// What was set at run time wins over the rules; what is no more so is as they have it.
void Model::set_tenant(const std::string& path, const PolicyPatch& patch) {
  meet(path);
  std::set<PolicyKey>& set = set_of_[path];
  for (const PolicyValue& value : patch.set) set.insert(value.key);
  for (const PolicyKey key : patch.unset) set.erase(key);
  PolicyPatch now = patch;
  for (const PolicyValue& value : rules_for(path)) {
    if (std::erase(now.unset, value.key) > 0) now.set.push_back(value);
  }
  turns_.set(path, now, clock.boot_ms());
}

/// Of those that match and set the same key the later one holds.
PolicyValues Model::rules_for(const std::string& path) const {
  std::map<PolicyKey, PolicyValue> values;
  for (const TenantRule& rule : rules_) {
    if (!pattern_matches(rule.pattern, path)) continue;
    for (const PolicyValue& value : rule.values) values[value.key] = value;
  }
  PolicyValues found;
  for (const auto& [key, value] : values) found.push_back(value);
  return found;
}

void Model::follow_rules(const std::string& path) {
  PolicyPatch patch;
  patch.unset = {PolicyKey::concurrency, PolicyKey::rate, PolicyKey::burst, PolicyKey::weight,
                 PolicyKey::pool};
  for (const PolicyValue& value : rules_for(path)) {
    std::erase(patch.unset, value.key);
    if (!set_of_[path].contains(value.key)) patch.set.push_back(value);
  }
  for (const PolicyKey key : set_of_[path]) std::erase(patch.unset, key);
  turns_.set(path, patch, clock.boot_ms());
}

void Model::set_rules(const std::vector<TenantRule>& rules) {
  rules_ = rules;
  for (const std::string& path : met_) follow_rules(path);
}

void Model::meet(const std::string& path) {
  for (std::string at = path; !at.empty();) {
    if (met_.insert(at).second && !rules_.empty()) follow_rules(at);
    const size_t slash = at.rfind('/');
    at = slash == at.npos ? std::string() : at.substr(0, slash);
  }
}

}  // namespace fq::test
