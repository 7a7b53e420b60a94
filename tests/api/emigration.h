// emigration - all messages of a queue go to another one, on an engine and in the model alike.
#pragma once

// System.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>
// fq, below us.
#include "core/api/exported_ids.h"
// Tests.
#include "tests/api/random_steps.h"
#include "tests/fakes/model.h"

namespace fq::test {

/// What an export tells of a message and each engine has to tell alike; its ids are the model's.
inline std::string text_of(const ExportedMessage& message, int64_t now_wall_ms) {
  const auto of = [](MessageId id) { return std::to_string(number(id)); };
  std::string text(name_of(message.state));
  text += " '" + message.payload + "' of '" + message.tenant + "' priority " +
          std::to_string(message.priority) + " key '" + message.key + "'";
  // Since when one is held nobody asks; of what is to be due, a time that has passed is as good as now.
  if (message.expired) text += " expired";
  if (message.state != State::held) text += " since " + std::to_string(message.since_wall_ms);
  if (message.state == State::held)
    text += " due " + std::to_string(std::max(message.due_wall_ms, now_wall_ms) + message.delay_ms);
  text += " attempts " + std::to_string(message.attempts) + " of " +
          std::to_string(message.attempts_max.value_or(0)) + " deliveries " +
          std::to_string(message.deliveries) + " crashes " + std::to_string(message.crashes) + " pushed " +
          std::to_string(message.pushed_at_wall_ms);
  if (message.state != State::dead) text += " ttl " + std::to_string(message.ttl_ms);
  text += " unique '" + message.unique + "' for " +
          std::to_string(message.unique.empty() ? 0 : message.unique_for_ms) + " debounce '" +
          message.debounce + "' behind " + of(message.behind);
  std::set<std::string> after;
  for (const ExportedWait& wait : message.after) {
    // What others once came after means nothing any more, nor what has ended.
    const bool holds = message.state == State::held || message.state == State::dead;
    if (holds && !wait.closed) after.insert(of(wait.id));
  }
  for (const std::string& each : after) text += ", after " + each;
  std::set<std::string> steps;
  for (const ExportedStep& step : message.steps)
    steps.insert(step.name + " " + std::string(name_of(step.kind)) + " " +
                 std::to_string(step.output.size()) + " bytes, child " + of(step.child) +
                 (step.open ? ", open" : ""));
  for (const std::string& each : steps) text += ", step " + each;
  return text;
}

class Emigration {
 public:
  struct Side {
    Queue& queue;
    Model& model;
  };
  /// `ids` are those that are known of the queue that they come from.
  Emigration(Side from, Side to, const std::vector<IdPair>& ids) : from_(from), to_(to) {
    for (const IdPair& each : ids) ids_.emplace(each.second, each.first);
  }

  /// Takes all there, each behind those that it names. What differs, or nothing.
  std::string run() {
    for (const auto& [model, engine] : ids_) take(model);
    return difference_;
  }
  /// As they are there.
  std::vector<IdPair> ids() const {
    std::vector<IdPair> ids;
    for (const auto& [before, after] : there_) ids.push_back(after);
    return ids;
  }

 private:
  void take(MessageId id) {
    if (!difference_.empty() || !begun_.insert(id).second) return;
    const std::optional<ExportedMessage> told = from_.model.exported(id);
    const Result<std::optional<ExportedMessage>> mine = from_.queue.exported(ids_.at(id));
    if (!mine.ok()) return differ(id, mine.error().text);
    if (mine->has_value() != told.has_value()) return differ(id, told ? "is not told" : "is told");
    if (!told) return;
    ExportedMessage engine = with_models_ids(**mine), model = *told;
    const int64_t now_wall_ms = from_.model.clock.wall_ms();
    const std::string text = text_of(engine, now_wall_ms), expected = text_of(model, now_wall_ms);
    if (text != expected) return differ(id, "engine '" + text + "', model '" + expected + "'");
    // It would take the key of the one that it is behind, if it came first: its turn is later.
    if (ongoing_.contains(model.behind)) {
      begun_.erase(id);
      return;
    }
    ongoing_.insert(id);
    for (const MessageId each : named_by(model)) take(each);
    ongoing_.erase(id);
    if (difference_.empty()) import(id, engine, model);
  }

  void import(MessageId id, ExportedMessage& engine, ExportedMessage& model) {
    renumber(engine, &IdPair::first);
    renumber(model, &IdPair::second);
    const Result<ImportReply> reply = to_.queue.import_messages({&engine, 1}, "before");
    const std::optional<MessageId> there = to_.model.import(model);
    to_.model.settle_held();
    if (!reply.ok()) return differ(id, reply.error().text);
    if (reply->error) return differ(id, reply->error->text);
    const ImportResult& item = reply->items.at(0);
    const bool imported = item.what == ImportResult::What::imported;
    // A queue that has nothing else takes all that came out of another one.
    if (!imported || !there) return differ(id, "import: '" + item.why + "'");
    there_[id] = {item.id, *there};
  }

  ExportedMessage with_models_ids(ExportedMessage message) const {
    rename_others(message, [this](MessageId id) {
      for (const auto& [model, engine] : ids_) {
        if (engine == id) return model;
      }
      return id;
    });
    return message;
  }
  /// Those that are not there (they have ended, or name each other) it does without.
  void renumber(ExportedMessage& message, MessageId IdPair::*side) const {
    rename_others(message, [&](MessageId id) {
      const auto found = there_.find(id);
      return found == there_.end() ? MessageId{} : found->second.*side;
    });
  }

  void differ(MessageId id, const std::string& what) {
    difference_ = "message " + std::to_string(number(id)) + " goes: " + what;
  }

  Side from_, to_;
  std::map<MessageId, MessageId> ids_;  // the engine's, by the model's
  std::map<MessageId, IdPair> there_;   // by the model's of before
  std::set<MessageId> begun_, ongoing_;
  std::string difference_;
};

}  // namespace fq::test
