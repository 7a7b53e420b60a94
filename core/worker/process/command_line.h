// command_line - the words and variables that a job starts with.
//
// `{}` in a word stands for the payload, `{id}` and `{tenant}` for what they say: each as a part of exactly
// that word, put in once and never looked at again, so nothing in a payload is ever read as anything else.
#pragma once

// System.
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "core/worker/process/options.h"

namespace fq::worker {

/// Whether a word of the command asks for the payload.
bool wants_payload(const std::vector<std::string>& command);

/// The command where it stays up for all messages.
std::vector<std::string> words_for_all(const Options& options);

/// The command for this message; bad_data when its payload cannot be a word (a NUL, too long).
Result<std::vector<std::string>> words_for(const Options& options, const Delivery& delivery,
                                           std::string_view payload);

/// Our own environment without the FQ_ names that we set, then ours.
class Environment {
 public:
  explicit Environment(const Options& options);

  /// Of a job for one message.
  std::vector<std::string> for_message(const std::string& queue, const Delivery& delivery,
                                       uint32_t slot) const;
  /// Of a command that takes many: `count` in FQ_BATCH, or 0 for a stream.
  std::vector<std::string> for_many(const std::string& queue, const std::string& tenant, size_t count,
                                    uint32_t slot) const;

 private:
  std::vector<std::string> base_;
};

}  // namespace fq::worker
