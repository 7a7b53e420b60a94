#include "core/redis/sharded/sharded_policy.h"

// System.
#include <algorithm>
#include <array>
// fq, below us.
#include "core/base/text/decimal.h"
// fq, this room.
#include "core/redis/records/base32.h"

namespace fq {

namespace {

constexpr std::array<std::string_view, 4> kRootFields = {"identity", "schema", "set", "set_at"};
enum RootField : size_t { kItsFile, kItsSchema, kItsSet, kItsVersion };
constexpr size_t kVersionDigits = 20;  // so that texts are in the order of their numbers

/// Each root has a schema.
bool is_there(const Result<Reply>& root) { return root && root->at(kItsSchema).is_text(); }

bool is_of(PolicyKey key, const PolicyPatch& patch) {
  const auto is_it = [&](const PolicyValue& value) { return value.key == key; };
  return std::any_of(patch.set.begin(), patch.set.end(), is_it) ||
         std::find(patch.unset.begin(), patch.unset.end(), key) != patch.unset.end();
}

/// One order over all shards there is not.
Result<void> check_scope(const PolicyValues& values) {
  const Settings standard;
  for (const PolicyValue& value : values) {
    if (value.key != PolicyKey::scope || value.number == static_cast<int64_t>(standard.scope)) continue;
    return Error{ErrorKind::config, "scope = queue: needs a queue of one shard, this one has more", 0};
  }
  return {};
}

}  // namespace

/// Of those that answer: one that is away is looked at when it is back, and one that has lost its root serves
/// nothing.
Result<bool> ShardedPolicy::is_current(const FileIdentity& identity) {
  const std::vector<Result<Reply>> roots = shards_.roots_each(kRootFields);
  FQ_TRY(bring_what_was_set(roots));
  std::optional<size_t> first;
  for (size_t shard = 0; shard < roots.size(); ++shard) {
    const Result<Reply>& root = roots[shard];
    if (!root && !is_away(root.error())) return root.error();
    if (!is_there(root)) continue;
    if (!first) first = shard;
    const Reply &here = root->at(kItsFile), &there = roots[*first]->at(kItsFile);
    if (here.is_text() != there.is_text() || here.text != there.text) return false;
  }
  return shards_.at(first.value_or(0)).policy().is_current(identity);
}

/// One that cannot hold it goes on without, as whoever lists what is set is told.
Result<void> ShardedPolicy::bring_what_was_set(const std::vector<Result<Reply>>& roots) {
  const Reply* latest = nullptr;
  for (const Result<Reply>& root : roots) {
    if (is_there(root) && (latest == nullptr || root->at(kItsVersion).text > latest->at(kItsVersion).text))
      latest = &*root;
  }
  if (latest == nullptr) return {};
  const std::string &values = latest->at(kItsSet).text, &version = latest->at(kItsVersion).text;
  bool is_brought = false;
  for (size_t shard = 0; shard < roots.size(); ++shard) {
    if (!is_there(roots[shard]) || roots[shard]->at(kItsVersion).text == version) continue;
    Result<void> followed = shards_.at(shard).policy().follow_set(values, version);
    const bool is_left =
        !followed && (serves_nothing(followed.error()) || followed.error().kind == ErrorKind::unusable);
    if (!followed && !is_left) return followed;
    is_brought = is_brought || followed.ok();
  }
  return is_brought ? purses_.count_anew() : Result<void>();
}

std::string ShardedPolicy::next_version() {
  uint64_t last = 0;
  for (const Result<Reply>& root : shards_.roots_each(kRootFields)) {
    if (!is_there(root)) continue;
    std::string_view version = root->at(kItsVersion).text;
    last = std::max(last, take_decimal(version).value_or(0));
  }
  const std::string number = std::to_string(last + 1);
  return std::string(kVersionDigits - std::min(number.size(), kVersionDigits), '0') + number + "." +
         draw_base32(kNonceBytes);
}

Result<void> ShardedPolicy::check(const Policy& policy) {
  FQ_TRY(check_scope(policy.queue));
  std::optional<Error> away;
  size_t lost = 0;
  for (size_t shard = 0; shard < shards_.count(); ++shard) {
    Result<void> checked = shards_.at(shard).policy().check(policy);
    if (checked) continue;
    if (!serves_nothing(checked.error())) return checked;
    away = checked.error();
    ++lost;
  }
  return lost == shards_.count() ? Result<void>(*away) : Result<void>();
}

/// Of one that any shard refuses nothing holds in the others, either.
Result<void> ShardedPolicy::load(const Policy& policy, const FileIdentity& identity) {
  FQ_TRY(check(policy));
  std::optional<Error> away;
  size_t lost = 0;
  for (size_t shard = 0; shard < shards_.count(); ++shard) {
    Result<void> loaded = shards_.at(shard).policy().load(policy, identity);
    if (loaded) continue;
    if (!serves_nothing(loaded.error())) return loaded;
    away = loaded.error();
    ++lost;
  }
  if (away && lost < shards_.count())
    shards_.notice("queue '" + shards_.name() + "': follows fq.toml on " + all_but(lost) +
                   "; the others do when they are back: " + away->text);
  return lost == shards_.count() ? Result<void>(*away) : purses_.count_anew();
}

Result<void> ShardedPolicy::set(std::string_view path, const PolicyPatch& patch) {
  FQ_TRY(check_scope(patch.set));
  if (!path.empty()) {
    FQ_TRY(shards_.at(shards_.of_tenant(path)).policy().set(path, patch));
    return is_of(PolicyKey::pool, patch) ? purses_.count_anew() : Result<void>();
  }
  const std::string version = next_version();
  std::optional<Error> away;
  size_t lost = 0;
  for (size_t shard = 0; shard < shards_.count(); ++shard) {
    const bool is_first_there = lost == shard;
    Result<void> set = shards_.at(shard).policy().set(path, patch, is_first_there, version);
    if (set) continue;
    if (!serves_nothing(set.error())) return set;
    if (!away || says_lost_root(*away) || set.error().kind == ErrorKind::io) away = set.error();
    ++lost;
  }
  if (away) return in_part(std::move(*away), lost);
  return purses_.count_anew();
}

std::string ShardedPolicy::all_but(size_t lost) const {
  return std::to_string(shards_.count() - lost) + " of " + std::to_string(shards_.count()) + " shards";
}

/// With how far it has come. Where all are away it is as with one.
Error ShardedPolicy::in_part(Error error, size_t lost) const {
  if (lost == shards_.count()) return error;
  const bool is_lost = says_lost_root(error);  // that it begins with, which no repeating brings back
  error.text = "queue '" + shards_.name() + "': set on " + all_but(lost) +
               (is_lost ? "; the others cannot be served: " : "; the others follow when they are back: ") +
               error.text;
  return error;
}

namespace {

/// Until when starts are held back is of each shard's own clock.
bool is_same(const PolicyValue& a, const PolicyValue& b) {
  return a.key == PolicyKey::limited ? b.key == a.key : a == b;
}

/// What both have; true: one has more.
bool keep_common(PolicyValues& values, const PolicyValues& others) {
  const size_t before = values.size();
  std::erase_if(values, [&](const PolicyValue& each) {
    return std::none_of(others.begin(), others.end(),
                        [&](const PolicyValue& other) { return is_same(each, other); });
  });
  return before > values.size() || others.size() > values.size();
}

}  // namespace

/// By path; of the queue's own what holds on all of them, once. A shard may be without it that cannot hold
/// it, or since an earlier build set it while that one was away, and whoever asks is to know.
Result<OverridePage> ShardedPolicy::overrides(const Cursor& from, size_t n) {
  OverridePage page;
  bool is_more = false;
  bool differs = false;
  std::optional<PolicyValues> own;
  FQ_TRY(shards_.for_each([&](size_t shard) -> Result<void> {
    FQ_TRY_SET(OverridePage some, shards_.at(shard).policy().overrides(from, n));
    is_more = is_more || !some.next.text.empty();
    PolicyValues its_own;
    for (PolicyOverride& each : some.overrides) {
      if (each.path.empty()) {
        its_own = std::move(each.values);
      } else {
        page.overrides.push_back(std::move(each));
      }
    }
    differs = (own && keep_common(*own, its_own)) || differs;
    if (!own) own = std::move(its_own);
    return {};
  }));
  if (own && !own->empty()) page.overrides.push_back({"", std::move(*own)});
  if (differs)
    shards_.notice("queue '" + shards_.name() +
                   "': something was set for it that holds on some of its shards only; repeat that command");
  std::sort(page.overrides.begin(), page.overrides.end(),
            [](const PolicyOverride& a, const PolicyOverride& b) { return a.path < b.path; });
  is_more = is_more || page.overrides.size() > n;
  if (page.overrides.size() > n) page.overrides.resize(n);
  if (is_more && !page.overrides.empty()) page.next.text = "=" + page.overrides.back().path;
  return page;
}

}  // namespace fq
