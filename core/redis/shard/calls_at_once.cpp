#include "core/redis/shard/calls_at_once.h"

// System.
#include <algorithm>
#include <vector>

namespace fq {

size_t CallsAtOnce::add(Shard& shard, std::string_view function, ArgumentList arguments, bool is_lazy) {
  calls_.push_back(Call{shard, function, std::move(arguments), is_lazy});
  return calls_.size() - 1;
}

/// What cannot be prepared is not sent, and says so when it is asked for.
void CallsAtOnce::send(size_t at_a_time) {
  std::vector<Call*> prepared;
  for (Call& each : calls_) {
    Result<FunctionCall> call = each.shard.prepare(each.function, each.arguments.words(), each.is_lazy);
    if (!call) continue;
    each.prepared.emplace(std::move(call).value());
    prepared.push_back(&each);
  }
  for (size_t from = 0; from < prepared.size(); from += at_a_time) {
    const size_t end = std::min(prepared.size(), from + at_a_time);
    std::vector<ServerLink::Call> some;
    for (size_t i = from; i < end; ++i) {
      const FunctionCall& call = *prepared[i]->prepared;
      some.push_back({call.key(), [&call](const Server& server) { return call.words(server); }});
    }
    std::vector<ServerLink::Try> tries = link_.try_each(some, prepared[from]->prepared->copy());
    for (size_t i = from; i < end; ++i) prepared[i]->first = std::move(tries[i - from]);
  }
}

bool CallsAtOnce::is_lost(size_t call) const {
  const FirstTry& first = calls_[call].first;
  return !first || !first->server || !first->reply;
}

bool CallsAtOnce::is_done(size_t call) const {
  return !is_lost(call) && !has_more_due(*calls_[call].first->reply);
}

Result<Reply> CallsAtOnce::answer(size_t call, Shard::Lost lost) {
  Call& each = calls_[call];
  return each.shard.change(each.function, each.arguments.words(), lost, &each.first, each.is_lazy);
}

Result<Reply> CallsAtOnce::answer(size_t call, const Shard::Again& again) {
  Call& each = calls_[call];
  return each.shard.change(each.function, each.arguments.words(), again, &each.first);
}

Result<Reply> CallsAtOnce::answer_once(size_t call) {
  Call& each = calls_[call];
  return each.shard.change_once(each.function, each.arguments.words(), &each.first);
}

}  // namespace fq
