#include "core/redis/views/redis_check.h"

// System.
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
// fq, below us.
#include "core/engine/interruption.h"
// fq, this room.
#include "core/redis/records/argument_list.h"
#include "core/redis/records/packing.h"

namespace fq {

namespace {

constexpr size_t kKeysPerCall = 256;
constexpr size_t kOthersCounted = 8;  // between the states of a tenant and its bytes

}  // namespace

Result<void> RedisCheck::look_at(const std::vector<std::string>& names, std::string_view begin,
                                 std::string_view look) {
  std::vector<std::string> wanted;
  for (const std::string& name : names) {
    if (name.starts_with(begin) && seen_.insert(name).second) wanted.push_back(name.substr(begin.size()));
  }
  for (size_t from = 0; from < wanted.size();) {
    ArgumentList arguments;
    arguments.borrow(look);
    for (size_t i = from; i < std::min(wanted.size(), from + kKeysPerCall); ++i) arguments.borrow(wanted[i]);
    FQ_TRY_SET(const size_t done, take(arguments.words()));
    from += std::max<size_t>(1, done);
  }
  return {};
}

Result<Reply> RedisCheck::look(const std::vector<std::string_view>& arguments) {
  FQ_TRY(unless_interrupted(interrupt_));
  return shard_.look(arguments);
}

/// What one look says, and of how many of those that it was to be.
Result<size_t> RedisCheck::take(const std::vector<std::string_view>& asked) {
  FQ_TRY_SET(const Reply reply, look(asked));
  const Reply& told = reply.at(1);
  changes_.insert(told.at(0).text);
  for (size_t i = 0; i < found_.size(); ++i) found_[i] += static_cast<uint64_t>(told.at(1).at(i).number);
  for (const Reply& fault : told.at(2).items) report_.findings.add(fault.text);
  for (const Reply& tenant : told.at(3).items) {
    Unpacker counts(tenant.at(1).text);
    for (int64_t& each : of_tenants_[tenant.at(0).text]) each += counts.whole();
  }
  return static_cast<size_t>(told.at(4).number);
}

/// Those of which the tenants say something else than their messages do.
Result<std::vector<std::string>> RedisCheck::compare_tenants() {
  std::vector<std::string> wrong;
  std::string last;
  const std::string page = std::to_string(kIdsPerCall);
  for (;;) {
    FQ_TRY_SET(const Reply reply, look({"tenants", last, page}));
    for (const Reply& each : reply.at(1).items) {
      last = each.at(0).text;
      Unpacker sums(each.at(1).text);
      TenantSums counted = {};
      for (size_t i = 0; i + 1 < counted.size(); ++i) counted[i] = sums.whole();
      sums.raw(kOthersCounted * sizeof(double));
      counted.back() = sums.whole();
      const auto found = of_tenants_.find(last);
      if (counted != (found == of_tenants_.end() ? TenantSums{} : found->second))
        wrong.push_back("tenant " + last + ": counts other messages or bytes than it has");
      if (found != of_tenants_.end()) of_tenants_.erase(found);
    }
    if (reply.at(1).items.size() < kIdsPerCall) break;
  }
  for (const auto& [path, counted] : of_tenants_)
    wrong.push_back("tenant " + path + ": has messages, and is not among the tenants");
  return wrong;
}

/// What is told where the next page begins. A page may show again what another one did.
Result<void> RedisCheck::look_in_pages(std::string_view what) {
  std::set<std::string> told;
  const auto add = [&](const Reply& lines, CountedLines& to) {
    for (const Reply& line : lines.items) {
      if (told.insert(line.text).second) to.add(line.text);
    }
  };
  for (std::string from = "0"; !from.empty();) {
    FQ_TRY_SET(const Reply reply, look({what, from}));
    add(reply.at(1).at(2), report_.findings);
    add(reply.at(1).at(5), report_.remarks);
    from = reply.at(1).at(4).text;
  }
  return {};
}

/// Whether nothing has changed since the first look, by the `sums` of now.
bool RedisCheck::has_stood_still(const Reply& sums) {
  changes_.insert(sums.at(1).at(1).text);
  if (changes_.size() == 1) return true;
  report_.remarks.add("the queue was in use: its sums were not looked at");
  return false;
}

/// Only where nobody changed anything meanwhile, and nothing fell due: else they are of other moments.
Result<void> RedisCheck::compare_sums() {
  for (const uint64_t each : found_) report_.messages += each;
  FQ_TRY_SET(const Reply before, look({"sums"}));
  if (!has_stood_still(before)) return {};
  FQ_TRY_SET(const std::vector<std::string> wrong_tenants, compare_tenants());
  FQ_TRY_SET(const Reply after, look({"sums"}));
  if (!has_stood_still(after)) return {};
  Unpacker sums(after.at(1).at(0).text);
  for (size_t i = 0; i < found_.size(); ++i) {
    const auto counted = static_cast<uint64_t>(std::max<int64_t>(0, sums.whole()));
    if (counted == found_[i]) continue;
    report_.findings.add("the queue counts " + std::to_string(counted) + " " +
                         std::string(name_of(static_cast<State>(i))) + " messages, and there are " +
                         std::to_string(found_[i]));
  }
  for (const std::string& line : wrong_tenants) report_.findings.add(line);
  return {};
}

Result<CheckReport> RedisCheck::run() {
  std::string cursor = "0";
  do {
    FQ_TRY_SET(const std::vector<std::string> names, shard_.keys(cursor));
    report_.records += names.size();
    FQ_TRY(look_at(names, "m:", "check_messages"));
    FQ_TRY(look_at(names, "n:", "check_nodes"));
    FQ_TRY(look_at(names, "pu:", "check_purses"));
  } while (cursor != "0" && !cursor.empty());
  FQ_TRY(look_in_pages("check_index"));
  FQ_TRY(look_in_pages("check_limits"));
  FQ_TRY(compare_sums());
  return std::move(report_);
}

}  // namespace fq
