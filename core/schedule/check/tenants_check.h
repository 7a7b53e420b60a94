// tenants_check - tenants: their sums, seats, blocks and lanes.
#pragma once

// fq, this room.
#include "core/schedule/check/check_part.h"

namespace fq {

class TenantsCheck : private CheckPart {
 public:
  explicit TenantsCheck(CheckScene& scene) : CheckPart(scene) {}

  /// Needs: all messages were counted.
  void add_to_those_above();
  void check();
  void check_controls();

 private:
  void check_node(uint32_t i, const Tenant& tenant);
  void check_ring(uint32_t i, const Tenant& tenant);
  void check_sets(uint32_t seat);
  void check_messages(uint32_t i, const Tenant& tenant);
  void check_blocks(uint32_t i, const Tenant& tenant);

  uint64_t used_controls_ = 0, setting_bytes_ = 0;
};

}  // namespace fq
