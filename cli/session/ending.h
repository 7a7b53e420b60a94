// ending - the end of a message, as an exit status and in words: for wait, result and push --wait.
#pragma once

// System.
#include <optional>
#include <span>
// fq, this room.
#include "cli/words/exit_code.h"
#include "cli/session/session.h"

namespace fq::cli {

/// Waits until all of them have ended. EndStatus::interrupted does not come back: it dies by the signal.
Result<EndStatus> await_ends(Queue& queue, EndRequest request);

/// Whether it is still in the queue, and not dead.
Result<bool> is_unfinished(Queue& queue, MessageId id);

/// Where a message is that was moved: "was moved to queue 'mail', as message 7".
std::string moved_text(const Elsewhere& elsewhere);

void say_unknown(const Session& session, MessageId id);
/// Of one that is not here: where it is, if it was moved, or that it has ended.
Result<void> say_gone(const Session& session, Queue& queue, MessageId id);

/// 0 if it was acked, else its job's status (128+N for signal N, 124 where its time was over, 126 or 127
/// where it could not be started), else 1; also 1, and said, for a message that is not known.
Result<Exit> exit_of_end(const Session& session, Queue& queue, MessageId id);

/// The same; and if its job did not end by itself, says why it ended.
Result<Exit> tell_end(const Session& session, Queue& queue, MessageId id);

}  // namespace fq::cli
