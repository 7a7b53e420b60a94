#include "core/redis/shard/life_sign.h"

// System.
#include <unistd.h>
// fq, below us.
#include "core/base/host_name.h"

namespace fq {

Result<void> LifeSign::attend(Shard& shard, const Attendance& attendance) {
  const std::vector<std::string> words = {"attend", std::to_string(::getpid()),
                                          std::to_string(attendance.slots),
                                          std::to_string(attendance.messages), host_name()};
  FQ_TRY(shard.change("change", {words.begin(), words.end()}));
  const std::lock_guard lock(mutex_);
  attendance_ = words;
  return {};
}

/// A server that has lost a worker, or took it for dead while nobody heard it, has it again.
std::vector<std::string> LifeSign::words() {
  std::vector<std::string> words;
  {
    const std::lock_guard lock(mutex_);
    words = attendance_;
  }
  if (words.empty()) words = {"cancel"};  // of nothing: any call says it
  return words;
}

void LifeSign::add_to(Round& round) {
  round.add(shard_, words(), is_heard_, [this](const Reply&) { tell_holdings(); });
}

/// Which server it is that hears us is known when it has answered.
void LifeSign::tell_holdings() {
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
void LifeSign::leave() {
  for (bool more = true; more;) {
    const Result<Reply> reply = shard_.change("change", {"leave"});
    more = reply && reply->at(1).at(0).number == 1;
  }
}

}  // namespace fq
