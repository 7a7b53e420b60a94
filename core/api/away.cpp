#include "core/api/away.h"

// System.
#include <algorithm>
#include <utility>

namespace fq {

namespace {

/// "4 of 64 shards cannot be reached (WHY)"; "": there are none of the kind.
std::string text_of(const AwayList::Parts& parts, bool is_lost) {
  const auto is_it = [&](const auto& each) { return each.second.is_lost == is_lost; };
  const auto first = std::find_if(parts.by_shard.begin(), parts.by_shard.end(), is_it);
  if (first == parts.by_shard.end()) return {};
  const auto count = std::count_if(parts.by_shard.begin(), parts.by_shard.end(), is_it);
  const AwayList::Part& part = first->second;
  const bool names_server = !is_lost && !part.server.empty();  // what is lost is told with its server
  return std::to_string(count) + " of " + std::to_string(parts.of) + " shards cannot be " +
         (is_lost ? "served" : "reached") + " (" + (names_server ? part.server + ": " : "") + part.why + ")";
}

}  // namespace

void AwayList::note(const std::string& queue, uint32_t shard, Part part, uint32_t of) {
  Parts& parts = queues_[queue];
  parts.of = of;
  parts.by_shard[shard] = std::move(part);
}

bool AwayList::is_any_lost() const {
  const auto has_lost = [](const auto& queue) {
    const auto& parts = queue.second.by_shard;
    return std::any_of(parts.begin(), parts.end(), [](const auto& each) { return each.second.is_lost; });
  };
  return std::any_of(queues_.begin(), queues_.end(), has_lost);
}

std::vector<std::string> AwayList::texts() const {
  std::vector<std::string> texts;
  for (const auto& [name, parts] : queues_) {
    const std::string away = text_of(parts, false), lost = text_of(parts, true);
    texts.push_back("queue '" + name + "': " + away + (away.empty() || lost.empty() ? "" : ", and ") + lost);
  }
  return texts;
}

std::string AwayList::text() const {
  std::string text;
  for (const std::string& each : texts()) text += (text.empty() ? "" : "; ") + each;
  return text;
}

}  // namespace fq
