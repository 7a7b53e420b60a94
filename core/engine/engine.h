// engine - an engine, which keeps queues: found by how its spools are written, SCHEME://PLACE or a
// directory's path.
//
// The door's functions (open_queue and its like) find the engine of a spool and hand on to it. Which engines
// a program has is said in one place of that program, engines(): a program links no engine that it does not
// name.
#pragma once

// System.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/api/create_options.h"
#include "core/api/doctor.h"
#include "core/api/policy_text.h"
#include "core/api/queue.h"

namespace fq {

/// Has no state: all its knowledge is in its spools. Names of queues have been checked before it is asked.
class Engine {
 public:
  /// Whether it keeps the spools that are written SCHEME://PLACE; "": those that are directories.
  virtual bool keeps(std::string_view scheme) const = 0;

  /// Whether a spool that it keeps is written as it has to be; whether it is there is another question.
  virtual Result<void> check(const std::string& spool) const = 0;
  /// As check_takes_commands.
  virtual Result<void> check_takes_commands(const std::string&, std::string_view) const { return {}; }

  virtual Result<std::unique_ptr<Queue>> open(const Location& location, const OpenOptions& options) const = 0;
  virtual Result<std::vector<std::string>> list(const std::string& spool) const = 0;
  virtual Result<bool> create(const Location& location, const CreateOptions& options) const = 0;
  virtual Result<void> remove(const Location& location) const = 0;
  /// ErrorKind::usage where an engine has nothing like these, and those of the policy.
  virtual Result<void> rename(const Location& location, const std::string& name) const;
  virtual Result<std::vector<std::string>> back_up(const std::string& spool,
                                                   const BackupRequest& request) const;
  /// The queue of this spool whose receipts have this mark; "": none.
  virtual Result<std::string> queue_marked(const std::string& spool, std::string_view mark) const = 0;
  virtual Result<PolicyText> policy_text(const std::string& spool) const;
  virtual Result<std::string> keep_policy_text(const std::string& spool, const std::string& text,
                                               const std::optional<std::string>& if_version) const;
  virtual std::vector<DoctorRow> examine(const std::string& spool,
                                         const std::optional<std::string>& queue) const = 0;

 protected:
  ~Engine() = default;  // they are there as long as the program
};

/// Those of this program.
std::span<const Engine* const> engines();

}  // namespace fq
