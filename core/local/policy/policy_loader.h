// policy_loader - the policy file's layer, put into the segment beside the one that holds and then in its
// place.
//
// One process loads at a time (policy_lock); a process that comes meanwhile waits and finds it done. The
// file's identity is noted last: a process that finds another one there loads it again, so a load that was
// cut off anywhere is begun anew by the next command.
#pragma once

// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "core/local/policy/policy_writer.h"

namespace fq {

class PolicyLoader : private Linked {
 public:
  PolicyLoader(Link& link, PolicyWriter& policy) : Linked(link), policy_(policy) {}

  Result<bool> is_current(const FileIdentity& identity);
  Result<void> load(const Policy& policy, const FileIdentity& identity, const std::string* text);

 private:
  Result<RuleSummary> sum_up_rules();
  Result<void> load_pools(const std::vector<PoolRule>& pools, uint32_t generation);
  Result<void> load_rules(const Policy& policy, const FileIdentity& identity);

  PolicyWriter& policy_;
};

}  // namespace fq
