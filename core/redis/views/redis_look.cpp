#include "core/redis/views/redis_look.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/host_name.h"
#include "core/base/sort_key.h"
#include "core/base/text/decimal.h"
#include "core/engine/message_checks.h"
// fq, this room.
#include "core/redis/records/argument_list.h"
#include "core/redis/records/packing.h"
#include "core/redis/records/tenant_path.h"
#include "core/redis/waits/awaiting.h"

namespace fq {

namespace {

constexpr size_t kBesideCountsBytes = 3 * sizeof(double);  // how many return, and what was given lately
constexpr uint16_t kStopped = 1, kDead = 2;  // of who attends, see core/redis/lua/keys/sessions.lua
constexpr size_t kTenantsPerCall = 256;      // whose reasons are looked for: a page takes some milliseconds

/// As look.lua says how a message has ended; none: nobody knows.
std::optional<State> end_told_by(int64_t how) {
  if (how == 2) return State::acked;
  if (how == 3) return State::cancelled;
  return how == 4 ? std::optional(State::dead) : std::nullopt;
}

StatsRow row_of(std::string_view bytes) {
  Unpacker sums(bytes);
  StatsRow row;
  for (uint64_t* const each :
       {&row.ready, &row.delayed, &row.leased, &row.held, &row.dead, &row.pushed, &row.popped, &row.acked,
        &row.retried, &row.released, &row.buried, &row.expired, &row.cancelled, &row.bytes})
    *each = static_cast<uint64_t>(std::max<int64_t>(0, sums.whole()));
  sums.raw(kBesideCountsBytes);
  if (!sums.ok() || sums.rest().empty()) return row;  // none has waited yet
  row.wait_ms = recent_times(sums);
  row.run_ms = recent_times(sums);
  return row;
}

/// Of a message that says nothing of it itself, by the head of a reply.
uint32_t attempts_in(const Reply& reply, bool is_command) {
  const bool by_kind = is_command && reply.at(0).at(4).number == 1;
  return by_kind ? kStandardCommandAttempts : static_cast<uint32_t>(reply.at(0).at(3).number);
}

}  // namespace

bool is_taken_by(const Filter& filter, const MessageInfo& info) {
  const bool below = is_at_or_below(info.tenant, filter.tenant);
  const bool tagged =
      !filter.tag || std::find(info.tags.begin(), info.tags.end(), *filter.tag) != info.tags.end();
  const bool failed_so =
      filter.reason.empty() ||
      (info.last_error && info.last_error->reason.find(filter.reason) != std::string::npos);
  return below && tagged && failed_so && (!filter.state || *filter.state == info.state);
}

std::optional<MessageInfo> RedisLook::info_of(const Reply& shown, const Reply& reply) {
  const std::optional<uint64_t> id = parse_decimal(shown.at(0).text);
  MessageInfo info;
  std::optional<MessageRecord> record = read_record(shown.at(1).text);
  if (!record) {
    info.lost = kUnreadable;
    record = read_head_of(shown.at(1).text);
  }
  if (!id || !record) return std::nullopt;
  info.id = MessageId{*id};
  info.tenant = record->tenant;
  info.state = record->state;
  info.priority = record->priority;
  info.key = decode_sort_key(record->key).value_or(std::string(record->key));
  info.tags = record->tags;
  info.attempts = record->attempts;
  const uint32_t in_force = record->attempts_in_force != 0 ? record->attempts_in_force
                                                           : attempts_in(reply, record->command.has_value());
  info.attempts_max = record->attempts_max != 0 ? record->attempts_max : in_force;
  info.deliveries = record->deliveries;
  info.crashes = record->crashes;
  info.pushed_at_wall_ms = shard_.wall_of(record->pushed_ms);
  const int64_t timer_wall_ms = shard_.wall_of(record->timer_ms);
  const bool has_timer = record->timer_ms != 0;
  if (info.state == State::delayed) info.due_at_wall_ms = timer_wall_ms;
  if (info.state == State::leased) info.receipt = leases_.receipt_of(*id, record->serial, record->nonce);
  if (info.state == State::leased && has_timer) info.lease_until_wall_ms = timer_wall_ms;
  if (info.state == State::ready && has_timer) info.expires_at_wall_ms = timer_wall_ms;
  if (info.state == State::delayed && record->ttl_ms > 0 && record->deliveries == 0)
    info.expires_at_wall_ms = timer_wall_ms + record->ttl_ms;
  const bool is_left_behind = shown.at(7).number == 1;  // by a worker that is dead
  if (info.state == State::leased && record->pid != 0 && !is_left_behind)
    info.holder_pid = static_cast<int>(record->pid);
  info.command = record->command;
  info.timeout_ms = record->timeout_ms;
  info.keep_ms = record->keep_ms;
  info.schedule = record->schedule;
  if (!info.schedule.empty()) info.scheduled_at_wall_ms = record->scheduled_wall_ms;
  const bool ended = has_ended(info.state);
  if (record->ttl_ms > 0 && !ended) info.ttl_ms = record->ttl_ms;
  const bool was_started = info.state == State::leased || info.state == State::dead || ended;
  if (ended || info.state == State::dead) info.ended_at_wall_ms = shard_.wall_of(record->since_ms);
  if (was_started && record->began_ms != 0) info.started_at_wall_ms = shard_.wall_of(record->began_ms);
  // The record names who held it last for longer than that holds it.
  if (info.started_at_wall_ms && record->pid != 0) info.worker_pid = static_cast<int>(record->pid);
  if (!ended) info.payload = std::string(record->payload);
  if (const std::optional<TiesRecord> ties = read_ties(shown.at(3).text)) {
    (record->debounced ? info.debounce : info.unique) = ties->unique;
    if (!info.unique.empty()) info.unique_for_ms = ties->unique_for_ms;
    info.after = ties->after;
    info.after_any = ties->after_any;
    // Without a delay it is due when it was pushed, which says nothing.
    const bool is_put_off = info.state == State::held && !record->suspended;
    if (is_put_off && ties->delay_ms > 0) info.delay_ms = ties->delay_ms;
    if (is_put_off && ties->delay_ms <= 0 && ties->due_ms > record->pushed_ms)
      info.due_at_wall_ms = shard_.wall_of(ties->due_ms);
  }
  if (shown.at(2).is_text()) info.last_error = read_failure(shown.at(2).text);
  std::optional<LastError> end = info.state == State::dead ? info.last_error : std::nullopt;
  if (ended) end = read_failure(std::string(8, '\0') + shown.at(4).text);
  if (end) info.exit = end->exit, info.signal = end->signal;
  if (info.last_error) info.last_error->at_wall_ms = shard_.wall_of(info.last_error->at_wall_ms);
  return info;
}

Result<std::optional<MessageInfo>> RedisLook::get(MessageId id) {
  if (number(id) > kMessageIdMax) return std::optional<MessageInfo>();
  FQ_TRY_SET(const Reply reply, shard_.look({"get", std::to_string(number(id))}));
  const Reply& shown = reply.at(1);
  if (shown.at(1).is_text()) {
    std::optional<MessageInfo> info = info_of(shown, reply);
    if (!info)
      return Error{ErrorKind::bad_data, "message " + shown.at(0).text + ": " + std::string(kUnreadable), 0};
    if (info->state == State::leased) info->holder_host = shown.at(6).text.substr(0, kHostNameBytesMax);
    return info;
  }
  const std::optional<OutcomeRecord> outcome = read_outcome(shown.at(5).text);
  if (!outcome) return std::optional<MessageInfo>();
  MessageInfo info;
  info.id = id;
  info.tenant = outcome->tenant;
  info.state = outcome->state;
  info.attempts = outcome->attempts;
  if (outcome->state == State::moved)
    info.moved_to = Elsewhere{std::string(outcome->queue_there), MessageId{outcome->id_there}};
  return std::optional(std::move(info));
}

Result<std::optional<JobOutput>> RedisLook::output(MessageId id) {
  if (number(id) > kMessageIdMax) return std::optional<JobOutput>();
  FQ_TRY_SET(const Reply reply, shard_.look({"output", std::to_string(number(id))}));
  const Reply& kept = reply.at(1).at(0);
  const std::optional<uint64_t> left_ms = parse_decimal(kept.at(0).text);
  if (!left_ms) return std::optional<JobOutput>();
  JobOutput output;
  output.keep_ms = static_cast<int64_t>(*left_ms);
  Unpacker bytes(kept.at(1).text);
  for (Gap* const gap : {&output.out_gap, &output.err_gap}) {
    gap->at = static_cast<uint64_t>(bytes.whole());
    gap->bytes = static_cast<uint64_t>(bytes.whole());
  }
  output.out = bytes.raw(bytes.number<uint32_t>());
  output.err = bytes.rest();
  if (!bytes.ok())
    return Error{ErrorKind::bad_data, "output of message " + std::to_string(number(id)) + ": cannot be read",
                 0};
  return std::optional(std::move(output));
}

Result<std::map<std::string, RedisLook::Session>> RedisLook::sessions() {
  FQ_TRY_SET(const Reply reply, shard_.look({"sessions"}));
  std::map<std::string, Session> all;
  for (const Reply& each : reply.at(1).items) {
    Unpacker said(each.at(1).text);
    Session session;
    Attendee& one = session.attendee;
    one.pid = static_cast<int>(said.number<uint32_t>());
    one.slots = said.number<uint16_t>();
    const auto how = said.number<uint16_t>();
    one.stopped = how == kStopped;
    if (how == kDead) one.kind = Attendee::Kind::orphan;
    session.messages = std::max(said.number<uint32_t>(), 1U);
    one.since_wall_ms = shard_.wall_of(said.whole());
    one.host = said.rest().substr(0, kHostNameBytesMax);
    for (const Reply& id : each.at(2).items) {
      if (const std::optional<uint64_t> held = parse_decimal(id.text)) one.ids.push_back(MessageId{*held});
    }
    if (said.ok()) all[each.at(0).text] = std::move(session);
  }
  return all;
}

std::optional<Attendee> RedisLook::told_of(Session session) {
  Attendee& one = session.attendee;
  if (one.slots != 0) one.kind = Attendee::Kind::worker;
  const size_t jobs = (one.ids.size() + session.messages - 1) / session.messages;
  one.busy = static_cast<uint32_t>(std::min<size_t>(one.slots, jobs));
  if (one.slots == 0 && one.ids.empty()) return std::nullopt;
  return std::move(one);
}

Result<std::vector<Attendee>> RedisLook::attendees() {
  FQ_TRY_SET(const auto found, sessions());
  std::vector<Attendee> all;
  for (const auto& [nonce, session] : found) {
    if (std::optional<Attendee> one = told_of(session)) all.push_back(*std::move(one));
  }
  return all;
}

/// A cursor is the time and the id of the last one that was looked at.
Result<MessagePage> RedisLook::ended(const Filter& filter, const Cursor& cursor, size_t n) {
  std::string_view lists = "dz";
  if (filter.state) lists = *filter.state == State::dead ? "d" : "z";
  std::string at = "+inf", id = std::to_string(kMessageIdMax);
  if (!cursor.text.empty()) {
    const size_t dot = std::min(cursor.text.find('.'), cursor.text.size() - 1);
    at = cursor.text.substr(0, dot), id = cursor.text.substr(dot + 1);
    if (!parse_decimal(at) || !parse_decimal(id))
      return Error{ErrorKind::usage, "cursor: is none of this queue", 0};
  }
  MessagePage page;
  const std::string count = std::to_string(kMessagesPerCall);
  for (;;) {
    FQ_TRY_SET(const Reply reply, shard_.look({"told", lists, at, id, count}));
    const Reply& found = reply.at(1);
    for (const Reply& each : found.items) {
      if (page.messages.size() == n) return page.next.text = at + "." + id, page;
      at = each.at(0).text, id = each.at(1).at(0).text;
      std::optional<MessageInfo> info = info_of(each.at(1), reply);
      if (info && is_taken_by(filter, *info)) page.messages.push_back(std::move(*info));
    }
    if (found.items.size() < kMessagesPerCall) return page;
  }
}

/// The last of them: who waits for all waits for that one, and others have ended by then more often than not.
Result<std::optional<MessageId>> RedisLook::unended(const EndRequest& request, bool all) {
  const std::span<const MessageId> ids = request.ids;
  std::optional<MessageId> open;
  for (size_t left = ids.size(); left > 0 && (all || !open);) {
    ArgumentList arguments;
    arguments.borrow("ended");
    std::vector<size_t> places;
    for (; left > 0 && places.size() < kIdsPerCall; --left) {
      if (!request.ends.empty() && request.ends[left - 1]) continue;
      places.push_back(left - 1);
      arguments.add(std::to_string(std::min(number(ids[left - 1]), kMessageIdMax)));
    }
    if (places.empty()) break;
    FQ_TRY_SET(const Reply reply, shard_.look(arguments.words()));
    for (size_t i = 0; i < places.size(); ++i) {
      const int64_t how = reply.at(1).at(i).number;
      if (how == 0 && !open) open = ids[places[i]];
      if (how != 0 && !request.ends.empty()) request.ends[places[i]] = end_told_by(how);
    }
  }
  return open;
}

Result<bool> RedisLook::is_idle() {
  FQ_TRY_SET(const Reply reply, shard_.look({"idle"}));
  return reply.at(1).at(0).number == 1;
}

Result<EndStatus> RedisLook::await_end(const EndRequest& request) {
  FQ_TRY(check_ends(request));
  Waiting waiting(request.wait_ms, request.interrupt);
  Awaiting awaiting;
  WholeLooks whole;
  for (;;) {
    Awaited what = {.what = Awaited::What::idle};
    bool ended = false;
    if (request.until_idle) {
      FQ_TRY_SET(ended, is_idle());
    } else {
      FQ_TRY_SET(const std::optional<MessageId> open, unended(request, whole.is_due()));
      ended = !open;
      if (open) what = awaited_end(*open);
    }
    if (ended) return EndStatus::ended;
    const Waiting::End end = awaiting.next(waiting, shard_, what);
    if (end == Waiting::End::timed_out) return EndStatus::timed_out;
    if (end == Waiting::End::interrupted) return EndStatus::interrupted;
  }
}

Result<StatsRow> RedisLook::sums(TimeCounts& waited, TimeCounts& ran, Standings& standings) {
  FQ_TRY_SET(const Reply reply, shard_.look({"sums"}));
  StatsRow row = row_of(reply.at(1).at(0).text);
  const Reply& counted = reply.at(1).at(2);
  const auto rates = [&](size_t what) {
    const auto a_second = [&](size_t at, int minutes) {
      const auto count = static_cast<double>(parse_decimal(counted.at(at + what).text).value_or(0));
      return count / (60.0 * minutes);
    };
    return Rates{a_second(0, 1), a_second(3, 5), a_second(6, 15)};
  };
  row.pushed_per_s = rates(0);
  row.popped_per_s = rates(1);
  row.acked_per_s = rates(2);
  row.paused = reply.at(1).at(3).number == 1;
  row.draining = reply.at(1).at(4).number == 1;
  row.tenants = static_cast<uint64_t>(reply.at(1).at(5).number);
  row.active_tenants = static_cast<uint64_t>(reply.at(1).at(6).number);
  const Reply& scheduled = reply.at(1).at(7);
  row.schedules = static_cast<uint64_t>(scheduled.at(0).number);
  if (const std::optional<uint64_t> next_ms = parse_decimal(scheduled.at(1).text))
    row.next_schedule_wall_ms = static_cast<int64_t>(*next_ms);
  row.fair_by = static_cast<FairBy>(reply.at(1).at(8).number);
  FQ_TRY(add_times(waited, ran));
  FQ_TRY(add_active(standings));
  return row;
}

Result<void> RedisLook::add_times(TimeCounts& waited, TimeCounts& ran) {
  FQ_TRY_SET(const Reply reply, shard_.look({"histograms"}));
  const Reply& all = reply.at(1);
  for (size_t i = 0; i + 1 < all.items.size(); i += 2) {
    const std::string_view field = all.at(i).text;
    const uint64_t value = parse_decimal(all.at(i + 1).text).value_or(0);
    if (field.starts_with('w')) waited.take(field.substr(1), value);
    if (field.starts_with('r')) ran.take(field.substr(1), value);
  }
  return {};
}

/// Page by page, behind the last one: of each what the server tells, and its time.
template <class Take>
Result<void> RedisLook::each_tenant(std::string_view list, Take take) {
  std::string last;
  const std::string count = std::to_string(kTenantsPerCall);
  for (;;) {
    FQ_TRY_SET(const Reply reply, shard_.look({list, last, count}));
    const int64_t now_ms = reply.at(0).at(0).number;
    for (const Reply& each : reply.at(1).items) {
      if (each.at(0).text <= last) return Error{ErrorKind::bad_data, "tenants: are told in no order", 0};
      last = each.at(0).text;
      take(each, now_ms);
    }
    if (reply.at(1).items.size() < kTenantsPerCall) return {};
  }
}

Result<void> RedisLook::add_active(Standings& standings) {
  return each_tenant("active_tenants", [&](const Reply& each, int64_t now_ms) {
    standings.add(each.at(0).text, each.at(1), now_ms);
  });
}

Result<void> RedisLook::add_tenants(const std::string& top, Standings& standings) {
  return each_tenant("tenant_rows", [&](const Reply& each, int64_t now_ms) {
    const std::string& tenant = each.at(0).text;
    if (!is_at_or_below(tenant, top)) return standings.add(tenant, each.at(1), now_ms);
    StatsRow row = row_of(each.at(2).text);
    row.tenant = tenant;
    row.weight = static_cast<double>(each.at(3).number) / 1000.0;
    standings.add(std::move(row), each.at(1), now_ms);
  });
}

Result<StatsReply> RedisLook::stats(const StatsRequest& request) {
  StatsReply reply;
  Standings standings;
  if (request.tenants) {
    FQ_TRY(add_tenants(request.tenant, standings));
    reply.rows = standings.take_rows();
  } else {
    TimeCounts waited, ran;
    FQ_TRY_SET(StatsRow row, sums(waited, ran, standings));
    row.wait_ms = waited.percentiles();
    row.run_ms = ran.percentiles();
    standings.tell(row);
    reply.rows.push_back(std::move(row));
  }
  reply.as_of_wall_ms = system_clock().wall_ms();
  return reply;
}

}  // namespace fq
