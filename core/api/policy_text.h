// policy_text - fq.toml as it is kept where there is no directory for it: one text for all queues of a spool.
#pragma once

// System.
#include <optional>
#include <string>
// fq, below us.
#include "core/base/result.h"

namespace fq {

/// Of one that was never kept.
inline constexpr const char* kNoPolicyVersion = "0";

struct PolicyText {
  std::string text;
  std::string version = kNoPolicyVersion;  // another one for each text
  // It was kept by one who may have commands run there. Else its schedules make no messages that run any.
  bool may_command = false;
  bool may_vouch = false;  // what whoever asks keeps from now on is kept by such a one
};

/// ErrorKind::usage: the spool is a directory, and fq.toml a file in it.
Result<PolicyText> policy_text(const std::string& spool);
/// Keeps this text from now on; returns its version. The text is not looked into: it has been checked.
/// ErrorKind::later: by now there is another version than this.
Result<std::string> keep_policy_text(const std::string& spool, const std::string& text,
                                     const std::optional<std::string>& if_version);

}  // namespace fq
