#include "core/redis/shard/calls_at_once.h"

// System.
#include <algorithm>
#include <vector>

namespace fq {

namespace {

constexpr size_t kInFlightMax = 64;  // arbitrary: more would keep a server from all others for too long

}  // namespace

size_t CallsAtOnce::add(Shard& shard, std::string_view function, ArgumentList arguments) {
  calls_.push_back(Call{shard, function, std::move(arguments)});
  return calls_.size() - 1;
}

/// What cannot be prepared is not sent, and says so when it is asked for.
void CallsAtOnce::send() {
  std::vector<Call*> prepared;
  for (Call& each : calls_) {
    Result<FunctionCall> call = each.shard.prepare(each.function, each.arguments.words());
    if (!call) continue;
    each.prepared.emplace(std::move(call).value());
    prepared.push_back(&each);
  }
  for (size_t from = 0; from < prepared.size(); from += kInFlightMax) {
    const size_t end = std::min(prepared.size(), from + kInFlightMax);
    std::vector<ServerLink::Call> some;
    for (size_t i = from; i < end; ++i) {
      const FunctionCall& call = *prepared[i]->prepared;
      some.push_back({call.key(), [&call](const Server& server) { return call.words(server); }});
    }
    std::vector<ServerLink::Try> tries = link_.try_each(some, prepared[from]->prepared->copy());
    for (size_t i = from; i < end; ++i) prepared[i]->first = std::move(tries[i - from]);
  }
}

Result<Reply> CallsAtOnce::answer(size_t call, Shard::Lost lost) {
  Call& each = calls_[call];
  return each.shard.change(each.function, each.arguments.words(), lost, &each.first);
}

Result<Reply> CallsAtOnce::answer(size_t call, const Shard::Again& again) {
  Call& each = calls_[call];
  return each.shard.change(each.function, each.arguments.words(), again, &each.first);
}

}  // namespace fq
