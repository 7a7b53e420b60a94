// verdicts - the verdict for a message, from how its job ended.
#pragma once

// fq, this room.
#include "core/worker/jobs/books.h"
#include "core/worker/jobs/workshop.h"
#include "core/worker/process/launch.h"

namespace fq::worker {

/// Why a job ends otherwise than by itself.
enum class Ending { none, timed_out, cancelled, stopped };

/// 0 ack, 65 bury, anything else retry; a job that we ended ourselves: by the reason for that.
Verdict verdict_of(const ExitStatus& status, Ending ending);
/// "exit 3", "signal 11", "timed out".
std::string reason_of(const ExitStatus& status, Ending ending);

/// The order for one message. Needs: a verdict other than ack is a failure of its own.
VerdictOrder order_for(const Workshop& shop, const Delivery& delivery, const ExitStatus& status,
                       Ending ending, std::string_view stderr_tail);
/// How long its job may run; 0: for ever.
int64_t limit_of(const Workshop& shop, const Delivery& delivery);
/// How long a message waits before its next try.
int64_t backoff_for(const Workshop& shop, const Delivery& delivery);
/// Returns the message; no attempt is counted.
VerdictOrder release_of(const Delivery& delivery);
/// For its next try, where it has one.
VerdictOrder retry_of(const Workshop& shop, const Delivery& delivery, std::string reason);
VerdictOrder bury_of(const Delivery& delivery, std::string reason);

inline constexpr int kTryLaterExit = 75;  // of a job that asks to be run again, or that sleeps
/// The line about a failure, for a person.
std::string failure_line(const std::string& queue, const Delivery& delivery, const VerdictOrder& order);
/// The line about an ack or a release.
std::string success_line(const std::string& queue, const Delivery& delivery, const VerdictOrder& order);

}  // namespace fq::worker
