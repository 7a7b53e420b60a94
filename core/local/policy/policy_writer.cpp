#include "core/local/policy/policy_writer.h"

namespace fq {

Result<void> PolicyWriter::change(const Need& need, const std::function<void(Txn&)>& change) {
  for (;;) {
    bool fits = false;
    Need all;
    FQ_TRY(locked([&]() -> Result<void> {
      // Messages that are accepted and not linked yet may bring tenants that the rules speak of.
      all = need;
      if (need.controls > 0) all.controls += static_cast<uint32_t>(header().pending_tenants);
      fits = schedule().growth().fits(all);
      if (!fits) return {};
      // What is due came before what changes: so it is where a limit that ends lets somebody else come back.
      gate().fire_timers(gate().now());
      Txn txn = store().begin();
      change(txn);
      txn.commit();
      gate().mark_servable();
      gate().mark_ended();  // a limit may be higher
      return {};
    }));
    if (fits) return {};
    FQ_TRY(writer_.grow(all));
  }
}

Result<void> PolicyWriter::follow_terms() {
  for (bool behind = true; behind;) {
    FQ_TRY(locked([&]() -> Result<void> {
      behind = nodes_behind(header().schedule) != kNoIndex;
      if (behind) gate().fire_timers(gate().now());
      return {};
    }));
  }
  return {};
}

}  // namespace fq
