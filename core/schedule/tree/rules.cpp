#include "core/schedule/tree/rules.h"

// System.
#include <algorithm>
#include <array>
// fq, below us.
#include "core/base/text/pattern.h"
// fq, this room.
#include "core/base/name_hash.h"
#include "core/schedule/memory/text_pool.h"

namespace fq {
namespace {

constexpr uint32_t kRemovedMax = 32;  // in one transaction
constexpr uint32_t kLookedAtMax = 4096;
constexpr uint32_t kPrefixBytesMax = 255;
constexpr uint64_t kGenerationSalt = 0x9e37'79b9'7f4a'7c15;

using TextBuffer = std::array<char, kTextBytesMax>;

/// The best value so far of each kind is the one of the highest rank.
struct Ranked {
  NodeTerms terms;
  std::array<uint32_t, std::size(kGivens)> rank{};
};

void overlay(Ranked& best, const Rule& rule) {
  for (size_t i = 0; i < std::size(kGivens); ++i) {
    const uint32_t bit = kGivens[i];
    if ((rule.values.given & bit) == 0) continue;
    if ((best.terms.given & bit) != 0 && best.rank[i] > rule.rank) continue;
    best.rank[i] = rule.rank;
    best.terms.given |= bit;
    visit_values(best.terms, rule.values, [&](uint32_t each, auto& to, const auto& from) {
      if (each == bit) to = from;
    });
  }
}

}  // namespace

uint64_t Rules::hash_of(uint32_t generation, std::string_view prefix) const {
  return hash_name(region_.root.hash_key[0], region_.root.hash_key[1], prefix) ^ generation * kGenerationSalt;
}

bool Rules::begins_with(const Rule& rule, std::string_view prefix) const {
  if (rule.prefix_bytes != prefix.size()) return false;
  TextBuffer buffer;
  return text_copy(region_, rule.pattern, buffer).substr(0, prefix.size()) == prefix;
}

NodeTerms Rules::terms_of(std::string_view path) const {
  Ranked best;
  const uint32_t generation = region_.root.rules_generation;
  if (generation == 0) return best.terms;
  TextBuffer buffer;
  const size_t longest = std::min<size_t>(path.size(), kPrefixBytesMax);
  for (uint32_t bytes = 0; bytes <= longest; ++bytes) {
    if ((region_.root.rule_prefixes[bytes / 64] >> bytes % 64 & 1) == 0) continue;
    const std::string_view prefix = path.substr(0, bytes);
    uint32_t i = index_.find(hash_of(generation, prefix), [&](const Rule& rule) {
      return rule.generation == generation && begins_with(rule, prefix);
    });
    StepLimit limit(region_.root.rule_supply.high_water + 1);
    for (; i != kNoIndex; limit.step()) {
      const Rule& rule = region_.arena.at(region_.root.rules, i);
      const std::string_view pattern = text_copy(region_, rule.pattern, buffer);
      // The queue as a whole has the empty path, which is no tenant that a pattern could mean although `*`
      // takes in a name without characters.
      const bool meant = path.empty() ? pattern.empty() : pattern_matches(pattern, path);
      if (meant) overlay(best, rule);
      i = rule.next;
    }
  }
  return best.terms;
}

void Rules::sum_up(uint32_t from, uint32_t to, RuleSummary& summary) const {
  const ScheduleRoot& root = region_.root;
  for (uint32_t i = from; i < std::min<uint32_t>(to, root.rule_supply.high_water); ++i) {
    const Rule& rule = region_.arena.at(root.rules, i);
    if (rule.generation > summary.generation) {
      summary.generation = rule.generation;
      summary.given = 0;
      summary.prefixes = {};
    }
    if (rule.generation == 0 || rule.generation != summary.generation) continue;
    summary.given |= rule.values.given;
    summary.prefixes[rule.prefix_bytes / 64 % summary.prefixes.size()] |= uint64_t{1}
                                                                          << rule.prefix_bytes % 64;
  }
  for (uint32_t i = from; i < std::min<uint32_t>(to, root.pool_supply.high_water); ++i) {
    const Pool& pool = region_.pool(i);
    if (pool.used == 0) continue;
    uint32_t& highest = summary.generation_of_pools;
    highest = std::max({highest, pool.terms.generation.get(), pool.next.generation.get()});
  }
}

void Rules::add(Txn& txn, uint32_t generation, uint32_t rank, std::string_view pattern,
                const NodePatch& values) const {
  const std::string_view prefix = pattern_prefix(pattern);
  if (prefix.size() > kPrefixBytesMax) return;  // longer than any path
  ScheduleRoot& root = region_.root;
  if (root.rule_bucket_count == 0) {
    txn.set(root.rule_bucket_count, 1);
    txn.set(region_.arena.at(root.rule_buckets, 0).index, kNoIndex);
  }
  const auto [i, rule] = take_element(txn, region_.arena, root.rules, root.rule_supply);
  put(txn, rule.hash, hash_of(generation, prefix));
  put(txn, rule.generation, generation);
  put(txn, rule.rank, rank);
  put(txn, rule.prefix_bytes, static_cast<uint32_t>(prefix.size()));
  put(txn, rule.pattern, text_add(txn, region_, pattern));
  put(txn, rule.next, kNoIndex);
  put(txn, rule.values.given, values.set.given);
  visit_values(rule.values, values.set, [&](uint32_t, auto& to, const auto& from) { put(txn, to, from); });
  if ((values.set.given & kGivenPool) != 0) put(txn, rule.values.pool, text_add(txn, region_, values.pool));
  const uint32_t head = index_.find(rule.hash, [&](const Rule& each) {
    return each.generation == generation && begins_with(each, prefix);
  });
  if (head != kNoIndex) {
    Rule& first = region_.arena.at(root.rules, head);
    put(txn, rule.next, first.next.get());
    txn.set(first.next, i);
    return;
  }
  add_to(txn, root.rule_heads, 1);
  index_.insert(txn, i, rule, root.rule_heads);
}

void Rules::make_current(Txn& txn, uint32_t generation, const RuleSummary& summary) const {
  ScheduleRoot& root = region_.root;
  static_assert(std::size(decltype(root.rule_prefixes){}) == std::size(decltype(summary.prefixes){}));
  // A file of pools alone has no rules.
  const RuleSummary of_these = generation != 0 && summary.generation == generation ? summary : RuleSummary{};
  for (size_t i = 0; i < of_these.prefixes.size(); ++i) put(txn, root.rule_prefixes[i], of_these.prefixes[i]);
  if ((of_these.given & kGivenCaps) != 0) put(txn, root.capped, 1);
  put(txn, root.rules_generation, generation);
}

std::optional<uint32_t> Rules::remove_old(Txn& txn, uint32_t from) const {
  ScheduleRoot& root = region_.root;
  uint32_t removed = 0;
  const uint32_t high_water = root.rule_supply.high_water;
  const uint32_t end = std::min(high_water, from + kLookedAtMax);
  for (uint32_t i = from; i < end; ++i) {
    Rule& rule = region_.arena.at(root.rules, i);
    if (rule.generation == 0 || rule.generation == root.rules_generation) continue;
    if (removed++ == kRemovedMax) return i;
    const uint32_t head = index_.find(rule.hash, [&](const Rule& each) { return &each == &rule; });
    if (head == i) {
      // Those behind it are of the same old generation and go too: they need no place in the index.
      index_.remove(txn, i, rule);
      take_from(txn, root.rule_heads, 1);
    }
    text_remove(txn, region_, rule.pattern);
    if ((rule.values.given & kGivenPool) != 0) text_remove(txn, region_, rule.values.pool);
    put(txn, rule.generation, 0);
    free_element(txn, root.rule_supply, rule, i);
  }
  if (end == high_water) return std::nullopt;
  return end;
}

}  // namespace fq
