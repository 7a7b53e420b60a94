// run_time_policy - the values set at run time: written down like a push, carried forward like a message.
#pragma once

// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "core/local/policy/policy_writer.h"

namespace fq {

class RunTimePolicy : private Linked {
 public:
  RunTimePolicy(Link& link, Writer& writer, PolicyWriter& policy)
      : Linked(link), writer_(writer), policy_(policy) {}

  /// All values that hold for the queue, from whichever layer.
  Result<Settings> settings();
  Result<void> set(std::string_view path, const PolicyPatch& patch);
  Result<OverridePage> overrides(const Cursor& from, size_t n);
  /// Writes down anew some of the values that hold, from where the walk is. Needs: the lock, and that the
  /// walk has begun; ends it at its end.
  Obstacle carry_some();

 private:
  std::optional<TenantIndex> scan_settings(TenantIndex from, size_t n, std::vector<PolicyOverride>& found);
  Obstacle carry_one(TenantIndex node);
  void append(const PolicyRecord& record);

  Writer& writer_;
  PolicyWriter& policy_;
  Body body_;
  Body carried_body_;  // carrying may be what makes room for a change
};

}  // namespace fq
