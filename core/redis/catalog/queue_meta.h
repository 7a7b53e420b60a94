// queue meta - what is fixed of a queue, in the key to which its name leads; and where that lies on one of
// several servers, and the shards on others too, two copies elsewhere. Who finds its server away reads one of
// them, and goes on with the shards that answer. Where its server is there and has forgotten it, it is put
// back from one: see Catalog::put_back().
//
// Anybody finds them by the name. Nothing else is made from one, and none outlives its queue, or the name:
// - Who removes or renames a queue drops them first: where that cannot be, nothing was done. It drops them
//   again when what they are of says that it goes, and before what it takes to find them has gone.
// - Who makes them has it said there that they are, and drops them where it says that it goes, or is gone.
// So they are either made before that word, and dropped by who gave it, or dropped by who made them. What is
// left, by a process that was killed in between or by a server that forgot, leads to shards without a root,
// which serve nothing, until the next queue of that name has its own put over it.
// A server may forget them, too: where that word is an hour old, who opens the queue makes them anew.
#pragma once

// System.
#include <string>
#include <string_view>
#include <vector>
// fq, this room.
#include "core/redis/catalog/queue_entry.h"
#include "core/redis/shard/shard.h"

namespace fq {

/// Of what is fixed of a queue, and of the roots of its shards.
inline constexpr std::string_view kSchema = "4";

class QueueMeta {
 public:
  explicit QueueMeta(ServerAccess access) : access_(std::move(access)) {}

  std::string key(const std::string& queue) const;
  /// Empty: there is no such queue.
  Result<Fixed> read(const std::string& queue) const;
  struct Told {
    Fixed fixed;
    std::string away;  // why it is of a copy; "": it is not
  };
  /// Likewise; by a copy where one can be had and the server of what it is of cannot: nobody waits for that.
  Result<Told> tell(const std::string& queue) const;
  /// What copies tell of a queue of which its server knows nothing, as far as some of its shards are there.
  Result<std::vector<Fixed>> forgotten(const std::string& queue) const;
  /// By which its receipts are told from others', likewise; "": there is no such queue.
  Result<std::string> mark(const std::string& queue) const;

  /// Whether nobody has said of late that there are copies.
  bool may_lack_copies(const Fixed& meta) const;
  /// Where a server is away, whoever opens the queue next makes them, or an hour later if there were some.
  void make_copies(const std::string& queue, const Fixed& meta) const;
  /// Of a queue that is there: from now on there are to be none, until somebody opens it.
  Result<void> give_up_copies(const std::string& queue, const std::string& places) const;
  /// Those of a queue whose shards are at these places, and of no other of its name.
  Result<void> drop_copies(const std::string& queue, const std::string& places) const;

 private:
  struct Answer {
    Reply reply;
    std::string away;  // see Told
  };
  /// What this command says to its key, and these words behind it.
  Result<Answer> ask(const std::string& queue, const std::string& command,
                     const std::vector<std::string>& words) const;
  bool leads_to_shards(const Fixed& copy) const;
  Result<Fixed> fixed_in(const std::string& queue, const Reply& reply) const;
  std::vector<std::string> copies(const std::string& queue) const;
  /// On one server, or of a queue whose one shard lies where its name leads, they would help nobody.
  Result<bool> may_have_copies(const std::string& queue, const std::string& places) const;

  ServerAccess access_;
};

}  // namespace fq
