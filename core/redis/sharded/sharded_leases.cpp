#include "core/redis/sharded/sharded_leases.h"

// System.
#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
// fq, below us.
#include "core/base/clock.h"
// fq, this room.
#include "core/redis/leases/due_wait.h"
#include "core/redis/leases/lease_words.h"

namespace fq {

namespace {

/// All of them in one go, so that how often each was changed is of one moment, nearly.
constexpr std::array<std::string_view, 1> kChanges = {"ops"};

constexpr int kIdleLooksMax = 3;  // while others work on: chosen

bool are_equal(const std::vector<Reply>& a, const std::vector<Reply>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Reply& x, const Reply& y) { return x.at(0).text == y.at(0).text; });
}

}  // namespace

/// Each was found idle between two readings, and nothing was changed in any between them. What was due the
/// look itself has done, which is a change: it looks again.
Result<bool> ShardedLeases::is_idle(std::optional<size_t>& busy) {
  busy.reset();
  FQ_TRY_SET(std::vector<Reply> before, shards_.roots(kChanges));
  for (int looks = 0; looks < kIdleLooksMax; ++looks) {
    for (size_t shard = 0; shard < shards_.count(); ++shard) {
      FQ_TRY_SET(const Reply reply, shards_.at(shard).shard().look({"idle"}));
      if (reply.at(1).at(0).number == 1) continue;
      busy = shard;
      return false;
    }
    FQ_TRY_SET(std::vector<Reply> after, shards_.roots(kChanges));
    if (are_equal(before, after)) return true;
    before = std::move(after);
  }
  return false;
}

Result<void> ShardedLeases::do_what_is_due() {
  const int64_t until_ms = system_clock().boot_ms() + kDueMs;  // the others wait meanwhile
  const std::vector<size_t> due = visits_.due();
  std::set<size_t> more;
  for (const size_t shard : due) {
    Result<Reply> done = shards_.at(shard).shard().tick_once();
    while (done && has_more_due(*done) && system_clock().boot_ms() < until_ms)
      done = shards_.at(shard).shard().tick_once();
    if (!done && !serves_nothing(done.error())) return done.error();
    if (!done) visits_.cannot_do(shard, done.error());
    if (done && has_more_due(*done)) more.insert(shard);
  }
  visits_.put_off(std::move(more));
  return due.empty() ? Result<void>() : visits_.look(true);
}

/// Each of these takes nothing and is told of what is new. What does not answer, or has more to do before, is
/// passed over: it keeps that.
Result<void> ShardedLeases::call(const std::vector<size_t>& shards, const LeaseRequest& request,
                                 LeaseReply& reply) {
  for (const size_t shard : shards) {
    if (visits_.is_put_off(shard)) continue;
    uint64_t bytes = 0;
    const auto added = add(request, shard, 0, bytes, reply, {});
    if (added) continue;
    if (!serves_nothing(added.error())) return added.error();
    visits_.lost(shard, added.error());
  }
  return {};
}

/// It comes back with the next call of its shard, to which nothing else may lead any more: for others it is
/// held.
Result<void> ShardedLeases::take_back_unheard(const LeaseRequest& request, LeaseReply& reply) {
  if (unheard_.empty()) return {};
  FQ_TRY(call({unheard_.begin(), unheard_.end()}, request, reply));
  return visits_.look(true);
}

