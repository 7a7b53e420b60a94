#include "core/redis/sharded/shards.h"

// System.
#include <algorithm>
#include <utility>
// fq, below us.
#include "core/api/create_options.h"
#include "core/base/name_hash.h"
#include "core/base/text/decimal.h"
// fq, this room.
#include "core/redis/records/base32.h"
#include "core/redis/shard/renewer.h"

namespace fq {

namespace {

ServerAccess shared_access(ServerAccess access) {
  SharedAccess shared;
  shared.calls = std::make_shared<ServerLink>(access.place, access.password);
  shared.beside = std::make_shared<ServerLink>(access.place, access.password);
  shared.renewer = std::make_shared<Renewer>();
  shared.nonce = draw_base32(kNonceBytes);
  access.link = shared.calls;
  access.shared = std::make_shared<const SharedAccess>(std::move(shared));
  return access;
}

}  // namespace

Shards::Shards(QueueEntry entry, ServerAccess access)
    : entry_(std::move(entry)), access_(shared_access(std::move(access))), queues_(entry_.tags.size()) {}

size_t Shards::of_tenant(std::string_view tenant) const {
  const std::string_view account = tenant.substr(0, tenant.find('/'));
  return hash_name(entry_.spread_by[0], entry_.spread_by[1], account) & (count() - 1);
}

size_t Shards::of_id(MessageId id) const {
  const size_t shard = number(id) % kShardsMax;
  return shard < count() ? shard : 0;
}

size_t Shards::of_receipt(const Receipt& receipt) {
  const std::optional<ReceiptParts> parts = receipt.parts();
  return parts ? of_id(MessageId{parts->id}) : 0;
}

RedisQueue& Shards::at(size_t shard) {
  std::unique_ptr<RedisQueue>& queue = queues_[shard];
  if (!queue)
    queue = std::make_unique<RedisQueue>(
        QueueEntry{entry_.name, entry_.mark, entry_.place, entry_.tags[shard]}, access_);
  return *queue;
}

std::vector<std::string> Shards::root_command(size_t shard, std::span<const std::string_view> fields) const {
  std::vector<std::string> command = {"HMGET", tag(shard) + "h"};
  command.insert(command.end(), fields.begin(), fields.end());
  return command;
}

Result<std::vector<Reply>> Shards::roots(std::span<const std::string_view> fields) {
  std::vector<std::vector<std::string>> commands;
  for (size_t shard = 0; shard < count(); ++shard) commands.push_back(root_command(shard, fields));
  return ask(commands);
}

}  // namespace fq
