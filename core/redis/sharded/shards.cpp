#include "core/redis/sharded/shards.h"

// System.
#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <utility>
// fq, below us.
#include "core/api/create_options.h"
#include "core/base/name_hash.h"
// fq, this room.
#include "core/redis/records/base32.h"
#include "core/redis/shard/renewer.h"
#include "core/redis/waits/shard_time.h"

namespace fq {

namespace {

constexpr int64_t kToldEachMs = 60'000;
constexpr int64_t kUndoneMs = 1'000;  // so long what could not be done is not tried again

ServerAccess shared_access(ServerAccess access) {
  SharedAccess shared;
  shared.beside = std::make_shared<ServerLink>(access.place, access.password);
  shared.signs = link_for_signs(access.place, access.password);
  shared.renewer = std::make_shared<Renewer>();
  shared.nonce = draw_base32(kNonceBytes);
  access.shared = std::make_shared<const SharedAccess>(std::move(shared));
  return access;
}

}  // namespace

Shards::Shards(QueueEntry entry, ServerAccess access)
    : entry_(std::move(entry)),
      access_(shared_access(std::move(access))),
      guard_(std::make_unique<WorkerGuard>(access_, nonce(), entry_.tags)),
      queues_(entry_.tags.size()) {}

size_t Shards::of_tenant(std::string_view tenant) const {
  const std::string_view account = tenant.substr(0, tenant.find('/'));
  return hash_name(entry_.spread_by[0], entry_.spread_by[1], account) & (count() - 1);
}

size_t Shards::of_receipt(const Receipt& receipt) {
  const std::optional<ReceiptParts> parts = receipt.parts();
  return parts ? of_id(MessageId{parts->id}) : 0;
}

RedisQueue& Shards::at(size_t shard) {
  std::unique_ptr<RedisQueue>& queue = queues_[shard];
  if (queue) return *queue;
  QueueEntry part{entry_.name, entry_.mark, entry_.places, entry_.tags[shard]};
  part.events_ms = entry_.events_ms;
  queue = std::make_unique<RedisQueue>(part, access_);
  if (lender_of_) queue->shard().is_lent_room_by(lender_of_(shard));
  return *queue;
}

std::vector<std::string> Shards::root_command(size_t shard, std::span<const std::string_view> fields) const {
  std::vector<std::string> command = {"HMGET", tag(shard) + "h"};
  command.insert(command.end(), fields.begin(), fields.end());
  return command;
}

std::vector<std::string> Shards::function_command(size_t shard, std::string_view function,
                                                  std::string_view argument) const {
  return {"FCALL",
          std::string(access_.library->name) + "_" + std::string(function),
          "2",
          tag(shard) + "h",
          tag(shard) + "c",
          "",  // of which run that server is it need not know
          nonce(),
          std::string(argument)};
}

void Shards::note_away(size_t shard, const Error& error) {
  constexpr std::string_view kUnreachable = "cannot be reached: ";  // which is said of all of them
  const size_t colon = error.text.find(": ");
  const bool has_front = colon != std::string::npos;
  std::string why = has_front ? error.text.substr(colon + 2) : error.text;
  const bool is_lost = says_lost_root(error);
  std::string server = is_lost ? server_of_lost_root(error) : has_front ? error.text.substr(0, colon) : "";
  if (why.starts_with(kUnreachable)) why.erase(0, kUnreachable.size());
  AwayList::Part part{std::move(server), std::move(why), is_lost};
  AwayList* const list = is_attended_ ? &away_ : access_.away;
  if (list != nullptr)
    list->note(access_.queue, static_cast<uint32_t>(shard), std::move(part), static_cast<uint32_t>(count()));
}

std::string_view Shards::level() const {
  return Shard(access_, entry_.tags.front(), access_.shared->nonce).level();
}

bool Shards::has_away_notice() const {
  return !away_.is_empty() && (told_away_ms_ == 0 || system_clock().boot_ms() - told_away_ms_ >= kToldEachMs);
}

std::vector<std::string> Shards::take_notices() {
  std::vector<std::string> notices = std::exchange(notices_, {});
  for (const std::unique_ptr<RedisQueue>& queue : queues_) {
    if (!queue) continue;
    std::vector<std::string> some = queue->take_notices();
    std::move(some.begin(), some.end(), std::back_inserter(notices));
  }
  if (!has_away_notice()) return notices;
  told_away_ms_ = system_clock().boot_ms();
  notices.push_back(away_.text() + "; work goes on with the others");
  away_.clear();
  return notices;
}

Result<std::vector<Reply>> Shards::all_of(std::vector<Result<Reply>> asked) {
  std::vector<Reply> replies;
  for (Result<Reply>& each : asked) {
    FQ_TRY_SET(replies.emplace_back(), std::move(each));
  }
  return replies;
}

Result<std::vector<Reply>> Shards::ask(const std::vector<std::vector<std::string>>& commands) {
  return all_of(ask_each(commands));
}

std::vector<Result<Reply>> Shards::roots_each(std::span<const std::string_view> fields) {
  std::vector<std::vector<std::string>> commands;
  for (size_t shard = 0; shard < count(); ++shard) commands.push_back(root_command(shard, fields));
  return ask_each(commands);
}

void Shards::add_clocks(std::vector<std::vector<std::string>>& commands) {
  const Result<bool> is_cluster = link().is_cluster();
  clock_count_ = is_cluster && *is_cluster ? count() : 1;
  for (size_t shard = 0; shard < clock_count_; ++shard) commands.push_back({"TIME", tag(shard) + "h"});
}

int64_t Shards::clock_ms(const std::vector<Result<Reply>>& replies, size_t shard) const {
  const Result<Reply>& time = replies[replies.size() - clock_count_ + (clock_count_ == 1 ? 0 : shard)];
  return told_ms().value_or(time ? clock_ms_in(*time) : 0);
}

Result<bool> Shards::do_what_is_due() {
  constexpr std::array<std::string_view, 4> kTimes = {"due", "session", "now", "lead"};
  std::vector<std::vector<std::string>> commands;
  for (size_t shard = 0; shard < count(); ++shard) commands.push_back(root_command(shard, kTimes));
  add_clocks(commands);
  const std::vector<Result<Reply>> roots = ask_each(commands);
  const Reply nothing;
  bool is_any = false;
  for (size_t shard = 0; shard < count(); ++shard) {
    if (why_let_alone(shard) != nullptr) continue;
    const Reply& root = roots[shard] ? *roots[shard] : nothing;
    const ShardTime time(root.at(2), root.at(3));
    const int64_t clock_ms = this->clock_ms(roots, shard), now_ms = time.at(clock_ms);
    const auto is_over = [&](size_t field) {
      return time_in(root.at(field)) >= 0 && time_in(root.at(field)) <= now_ms;
    };
    if (!is_over(0) && !is_over(1) && !time.wants_call(clock_ms)) continue;
    const Result<Reply> done = at(shard).shard().tick();
    if (!done && !serves_nothing(done.error())) return done.error();
    if (!done) let_alone(shard, done.error());
    is_any = is_any || done.ok();
  }
  return is_any;
}

void Shards::let_alone(size_t shard, Error why) {
  undone_.insert_or_assign(shard, Undone{std::move(why), system_clock().boot_ms() + kUndoneMs});
}

const Error* Shards::why_let_alone(size_t shard) const {
  const auto undone = undone_.find(shard);
  const bool lasts = undone != undone_.end() && system_clock().boot_ms() < undone->second.until_ms;
  return lasts ? &undone->second.why : nullptr;
}

Result<std::vector<Reply>> Shards::roots(std::span<const std::string_view> fields) {
  return all_of(roots_each(fields));
}

}  // namespace fq
