#include "core/redis/leases/glance.h"

// System.
#include <algorithm>
#include <string>
// fq, below us.
#include "core/api/queue.h"
#include "core/base/clock.h"
// fq, this room.
#include "core/redis/leases/lease_words.h"
#include "core/redis/waits/bells.h"
#include "core/redis/waits/root_hints.h"
#include "core/redis/waits/shard_time.h"

namespace fq {

Glance::Glance(Shard& shard, const LeaseRequest& request)
    : shard_(shard),
      is_enough_(takes(request) && !request.until_idle),
      is_of_tenant_(!request.tenant.empty()) {
  const std::string& tag = shard.tag();
  const std::string tenant(request.tenant);
  commands_ = {{"HMGET", tag + "h", "ops", "hinted", "open", "due", "session", "waiters", "now", "lead"},
               {"ZSCORE", tag + (is_of_tenant_ ? "bf" : "bw"), shard.nonce() + tenant},
               {"TIME", tag + "h"},
               {"LLEN", tag + "sw:" + shard.nonce()}};
  if (!is_of_tenant_) return;
  commands_.push_back({"EXISTS", tag + "q:" + tenant});
  commands_.push_back({"GETRANGE", tag + "n:" + tenant, "50", "57"});  // what sits below it: see records.lua
}

/// What a limit holds up, of a tenant, is there and cannot be taken.
bool Glance::is_open(bool shows) {
  const int64_t now_ms = system_clock().boot_ms();
  if (!shows || now_ms < doubted_ms_) return false;
  doubted_ms_ = now_ms + doubt_ms_;
  return true;
}

void Glance::take_count(const Reply& waiters) {
  const uint64_t count = waiters_in(waiters);
  shard_.note_waiters(count);
  doubt_ms_ = std::max(shard_.look_ms(), Patience(0, kCallsASecond).ms(count));
}

/// What cannot be read is told by a call.
bool Glance::shows_something() {
  const std::vector<Result<Reply>> replies = shard_.read(commands_);
  if (!std::all_of(replies.begin(), replies.end(), [](const auto& each) { return each.ok(); })) return true;
  const Reply &root = *replies[0], &noted = *replies[1], &time = *replies[2], &news = *replies[3];
  take_count(root.at(5));
  const int64_t clock_ms = shard_.told_ms().value_or(clock_ms_in(time));
  const ShardTime shard_time(root.at(6), root.at(7));
  const int64_t now_ms = shard_time.at(clock_ms);
  const auto is_over = [&](const Reply& told) { return time_in(told) >= 0 && time_in(told) <= now_ms; };
  const bool is_current = root.at(0).is_text() && root.at(0).text == root.at(1).text;
  if (!is_current || shard_time.wants_call(clock_ms) || !noted.is_text() || news.number > 0 ||
      is_over(root.at(3)) || is_over(root.at(4)))
    return true;
  const auto has_some = [&] {
    const std::string& below = replies[5]->text;
    return replies[4]->number > 0 || below.find_first_not_of('\0') != std::string::npos;
  };
  return is_open(root.at(2).text != "0" && (!is_of_tenant_ || has_some()));
}

Waiting::End Glance::sleep(Waiting& waiting, std::optional<int64_t> due_in_ms) {
  Bells& bells = *shard_.bells();
  const std::string bell = shard_.bell();
  const int64_t begin_ms = system_clock().boot_ms();
  for (;;) {
    const auto slept_ms = [&] { return system_clock().boot_ms() - begin_ms; };
    const std::optional<int64_t> left_ms = due_in_ms ? std::optional(*due_in_ms - slept_ms()) : std::nullopt;
    const Waiting::End end = waiting.sleep(bells, shard_.look_ms(), left_ms);
    const bool is_due = due_in_ms && slept_ms() >= *due_in_ms;
    const bool is_told = bells.has_rung(bell) || !bells.hears(bell);
    if (end != Waiting::End::goes_on || !is_enough_ || is_due || is_told || shows_something()) return end;
  }
}

}  // namespace fq
