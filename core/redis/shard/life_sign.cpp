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

void LifeSign::add_to(Round& round) { round.add(shard_, words(), is_heard_); }

void LifeSign::begin_telling() {
  if (is_heard_ && !holdings_->is_told(shard_.server_run())) telling_ = holdings_->begin_telling();
}

bool LifeSign::add_holdings_to(Round& round) {
  if (!telling_) return false;
  if (!is_heard_) {
    end_telling("");
    return false;
  }
  round.add(shard_, {"holds", telling_->heard_serial, telling_->leases, telling_->runs, telling_->calls},
            is_heard_, [this](const Reply& reply) {
              if (has_more_due(reply)) return end_telling("");  // again behind the next sign
              const bool more = reply.at(1).at(0).number == 1;
              if (!more) end_telling(shard_.server_run());
            });
  return true;
}

void LifeSign::end_telling(const std::string& server) {
  telling_.reset();
  holdings_->end_telling(server);
}

/// A server that does not hear it finds out in time.
void LifeSign::leave() {
  for (bool more = true; more;) {
    const Result<Reply> reply = shard_.change("change", {"leave"});
    more = reply && reply->at(1).at(0).number == 1;
  }
}

}  // namespace fq
