#include "core/redis/shard/life_sign.h"

namespace fq {

/// Which server it is that hears us is known when it has answered.
void LifeSign::give() {
  if (holdings_->is_told(shard_.server_run()) && !shard_.tick()) return;
  if (!holdings_->is_told(shard_.server_run())) static_cast<void>(tell());
}

Result<void> LifeSign::tell() {
  const Holdings::Words words = holdings_->begin_telling();
  for (bool more = true; more;) {
    FQ_TRY_SET(const Reply reply,
               shard_.change("change", {"holds", words.heard_serial, words.leases, words.runs, words.calls},
                             Shard::Lost::is_repeated));
    more = reply.at(1).at(0).number == 1;
  }
  holdings_->note_told(shard_.server_run());
  return {};
}

/// A server that does not hear it finds out in time.
void LifeSign::leave() { static_cast<void>(shard_.change("change", {"leave"})); }

}  // namespace fq
