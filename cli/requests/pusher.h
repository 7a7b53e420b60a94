// pusher - messages go to their queue, and the ids that they get are printed once they are accepted.
#pragma once

// System.
#include <span>
#include <vector>
// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "cli/session/session.h"

namespace fq::cli {

/// Pushes and prints the ids. A batch that is not accepted is an Error.
class Pusher {
 public:
  Pusher(Session& session, Queue& queue, const Settings& settings, const PushOptions& options)
      : session_(session), queue_(queue), settings_(settings), options_(options) {}

  Result<void> push(std::span<const NewMessage> messages);
  /// What became of each message of the last batch, where it failed.
  const std::vector<PushStatus>& statuses() const { return statuses_; }
  /// One, without a word.
  Result<MessageId> push_unsaid(const NewMessage& message);
  const Settings& settings() const { return settings_; }

 private:
  Result<void> push_part(std::span<const NewMessage> messages, size_t first);
  Result<void> push_halves(std::span<const NewMessage> messages, size_t first);
  /// Dies by the signal that ended its waiting for room.
  Result<PushReply> put(std::span<const NewMessage> messages);
  Result<PushReply> put_at_last(std::span<const NewMessage> messages);
  Error refusal(PushStatus status, const PushReply& reply) const;
  Result<void> print(const PushResult& item);
  Session& session_;
  Queue& queue_;
  const Settings& settings_;
  const PushOptions& options_;
  std::vector<PushStatus> statuses_;
};

}  // namespace fq::cli
