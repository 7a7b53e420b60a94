// glance - what a client that waits for work of a shard reads, to know whether a call may find something.
//
// A call costs the server many times as much. Who is noted down is told of what comes, so what is read is for
// what it was not told: that it is noted down no more, that something can be taken which nobody has come for,
// that something is due of which nobody has taken care, that time there goes on by a call only. The root has
// the last three as the last call left them (see calls.lua); where another library has changed something
// since, it says nothing.
#pragma once

// System.
#include <optional>
#include <string>
#include <vector>
// fq, this room.
#include "core/redis/shard/shard.h"
#include "core/redis/waits/waiting.h"

namespace fq {

struct LeaseRequest;

class Glance {
 public:
  /// Needs: a shard with bells. It outlives this, as the request does.
  Glance(Shard& shard, const LeaseRequest& request);

  /// From a call on that found nothing, and noted it down, until another may find something. `due_in_ms`: as
  /// that call told.
  Waiting::End sleep(Waiting& waiting, std::optional<int64_t> due_in_ms);

 private:
  bool shows_something();
  /// Something can be taken, of whatever is waited for.
  bool is_open(bool shows);
  void take_count(const Reply& waiters);

  Shard& shard_;
  const bool is_enough_;  // in the place of a call
  std::vector<std::vector<std::string>> commands_;
  bool is_of_tenant_;
  int64_t doubt_ms_ = 0;    // so long it is not believed again what a call did not find
  int64_t doubted_ms_ = 0;  // until then
};

}  // namespace fq
