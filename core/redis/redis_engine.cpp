#include "core/redis/redis_engine.h"

// System.
#include <array>
// fq, below us.
#include "core/engine/no_such_queue.h"
// fq, this room.
#include "core/redis/guard/guard.h"
#include "core/redis/moves/redis_crossing.h"
#include "core/redis/records/base32.h"
#include "core/redis/redis_queue.h"
#include "core/redis/sharded/move_targets.h"
#include "core/redis/sharded/sharded_queue.h"
#include "core/redis/waits/bells.h"
#include "core/redis/policy/kept_policy.h"
#include "core/redis/shard/rights.h"
#include "core/redis/signing/command_signer.h"
#include "core/redis/views/servers_health.h"

namespace fq {

namespace {

/// Of messages out of a queue: the one that they are on their way to knows of them until it hears of their
/// end. What a shard that cannot be used has of them is lost with it.
Result<void> finish_moves(const ServerAccess& access, const QueueEntry& queue) {
  const std::vector<std::string> tags = queue.tags.empty() ? std::vector{queue.tag} : queue.tags;
  for (const std::string& tag : tags) {
    const std::string root = tag + "h", nonce = draw_base32(kNonceBytes);
    FQ_TRY_SET(const Reply is_any,
               access.link->call(root, std::array<std::string_view, 3>{"HEXISTS", root, "crossing"}));
    if (is_any.number == 0) continue;
    Shard shard(access, tag, nonce);
    Result<void> finished = RedisCrossing(shard, access, queue.name, nonce).finish_all();
    const bool is_lost = !finished && (finished.error().kind == ErrorKind::missing ||
                                       finished.error().kind == ErrorKind::unusable);
    if (!finished && !is_lost) return finished;
  }
  return {};
}

}  // namespace

bool RedisEngine::keeps(std::string_view scheme) const {
  return scheme == "redis" || scheme == "rediss" || scheme == "redis+unix";
}

Result<void> RedisEngine::check(const std::string& spool) const {
  FQ_TRY(parse_redis_place(spool));
  return {};
}

Result<void> RedisEngine::check_takes_commands(const std::string& spool, std::string_view object) const {
  FQ_TRY_SET(const ServerAccess access, access_to(spool));
  return access.command_key == nullptr ? lacks_command_key(object) : Result<void>();
}

Result<ServerAccess> RedisEngine::access_to(const std::string& spool) const {
  ServerAccess access;
  FQ_TRY_SET(access.place, parse_redis_place(spool));
  FQ_TRY_SET(access.password, password_());
  if (tls_ != nullptr) access.place.tls = tls_();
  access.spool = spool;
  access.guard_program = guard_program_;
  access.library = &library_;
  access.link = idle_.take(spool, access.place, access.password);
  if (command_key_ == nullptr) return access;
  FQ_TRY_SET(std::string key, command_key_());
  if (!key.empty()) access.command_key = std::make_shared<const CommandKey>(std::move(key));
  return access;
}

Result<std::unique_ptr<Queue>> RedisEngine::open(const Location& location, const OpenOptions& options) const {
  FQ_TRY_SET(ServerAccess access, access_to(location.spool));
  Catalog catalog(access);
  FQ_TRY_SET(std::optional<QueueEntry> entry, catalog.find(location.queue));
  if (!entry && options.create) {
    FQ_TRY(catalog.create(location.queue));
    FQ_TRY_SET(entry, catalog.find(location.queue));
  }
  if (!entry) return no_such_queue(location.queue);
  if (told_time_) access.told_time = options.clock;
  access.away = options.away;
  access.queue = entry->name;
  access.bells = std::make_shared<Bells>(access.link, access.place, access.password);
  access.open_target = std::make_shared<const OpenMoveTarget>(
      [to = access](const std::string& queue) { return open_move_target(to, queue); });
  if (!entry->tags.empty())
    return std::unique_ptr<Queue>(std::make_unique<ShardedQueue>(*entry, std::move(access)));
  return std::unique_ptr<Queue>(std::make_unique<RedisQueue>(*entry, access));
}

Result<std::vector<std::string>> RedisEngine::list(const std::string& spool) const {
  FQ_TRY_SET(const ServerAccess access, access_to(spool));
  Catalog catalog(access);
  return catalog.list();
}

Result<bool> RedisEngine::create(const Location& location, const CreateOptions& options) const {
  FQ_TRY_SET(const ServerAccess access, access_to(location.spool));
  Catalog catalog(access);
  return catalog.create(location.queue, options);
}

Result<void> RedisEngine::remove(const Location& location) const {
  FQ_TRY_SET(const ServerAccess access, access_to(location.spool));
  Catalog catalog(access);
  // One that cannot be read has nothing that could be brought to its end, and can be removed.
  const Result<std::optional<QueueEntry>> entry = catalog.find(location.queue);
  if (entry && *entry) FQ_TRY(finish_moves(access, **entry));
  return catalog.remove(location.queue);
}

Result<void> RedisEngine::rename(const Location& location, const std::string& name) const {
  FQ_TRY_SET(const ServerAccess access, access_to(location.spool));
  Catalog catalog(access);
  return catalog.rename(location.queue, name);
}

Result<std::string> RedisEngine::queue_marked(const std::string& spool, std::string_view mark) const {
  FQ_TRY_SET(const ServerAccess access, access_to(spool));
  Catalog catalog(access);
  return catalog.marked(mark);
}

Result<PolicyText> RedisEngine::policy_text(const std::string& spool) const {
  FQ_TRY_SET(const ServerAccess access, access_to(spool));
  KeptPolicy kept(access);
  return kept.read();
}

Result<std::string> RedisEngine::keep_policy_text(const std::string& spool, const std::string& text,
                                                  const std::optional<std::string>& if_version) const {
  FQ_TRY_SET(const ServerAccess access, access_to(spool));
  KeptPolicy kept(access);
  return kept.replace(text, if_version);
}

Result<std::string> RedisEngine::rights(const std::string& spool) const {
  FQ_TRY_SET(const RedisPlace place, parse_redis_place(spool));
  return rights_of(place, library_);
}

Result<bool> RedisEngine::load(const std::string& spool) const {
  FQ_TRY_SET(const ServerAccess access, access_to(spool));
  bool is_new = false;
  FQ_TRY(access.link->on_each_server([&](Server& server) -> Result<void> {
    FQ_TRY_SET(const bool loaded, load_library(server, library_));
    is_new = is_new || loaded;
    return {};
  }));
  return is_new;
}

Result<void> RedisEngine::guard(Descriptor socket) const {
  FQ_TRY_SET(const GuardedWorker worker, hear_worker(socket));
  ServerAccess access;
  FQ_TRY_SET(access.place, parse_redis_place(worker.spool));
  if (tls_ != nullptr) access.place.tls = tls_();
  access.library = &library_;
  access.link = link_for_signs(access.place, worker.password);
  Guard(access, worker, std::move(socket)).run();
  return {};
}

std::vector<DoctorRow> RedisEngine::examine(const std::string& spool,
                                            const std::optional<std::string>& queue) const {
  Result<ServerAccess> access = access_to(spool);
  const bool is_of_a_file = !access && access.error().text.starts_with("FQ_REDIS_");
  if (!access)
    return {{"spool", access.error().text, Health::fault,
             is_of_a_file ? "name a file there that only you can read" : "set FQ_SPOOL"}};
  access->link = std::make_shared<ServerLink>(access->place, access->password);  // what they say now
  return examine_servers(*access, queue);
}

}  // namespace fq
