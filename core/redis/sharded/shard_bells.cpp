#include "core/redis/sharded/shard_bells.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/clock.h"
// fq, this room.
#include "core/redis/leases/lease_words.h"

namespace fq {

namespace {

constexpr std::string_view kNotLoaded = "Function not found";
constexpr int64_t kNotedAgainMs = 1'000;  // after a server would not note it down

}  // namespace

bool ShardBells::note(const std::vector<size_t>& shards, std::string_view tenant) {
  std::vector<std::vector<std::string>> commands;
  for (const size_t shard : shards) commands.push_back(shards_.function_command(shard, "listen", tenant));
  const std::vector<Result<Reply>> replies = shards_.ask_each(commands);
  bool is_any = false;
  for (size_t i = 0; i < shards.size(); ++i) {
    bool is_noted = replies[i].ok();
    if (!is_noted && replies[i].error().text.find(kNotLoaded) != std::string::npos)
      is_noted = shards_.at(shards[i]).shard().change("listen", {tenant}).ok();
    if (is_noted) shards_.bells()->note(shards_.bell(shards[i]));
    is_any = is_any || is_noted;
  }
  return is_any;
}

bool ShardBells::are_noted(const std::vector<size_t>& shards) const {
  return std::all_of(shards.begin(), shards.end(),
                     [this](size_t shard) { return shards_.bells()->is_noted(shards_.bell(shard)); });
}

ShardBells::State ShardBells::listen(const LeaseRequest& request) {
  Bells* const bells = shards_.bells();
  if (bells == nullptr) return State::deaf;
  if (tenant_ != request.tenant) leave();
  std::vector<size_t> shards;
  for (size_t shard = 0; shard < shards_.count(); ++shard) {
    if (request.tenant.empty() || shard == shards_.of_tenant(request.tenant)) shards.push_back(shard);
  }
  std::vector<std::string> channels;
  for (const size_t shard : shards) channels.push_back(shards_.bell(shard));
  const bool was_heard = bells->hears_all(channels);
  bool is_heard = bells->listen(channels);
  bool is_anew = is_heard && !was_heard;
  if (takes(request)) {
    std::erase_if(shards, [&](size_t shard) {
      return !bells->hears(shards_.bell(shard)) || bells->is_noted(shards_.bell(shard));
    });
    tenant_ = request.tenant;
    const bool may_note = !shards.empty() && system_clock().boot_ms() >= again_ms_;
    is_anew = (may_note && note(shards, request.tenant)) || is_anew;
    const bool are_all_noted = are_noted(shards);
    if (may_note && !are_all_noted) again_ms_ = system_clock().boot_ms() + kNotedAgainMs;
    is_heard = is_heard && are_all_noted;
  }
  if (!is_heard) return State::deaf;
  return is_anew ? State::anew : State::heard;
}

bool ShardBells::are_noted_by_call(const LeaseRequest& request, size_t shard) const {
  const Bells* const bells = shards_.bells();
  const bool is_asked_for = !request.tenant.empty() && shard == shards_.of_tenant(request.tenant);
  return request.wait && takes(request) && is_asked_for && bells != nullptr &&
         bells->hears(shards_.bell(shard));
}

void ShardBells::leave() {
  Bells* const bells = shards_.bells();
  if (bells == nullptr) return;
  std::vector<std::vector<std::string>> commands;
  for (size_t shard = 0; shard < shards_.count(); ++shard) {
    const std::string bell = shards_.bell(shard);
    if (!bells->is_noted(bell)) continue;
    bells->strike_out(bell);
    if (!tenant_.empty()) shards_.at(shard).shard().listens_no_more(tenant_);
    if (tenant_.empty()) commands.push_back({"ZREM", shards_.tag(shard) + "bw", shards_.nonce()});
  }
  if (!commands.empty()) static_cast<void>(shards_.ask_each(commands));  // one that stays costs one bell
}

std::vector<size_t> ShardBells::rung() {
  std::vector<size_t> found;
  for (size_t shard = 0; shard < shards_.count(); ++shard) {
    if (shards_.bells() != nullptr && shards_.bells()->has_rung(shards_.bell(shard))) found.push_back(shard);
  }
  return found;
}

}  // namespace fq
