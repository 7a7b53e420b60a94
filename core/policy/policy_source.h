// policy_source - the source of the text of fq.toml: the spool's directory, or the text that its engine
// keeps.
#pragma once

// System.
#include <string>
// fq, below us.
#include "core/api/queue.h"

namespace fq {

/// The file, or what stands for it in messages.
std::string policy_path(const std::string& spool);

struct PolicySource {
  std::string text;
  bool may_command = true;  // see PolicyText
  FileIdentity state;  // as for_queue() needs it; of before the reading: a change meanwhile is read next time
};

/// Nothing where there is none. ErrorKind::config or denied: there is one that is not to be read.
Result<PolicySource> read_policy_source(const std::string& spool);

/// Which state there is now, without reading it. All zero: there is none.
Result<FileIdentity> policy_state(Queue& queue, const std::string& spool);

/// The identity of that state for one queue.
FileIdentity for_queue(FileIdentity state, std::string_view queue);

Error policy_too_long(const std::string& path);

}  // namespace fq
