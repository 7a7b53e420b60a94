#include "core/redis/sharded/sharded_sums.h"

// System.
#include <algorithm>
#include <map>
// fq, below us.
#include "core/engine/interruption.h"

namespace fq {

namespace {

void add(const Rates& more, std::optional<Rates>& sum) {
  Rates rates = sum.value_or(Rates());
  rates.m1 += more.m1;
  rates.m5 += more.m5;
  rates.m15 += more.m15;
  sum = rates;
}

/// But for the times.
void add(const StatsRow& more, StatsRow& sum) {
  constexpr uint64_t StatsRow::*kCounts[] = {
      &StatsRow::ready,    &StatsRow::delayed, &StatsRow::leased,         &StatsRow::held,
      &StatsRow::dead,     &StatsRow::tenants, &StatsRow::active_tenants, &StatsRow::bytes,
      &StatsRow::pushed,   &StatsRow::popped,  &StatsRow::acked,          &StatsRow::retried,
      &StatsRow::released, &StatsRow::buried,  &StatsRow::expired,        &StatsRow::cancelled,
      &StatsRow::schedules};
  for (const auto count : kCounts) sum.*count += more.*count;
  sum.paused = sum.paused || more.paused;
  sum.draining = sum.draining || more.draining;
  sum.fair_by = more.fair_by;
  if (more.next_schedule_wall_ms)
    sum.next_schedule_wall_ms =
        std::min(sum.next_schedule_wall_ms.value_or(INT64_MAX), *more.next_schedule_wall_ms);
  add(more.pushed_per_s.value_or(Rates()), sum.pushed_per_s);
  add(more.popped_per_s.value_or(Rates()), sum.popped_per_s);
  add(more.acked_per_s.value_or(Rates()), sum.acked_per_s);
}

/// One after the other of each: what comes next over all of them nobody knows, but that what a limit keeps
/// comes behind what can start.
std::vector<Explanation> in_turns(std::vector<std::vector<Explanation>> lists, size_t n) {
  std::vector<Explanation> found;
  bool is_any = true;
  for (size_t i = 0; is_any; ++i) {
    is_any = false;
    for (std::vector<Explanation>& list : lists) {
      if (i >= list.size()) continue;
      is_any = true;
      found.push_back(std::move(list[i]));
    }
  }
  std::stable_partition(found.begin(), found.end(), [](const Explanation& each) { return !each.limited; });
  if (found.size() > n) found.erase(found.begin() + static_cast<ptrdiff_t>(n), found.end());
  return found;
}

/// While it lives, each shard shows what is in the way of all shards together: whoever looks for work brings
/// it what it lacks, where there is some.
class AsLent {
 public:
  AsLent(Shards& shards, const std::map<std::string, Purses::Total>& totals) : shards_(shards) {
    std::vector<std::string> full;
    for (const auto& [name, total] : totals) {
      if (total.is_full) full.push_back(name);
    }
    if (!totals.empty()) set(full);
  }
  ~AsLent() { set({}); }
  AsLent(const AsLent&) = delete;
  AsLent& operator=(const AsLent&) = delete;

 private:
  void set(const std::optional<std::vector<std::string>>& full) {
    for (size_t shard = 0; shard < shards_.count(); ++shard) shards_.at(shard).shard().show_as_lent(full);
  }

