// catalog - the queues below a prefix, and the values of each that are fixed when it is made.
//
// A name stands in the set of queues before anything of it is there and until nothing is: a broken create or
// remove is seen, and can be repeated.
#pragma once

// System.
#include <optional>
#include <string>
#include <vector>
// fq, this room.
#include "core/redis/shard/shard.h"

namespace fq {

inline constexpr size_t kMarkLength = 4;

struct QueueEntry {
  std::string mark;  // kMarkLength characters, by which its receipts are told from others of the place
  std::string tag;   // of the keys of its shard
};

class Catalog {
 public:
  static Result<Catalog> open(const ServerAccess& access);

  /// None: there is no such queue.
  Result<std::optional<QueueEntry>> find(const std::string& queue);
  /// True when it was made, false when it was there.
  Result<bool> create(const std::string& queue);
  Result<std::vector<std::string>> list();
  Result<void> remove(const std::string& queue);
  /// The queue that has it; "": none.
  Result<std::string> marked(std::string_view mark);
  const std::string& server_name() const { return server_->name(); }

 private:
  Catalog(ServerAccess access, std::unique_ptr<Server> server)
      : access_(std::move(access)), server_(std::move(server)) {}
  std::string key_of(const std::string& queue, std::string_view what) const;
  std::string tag_of(const std::string& queue) const;
  /// A refusal is an Error.
  Result<Reply> call(Words words);
  Result<std::string> new_mark();
  Result<void> remove_keys(const std::string& tag);

  ServerAccess access_;
  std::unique_ptr<Server> server_;
};

}  // namespace fq
