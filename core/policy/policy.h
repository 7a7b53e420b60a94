// policy - keeps a queue's copy of fq.toml up to date, reading the file only when it has changed.
//
// A queue does not look for the file by itself. Its user calls bring_policy_up_to_date before an
// operation, as every command does: that costs one stat while the file is as it was. A program that links the
// library has FollowedQueue (followed_queue.h), which does so before each call.
#pragma once

// System.
#include <string>
// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "core/policy/policy_file.h"
#include "core/policy/policy_source.h"

namespace fq {

/// The file as it is now; one that says nothing when there is none. ErrorKind::config or denied when it
/// cannot be used.
Result<PolicyFile> read_policy_file(const std::string& spool);

/// The policy in it for this queue.
Result<FilePolicy> read_policy_for(const Location& location);

/// Whether it can be used: for this queue, and for all that are there.
Result<void> check_policy(const Location& location);

/// The same as far as it says that by itself: no queue but this one, which need not be there, is thought of.
Result<void> check_policy_alone(const Location& location);

/// As check_policy(), of a text that is to become the file.
Result<void> check_policy_text(const std::string& text, const Location& location);

/// The file cannot be used, or it lies on a server that is away, which passes; a queue goes on with the last
/// good one.
inline bool is_policy_fault(const Error& error) {
  return error.kind == ErrorKind::config || error.kind == ErrorKind::denied;
}

/// The schedules that the file has for this queue, where the engine has schedules at all.
Result<void> load_schedules(Queue& queue, const Location& location);

/// Does nothing when the queue already holds this state of the file. An error that is_policy_fault: the file
/// cannot be used or had, and the queue holds the last good one, also when its memory was made anew since.
Result<void> bring_policy_up_to_date(Queue& queue, const Location& location);

}  // namespace fq
