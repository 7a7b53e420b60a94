// push_batch - many messages by --lines, --null or --ndjson, in batches that are all or nothing.
//
// A batch is up to 1,024 messages or 256 KiB, or what has come when the input pauses. Its ids are printed
// once it is accepted; a bad line ends the command, names itself, and leaves its whole batch out.
#pragma once

// System.
#include <span>
// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "cli/terminal/input.h"
#include "cli/requests/push_options.h"
#include "cli/session/session.h"

namespace fq::cli {

enum class BatchForm { lines, null, ndjson };

/// Pushes and prints the ids. A batch that is not accepted is an Error.
class Pusher {
 public:
  Pusher(Session& session, Queue& queue, const Settings& settings, const PushOptions& options)
      : session_(session), queue_(queue), settings_(settings), options_(options) {}

  Result<void> push(std::span<const NewMessage> messages);
  /// One, without a word.
  Result<MessageId> push_unsaid(const NewMessage& message);
  const Settings& settings() const { return settings_; }

 private:
  Result<void> push_halves(std::span<const NewMessage> messages);
  /// Dies by the signal that ended its waiting for room.
  Result<PushReply> put(std::span<const NewMessage> messages);
  Result<PushReply> put_at_last(std::span<const NewMessage> messages);
  Error refusal(PushStatus status, const PushReply& reply) const;
  Result<void> print(const PushResult& item);
  Session& session_;
  Queue& queue_;
  const Settings& settings_;
  const PushOptions& options_;
};

Result<void> push_batch(Pusher& pusher, Reader& source, BatchForm form, const PushFields& defaults);

}  // namespace fq::cli
