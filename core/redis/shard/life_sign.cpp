#include "core/redis/shard/life_sign.h"

namespace fq {

/// Which server it is that hears us is known when it has answered.
void LifeSign::give() {
  if (holdings_->is_told(shard_.server_run()) && !shard_.tick()) return;
  if (holdings_->is_told(shard_.server_run())) return;
  const Result<void> told = tell(holdings_->begin_telling());
  holdings_->end_telling(told ? shard_.server_run() : std::string());
}

Result<void> LifeSign::tell(const Holdings::Words& words) {
  for (bool more = true; more;) {
    FQ_TRY_SET(const Reply reply,
               shard_.change("change", {"holds", words.heard_serial, words.leases, words.runs, words.calls},
                             Shard::Lost::is_repeated));
    more = reply.at(1).at(0).number == 1;
  }
  return {};
}

/// A server that does not hear it finds out in time.
void LifeSign::leave() { static_cast<void>(shard_.change("change", {"leave"})); }

}  // namespace fq
