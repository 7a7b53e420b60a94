#include "core/redis/sharded/move_targets.h"

// fq, below us.
#include "core/engine/no_such_queue.h"
// fq, this room.
#include "core/redis/sharded/sharded_queue.h"
#include "core/redis/wire/slots.h"

namespace fq {

namespace {

class OneShard final : public MoveTarget {
 public:
  OneShard(const QueueEntry& entry, const ServerAccess& access)
      : name_(entry.name), link_(access.link), queue_(entry, access) {}

  const std::string& name() const override { return name_; }
  Shard& shard_of(std::string_view) override { return queue_.shard(); }
  Result<bool> is_beside(const std::string& tag) override {
    FQ_TRY_SET(const bool is_cluster, link_->is_cluster());
    return !is_cluster || slot_of(tag) == slot_of(queue_.shard().tag());
  }

 private:
  const std::string name_;
  const std::shared_ptr<ServerLink> link_;
  RedisQueue queue_;
};

class ManyShards final : public MoveTarget {
 public:
  ManyShards(const QueueEntry& entry, const ServerAccess& access)
      : name_(entry.name), queue_(entry, access) {}

  const std::string& name() const override { return name_; }
  Shard& shard_of(std::string_view tenant) override { return queue_.shard_of(tenant); }
  /// It is lent what its limits leave by a shard's own calls only.
  Result<bool> is_beside(const std::string&) override { return false; }

 private:
  const std::string name_;
  ShardedQueue queue_;
};

}  // namespace

Result<std::unique_ptr<MoveTarget>> open_move_target(const ServerAccess& access, const std::string& queue) {
  Catalog catalog(access);
  FQ_TRY_SET(const std::optional<QueueEntry> entry, catalog.find(queue));
  if (!entry) return no_such_queue(queue);
  ServerAccess there = access;
  there.queue = entry->name;
  if (entry->tags.empty()) return std::unique_ptr<MoveTarget>(std::make_unique<OneShard>(*entry, there));
  return std::unique_ptr<MoveTarget>(std::make_unique<ManyShards>(*entry, there));
}

}  // namespace fq
