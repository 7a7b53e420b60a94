// keyed_push - pushes with a key: the search for a message that has it, and the outcome of the push then.
//
// Decided under the lock, encoded outside it, decided again when it is appended. A push that is not applied
// yet is waited for: its effect is not known before.
#pragma once

// fq, this room.
#include "core/local/consume/resolver.h"
#include "core/local/push/push_writer.h"
#include "core/local/push/queue_secret.h"
#include "core/local/read/message_reader.h"

namespace fq {

class KeyedPush : private Linked {
 public:
  struct Needs {
    Writer& writer;
    Upkeep& upkeep;
    MessageReader& messages;
    Resolver& resolver;
    Admission& admission;
    PushWriter& pushes;
  };
  KeyedPush(Link& link, const Needs& needs)
      : Linked(link),
        writer_(needs.writer),
        upkeep_(needs.upkeep),
        messages_(needs.messages),
        resolver_(needs.resolver),
        admission_(needs.admission),
        pushes_(needs.pushes),
        secret_(link) {}

  Result<PushReply> push(std::span<const NewMessage> messages, bool lazy);

 private:
  enum class Fate {
    unknown,    // it rests on what is not applied yet
    due,        // on a message whose time has come, and that is not seen to yet
    fresh,      // a message of its own
    same,       // as one before it in this batch
    behind,     // accepted too, and held until the one that runs has ended
    duplicate,  // there is one, which stays as it is
    replace,    // there is one that waits: it gets this payload
    missing,    // a message that it is to come after is not known
    moving,     // what it would replace is on its way to another queue: what it is there is not known here
  };

  struct Plan {
    Fate fate = Fate::fresh;
    MessageId id{};  // of the one that is there
    int64_t since_ms = 0;  // of a debounced one: boot time of its first push
    uint64_t item_position = 0;
    uint64_t event_position = 0;
    size_t same_as = 0;  // in the batch
    size_t place = 0;    // among the fresh ones
  };

  struct KeyedBatch {
    std::vector<KeyHash> hashes;
    std::vector<size_t> first;  // the first of the batch with the same key
  };

  /// A record, with what its views point to.
  struct Replacement {
    Replacement(Link& link, Upkeep& upkeep) : blobs(link, upkeep), doomed(link) {}
    Now now;  // by which its times are told
    ReplacedRecord record;
    std::string key;
    std::string terms;
    PushBatch batch;
    PushedBlobs blobs;
    DoomedBlobs doomed;  // the old payload, where it lies there
  };

  Plan judge_waits(const NewMessage& message, Plan plan);
  Plan judge(const NewMessage& message, const KeyHash& hash, const Now& now);
  bool judge_all(std::span<const NewMessage> messages, const KeyedBatch& batch, const Now& now,
                 std::vector<Plan>& plans);
  static bool is_known(const Plan& plan) { return plan.fate != Fate::unknown && plan.fate != Fate::due; }
  KeyedBatch key_batch(std::span<const NewMessage> messages);
  Result<PushReply> reply_of(std::span<const NewMessage> messages, const KeyedBatch& batch,
                             const std::vector<Plan>& plans, const Appended& appended, bool lazy);
  Error refuse_busy();
  static bool replaces(const NewMessage& message, const Plan& there);
  static PushStatus replaced_status(const NewMessage& message);
  Result<PushResult> replace_or_push(const NewMessage& message, const KeyHash& hash, bool lazy,
                                     uint64_t& end);
  Result<bool> merge(const NewMessage& message, const Plan& plan, Replacement& merged);
  Result<bool> replace(const NewMessage& message, const Plan& plan, bool lazy, uint64_t& end);
  void append_replaced(const ReplacedRecord& record, SlotIndex slot);

  Writer& writer_;
  Upkeep& upkeep_;
  MessageReader& messages_;
  Resolver& resolver_;
  Admission& admission_;
  PushWriter& pushes_;
  QueueSecret secret_;
  Body body_;
};

}  // namespace fq
