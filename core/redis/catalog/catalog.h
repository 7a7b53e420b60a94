// catalog - the queues below a prefix, and the values of each that are fixed when it is made.
//
// A name stands in the set of queues before anything of it is there and until nothing is: a broken create or
// remove is seen, and can be repeated. A queue is whole when the roots of all its shards are there.
// Where the keys of a queue are stays as it was made, whatever its name is by now; one that is made under a
// name that another had has them somewhere else.
//
// On a cluster what is fixed of a queue lies where its name puts it, so a rename is in parts: the old entry
// says what it gets (`to`), from where nothing can end it but the new name's being taken; the new one is
// made, and says what it was (`was`); the old one goes. Whoever finds one of these words brings the rename to
// its end. How copies of it come and go beside that: queue_meta.h.
#pragma once

// System.
#include <optional>
#include <string>
#include <vector>
// fq, below us.
#include "core/api/create_options.h"
// fq, this room.
#include "core/redis/catalog/queue_entry.h"
#include "core/redis/catalog/queue_meta.h"
#include "core/redis/shard/shard.h"

namespace fq {

class Catalog {
 public:
  explicit Catalog(ServerAccess access) : access_(std::move(access)) {}

  /// None: there is no such queue.
  Result<std::optional<QueueEntry>> find(const std::string& queue);
  /// The same, and a rename that was broken off stays so. `away`: why it is told by a copy; "": it is not.
  Result<std::optional<QueueEntry>> peek(const std::string& queue, std::string& away);
  /// True when it was made, false when it was there.
  Result<bool> create(const std::string& queue, const CreateOptions& options = {});
  Result<std::vector<std::string>> list();
  Result<void> remove(const std::string& queue);
  /// ErrorKind::later: somebody is attached to it; usage: there is one of that name.
  Result<void> rename(const std::string& queue, const std::string& name);
  /// The queue that has it; "": none.
  Result<std::string> marked(std::string_view mark);

 private:
  std::string key_of(const std::string& queue, std::string_view what) const;
  std::string tag_at(const std::string& place) const;
  /// Of what the servers have of the shards of a queue; empty: it cannot be read.
  std::vector<std::string> tags_in(const std::string& places) const;
  /// Others instead of those at which keys are, which may be of a queue that has another name by now.
  Result<std::vector<std::string>> free_places(std::vector<std::string> places);
  /// To the server that has the first word's operand. A refusal is an Error.
  Result<Reply> call(Words words) { return access_.link->call(words[1], words); }
  /// If it is there; who asks a second time finds it gone.
  Result<void> rename_key(const std::string& key, const std::string& name);
  Result<std::optional<QueueEntry>> entry_of(const std::string& queue, const Fixed& meta) const;
  /// What was fixed of a queue, of which its server knows nothing by now, by a copy that no queue of another
  /// name has. Of shards that are lost, too, nothing is made anew. False: there is none.
  Result<bool> put_back(const std::string& queue);
  /// What is fixed of it, by name; empty: there is no such queue.
  Result<Fixed> meta_of(const std::string& queue);
  /// Likewise, of what was read.
  Result<Fixed> finished(const std::string& queue, Fixed meta);
  Result<void> make_whole(const std::string& queue, Fixed& meta);
  Result<void> make_roots(const std::vector<std::string>& tags, const std::string& events_ms);
  Result<bool> make_meta(const std::string& queue, const CreateOptions& options);
  Result<std::string> new_mark();
  Result<void> rename_at_once(const QueueEntry& entry, const std::string& name);
  Result<void> rename_in_parts(const QueueEntry& entry, const std::string& name);
  Result<std::string> retitle(const std::string& queue, std::string_view part, const std::string& places,
                              const std::string& name);
  Result<void> check_unattended(const std::string& queue, const std::string& places);
  /// False: the new name is another queue's.
  Result<bool> finish_rename(const std::string& queue, const Fixed& meta);
  Result<void> drop_name(const std::string& queue, const std::string& name, const std::string& places);
  Result<void> remove_rest(const std::string& queue);

  ServerAccess access_;
  QueueMeta meta_{access_};
};

}  // namespace fq
