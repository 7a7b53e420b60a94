// lease_extensions - leases that are to be longer, of one shard or, with those of others, at once.
#include "core/redis/leases/redis_leases.h"

// fq, this room.
#include "core/redis/leases/lease_words.h"

namespace fq {

Result<std::vector<ExtendResult>> RedisLeases::extend(std::span<const Receipt> receipts,
                                                      int64_t duration_ms) {
  CallsAtOnce calls(shard_.link());
  Extending extending = add_to(calls, receipts, duration_ms);
  calls.send();
  return extend(calls, std::move(extending), duration_ms);
}

RedisLeases::Extending RedisLeases::add_to(CallsAtOnce& calls, std::span<const Receipt> receipts,
                                           int64_t duration_ms) {
  std::vector<ExtendResult> results;
  ArgumentList arguments;
  arguments.add(bytes_wanted(nullptr, 0, 0, false));
  for (const std::string_view none : {"", "0"}) arguments.borrow(none);
  std::vector<Parts> sent;
  for (const Receipt& receipt : receipts) {
    Parts parts = parts_of(receipt);
    results.push_back({.status = parts.fault == SettleStatus::ok ? SettleStatus::unknown : parts.fault});
    if (parts.fault == SettleStatus::ok) sent.push_back(std::move(parts));
  }
  arguments.add(extension(sent.size(), duration_ms));
  for (const Parts& each : sent) {
    for (const std::string* const word : {&each.id, &each.serial, &each.nonce}) arguments.add(*word);
  }
  return {{receipts.begin(), receipts.end()},
          std::move(results),
          calls.add(shard_, "work", std::move(arguments))};
}

Result<std::vector<ExtendResult>> RedisLeases::extend(CallsAtOnce& calls, Extending extending,
                                                      int64_t duration_ms) {
  FQ_TRY_SET(const Reply answer, calls.answer(extending.call, Shard::Lost::is_unknown));
  size_t answered = 0;
  for (size_t i = 0; i < extending.results.size(); ++i) {
    ExtendResult& result = extending.results[i];
    if (result.status != SettleStatus::unknown) continue;
    result.status = status_of(answer.at(2).at(answered++));
    if (result.status == SettleStatus::ok) {
      result.deadline_wall_ms = shard_.wall_of(answer.at(0).at(0).number + duration_ms);
    } else {
      note_over(extending.receipts[i]);
    }
  }
  return std::move(extending.results);
}

}  // namespace fq
