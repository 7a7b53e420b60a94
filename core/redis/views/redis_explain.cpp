#include "core/redis/views/redis_explain.h"

// System.
#include <algorithm>
#include <cstdlib>
// fq, below us.
#include "core/base/host_name.h"
#include "core/base/text/decimal.h"
// fq, this room.
#include "core/redis/records/packing.h"
#include "core/redis/records/records.h"
#include "core/redis/records/tenant_path.h"

namespace fq {

namespace {

constexpr size_t kIdsMax = 5;                              // of those that hold the slots of a limit
constexpr size_t kLookedPerCall = 512, kPagesLooked = 16;  // arbitrary: for these, where others stand too
constexpr uint64_t kTurnsCountMax = uint64_t{1} << 53;

int64_t number_in(const Reply& reply) {
  if (reply.text.empty()) return reply.number;
  return std::strtoll(reply.text.c_str(), nullptr, 10);
}

ServedBy served_by(std::string_view name) {
  if (name == "age") return ServedBy::age;
  return name == "rank" ? ServedBy::rank : ServedBy::turn;
}

void add_counts(std::string_view sums, Explanation& found) {
  Unpacker counts(sums);
  for (uint64_t* const each : {&found.ready, &found.delayed, &found.leased, &found.held, &found.dead})
    *each += static_cast<uint64_t>(std::max<int64_t>(0, counts.whole()));
}

}  // namespace

std::vector<Reason> RedisExplain::reasons_of(const Reply& told) const {
  std::vector<Reason> reasons;
  for (const Reply& each : told.items) {
    const std::optional<Reason::Kind> kind = reason_named(each.at(0).text);
    if (!kind) continue;  // a program that is newer knows more of them
    Reason& reason = reasons.emplace_back();
    reason.kind = *kind;
    reason.node = each.at(1).text;
    reason.running = static_cast<uint64_t>(number_in(each.at(2)));
    if (const int64_t most = number_in(each.at(3)); most >= 0) reason.limit = static_cast<uint64_t>(most);
    reason.interval_ns = number_in(each.at(4));
    if (const int64_t until_ms = number_in(each.at(5)); until_ms >= 0)
      reason.until_wall_ms = shard_.wall_of(until_ms);
  }
  return reasons;
}

/// Some of those that hold the slots of what is full.
Result<void> RedisExplain::find_running(std::vector<Reason>& reasons) {
  for (Reason& reason : reasons) {
    if (reason.kind != Reason::Kind::concurrency && reason.kind != Reason::Kind::pool_concurrency) continue;
    FQ_TRY(add_running(reason));
  }
  return {};
}

Result<void> RedisExplain::add_running(Reason& reason) {
  // By living, then by time.
  for (const std::string_view list : {"lv", "t"}) FQ_TRY(add_running(list, reason));
  return {};
}

Result<void> RedisExplain::add_running(std::string_view list, Reason& reason) {
  const std::string_view is_pool = reason.kind == Reason::Kind::pool_concurrency ? "1" : "0";
  const std::string count = std::to_string(kLookedPerCall);
  std::string at = "-inf", id = "0";
  for (size_t pages = 0; pages < kPagesLooked && !at.empty() && reason.ids.size() < kIdsMax; ++pages) {
    FQ_TRY_SET(const Reply reply, shard_.look({"running", list, at, id, count, is_pool, reason.node}));
    const Reply& found = reply.at(1);
    at = found.at(0).text, id = found.at(1).text;
    for (size_t i = 2; i < found.items.size(); ++i) {
      if (reason.ids.size() == kIdsMax) return {};
      reason.ids.push_back(MessageId{static_cast<uint64_t>(number_in(found.at(i)))});
    }
  }
  return {};
}

Result<std::optional<Explanation>> RedisExplain::of_message(MessageId id) {
  if (number(id) == 0 || number(id) > kMessageIdMax) return std::optional<Explanation>();
  FQ_TRY_SET(const Reply reply, shard_.look({"explain", std::to_string(number(id))}));
  const Reply& told = reply.at(1);
  Explanation found;
  found.id = id;
  if (told.items.size() <= 1) {
    const std::optional<OutcomeRecord> outcome = read_outcome(told.at(0).text);
    if (!outcome) return std::optional<Explanation>();
    found.state = outcome->state;
    Reason& reason = found.reasons.emplace_back();
    reason.kind = Reason::Kind::ended;
    reason.until_wall_ms = shard_.wall_of(outcome->at_ms);
    return std::optional(std::move(found));
  }
  found.tenant = told.at(1).text;
  found.state = static_cast<State>(told.at(2).number);
  const int64_t timer_ms = number_in(told.at(3));
  Reason state;
  if (timer_ms != 0) state.until_wall_ms = shard_.wall_of(timer_ms);
  switch (found.state) {
    case State::delayed:
      state.kind = Reason::Kind::delayed;
      break;
    case State::leased:
      state.kind = Reason::Kind::leased;
      if (told.at(5).number != 0) state.pid = static_cast<int>(told.at(5).number);
      state.host = told.at(15).text.substr(0, kHostNameBytesMax);
      break;
    case State::held:
      state.kind = Reason::Kind::held;
      for (const Reply& each : told.at(6).items)
        state.ids.push_back(MessageId{static_cast<uint64_t>(number_in(each))});
      for (const Reply& each : told.at(14).items)
        state.cycle.push_back(MessageId{static_cast<uint64_t>(number_in(each))});
      break;
    case State::dead:
      state.kind = told.at(13).number == 1 ? Reason::Kind::expired : Reason::Kind::dead;
      state.until_wall_ms = shard_.wall_of(number_in(told.at(4)));
      break;
    default:
      break;
  }
  if (found.state != State::ready) found.reasons.push_back(std::move(state));
  for (Reason& each : reasons_of(told.at(7))) found.reasons.push_back(std::move(each));
  if (told.at(8).number >= 0) found.ahead = static_cast<uint64_t>(told.at(8).number);
  if (!told.at(9).text.empty()) found.place = static_cast<uint64_t>(number_in(told.at(9)));
  found.limited = told.at(10).number == 1;
  found.by = served_by(told.at(11).text);
  FQ_TRY(find_running(found.reasons));
  FQ_TRY_SET(const Before before, scan_rivals(found, told.at(12).number == 1));
  if (found.state != State::ready || found.place || !found.reasons.empty())
    return std::optional(std::move(found));
  if (before.all_start && before.turns <= static_cast<uint64_t>(number_in(told.at(17)))) {
    found.place_max = before.turns;
  } else if (told.at(16).number >= 0) {
    found.place_max = std::min(kTurnsCountMax, before.turns + static_cast<uint64_t>(told.at(16).number));
  }
  return std::optional(std::move(found));
}

Result<void> RedisExplain::add_below(const std::string& path, Explanation& found) {
  std::string last = path + "/";
  const std::string count = std::to_string(kIdsPerCall);
  for (;;) {
    FQ_TRY_SET(const Reply reply, shard_.look({"tenants", last, count}));
    for (const Reply& each : reply.at(1).items) {
      last = each.at(0).text;
      if (!is_at_or_below(last, path)) return {};
      add_counts(each.at(1).text, found);
    }
    if (reply.at(1).items.size() < kIdsPerCall) return {};
  }
}

Result<std::optional<Explanation>> RedisExplain::of_tenant(const std::string& path) {
  FQ_TRY_SET(const Reply reply, shard_.look({"explain_tenant", path}));
  const Reply& told = reply.at(1);
  if (told.at(0).number != 1) return std::optional<Explanation>();
  Explanation found;
  found.tenant = path;
  add_counts(told.at(1).text, found);
  found.reasons = reasons_of(told.at(2));
  FQ_TRY(find_running(found.reasons));
  FQ_TRY(add_below(path, found));
  FQ_TRY(scan_rivals(found, false));
  return std::optional(std::move(found));
}

Result<std::vector<Explanation>> RedisExplain::next(const std::string& path, size_t n) {
  FQ_TRY_SET(const Reply reply, shard_.look({"explain_next", path, std::to_string(n)}));
  std::vector<Explanation> next;
  for (const Reply& each : reply.at(1).items) {
    Explanation& one = next.emplace_back();
    one.id = MessageId{static_cast<uint64_t>(number_in(each.at(0)))};
    one.tenant = each.at(1).text;
    one.place = next.size();
    one.limited = each.at(2).number == 1;
    one.by = served_by(each.at(3).text);
  }
  return next;
}

Result<void> RedisExplain::add_blocked(const std::string& path, ExplainReply& reply) {
  std::string last;
  const std::string page = std::to_string(kIdsPerCall);
  do {
    const std::string room = std::to_string(kBlockedTold - reply.blocked.size());
    FQ_TRY_SET(const Reply told, shard_.look({"stuck", path, last, page, room}));
    last = told.at(1).at(0).text;
    for (const Reply& each : told.at(1).at(2).items) {
      Explanation& one = reply.blocked.emplace_back();
      one.tenant = each.at(0).text;
      add_counts(each.at(1).text, one);
      one.reasons = reasons_of(each.at(2));
      FQ_TRY(find_running(one.reasons));
    }
    reply.more_blocked += static_cast<uint64_t>(told.at(1).at(1).number) - told.at(1).at(2).items.size();
  } while (!last.empty());
  return {};
}

/// From its tenant up: what each other gets between two turns, and of a message how many turns there are
/// before its own. Of those beside it that cannot be served now nothing is known here.
Result<RedisExplain::Before> RedisExplain::scan_rivals(Explanation& found, bool among_own) {
  Before result{.turns = found.ahead.value_or(0) + 1};
  uint64_t& turns = result.turns;
  bool own = among_own;
  for (std::string path = found.tenant; !path.empty();) {
    uint64_t weight = 0, heaviest = 0, before = 0, left = 0;
    for (uint64_t from = 0, more = 1; more == 1; from += kIdsPerCall / 2) {
      FQ_TRY_SET(const Reply reply,
                 shard_.look({"rivals", path, own ? "1" : "0", std::to_string(turns), std::to_string(from)}));
      const Reply& told = reply.at(1);
      more = static_cast<uint64_t>(told.at(0).number);
      weight = static_cast<uint64_t>(told.at(1).number);
      heaviest = std::max(heaviest, static_cast<uint64_t>(told.at(2).number));
      before = std::min(kTurnsCountMax, before + static_cast<uint64_t>(number_in(told.at(3))));
      left = static_cast<uint64_t>(number_in(told.at(4)));
    }
    result.all_start = result.all_start && turns <= left;
    found.bounds.push_back({path, own, weight == 0 ? 0 : (heaviest + weight - 1) / weight});
    turns = std::min(kTurnsCountMax, turns + before);
    if (!own) path.resize(path.find('/') == std::string::npos ? 0 : path.rfind('/'));
    own = false;
  }
  return result;
}

Result<ExplainReply> RedisExplain::explain(const ExplainRequest& request) {
  ExplainReply reply;
  if (request.id) {
    FQ_TRY_SET(reply.subject, of_message(*request.id));
    return reply;
  }
  if (!request.tenant.empty()) {
    FQ_TRY_SET(reply.subject, of_tenant(request.tenant));
    if (!reply.subject) return reply;
  }
  FQ_TRY_SET(reply.next, next(request.tenant, request.next));
  FQ_TRY(add_blocked(request.tenant, reply));
  return reply;
}

}  // namespace fq
