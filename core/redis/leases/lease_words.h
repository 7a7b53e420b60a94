// lease words - what a lease asks for and what verdicts bring with them, as the server's program reads it.
#pragma once

// System.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
// fq, below us.
#include "core/api/queue.h"
// fq, this room.
#include "core/redis/wire/reply.h"

namespace fq {

/// What there is to take is something to it.
inline bool takes(const LeaseRequest& request) { return request.want > 0 || request.look; }

/// What is said again, since the answer was lost.
inline constexpr unsigned kVerdictsAgain = 1, kLeasesAgain = 2;

/// Where nothing is taken it is to be told of what comes; it comes since it was told of something; it asks
/// whether the queue is idle.
inline constexpr unsigned kListens = 1, kRung = 2, kAsksIdle = 4;

/// How far what a server has told of leases was heard: the serial of the last one, and of what others made
/// of them the last, as it was told.
struct Heard {
  uint64_t serial = 0;
  std::string_view news = {};
};

/// None: nothing.
std::string bytes_wanted(const LeaseRequest* request, size_t want, uint64_t bytes_left, bool any_first,
                         unsigned again = 0, const Heard& heard = {}, unsigned bell = 0);

/// How long it is kept, then what read_output reads.
Result<std::string> output_bytes(const JobOutput* output);

std::string extension(size_t count, int64_t duration_ms);

/// The verdicts were given, whatever became of the lease behind them.
SettleReply lease_behind(SettleReply reply, Result<LeaseReply> next);

/// As the server's program says what became of what was asked under a receipt.
SettleStatus status_of(const Reply& answer);

}  // namespace fq
