// policy_writer - changes of the policy that the schedule holds, with room made for them.
#pragma once

// System.
#include <functional>
// fq, this room.
#include "core/local/write/writer.h"

namespace fq {

class PolicyWriter : private Linked {
 public:
  PolicyWriter(Link& link, Writer& writer) : Linked(link), writer_(writer) {}

  /// One transaction under the lock, with room made for it before.
  Result<void> change(const Need& need, const std::function<void(Txn&)>& change);
  /// The terms of the whole queue hold for all its nodes when this returns.
  Result<void> follow_terms();

 private:
  Writer& writer_;
};

}  // namespace fq
