#include "core/redis/waits/awaiting.h"

// System.
#include <algorithm>
#include <array>
#include <optional>
// fq, below us.
#include "core/base/clock.h"
// fq, this room.
#include "core/redis/waits/bells.h"
#include "core/redis/shard/calls_at_once.h"

namespace fq {

namespace {

// Chosen: no server ends half of the messages that a shard remembers in that time, one by one.
constexpr int64_t kWholeLookMs = 2'000;
constexpr int64_t kManyEachMs = 50;  // a look at many shards is dear: whoever rings

std::string letter_of(Awaited::What what) { return std::string(1, static_cast<char>(what)); }

}  // namespace

bool WholeLooks::is_due() {
  const int64_t now_ms = system_clock().boot_ms();
  if (looked_ms_ && now_ms - *looked_ms_ < kWholeLookMs) return false;
  looked_ms_ = now_ms;
  return true;
}

Awaited awaited_end(MessageId id) {
  return {.what = Awaited::What::end, .id = std::to_string(std::min(number(id), kMessageIdMax))};
}

Awaiting::State Awaiting::listen(Shard& shard, const Awaited& what) {
  return listen(std::array<Shard*, 1>{&shard}, what);
}

Awaiting::State Awaiting::listen(std::span<Shard* const> shards, const Awaited& what) {
  Bells* const bells = shards[0]->bells();
  if (bells == nullptr) return State::deaf;
  if (!(what == what_)) leave();
  what_ = what;
  std::vector<std::string> channels;
  for (Shard* const shard : shards) {
    channels.push_back(shard->news());
    // Struck out when it was told, and who knows of what it was told while it did not hear.
    if (!bells->hears(channels.back()) || bells->take_rung(channels.back())) noted_.erase(shard);
  }
  if (!bells->listen(channels)) return State::deaf;
  CallsAtOnce calls(shards[0]->link());
  std::vector<Shard*> called;
  const std::string letter = letter_of(what.what);
  for (Shard* const shard : shards) {
    if (noted_.count(shard) == 1) continue;
    ArgumentList words;
    for (const std::string* const word : {&what.tenant, &letter, &what.id, &what.delivery})
      words.borrow(*word);
    calls.add(*shard, "listen", std::move(words));
    called.push_back(shard);
  }
  if (called.empty()) return State::heard;
  calls.send();
  bool are_noted = true;
  for (size_t i = 0; i < called.size(); ++i) {
    if (calls.answer(i, Shard::Lost::is_unknown)) noted_.insert(called[i]);
    are_noted = are_noted && noted_.count(called[i]) == 1;
  }
  return are_noted ? State::anew : State::deaf;
}

Waiting::End Awaiting::next(Waiting& waiting, Shard& shard, const Awaited& what) {
  return next(waiting, std::array<Shard*, 1>{&shard}, what);
}

Waiting::End Awaiting::next(Waiting& waiting, std::span<Shard* const> shards, const Awaited& what) {
  const int64_t now_ms = system_clock().boot_ms();
  const bool is_early = shards.size() > 1 && now_ms - looked_ms_ < kManyEachMs;
  looked_ms_ = now_ms;
  const State state = waiting.is_over() ? State::deaf : listen(shards, what);
  if (state == State::anew && waiting.looks_at_once()) return Waiting::End::goes_on;
  if (state == State::deaf || is_early) return waiting.nap();
  std::optional<int64_t> due_ms;
  for (Shard* const shard : shards) {
    const std::optional<int64_t> due_there_ms = shard->due_in_ms();
    if (due_there_ms) due_ms = std::min(due_ms.value_or(*due_there_ms), *due_there_ms);
  }
  // Whoever calls does what is due, and rings: this is for where nobody does.
  if (due_ms) due_ms = std::max(*due_ms, waiting.nap_ms());
  return waiting.sleep(*shards[0]->bells(), shards[0]->patience_ms(), due_ms);
}

/// Where it stays noted down it costs one bell.
void Awaiting::leave() {
  std::vector<std::vector<std::string>> commands;
  for (Shard* const shard : noted_) {
    if (!shard->bells()->take_rung(shard->news()))
      commands.push_back({"ZREM", shard->tag() + "b" + letter_of(what_.what), shard->nonce() + what_.tenant});
  }
  if (!commands.empty()) static_cast<void>((*noted_.begin())->link().ask(commands));
  noted_.clear();
}

}  // namespace fq