Result<void> ShardedLeases::visit(const LeaseRequest& request, const Visits::Visit& visit, Pass& pass,
                                  LeaseReply& reply) {
  RedisLeases::Added given;
  std::string loans;
  const auto fetch = [&](bool was_in_vain) -> Result<bool> {
    if (given.count >= visit.turns || !purses_.is_wanting(visit.shard)) return false;
    FQ_TRY_SET(loans, purses_.fetch(visit.shard, visit.turns - given.count, was_in_vain));
    return !loans.empty();
  };
  FQ_TRY_SET(bool goes_on, fetch(false));
  goes_on = goes_on || pass.only || visits_.is_open(visit.shard);
  while (goes_on) {
    const auto added = add(request, visit.shard, visit.turns - given.count, pass.bytes_left, reply, loans);
    if (!added && given.count == 0) return added.error();
    if (!added) break;  // what it has given is not lost
    const bool was_in_vain = !loans.empty() && added->count == 0;
    given.count += added->count;
    given.paid.cost += added->paid.cost;
    given.paid.untold += added->paid.untold;
    given.servable = added->servable;
    goes_on = false;
    if (!given.servable) {
      FQ_TRY_SET(goes_on, fetch(was_in_vain));
    }
  }
  visits_.served(visit, given, !given.servable && request.tenant.empty());
  if (request.watch && given.count > 0) visits_.watch(visit.shard);
  pass.want -= std::min(pass.want, given.count);
  return {};
}

Result<RedisLeases::Added> ShardedLeases::add(const LeaseRequest& request, size_t shard, size_t want,
                                              uint64_t& bytes_left, LeaseReply& reply,
                                              std::string_view loans) {
  RedisLeases& leases = shards_.at(shard).leases();
  Result<RedisLeases::Added> added =
      leases.add(request, want, bytes_left, reply, loans, bells_.are_noted_by_call(request, shard));
  if (leases.is_unheard()) unheard_.insert(shard);
  if (!leases.is_unheard()) unheard_.erase(shard);
  if (added) purses_.know(shard, leases.lent());
  return added;
}

/// Whether something there can be served, once it was lent what it lacks. Takes nothing.
Result<bool> ShardedLeases::opens(const LeaseRequest& request, size_t shard, LeaseReply& reply) {
  for (bool was_in_vain = false;; was_in_vain = true) {
    FQ_TRY_SET(const std::string loans, purses_.fetch(shard, 1, was_in_vain));
    if (loans.empty()) return false;
    uint64_t bytes = 0;
    FQ_TRY_SET(const RedisLeases::Added seen, add(request, shard, 0, bytes, reply, loans));
    if (seen.servable) return true;
  }
}

/// As far as there is something, shard after shard.
Result<void> ShardedLeases::take(const LeaseRequest& request, Pass& pass, LeaseReply& reply) {
  visits_.begin();
  while (pass.want > 0 && (pass.bytes_left > 0 || reply.deliveries.empty())) {
    const std::optional<Visits::Visit> next = visits_.next(pass.want, pass.only);
    if (!next) return {};
    Result<void> visited = visit(request, *next, pass, reply);
    if (visited) continue;
    // Nothing was done there, or what was is made up for by its next call; and there are others.
    const bool is_passed_over = serves_nothing(visited.error());
    if (is_passed_over) visits_.lost(next->shard, visited.error());
    // What another shard has given is not lost.
    if (!is_passed_over) return reply.deliveries.empty() ? std::move(visited) : Result<void>();
  }
  return {};
}

/// What a shard has given is not lost where another fails, and what it has told is told again.
Result<LeaseReply> ShardedLeases::look_once(const LeaseRequest& request, bool fresh) {
  LeaseReply reply;
  Result<void> looked = look(request, fresh, reply);
  if (looked) return reply;
  if (reply.deliveries.empty()) {
    for (size_t shard = 0; !reply.changes.empty() && shard < shards_.count(); ++shard)
      shards_.at(shard).leases().hear_again();
    return std::move(looked).error();
  }
  reply.why_empty = WhyEmpty::none;
  reply.more = request.watch;  // as far as is known
  return reply;
}

