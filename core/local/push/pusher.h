// pusher - messages in: checked, appended, made durable; with `block` until there is room.
#pragma once

// fq, this room.
#include "core/local/consume/watcher.h"
#include "core/local/push/keyed_push.h"

namespace fq {

class Pusher : private Linked {
 public:
  Pusher(Link& link, Admission& admission, PushWriter& pushes, KeyedPush& keyed, Watcher& watcher)
      : Linked(link), admission_(admission), pushes_(pushes), keyed_(keyed), watcher_(watcher) {}

  Result<PushReply> push(std::span<const NewMessage> messages, const PushOptions& options);

 private:
  Result<void> push_into(std::span<const NewMessage> messages, const PushOptions& options, PushReply& reply);
  Result<void> push_once(std::span<const NewMessage> messages, const PushOptions& options, PushReply& reply);
  Result<bool> wait_for_room(const PushOptions& options, int64_t deadline_ms, uint32_t seen);

  Admission& admission_;
  PushWriter& pushes_;
  KeyedPush& keyed_;
  Watcher& watcher_;
};

}  // namespace fq
