// history_view - what an engine and the model show of a queue, as text that can be compared.
#pragma once

// System.
#include <map>
#include <set>
#include <string>
// Tests.
#include "tests/fakes/model.h"

namespace fq::test {

/// Asked for by far more than there is and by less, which an engine may find in two ways.
inline std::string ready_order(Queue& engine, const std::string& tenant = {}) {
  std::string orders[2];
  for (const size_t n : {size_t{100}, size_t{1'000}}) {
    const Result<MessagePage> page = engine.peek({.tenant = tenant, .state = State::ready, .tag = {}}, {}, n);
    if (!page.ok()) return page.error().text;
    std::string& order = orders[n == 100 ? 0 : 1];
    for (const MessageInfo& message : page->messages) order += message.payload.value_or("?") + " ";
  }
  return orders[1].starts_with(orders[0]) ? orders[1] : orders[0] + "or " + orders[1];
}

inline std::string said_of(const std::optional<Explanation>& explained) {
  if (!explained) return "nothing";
  std::set<std::string> reasons;
  for (const Reason& reason : explained->reasons) {
    std::string text = std::string(name_of(reason.kind)) + " '" + reason.node + "'";
    if (reason.limit) text += " " + std::to_string(reason.running) + " of " + std::to_string(*reason.limit);
    if (reason.interval_ns != 0) text += " each " + std::to_string(reason.interval_ns);
    // When a message has ended is told by its history.
    const bool timed = reason.until_wall_ms && reason.kind != Reason::Kind::ended;
    if (timed) text += " until " + std::to_string(*reason.until_wall_ms);
    reasons.insert(std::move(text));
  }
  std::string text(name_of(explained->state));
  if (explained->place) text += ", place " + std::to_string(*explained->place);
  if (explained->ahead) text += ", behind " + std::to_string(*explained->ahead);
  if (explained->limited) text += ", limited";
  for (const std::string& reason : reasons) text += ", " + reason;
  return text;
}

inline std::string explained_by(Queue& engine, MessageId id) {
  const Result<ExplainReply> reply = engine.explain({.id = id, .tenant = {}});
  return reply.ok() ? said_of(reply->subject) : reply.error().text;
}

/// What is served next there, by the model's ids: `models`, by the engine's. With "?": when a limit allows
/// it.
inline std::string next_of(Queue& engine, const std::string& tenant,
                           const std::map<MessageId, MessageId>& models) {
  const Result<ExplainReply> reply = engine.explain({.id = {}, .tenant = tenant, .next = 500});
  if (!reply.ok()) return reply.error().text;
  std::string text;
  for (const Explanation& each : reply->next)
    text += std::to_string(number(models.at(*each.id))) + (each.limited ? "? " : " ");
  return text;
}

inline std::string next_of(const Model& model, const std::string& tenant) {
  const Model::Outlook outlook = model.outlook(tenant);
  std::string text;
  for (size_t i = 0; i < outlook.ids.size(); ++i)
    text += std::to_string(number(outlook.ids[i])) + (i < outlook.starting ? " " : "? ");
  return text;
}

/// An engine that keeps a journal holds what it has against what that makes of it. Nothing, or what differs.
inline std::string fault_of_check(Queue& engine) {
  const Result<CheckReport> report = engine.check();
  if (report.ok() && report->findings.empty()) return {};
  return "check: " + (report.ok() ? report->findings.lines[0] : report.error().text);
}

inline std::string counts_of(Queue& engine) {
  const Result<StatsReply> reply = engine.stats({});
  if (!reply.ok()) return reply.error().text;
  std::string text;
  const StatsRow& row = reply->rows.at(0);
  for (const uint64_t n : {row.ready, row.delayed, row.leased, row.held, row.dead, row.pushed, row.popped,
                           row.acked, row.retried, row.released, row.buried, row.cancelled, row.expired}) {
    text += std::to_string(n) + " ";
  }
  return text;
}

inline std::string counts_of(const Model& model) {
  std::map<std::string, uint64_t> counts;
  for (const Model::Message& message : model.messages) {
    counts["is " + std::string(name_of(message.info.state))] += 1;
    for (const HistoryEvent& event : message.history) counts["was " + std::string(event.event)] += 1;
    counts["was retried"] += message.last_retries;
  }
  std::string text;
  for (const char* what :
       {"is ready", "is delayed", "is leased", "is held", "is dead", "was pushed", "was leased", "was acked",
        "was retried", "was released", "was buried", "was cancelled", "was expired"}) {
    text += std::to_string(counts[what]) + " ";
  }
  return text;
}

/// Of each tenant that has something ready: its part of the turns.
inline std::string shares_of(Queue& engine) {
  const Result<StatsReply> reply = engine.stats({.tenants = true, .tenant = {}});
  if (!reply.ok()) return reply.error().text;
  std::string text;
  for (const StatsRow& row : reply->rows) {
    if (row.ready > 0) text += row.tenant + " " + std::to_string(row.share.value_or(-1)) + ", ";
  }
  return text;
}

inline std::string shares_of(Model& model) {
  std::set<std::string> tenants;
  for (const MessageId id : model.ready("")) tenants.insert(model.find(id)->info.tenant);
  std::string text;
  for (const std::string& tenant : tenants) {
    const std::string leaf = tenant + "/";
    const double share = model.turns().is_blocked(leaf) ? 0 : model.turns().share_of(leaf);
    text += tenant + " " + std::to_string(share) + ", ";
  }
  return text;
}

inline std::string state_of(Queue& engine, MessageId id) {
  const Result<std::optional<MessageInfo>> found = engine.get(id);
  if (!found.ok()) return found.error().text;
  return found->has_value() ? std::string(name_of((*found)->state)) : std::string("none");
}

/// stale and gone are told apart only as long as an engine remembers.
inline std::string status_name(SettleStatus status) {
  if (status == SettleStatus::stale || status == SettleStatus::gone) return "refused";
  if (status == SettleStatus::ok) return "ok";
  return status == SettleStatus::buried ? "buried" : "other";
}

/// A push, as a line of the log.
inline std::string text_of(const NewMessage& message) {
  const auto quoted = [](std::string_view text) { return "'" + std::string(text) + "'"; };
  return std::string(as_text(message.payload)) + " " + std::string(message.tenant) + " priority " +
         std::to_string(message.priority) + " key " + quoted(message.key) + " delay " +
         std::to_string(message.delay_ms.value_or(0)) + " ttl " + std::to_string(message.ttl_ms.value_or(0)) +
         " unique " + quoted(message.unique) + " for " + std::to_string(message.unique_for_ms) +
         " debounce " + quoted(message.debounce) + " quiet " + std::to_string(message.quiet_ms) + " mode " +
         std::to_string(static_cast<int>(message.unique_mode)) + "\n";
}

}  // namespace fq::test
