#include "cli/views/explain_view.h"

// fq, below us.
#include "core/base/text/counted.h"
#include "core/base/text/duration.h"
#include "core/base/text/escape.h"
#include "core/base/text/json_writer.h"
#include "core/base/text/wall_time.h"
// fq, this room.
#include "cli/views/message_view.h"
#include "cli/views/schedule_view.h"
#include "cli/terminal/shown.h"
#include "cli/terminal/table.h"
#include "cli/words/local_time.h"
#include "cli/terminal/typed_command.h"

namespace fq::cli {

namespace {

constexpr int64_t kNsPerMs = 1'000'000, kNsPerS = 1'000'000'000;

std::string id_text(MessageId id) { return std::to_string(number(id)); }

/// One word of a command line; "": it has characters that do more to a terminal than to be read.
std::string word(const std::string& text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./@:-";
  if (text.find_first_not_of(plain) == std::string::npos) return text;
  return shown(text) == text ? quote_shell(text) : "";
}

/// A tenant as an operand, which it would not be taken for if it looked like an option or a KEY=VALUE.
std::string tenant_word(const std::string& tenant) {
  const std::string quoted = word(tenant);
  const bool is_operand = tenant[0] != '-' && tenant.find('=') == std::string::npos;
  return is_operand || quoted.empty() ? quoted : "--tenant=" + quoted;
}

/// With the spool, too, unless that is the one that is taken without a word.
std::string in_queue(std::string command, const ExplainContext& context) {
  command = typed_command(std::move(command), context.queue);
  if (context.spool.empty()) return command;
  const std::string spool = word(context.spool);
  return spool.empty() ? "" : command + " --spool=" + spool;
}

/// "; fq show 17 -q mail tells why"; "": it cannot be typed.
std::string also_typed(const std::string& command, const std::string& tells, const ExplainContext& context) {
  const std::string line = in_queue(command, context);
  return line.empty() ? "" : "; " + line + " tells " + tells;
}

std::string time_text(const std::optional<int64_t>& at, int64_t now_ms) {
  return at ? local_time_text(*at) + " (" + relative_time(*at, now_ms) + ")" : "an unknown time";
}

std::string interval_text(int64_t ns) {
  if (ns >= kNsPerMs && ns % kNsPerMs == 0) return format_duration(ns / kNsPerMs);
  return ns >= kNsPerS ? format_duration(ns / kNsPerMs) : std::to_string(ns / 1'000) + "us";
}

std::string subject_of(const Reason& reason) {
  return reason.node.empty() ? "the queue" : shown(reason.node);
}

/// Its limits are changed nowhere else.
std::string pool_of(const Reason& reason) { return "pool " + shown(reason.node) + " (in fq.toml)"; }

/// "fq tenant VERB acme", or of the queue; "": its name is not for a command line.
std::string command_for(const Reason& reason, const std::string& verb, const std::string& rest,
                        const ExplainContext& context) {
  if (reason.node.empty()) return in_queue("fq queue " + verb + rest, context);
  const std::string tenant = tenant_word(reason.node);
  return tenant.empty() ? "" : in_queue("fq tenant " + verb + " " + tenant + rest, context);
}

std::string cycle_text(const std::vector<MessageId>& cycle) {
  std::string text = "waits for itself: ";
  for (const MessageId id : cycle) text += id_text(id) + " waits for ";
  return text + id_text(cycle[0]);
}

std::string running_text(const Reason& reason) {
  std::string text = std::to_string(reason.running);
  if (reason.limit) text += " of " + std::to_string(*reason.limit);
  return text;
}

std::string gathering_text(const Reason& reason, int64_t now_ms) {
  return subject_of(reason) + " gathers: " + running_text(reason) + " so far, at the latest until " +
         time_text(reason.until_wall_ms, now_ms);
}

std::string concurrency_text(const std::string& whose, const Reason& reason) {
  std::string text = whose + ": " + running_text(reason) + " running";
  if (!reason.ids.empty()) text += ": " + ids_text(reason.ids);
  if (!reason.ids.empty() && reason.ids.size() < reason.running) text += ", ...";
  return text;
}

std::string rate_reason_text(const std::string& whose, const Reason& reason, int64_t now_ms) {
  return whose + ": one each " + interval_text(reason.interval_ns) + ", the next at " +
         time_text(reason.until_wall_ms, now_ms);
}

ReasonText state_reason_text(const Explanation& of, const Reason& reason, const ExplainContext& context) {
  const int64_t now_ms = context.now_wall_ms;
  const std::string id = of.id ? id_text(*of.id) : "";
  switch (reason.kind) {
    case Reason::Kind::delayed:
      return {"due at " + time_text(reason.until_wall_ms, now_ms), in_queue("fq kick " + id, context)};
    case Reason::Kind::leased:
      if (reason.pid) return {"held by " + process_text(*reason.pid, reason.host), ""};
      if (!reason.until_wall_ms) return {"held by " + left_behind_text(reason.host), ""};
      return {"leased until " + time_text(reason.until_wall_ms, now_ms), ""};
    case Reason::Kind::held:
      if (!reason.cycle.empty())
        return {cycle_text(reason.cycle) + ": none of them goes on; cancel one",
                in_queue("fq cancel " + id, context)};
      if (reason.ids.empty()) return {"is on its way from one queue to another", ""};
      return {"comes after " + ids_text(reason.ids) +
                  also_typed("fq explain " + id_text(reason.ids[0]), "what keeps it", context),
              ""};
    case Reason::Kind::dead:
      return {"buried at " + time_text(reason.until_wall_ms, now_ms) +
                  also_typed("fq show " + id, "why", context),
              in_queue("fq kick " + id, context)};
    case Reason::Kind::expired:
      return {"its time to live ran out at " + time_text(reason.until_wall_ms, now_ms),
              in_queue("fq kick " + id, context)};
    default:
      if (const auto& to = context.moved_to)
        return {"moved to queue '" + to->queue + "', as message " + id_text(to->id) + ", at " +
                    time_text(reason.until_wall_ms, now_ms),
                ""};
      return {std::string(name_of(of.state)) + " at " + time_text(reason.until_wall_ms, now_ms), ""};
  }
}

/// Turns are counted only where each message is one and no priority or key reaches across tenants.
bool counts_turns(const ExplainContext& context) {
  return context.settings.fair_by == FairBy::turns && context.settings.scope == Scope::tenant;
}

std::string bound_text(const FairnessBound& bound, const Settings& settings) {
  const std::string node = shown(bound.node) + (bound.own ? " itself" : "");
  if (settings.scope == Scope::queue)
    return node + " takes turns with those whose first message is its equal";
  switch (settings.fair_by) {
    case FairBy::turns:
      return "between two turns of " + node + " each other has " + std::to_string(bound.turns) + " at most";
    case FairBy::bytes:
      return node + " has its weight's share of the bytes, but for one message of each";
    case FairBy::time:
      return node + " has its weight's share of the run time, but for what runs at once";
  }
  return "";
}

std::string ordinal_text(uint64_t place) {
  const uint64_t last = place % 10, teen = place % 100;
  const char* suffix = "th";
  if (teen < 11 || teen > 13) suffix = last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
  return std::to_string(place) + suffix;
}

std::string by_text(const Explanation& of, const ExplainContext& context) {
  if (of.by == ServedBy::age) return "waited longest";
  if (of.by == ServedBy::turn) return "its turn";
  return context.settings.order == Order::key ? "its key" : "its priority";
}

std::string place_text(const Explanation& of) {
  std::string text;
  if (of.place) text = ordinal_text(*of.place) + " to be served";
  if (of.place_max) text = ordinal_text(*of.place_max) + " to be served, at the latest";
  if (of.ahead) {
    if (!text.empty()) text += "; ";
    text += std::to_string(*of.ahead) + " of its tenant before it";
  }
  if (of.limited) text += (text.empty() ? "" : "; ") + std::string("when a limit allows it");
  return text;
}

void add_reasons(Table& table, const Explanation& of, const ExplainContext& context) {
  for (const Reason& reason : of.reasons) {
    const ReasonText text = reason_text(of, reason, context);
    table.row({"waits", text.what});
    if (!text.change.empty()) table.row({"change", text.change});
  }
}

void add_bounds(Table& table, const Explanation& of, const ExplainContext& context) {
  for (const FairnessBound& bound : of.bounds) {
    if (bound.turns != 0) table.row({"bound", bound_text(bound, context.settings)});
  }
}

/// Who would take it, and about when; of one that is still to be taken.
void add_workers(Table& table, const Explanation& of, const ExplainContext& context) {
  if (of.state != State::ready && of.state != State::delayed && of.state != State::held) return;
  table.row({"workers", hands_text(context.measured.hands)});
  const std::optional<StartEstimate> start = estimate_start(of, context.measured, context.now_wall_ms);
  if (!start) return;
  const bool now = start->at_wall_ms <= context.now_wall_ms;
  table.row({"about", (now ? "now" : time_text(start->at_wall_ms, context.now_wall_ms)) +
                          ", an estimate: " + start->ground});
}

std::string message_text(const Explanation& of, const ExplainContext& context) {
  Table table({0, 1});
  table.row({"message", id_text(*of.id) + " in queue " + shown(context.queue)});
  if (!of.tenant.empty()) table.row({"tenant", shown(of.tenant)});
  table.row({"state", std::string(name_of(of.state))});
  add_reasons(table, of, context);
  if (of.reasons.empty()) {
    const bool first = of.place == 1;
    table.row({"waits", first ? "next to be served; waiting for a worker" : "only for its turn"});
  }
  if (const std::string place = place_text(of); !place.empty()) table.row({"place", place});
  add_workers(table, of, context);
  add_bounds(table, of, context);
  return table.text();
}

std::string tenant_text(const Explanation& of, bool has_next, const ExplainContext& context) {
  Table table({0, 1});
  table.row({"tenant", shown(of.tenant) + " in queue " + shown(context.queue)});
  table.row({"has", std::to_string(of.ready) + " ready, " + std::to_string(of.delayed) + " delayed, " +
                        std::to_string(of.leased) + " leased, " + std::to_string(of.held) + " held, " +
                        std::to_string(of.dead) + " dead"});
  add_reasons(table, of, context);
  if (of.reasons.empty() && of.ready == 0) table.row({"waits", "for a message that is ready"});
  if (of.reasons.empty() && of.ready != 0)
    table.row({"waits", has_next ? "for nothing but its turns" : "for those below it, which are blocked"});
  add_bounds(table, of, context);
  return table.text();
}

std::string next_text(const ExplainReply& reply, const ExplainContext& context, const Screen& screen) {
  if (reply.next.empty()) return "next: nothing can be served now\n";
  Table table({2, 3});
  table.shorten({2}, kNameLeast);
  table.keep_least();
  table.row({"NEXT", "ID", "TENANT", "WHY"});
  for (const Explanation& one : reply.next) {
    const std::string why = by_text(one, context) + (one.limited ? ", when a limit allows it" : "");
    table.row({one.place ? std::to_string(*one.place) : "-", id_text(*one.id), shown(one.tenant), why});
  }
  return table.text(screen);
}

std::string blocked_text(const ExplainReply& reply, const ExplainContext& context, const Screen& screen) {
  if (reply.blocked.empty()) return "";
  Table table({0, 2});
  table.shorten({0}, kNameLeast);
  table.keep_least();
  table.row({"BLOCKED", "READY", "WHY"});
  for (const Explanation& one : reply.blocked) {
    std::string why;
    for (const Reason& reason : one.reasons) {
      // Of whom the row is need not be said again.
      std::string what = reason_text(one, reason, context).what;
      const std::string whose = shown(one.tenant) + " ";
      if (what.starts_with(whose)) what.erase(0, whose.size());
      why.append(why.empty() ? "" : "; ").append(what);
    }
    table.row({shown(one.tenant), std::to_string(one.ready), why});
  }
  std::string text = table.text(screen);
  if (reply.more_blocked != 0) text += "and " + counted(reply.more_blocked, "more tenant") + "\n";
  return text;
}

void write_number(JsonWriter& json, std::string_view key, const std::optional<uint64_t>& number) {
  json.key(key);
  number ? json.number(*number) : json.null();
}

void write_reason(JsonWriter& json, const Explanation& of, const Reason& reason,
                  const ExplainContext& context) {
  const ReasonText text = reason_text(of, reason, context);
  const bool of_pool =
      reason.kind == Reason::Kind::pool_concurrency || reason.kind == Reason::Kind::pool_rate;
  json.begin_object().key("reason").text(name_of(reason.kind)).key("tenant");
  (of_pool ? json.null() : json.text(reason.node)).key("pool");
  of_pool ? json.text(reason.node) : json.null();
  json.key("running").number(reason.running);
  write_number(json, "limit", reason.limit);
  json.key("interval_us").number(reason.interval_ns / 1'000).key("until");
  (reason.until_wall_ms ? json.text(format_wall_time(*reason.until_wall_ms)) : json.null()).key("holder");
  (reason.pid ? json.number(int64_t{*reason.pid}) : json.null()).key("host");
  reason.host.empty() ? json.null() : json.text(reason.host);
  json.key("ids").begin_array();
  for (const MessageId id : reason.ids) json.number(number(id));
  json.end_array().key("cycle").begin_array();
  for (const MessageId id : reason.cycle) json.number(number(id));
  json.end_array().key("text").text(text.what).key("change");
  text.change.empty() ? json.null() : json.text(text.change);
  json.end_object();
}

/// `more_blocked`: of the last one in the list of those that are blocked. `schedule`: it is about that, and
/// `of` is nothing.
void write_explanation(std::string& out, std::string_view about, const Explanation& of,
                       const ExplainContext& context, std::optional<uint64_t> more_blocked = std::nullopt,
                       const ScheduleInfo* schedule = nullptr) {
  JsonWriter json(out);
  json.begin_object().key("about").text(about).key("queue").text(context.queue).key("id");
  of.id ? json.number(number(*of.id)) : json.null();
  json.key("tenant");
  of.tenant.empty() ? json.null() : json.text(of.tenant);
  json.key("state");
  of.id ? json.text(name_of(of.state)) : json.null();
  write_number(json, "place", of.place);
  write_number(json, "place_max", of.place_max);
  json.key("limited").boolean(of.limited);
  write_number(json, "ahead", of.ahead);
  json.key("why");
  of.place ? json.text(by_text(of, context)) : json.null();
  json.key("reasons").begin_array();
  for (const Reason& reason : of.reasons) write_reason(json, of, reason, context);
  json.end_array().key("bounds").begin_array();
  for (const FairnessBound& bound : of.bounds) {
    json.begin_object().key("tenant").text(bound.node).key("own").boolean(bound.own);
    write_number(json, "turns", counts_turns(context) ? std::optional(bound.turns) : std::nullopt);
    json.end_object();
  }
  json.end_array();
  const std::pair<std::string_view, uint64_t> counts[] = {{"ready", of.ready},
                                                          {"delayed", of.delayed},
                                                          {"leased", of.leased},
                                                          {"held", of.held},
                                                          {"dead", of.dead}};
  for (const auto& [key, count] : counts)
    write_number(json, key, of.id || schedule != nullptr ? std::nullopt : std::optional(count));
  write_number(json, "more_blocked", more_blocked);
  const Crew::Hands& hands = context.measured.hands;
  json.key("workers").number(hands.workers).key("slots").number(hands.slots).key("busy").number(hands.busy);
  json.key("estimated_start");
  const std::optional<StartEstimate> start =
      schedule != nullptr ? std::nullopt : estimate_start(of, context.measured, context.now_wall_ms);
  start ? json.text(format_wall_time(start->at_wall_ms)) : json.null();
  write_schedule_keys(json, schedule);
  json.end_object();
  out += "\n";
}

}  // namespace

ReasonText reason_text(const Explanation& of, const Reason& reason, const ExplainContext& context) {
  const int64_t now_ms = context.now_wall_ms;
  switch (reason.kind) {
    case Reason::Kind::paused:
      return {subject_of(reason) + " is paused", command_for(reason, "resume", "", context)};
    case Reason::Kind::limited:
      return {subject_of(reason) + " starts nothing until " + time_text(reason.until_wall_ms, now_ms),
              command_for(reason, "limit", " --for none", context)};
    case Reason::Kind::concurrency:
      return {concurrency_text(subject_of(reason), reason),
              command_for(reason, "set", " concurrency=N", context)};
    case Reason::Kind::rate:
      return {rate_reason_text(subject_of(reason), reason, now_ms),
              command_for(reason, "set", " rate=N/s", context)};
    case Reason::Kind::gathering:
      return {gathering_text(reason, now_ms), in_queue("fq queue set linger=DUR", context)};
    case Reason::Kind::pool_concurrency:
      return {concurrency_text(pool_of(reason), reason), ""};
    case Reason::Kind::pool_rate:
      return {rate_reason_text(pool_of(reason), reason, now_ms), ""};
    default:
      return state_reason_text(of, reason, context);
  }
}

std::string explanation_text(const ExplainReply& reply, const ExplainContext& context, const Screen& screen) {
  if (reply.subject && reply.subject->id) return message_text(*reply.subject, context);
  std::string text = reply.subject ? tenant_text(*reply.subject, !reply.next.empty(), context) : "";
  text += next_text(reply, context, screen);
  text += blocked_text(reply, context, screen);
  return text + "workers: " + hands_text(context.measured.hands) + "\n";
}

std::string explanation_json(const ExplainReply& reply, std::span<const ScheduleInfo> schedules,
                             const ExplainContext& context) {
  std::string text;
  if (reply.subject) {
    write_explanation(text, reply.subject->id ? "message" : "tenant", *reply.subject, context);
  }
  for (const Explanation& one : reply.next) write_explanation(text, "next", one, context);
  for (const Explanation& one : reply.blocked) {
    const bool last = &one == &reply.blocked.back();
    write_explanation(text, "blocked", one, context, last ? std::optional(reply.more_blocked) : std::nullopt);
  }
  for (const ScheduleInfo& one : schedules)
    write_explanation(text, "schedule", {}, context, std::nullopt, &one);
  return text;
}

}  // namespace fq::cli
