// blob_care - the files in blobs/, held against the messages that speak of them.
//
// Messages are found in steps under the lock, payloads are read without it. A blob belongs to nobody when no
// message speaks of it that was accepted before its own lock was ours: a process that pushes one holds it
// until then, and none can begin to while we do. Only such a blob may go.
#pragma once

// System.
#include <functional>
#include <set>
// fq, this room.
#include "core/local/care/checked.h"
#include "core/local/consume/mutator.h"

namespace fq {

class BlobCare : private Linked {
 public:
  enum class OrphanFate { told, removed, kept };
  /// Blobs that belong to no message.
  struct Orphans {
    uint64_t count = 0;
    uint64_t bytes = 0;
    bool known = true;  // false: a message cannot be read, and may speak of any blob
  };

  BlobCare(Link& link, MessageReader& messages, Mutator& mutator)
      : Linked(link), messages_(messages), mutator_(mutator) {}

  /// The payloads of all messages.
  Result<void> check(Checked& checked, Interrupt* interrupt);
  /// The bytes of lost payloads are kept, and their messages cancelled.
  Result<void> set_aside(const Checked& found, CheckReport& report);
  Result<Orphans> find_orphans(OrphanFate fate);
  /// The files that messages speak of; none where a message cannot be read, which may speak of any.
  Result<std::optional<std::set<std::string>>> named();
  /// Removed, or where a recovery lost records put into damaged/; returns how many were removed.
  Result<uint64_t> remove_orphans();

 private:
  /// Calls `visit(id, item)` for each output of a step that lies in blobs/; `item` is null where its record
  /// cannot be read.
  using VisitOutput = std::function<void(uint64_t id, const MessageItem* item)>;
  Result<void> each_output(const VisitOutput& visit);
  Result<bool> find_blob_users(std::vector<FoundMessage>& found, uint32_t& next_slot);
  Result<std::optional<uint64_t>> item_position_of(uint64_t id);
  Result<void> check_blob(FoundMessage& user, Checked& checked);
  Result<std::unique_ptr<File>> read_whole(const MessageItem& item);
  static Result<bool> deal_with(Disk& disk, const std::string& path, OrphanFate fate);
  Result<void> sort_out(std::span<const std::string> paths, OrphanFate fate, Orphans& orphans);

  MessageReader& messages_;
  Mutator& mutator_;
};

}  // namespace fq
