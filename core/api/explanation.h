// explanation - why a message is served when it is, or why it waits.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>
// fq, this room.
#include "core/api/message.h"

namespace fq {

/// One thing that keeps a message from being served now. More of them may hold at once.
struct Reason {
  /// What keeps a tenant from its turn comes first, in the order in which one of several is told: what
  /// somebody has to end is before what time ends.
  enum class Kind {
    paused,
    limited,           // fq tenant limit
    concurrency,       // `running` of `limit` have a lease: `ids` are some of them
    rate,              // one each `interval_ns`
    gathering,         // `running` of `limit` are there
    pool_concurrency,  // as above, of the pool `node`
    pool_rate,
    delayed,  // not due yet
    leased,   // held by a process, `pid`, or until a time; neither: by what the job of a dead worker has left
    held,     // it comes after `ids`
    dead,     // buried, since a time
    expired,  // dead since its time to live ran out
    ended,    // acked, cancelled or moved
  };
  Kind kind{};
  std::string node;  // the tenant whose limit it is ("": the queue), or the pool
  uint64_t running = 0;
  std::optional<uint64_t> limit;
  int64_t interval_ns = 0;
  std::optional<int64_t> until_wall_ms;
  std::optional<int> pid;
  std::string host;  // where that is; "": not known
  std::vector<MessageId> ids;
  // Held by itself: it, what it comes after, and so on, as far as what comes after it.
  std::vector<MessageId> cycle;
};
std::string_view name_of(Reason::Kind kind);
/// None: that is no reason's name.
std::optional<Reason::Kind> reason_named(std::string_view name);

/// Between two turns of this node, each other one beside it gets so many at the most.
struct FairnessBound {
  std::string node;
  bool own = false;  // of the messages that were pushed to the path of an inner node itself
  uint64_t turns = 1;
};

enum class ServedBy { turn, rank, age };  // rank: its priority or key; age: each 16th turn with scope = queue

/// Of a message, or (id none) of a tenant with all below it.
struct Explanation {
  std::optional<MessageId> id;
  std::string tenant;
  State state = State::ready;
  std::vector<Reason> reasons;        // none: only turns are before it
  std::optional<uint64_t> ahead;      // ready ones of its tenant before it
  std::optional<uint64_t> place;      // from 1, if nothing else comes and nothing changes
  std::optional<uint64_t> place_max;  // where that is far: at the latest
  // Those before it use up a limit that holds for it: it comes behind all that can start.
  bool limited = false;
  ServedBy by = ServedBy::turn;
  std::vector<FairnessBound> bounds;                                // from its tenant upwards
  uint64_t ready = 0, delayed = 0, leased = 0, held = 0, dead = 0;  // of a tenant
};

struct ExplainRequest {
  std::optional<MessageId> id;  // this message
  std::string tenant;           // else this tenant and below; empty: the queue
  size_t next = 10;             // and so many messages that come next there
};

struct ExplainReply {
  std::optional<Explanation> subject;  // the message or tenant that was asked for; none: there is none
  std::vector<Explanation> next;
  std::vector<Explanation> blocked;  // tenants with something ready that cannot be served
  uint64_t more_blocked = 0;         // that are not listed
};

}  // namespace fq
