#include "core/redis/views/redis_repair.h"

// System.
#include <algorithm>
#include <array>
#include <utility>
// fq, below us.
#include "core/engine/interruption.h"
// fq, this room.
#include "core/redis/records/packing.h"
#include "core/redis/views/redis_check.h"

namespace fq {

namespace {

constexpr size_t kNamesPerCall = 256;  // of messages, nodes and tenants in one call
constexpr int kCountsMax = 20;         // to count while others work
constexpr size_t kCountsOfOne = 7;     // by state, then of those that come back, and bytes: see repair.lua
using Counts = std::array<double, kCountsOfOne>;
constexpr std::string_view kInUse =
    "the queue was in use: what is counted was not written anew; try again when it is quiet";

std::string packed_counts(const Counts& counts) {
  Packer bytes;
  for (const double each : counts) bytes.number(each);
  return bytes.bytes();
}

size_t depth_of(const std::string& path) {
  return path.empty() ? 0 : 1 + static_cast<size_t>(std::count(path.begin(), path.end(), '/'));
}

}  // namespace

Result<CheckReport> RedisRepair::run() {
  FQ_TRY(mend_places());
  FQ_TRY_SET(const Words messages, names_of("m:"));
  FQ_TRY(mend_in_pages("messages", messages));
  FQ_TRY(mend_counts());
  FQ_TRY(mend_rings());
  FQ_TRY(mend_nodes());
  FQ_TRY(weigh());
  for (std::string from = "0"; !from.empty();) {
    FQ_TRY_SET(const Reply reply, repair("limits", {from}));
    from = reply.at(1).at(1).text;
  }
  FQ_TRY_SET(const Words purses, names_of("pu:"));
  FQ_TRY(mend_in_pages("purses", purses));
  FQ_TRY_SET(CheckReport report, RedisCheck(shard_, interrupt_).run());
  report.repairs = std::exchange(done_, {});
  for (const std::string& line : remarks_.lines) report.remarks.add(line);
  return report;
}

/// Of all keys that begin so, what is behind that.
Result<RedisRepair::Words> RedisRepair::names_of(std::string_view begin) {
  std::set<std::string> found;  // a walk over keys may show one twice
  std::string cursor = "0";
  do {
    FQ_TRY(unless_interrupted(interrupt_));
    FQ_TRY_SET(const std::vector<std::string> names, shard_.keys(cursor));
    for (const std::string& name : names) {
      if (name.starts_with(begin)) found.insert(name.substr(begin.size()));
    }
  } while (cursor != "0" && !cursor.empty());
  return Words(found.begin(), found.end());
}

/// Of all keys that begin like one of these.
Result<RedisRepair::Words> RedisRepair::whole_names_of(std::initializer_list<std::string_view> begins) {
  Words all;
  for (const std::string_view begin : begins) {
    FQ_TRY_SET(const Words found, names_of(begin));
    for (const std::string& name : found) all.push_back(std::string(begin) + name);
  }
  return all;
}

Result<Reply> RedisRepair::repair(std::string_view what, const Words& arguments) {
  std::vector<std::string_view> words = {what};
  words.insert(words.end(), arguments.begin(), arguments.end());
  FQ_TRY(unless_interrupted(interrupt_));
  FQ_TRY_SET(Reply reply, shard_.change("repair", words, Shard::Lost::is_repeated));
  for (const Reply& line : reply.at(1).at(0).items) done_.add(line.text);
  return reply;
}

/// What names a message that is not there.
Result<void> RedisRepair::mend_places() {
  Words places = {"t", "d", "hd", "i", "lv"};
  FQ_TRY_SET(const Words found, whole_names_of({"q:", "l:"}));
  places.insert(places.end(), found.begin(), found.end());
  return mend_pages_of("place", places);
}

/// Each ring once, however many of those that sit in it are seen to afterwards.
Result<void> RedisRepair::mend_rings() {
  FQ_TRY_SET(const Words rings, whole_names_of({"r:", "rg:"}));
  return mend_pages_of("ring", rings);
}

Result<void> RedisRepair::mend_pages_of(std::string_view what, const Words& all) {
  for (const std::string& each : all) {
    for (std::string from = "0"; !from.empty();) {
      FQ_TRY_SET(const Reply reply, repair(what, {each, from}));
      from = reply.at(1).at(1).text;
    }
  }
  return {};
}

/// Each call does as many of them as it answers.
Result<void> RedisRepair::mend_in_pages(std::string_view what, const Words& all) {
  for (size_t from = 0; from < all.size();) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), from + kNamesPerCall));
    FQ_TRY_SET(const Reply reply, repair(what, Words(begin, end)));
    from += static_cast<size_t>(std::max<int64_t>(1, reply.at(1).at(1).number));
  }
  return {};
}

