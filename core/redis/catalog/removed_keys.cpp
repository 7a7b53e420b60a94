#include "core/redis/catalog/removed_keys.h"

// System.
#include <map>
#include <set>
#include <string_view>
// fq, this room.
#include "core/redis/shard/shard.h"

namespace fq {

namespace {

constexpr int kWalksMax = 10;  // arbitrary: of a cluster whose slots go to and fro all the time

/// Of a cluster, each that has one of these.
Result<std::vector<std::string>> owners_of(ServerLink& link, const std::vector<std::string>& tags) {
  std::vector<std::string> owners;
  FQ_TRY_SET(const bool is_cluster, link.is_cluster());
  for (size_t i = 0; is_cluster && i < tags.size(); ++i) {
    FQ_TRY_SET(owners.emplace_back(), owner_of(link, tags[i]));
  }
  return owners;
}

}  // namespace

Result<void> remove_keys(ServerLink& link, const std::vector<std::string>& tags) {
  const std::set<std::string_view> of_it(tags.begin(), tags.end());
  const auto unlink = [&](const std::vector<std::string>& names) -> Result<void> {
    std::map<std::string_view, std::vector<std::string_view>> by_tag;  // a cluster takes no others together
    for (const std::string_view name : names) {
      const std::string_view tag = name.substr(0, name.find("}:") + 2);
      if (!of_it.contains(tag)) continue;
      std::vector<std::string_view>& words = by_tag[tag];
      if (words.empty()) words.emplace_back("UNLINK");
      words.push_back(name);
    }
    for (const auto& [tag, words] : by_tag) FQ_TRY(link.call(words[1], words));
    return {};
  };
  // Prefix and queue have no character that a pattern knows.
  const std::string& first = tags.front();
  const std::string pattern =
      tags.size() == 1 ? first + "*" : first.substr(0, first.find(':', first.find('{'))) + ":*";
  // A walk over all servers does not see the keys of a slot that goes from one that is ahead to one behind
  // it.
  for (int walks = 0; walks < kWalksMax; ++walks) {
    FQ_TRY_SET(const std::vector<std::string> before, owners_of(link, tags));
    FQ_TRY(link.scan(pattern, unlink));
    FQ_TRY_SET(const std::vector<std::string> behind, owners_of(link, tags));
    if (before == behind) return {};
  }
  return Error{ErrorKind::later, "keys of the queue go from server to server meanwhile; try again", 0};
}

}  // namespace fq