  Shards& shards_;
};

}  // namespace

Result<StatsRow> ShardedSums::of_queue() {
  StatsRow sum;
  TimeCounts waited, ran;
  Standings standings;
  FQ_TRY(shards_.for_each([&](size_t shard) -> Result<void> {
    FQ_TRY_SET(const StatsRow row, shards_.at(shard).looker().sums(waited, ran, standings));
    add(row, sum);
    return {};
  }));
  sum.wait_ms = waited.percentiles();
  sum.run_ms = ran.percentiles();
  standings.tell(sum);
  return sum;
}

Result<StatsReply> ShardedSums::stats(const StatsRequest& request) {
  FQ_TRY_SET(const Totals totals, purses_.totals());
  const AsLent as_lent(shards_, totals);
  StatsReply reply;
  reply.as_of_wall_ms = system_clock().wall_ms();  // before the first: no number is older
  if (!request.tenants) {
    FQ_TRY_SET(reply.rows.emplace_back(), of_queue());
    return reply;
  }
  Standings standings;
  FQ_TRY(shards_.for_each([&](size_t shard) -> Result<void> {
    RedisLook& looker = shards_.at(shard).looker();
    const bool has_rows = request.tenant.empty() || shard == shards_.of_tenant(request.tenant);
    return has_rows ? looker.add_tenants(request.tenant, standings) : looker.add_active(standings);
  }));
  reply.rows = standings.take_rows();
  return reply;
}

/// A process has one session in all shards.
Result<std::vector<Attendee>> ShardedSums::attendees() {
  std::map<std::string, RedisLook::Session> all;
  FQ_TRY(shards_.for_each([&](size_t shard) -> Result<void> {
    FQ_TRY_SET(auto found, shards_.at(shard).looker().sessions());
    for (auto& [nonce, more] : found) {
      const auto [at, is_new] = all.try_emplace(nonce, more);
      if (is_new) continue;
      RedisLook::Session& session = at->second;
      Attendee& one = session.attendee;
      const bool attends = more.attendee.slots > 0;
      if (attends) session.messages = more.messages, one.slots = more.attendee.slots;
      if (attends) one.host = more.attendee.host;
      one.stopped = one.stopped || more.attendee.stopped;
      one.since_wall_ms = std::min(one.since_wall_ms, more.attendee.since_wall_ms);
      one.ids.insert(one.ids.end(), more.attendee.ids.begin(), more.attendee.ids.end());
    }
    return {};
  }));
  std::vector<Attendee> told;
  for (auto& [nonce, session] : all) {
    std::sort(session.attendee.ids.begin(), session.attendee.ids.end());
    if (std::optional<Attendee> one = RedisLook::told_of(session)) told.push_back(*std::move(one));
  }
  return told;
}

/// A place in one shard is none in the queue; so late it comes at the latest if each shard has its turns,
/// where they are counted, and no later than all that is ready: behind that where a limit keeps it, since all
/// that starts in other shards comes before it.
Result<void> ShardedSums::forget_places(size_t shard, ExplainReply& reply) {
  for (Explanation& each : reply.next) each.place.reset();
  const uint64_t bound = kTurnsPerShard * shards_.count();
  if (reply.subject && (reply.subject->place || reply.subject->place_max)) {
    Explanation& subject = *reply.subject;
    const uint64_t place = subject.place ? *subject.place : *subject.place_max;
    subject.place.reset();
    subject.place_max.reset();
    FQ_TRY_SET(const Settings settings, shards_.at(shard).settings());
    const bool is_counted = settings.fair_by == FairBy::turns;
    if (!is_counted) return {};
    FQ_TRY_SET(const StatsRow all, of_queue());
    const uint64_t in_turns = place > UINT64_MAX / bound ? UINT64_MAX : place * bound;
    subject.place_max =
        subject.limited ? std::max(place, all.ready) : std::min(in_turns, std::max(place, all.ready));
  }
  return {};
}

Result<ExplainReply> ShardedSums::explain_all(const ExplainRequest& request) {
  ExplainReply reply;
  std::vector<std::vector<Explanation>> next;
  FQ_TRY(shards_.for_each([&](size_t shard) -> Result<void> {
    FQ_TRY_SET(ExplainReply some, shards_.at(shard).explain(request));
    next.push_back(std::move(some.next));
    const size_t room = kBlockedTold - std::min(kBlockedTold, reply.blocked.size());
    const size_t taken = std::min(room, some.blocked.size());
    reply.more_blocked += some.more_blocked + some.blocked.size() - taken;
    std::move(some.blocked.begin(), some.blocked.begin() + static_cast<ptrdiff_t>(taken),
              std::back_inserter(reply.blocked));
    return {};
  }));
  reply.next = in_turns(std::move(next), request.next);
  return reply;
}

namespace {

bool is_of_runs(const Reason& reason) {
  return reason.kind == Reason::Kind::concurrency || reason.kind == Reason::Kind::pool_concurrency;
}

/// Null: it is of no limit over all shards.
const Purses::Total* total_of(const std::map<std::string, Purses::Total>& totals, const Reason& reason) {
  const bool is_of_pool =
      reason.kind == Reason::Kind::pool_concurrency || reason.kind == Reason::Kind::pool_rate;
  const bool is_rate = reason.kind == Reason::Kind::rate || reason.kind == Reason::Kind::pool_rate;
  if (!is_of_pool && !reason.node.empty()) return nullptr;
  if (!is_of_runs(reason) && !is_rate) return nullptr;
  const auto found = totals.find(std::string(is_rate ? kRate : kRunning) + reason.node);
  return found == totals.end() ? nullptr : &found->second;
}

}  // namespace

/// What holds the slots of a limit over all shards may lie in any that can be served.
Result<std::vector<MessageId>> ShardedSums::running_of(Reason reason) {
  reason.ids.clear();
  for (size_t shard = 0; shard < shards_.count(); ++shard) {
    Result<void> added = RedisExplain(shards_.at(shard).shard()).add_running(reason);
    if (!added && !serves_nothing(added.error())) return std::move(added).error();
  }
  return std::move(reason.ids);
}

/// A shard knows only what it was lent of a limit over all of them, and what runs in it.
Result<void> ShardedSums::tell_totals(const Totals& totals, ExplainReply& reply) {
  std::map<std::pair<Reason::Kind, std::string>, std::vector<MessageId>> running;
  const auto tell = [&](Explanation& each) -> Result<void> {
    for (Reason& reason : each.reasons) {
      const Purses::Total* const total = total_of(totals, reason);
      if (total == nullptr) continue;
      if (total->free_at_ms) reason.until_wall_ms = shards_.at(0).shard().wall_of(*total->free_at_ms);
      if (!is_of_runs(reason)) continue;
      reason.running = static_cast<uint64_t>(total->used);
      const auto [found, is_new] = running.try_emplace({reason.kind, reason.node});
      if (is_new) {
        FQ_TRY_SET(found->second, running_of(reason));
      }
      reason.ids = found->second;
    }
    return {};
  };
  if (reply.subject) FQ_TRY(tell(*reply.subject));
  for (Explanation& each : reply.blocked) FQ_TRY(tell(each));
  return {};
}

Result<ExplainReply> ShardedSums::explain(const ExplainRequest& request) {
  const bool is_of_all = !request.id && request.tenant.empty();
  const size_t shard = request.id ? shards_.of_id(*request.id) : shards_.of_tenant(request.tenant);
  FQ_TRY_SET(const Totals totals, purses_.totals());
  const AsLent as_lent(shards_, totals);
  FQ_TRY_SET(ExplainReply reply, is_of_all ? explain_all(request) : shards_.at(shard).explain(request));
  FQ_TRY(forget_places(shard, reply));
  FQ_TRY(tell_totals(totals, reply));
  return reply;
}

Result<void> ShardedSums::check_purses(const CheckRequest& request, CheckReport& report) {
  FQ_TRY(unless_interrupted(request.interrupt));
  FQ_TRY_SET(auto faults, purses_.faults());
  if (!faults) {
    report.remarks.add("the queue was in use: its limits over all shards were not looked at");
    return {};
  }
  if (request.repair && !faults->empty()) {
    FQ_TRY(purses_.mend());
    report.repairs.add("limits over all shards: each shard has told anew what it uses");
    FQ_TRY_SET(faults, purses_.faults());
  }
  for (const std::string& fault : faults.value_or(std::vector<std::string>())) report.findings.add(fault);
  return {};
}

/// One that has lost what it begins with is damaged, and no other for that.
Result<void> ShardedSums::check_shards(const CheckRequest& request, CheckReport& report) {
  return shards_.for_each([&](size_t shard) -> Result<void> {
    const std::string front = "shard " + std::to_string(shard) + ": ";
    Result<CheckReport> checked = shards_.at(shard).check(request);
    if (!checked && says_lost_root(checked.error())) {
      report.findings.add(front + checked.error().text);
      return {};
    }
    if (!checked) report.repairs.append(front, shards_.at(shard).take_repaired());
    FQ_TRY_SET(const CheckReport some, std::move(checked));
    report.records += some.records;
    report.messages += some.messages;
    report.messages_cancelled += some.messages_cancelled;
    report.findings.append(front, some.findings);
    report.remarks.append(front, some.remarks);
    report.repairs.append(front, some.repairs);
    report.set_aside.append(front, some.set_aside);
    return {};
  });
}

Result<CheckReport> ShardedSums::check(const CheckRequest& request) {
  CheckReport report;
  Result<void> checked = check_shards(request, report);
  if (checked) checked = check_purses(request, report);
  if (checked) return report;
  for (std::string& each : notices_of(report.repairs)) shards_.notice(std::move(each));
  return std::move(checked).error();
}

}  // namespace fq