/// The lower ones first: who sits has something below it.
Result<void> RedisRepair::mend_nodes() {
  FQ_TRY_SET(const Words nodes, names_of("n:"));
  FQ_TRY_SET(const Words queues, names_of("q:"));
  std::set<std::string> paths(nodes.begin(), nodes.end());
  paths.insert(queues.begin(), queues.end());
  paths.emplace();
  for (const Words& each : {nodes, queues}) {
    for (std::string path : each) {
      for (size_t end; (end = path.rfind('/')) != std::string::npos;)
        paths.insert(path = path.substr(0, end));
    }
  }
  Words all(paths.begin(), paths.end());
  std::sort(all.begin(), all.end(), [](const std::string& a, const std::string& b) {
    return depth_of(a) != depth_of(b) ? depth_of(a) > depth_of(b) : a < b;
  });
  return mend_in_pages("nodes", all);
}

Result<void> RedisRepair::mend_counts() {
  for (int tries = 0; tries < kCountsMax; ++tries) {
    FQ_TRY_SET(const bool done, try_counts());
    if (done) return {};
  }
  remarks_.add(std::string(kInUse));
  return {};
}

Result<void> RedisRepair::weigh() {
  Words page = {"", "0", "0"};
  for (int tries = 0; tries < kCountsMax;) {
    FQ_TRY_SET(const Reply reply, repair("weight", page));
    const Reply& next = reply.at(1);
    if (next.at(1).text.empty()) return {};
    if (next.at(1).text != page[0]) ++tries;
    page = {next.at(1).text, next.at(2).text, next.at(3).text};
  }
  if (remarks_.empty()) remarks_.add(std::string(kInUse));
  return {};
}

Result<bool> RedisRepair::try_counts() {
  FQ_TRY_SET(const Reply before, repair("count", {}));
  const std::string changes = before.at(1).at(1).text;
  std::map<std::string, Counts> counted = {};
  // Those that have nothing any more are counted, too.
  FQ_TRY_SET(const Words tenants, names_of("c:"));
  for (const std::string& tenant : tenants) counted[tenant] = {};
  FQ_TRY_SET(const Words messages, names_of("m:"));
  for (size_t from = 0; from < messages.size(); from += kNamesPerCall) {
    const auto begin = messages.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end =
        messages.begin() + static_cast<std::ptrdiff_t>(std::min(messages.size(), from + kNamesPerCall));
    FQ_TRY_SET(const Reply reply, repair("count", Words(begin, end)));
    if (reply.at(1).at(1).text != changes) return false;
    for (const Reply& each : reply.at(1).at(2).items) {
      Unpacker found(each.at(1).text);
      for (double& one : counted[each.at(0).text]) one += found.number<double>();
    }
  }
  std::map<std::string, std::string> all;
  Counts sums = {};
  for (const auto& [tenant, counts] : counted) {
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += counts[i];
    all[tenant] = packed_counts(counts);
  }
  all[""] = packed_counts(sums);  // no tenant is called so
  return write_counts(changes, all);
}

Result<bool> RedisRepair::write_counts(const std::string& changes,
                                       const std::map<std::string, std::string>& tenants) {
  auto next = tenants.begin();
  const std::string& sums = (next++)->second;
  do {
    Words words = {changes, sums};
    for (; next != tenants.end() && words.size() < kNamesPerCall; ++next) {
      words.push_back(next->first);
      words.push_back(next->second);
    }
    FQ_TRY_SET(const Reply reply, repair("write_counts", words));
    if (reply.at(1).at(1).number != 1) return false;
  } while (next != tenants.end());
  return true;
}

}  // namespace fq
