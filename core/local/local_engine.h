// local_engine - queues in directories of this machine.
#pragma once

// fq, below us.
#include "core/engine/engine.h"

namespace fq {

class LocalEngine final : public Engine {
 public:
  constexpr LocalEngine() = default;

  bool keeps(std::string_view scheme) const override { return scheme.empty(); }
  Result<void> check(const std::string&) const override { return {}; }
  Result<std::unique_ptr<Queue>> open(const Location& location, const OpenOptions& options) const override;
  Result<std::vector<std::string>> list(const std::string& spool) const override;
  Result<bool> create(const Location& location, const CreateOptions& options) const override;
  /// ErrorKind::later, naming the pids, while anyone is attached.
  Result<void> remove(const Location& location) const override;
  Result<std::vector<std::string>> back_up(const std::string& spool,
                                           const BackupRequest& request) const override;
  Result<void> rename(const Location& location, const std::string& name) const override;
  Result<std::string> queue_marked(const std::string& spool, std::string_view mark) const override;
  std::vector<DoctorRow> examine(const std::string& spool,
                                 const std::optional<std::string>& queue) const override;
};

}  // namespace fq