Result<void> ShardedLeases::look(const LeaseRequest& request, bool fresh, LeaseReply& reply) {
  FQ_TRY(visits_.look(fresh));
  FQ_TRY(do_what_is_due());
  FQ_TRY(take_back_unheard(request, reply));
  if (request.watch) FQ_TRY(call(visits_.with_news(), request, reply));
  // What has rung for one that takes nothing now is for others.
  if (!takes(request)) FQ_TRY(call(bells_.rung(), request, reply));
  Pass pass{{}, request.look ? 0 : request.want, request.bytes_max};
  if (!request.tenant.empty()) pass.only = shards_.of_tenant(request.tenant);
  FQ_TRY(take(request, pass, reply));
  if (pass.only && (request.look || request.watch) && !visits_.is_put_off(*pass.only)) {
    uint64_t bytes = 0;
    FQ_TRY_SET(const RedisLeases::Added seen, add(request, *pass.only, 0, bytes, reply, {}));
    pass.servable = seen.servable;
    if (request.look && !pass.servable) {
      FQ_TRY_SET(pass.servable, opens(request, *pass.only, reply));
    }
  }
  if (!pass.only) pass.servable = visits_.is_any_open();
  const bool may_open = !pass.only && request.look && !pass.servable;
  for (const size_t shard : may_open ? visits_.wanting() : std::vector<size_t>()) {
    FQ_TRY_SET(pass.servable, opens(request, shard, reply));
    if (pass.servable) break;
  }
  reply.next_wake_ms = visits_.next_due_ms();
  reply.why_empty = WhyEmpty::none;
  reply.partial = !visits_.are_all_there() || visits_.is_any_put_off();
  if (reply.deliveries.empty() || shards_.is_attended()) visits_.tell_lost();
  if (!reply.deliveries.empty()) {
    if (request.watch) reply.more = pass.servable;
    return {};
  }
  reply.why_empty = WhyEmpty::nothing;
  busy_.reset();
  if (request.wait && request.until_idle && visits_.are_all_there() && !visits_.is_any_put_off()) {
    FQ_TRY_SET(const bool idle, is_idle(busy_));
    if (idle) reply.why_empty = WhyEmpty::idle;
  }
  if (!reply.changes.empty()) reply.why_empty = WhyEmpty::changed;
  if (request.watch) reply.more = pass.servable;
  if (request.look && pass.servable) reply.why_empty = WhyEmpty::servable;
  return {};
}

Result<LeaseReply> ShardedLeases::lease(const LeaseRequest& request) {
  Result<LeaseReply> reply = wait(request);
  // A worker comes again, and takes what it was told of meanwhile or hands that on.
  if (request.wait && !request.watch) bells_.leave();
  return reply;
}

/// Before the one that was found busy is idle the queue is not.
Awaiting::State ShardedLeases::listen_for_idle() {
  if (!busy_) return Awaiting::State::deaf;
  return awaiting_.listen(shards_.at(*busy_).shard(), {.what = Awaited::What::idle});
}

Result<LeaseReply> ShardedLeases::wait(const LeaseRequest& request) {
  Waiting waiting(request.wait_ms, request.interrupt, request.signals);
  const DueWait due_wait(request);
  // Who comes for news alone is to have all of it: by what was known before others would be passed over.
  const bool only_news = request.watch && request.want == 0 && !request.look && !request.wait;
  for (bool fresh = only_news;; fresh = true) {
    FQ_TRY_SET(LeaseReply reply, look_once(request, fresh));
    const bool is_nothing = reply.why_empty == WhyEmpty::nothing;
    if (is_nothing && !fresh) continue;  // what was known may have been old
    if (visits_.is_any_put_off() && due_wait.goes_on(reply, waiting)) continue;
    // Whoever came for what there is would come in vain. A worker that stays serves the others, and says so.
    const bool stays = request.watch && !request.until_idle;
    const bool may_be_in_vain = is_nothing && request.tenant.empty() && !stays;
    if (const auto fault = visits_.lasting_fault(); fault && may_be_in_vain) return *fault;
    if (!request.wait || !is_nothing) return reply;
    if (shards_.has_away_notice()) {  // who waits takes it between two waits
      reply.why_empty = WhyEmpty::changed;
      return reply;
    }
    const auto bells = waiting.is_over() ? ShardBells::State::deaf : bells_.listen(request);
    if (bells == ShardBells::State::anew && waiting.looks_at_once()) continue;
    // A shard does not ring for what it has to be lent something for first, nor again for what was there when
    // it did not answer.
    bool hears = bells == ShardBells::State::heard && !purses_.are_used() && visits_.are_all_there();
    if (hears && request.until_idle) {
      const Awaiting::State idle = listen_for_idle();
      if (idle == Awaiting::State::anew && waiting.looks_at_once()) continue;
      hears = idle == Awaiting::State::heard;
    }
    const Waiting::End end = hears ? waiting.sleep(*shards_.bells(), visits_.look_ms(), reply.next_wake_ms)
                                   : waiting.sleep(reply.next_wake_ms);
    if (end == Waiting::End::timed_out) reply.why_empty = WhyEmpty::timed_out;
    if (end == Waiting::End::interrupted) reply.why_empty = WhyEmpty::interrupted;
    if (end != Waiting::End::goes_on) return reply;
  }
}

