// random_import - a message of another queue, as random histories take it in.
#pragma once

// System.
#include <algorithm>
#include <array>
#include <string>
// Tests.
#include "tests/api/random_patch.h"
#include "tests/api/random_steps.h"
#include "tests/fakes/model.h"

namespace fq::test {

/// The `n`-th. Those that it came after stand in it by their places among the `known` messages.
inline ExportedMessage drawn_import(const RandomPatch::Draw& draw, Order order, size_t n, size_t known) {
  static const char* const tenants[] = {"c", "a/x", "a/y", "b/z/1", "b/z/2", "default"};
  const auto letter = [&](char from, uint64_t of) {
    return std::string(1, static_cast<char>(from + static_cast<char>(draw.below(of))));
  };
  const int64_t now_wall_ms = draw.clock.wall_ms();
  ExportedMessage message;
  message.id = MessageId{1'000 + n};
  message.payload = "i" + std::to_string(n);
  message.tenant = tenants[draw.below(std::size(tenants))];
  message.pushed_at_wall_ms = now_wall_ms - static_cast<int64_t>(draw.below(100'000));
  message.since_wall_ms = now_wall_ms;
  message.state = std::array{State::ready, State::delayed, State::dead, State::held}[draw.below(4)];
  if (message.state == State::held && known == 0) message.state = State::ready;
  if (message.state == State::delayed) message.since_wall_ms += draw.fresh_span_ms(2'000);
  if (message.state == State::held) {
    message.due_wall_ms = now_wall_ms + (draw.below(2) == 0 ? draw.fresh_span_ms(2'000) : 0);
    for (uint64_t left = 1 + draw.below(3); left > 0; --left) {
      const uint64_t place = draw.below(known);
      const auto same = [&](const ExportedWait& each) { return number(each.id) == place; };
      if (std::none_of(message.after.begin(), message.after.end(), same))
        message.after.push_back({MessageId{place}, draw.below(2) == 0, false});
    }
  }
  if (order == Order::priority && draw.below(3) == 0)
    message.priority = static_cast<int32_t>(draw.below(5)) - 2;
  if (order == Order::key && draw.below(4) != 0) message.key = letter('a', 5);
  if (draw.below(3) == 0) message.unique = letter('k', 3);
  if (message.state == State::delayed && message.unique.empty() && draw.below(2) == 0)
    message.debounce = letter('k', 2);
  message.unique_for_ms = static_cast<int64_t>(draw.below(4)) * 500;
  if (draw.below(4) == 0) message.attempts_max = 1 + static_cast<uint32_t>(draw.below(3));
  if (draw.below(2) == 0) return message;
  message.attempts_in_force = draw.below(2) == 0 ? message.attempts_max.value_or(3) : 3;
  message.attempts = static_cast<uint32_t>(draw.below(message.attempts_max.value_or(3)));
  message.deliveries = message.attempts + 1;
  message.crashes = static_cast<uint32_t>(draw.below(message.attempts + 1));
  return message;
}

/// One that is drawn, taken in by either side.
class RandomImport {
 public:
  RandomImport(const RandomPatch::Draw& draw, Order order, size_t n, size_t known)
      : message_(drawn_import(draw, order, n, known)) {}

  std::string text() const {
    return std::string(name_of(message_.state)) + " " + message_.payload + " of '" + message_.tenant +
           "' key '" + message_.unique + message_.debounce + "' attempts " +
           std::to_string(message_.attempts) + " of " +
           std::to_string(message_.attempts_max.value_or(0)) + ", " +
           std::to_string(message_.attempts_in_force);
  }
  /// What became of it there, and its id; or the error.
  std::pair<std::string, MessageId> on(Queue& engine, const std::vector<IdPair>& ids) const {
    const ExportedMessage message = with(ids, &IdPair::first);
    const Result<ImportReply> reply = engine.import_messages({&message, 1}, "elsewhere");
    if (!reply.ok()) return {reply.error().text, {}};
    if (reply->error) return {reply->error->text, {}};
    const ImportResult& one = reply->items.at(0);
    const bool known = one.what == ImportResult::What::known;
    return {one.what == ImportResult::What::refused ? "refused" : known ? "known" : "imported", one.id};
  }
  std::optional<MessageId> on(Model& model, const std::vector<IdPair>& ids) const {
    const std::optional<MessageId> id = model.import(with(ids, &IdPair::second));
    model.settle_held();
    return id;
  }

 private:
  /// By the ids of one side.
  ExportedMessage with(const std::vector<IdPair>& ids, MessageId IdPair::*side) const {
    ExportedMessage message = message_;
    for (ExportedWait& wait : message.after) wait.id = ids[number(wait.id)].*side;
    return message;
  }

  ExportedMessage message_;
};

/// Those of one history.
class RandomImports {
 public:
  struct Drawn {
    RandomPatch::Draw draw;
    Order order;
    size_t n;
    bool waits;  // some are held for others
  };
  /// A new one, or one of before again. What differs, or nothing.
  std::string one(const Drawn& drawn, Queue& engine, Model& model, std::vector<IdPair>& ids,
                  std::string& log) {
    if (!engine.caps().exports) return {};
    if (!all_.empty() && drawn.draw.below(4) == 0) {
      log += "import again\n";
      return difference(all_[drawn.draw.below(all_.size())].on(engine, ids).first, "known");
    }
    const RandomImport import(drawn.draw, drawn.order, drawn.n, drawn.waits ? ids.size() : 0);
    log += "import " + import.text() + "\n";
    const auto [what, id] = import.on(engine, ids);
    const std::optional<MessageId> there = import.on(model, ids);
    if (there) ids.push_back({id, *there});
    if (there) all_.push_back(import);
    return difference(what, there ? "imported" : "refused");
  }

 private:
  static std::string difference(const std::string& engine, const std::string& model) {
    return engine == model ? "" : "import: engine '" + engine + "', model '" + model + "'";
  }
  std::vector<RandomImport> all_;
};

}  // namespace fq::test
