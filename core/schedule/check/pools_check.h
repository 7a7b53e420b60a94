// pools_check - pools (P1, P2, P4 to P6), and who is in them.
#pragma once

// fq, this room.
#include "core/schedule/check/check_part.h"

namespace fq {

class PoolsCheck : private CheckPart {
 public:
  explicit PoolsCheck(CheckScene& scene) : CheckPart(scene) {}

  void check();

 private:
  void count_of_pools();
  void check_pool(uint32_t i, const Pool& pool);
  void check_members(const Pool& pool, uint32_t i);

  std::vector<uint32_t> pool_leases_, pool_members_;
  std::vector<uint32_t> member_leases_;  // of the node that is the nearest member
};

}  // namespace fq