/// The next lease comes after all verdicts: what they free may be what it gets.
Result<SettleReply> ShardedLeases::settle(std::span<const Settle> items, const LeaseRequest* next) {
  SettleReply reply;
  reply.items.assign(items.size(), SettleStatus::unknown);
  const auto groups =
      by_shard(items, [this](const Settle& each) { return shards_.of_receipt(each.receipt); });
  CallsAtOnce calls(shards_.link());
  std::vector<std::vector<Settle>> verdicts;
  std::vector<std::optional<RedisLeases::Sent>> sent;
  for (const auto& [shard, places] : groups) {
    std::vector<Settle>& some = verdicts.emplace_back();
    for (const size_t place : places) some.push_back(items[place]);
    const Result<RedisLeases::Sent> added = shards_.at(shard).leases().add_to(calls, some);
    sent.emplace_back();
    if (added) sent.back().emplace(*added);  // why not, is said below
  }
  calls.send();
  // Where much is due, or nothing was heard, the last: what else is said to the others waits for none of these.
  std::vector<size_t> order(groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_partition(order.begin(), order.end(),
                        [&](size_t group) { return sent[group] && calls.is_done(sent[group]->call); });
  for (const size_t group : order) {
    const auto& [shard, places] = groups[group];
    Result<SettleReply> said = shards_.at(shard).leases().settle(verdicts[group], nullptr, sent[group]);
    if (said && !said->error) purses_.know(shard, shards_.at(shard).leases().lent());
    if (!said && groups.size() == 1) return std::move(said).error();
    for (size_t i = 0; said && i < places.size(); ++i) reply.items[places[i]] = said->items.at(i);
    std::optional<Error> error = said ? said->error : std::optional(said.error());
    if (error) reply.error = std::move(error);
  }
  if (next == nullptr) return reply;
  reply.next.emplace();
  if (reply.error) return reply;
  return lease_behind(std::move(reply), lease(*next));
}

Result<std::vector<ExtendResult>> ShardedLeases::extend(std::span<const Receipt> receipts,
                                                        int64_t duration_ms) {
  std::vector<ExtendResult> results(receipts.size());
  const auto groups = by_shard(receipts, [this](const Receipt& each) { return shards_.of_receipt(each); });
  CallsAtOnce calls(shards_.link());
  std::vector<RedisLeases::Extending> sent;
  for (const auto& [shard, places] : groups) {
    std::vector<Receipt> some;
    for (const size_t place : places) some.push_back(receipts[place]);
    sent.push_back(shards_.at(shard).leases().add_to(calls, some, duration_ms));
  }
  calls.send();
  std::optional<Error> fault;
  size_t failed = 0;
  for (size_t group = 0; group < groups.size(); ++group) {
    const auto& [shard, places] = groups[group];
    Result<std::vector<ExtendResult>> said =
        shards_.at(shard).leases().extend(calls, std::move(sent[group]), duration_ms);
    for (size_t i = 0; said && i < places.size(); ++i) results[places[i]] = said->at(i);
    if (said) continue;
    fault = std::move(said).error();
    ++failed;
  }
  // What the others have done is not lost: those of a shard that fails are unknown.
  if (fault && failed == groups.size()) return *std::move(fault);
  return results;
}

}  // namespace fq
