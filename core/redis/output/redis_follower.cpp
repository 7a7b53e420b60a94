#include "core/redis/output/redis_follower.h"

// System.
#include <utility>
// fq, below us.
#include "core/base/text/decimal.h"

namespace fq {

namespace {

using What = FollowStep::What;

constexpr int64_t kGone = 0, kOver = 1;  // as the server's program says it: see runs.lua

uint64_t count_in(const Reply& reply) { return parse_decimal(reply.text).value_or(0); }

}  // namespace

RedisFollower::RedisFollower(Queue& queue, Shard& shard, Holdings& holdings, MessageId id,
                             std::optional<CallId> call)
    : queue_(queue),
      shard_(shard),
      holdings_(holdings),
      id_(id),
      name_(std::to_string(std::min(number(id), kMessageIdMax))),
      call_(call ? std::to_string(number(*call)) : std::string()) {}

RedisFollower::~RedisFollower() {
  if (call_.empty()) return;
  const Result<Reply> ended = shard_.change("change", {"end_call", call_}, Shard::Lost::is_repeated);
  holdings_.end_call(call_, ended ? shard_.server_run() : std::string());
}

Result<FollowStep> RedisFollower::next(const FollowWait& wait) {
  Waiting waiting(wait.wait_ms, wait.interrupt);
  for (;;) {
    FQ_TRY_SET(const std::optional<FollowStep> step, look(wait.only_there));
    if (step) return *step;
    const Waiting::End end = awaiting_.next(
        waiting, shard_, {.what = Awaited::What::output, .id = name_, .delivery = reads_ ? delivery_ : "0"});
    if (end == Waiting::End::timed_out) return step_of(What::timed_out);
    if (end == Waiting::End::interrupted) return step_of(What::interrupted);
  }
}

/// None: there is nothing now.
Result<std::optional<FollowStep>> RedisFollower::look(bool only_there) {
  if (reads_) {
    FQ_TRY_SET(const std::optional<FollowStep> step, read_run());
    if (step || reads_) return step;
  }
  FQ_TRY_SET(const Reply reply, shard_.look({"follow", name_, delivery_}));
  const Reply& seen = reply.at(1);
  if (seen.at(0).text != "-1") {
    delivery_ = seen.at(0).text;
    reads_ = true;
    places_ = noted_ = {};
    told_lost_ = {};
    for (size_t i = 0; i < ends_.size(); ++i)
      ends_[i] = only_there ? count_in(seen.at(i + 1)) : kMessageIdMax;
    return std::optional(step_of(What::run, Channel::out, parse_decimal(delivery_).value_or(0)));
  }
  if (seen.at(3).number == 0) return std::optional<FollowStep>();
  FQ_TRY(take_kept(seen.at(4).number == 1, static_cast<uint64_t>(seen.at(5).number)));
  return std::optional(left_.next().value_or(step_of(What::ended)));
}

/// Who asks for more has used what it got.
Result<void> RedisFollower::note_read() {
  if (call_.empty() || places_ == noted_) return {};
  const std::string out = std::to_string(places_[0]), err = std::to_string(places_[1]);
  FQ_TRY(shard_.change("change", {"run_read", name_, delivery_, out, err}, Shard::Lost::is_repeated));
  noted_ = places_;
  return {};
}

Result<std::optional<FollowStep>> RedisFollower::read_run() {
  FQ_TRY(note_read());
  const std::string at[] = {std::to_string(places_[0]), std::to_string(places_[1])};
  const std::string to[] = {std::to_string(ends_[0]), std::to_string(ends_[1])};
  FQ_TRY_SET(Reply reply, shard_.look({"run_read", name_, delivery_, at[0], at[1], to[0], to[1]}));
  const Reply& told = reply.at(1);
  if (told.at(0).number == kGone) {  // it was over for long, and we were slow
    reads_ = false;
    return std::optional(step_of(What::missing));
  }
  if (told.at(3).number < 0) return end_run(told);
  const Channel channel = told.at(3).number == 0 ? Channel::out : Channel::err;
  const uint64_t missing = count_in(told.at(4));
  bytes_ = told.at(5).text;
  places_.at(static_cast<size_t>(channel)) += missing + bytes_.size();
  if (missing > 0) return std::optional(step_of(What::missing, channel, missing));
  return std::optional(step_of(channel, bytes_));
}

/// There is nothing more of it now: it may be over.
Result<std::optional<FollowStep>> RedisFollower::end_run(const Reply& told) {
  const int64_t over = told.at(1).number;
  if (over == 0) return std::optional<FollowStep>();
  for (const Channel channel : kChannels) {
    const size_t i = static_cast<size_t>(channel);
    const uint64_t lost = count_in(told.at(6 + i));
    if (!std::exchange(told_lost_.at(i), true) && lost > 0)
      return std::optional(step_of(What::missing, channel, lost));
  }
  if (!call_.empty() && told.at(2).text == call_)
    FQ_TRY(shard_.change("change", {"run_drop", name_, delivery_}, Shard::Lost::is_repeated));
  reads_ = false;
  if (over == kOver) return std::optional<FollowStep>();
  return std::optional(step_of(What::broken_off, Channel::out, parse_decimal(delivery_).value_or(0)));
}

/// Of its last run, where we have not read that.
Result<void> RedisFollower::take_kept(bool known, uint64_t deliveries) {
  if (took_kept_) return {};
  const bool was_read = known ? delivery_ == std::to_string(deliveries) : delivery_ != "0";
  if (!was_read) {
    FQ_TRY_SET(kept_, queue_.output(id_));
  }
  took_kept_ = true;
  if (was_read) return {};
  // Who calls asks to be told of the end: where nothing is, it could not be kept.
  if (!kept_ && !known && !call_.empty()) left_.add(step_of(What::missing));
  if (kept_) left_.add(*kept_);
  return {};
}

}  // namespace fq
