// admission - the check that there is room for a push: max_messages and max_bytes of the queue and of every
// node of a tenant's path, exact also for messages accepted and not linked yet.
#pragma once

// System.
#include <span>
// fq, this room.
#include "core/local/write/link.h"

namespace fq {

/// The messages and bytes that a batch adds to one node and all below it.
struct Arrival {
  std::string_view path;
  uint64_t messages = 0;
  uint64_t bytes = 0;
};

/// Of all its messages, by path.
std::vector<Arrival> arrivals_of(std::span<const MessageItem> items);

class Admission : private Linked {
 public:
  explicit Admission(Link& link) : Linked(link) {}

  /// Which limit stands in the way, if any. `leaves`: what goes before they come. Needs: the lock.
  std::optional<Error> refuse(std::span<const Arrival> arrivals, std::span<const Arrival> leaves = {}) {
    if (arrivals.empty() && header().policy.draining == 0) return std::nullopt;
    return find_obstacle(arrivals, leaves);
  }
  /// The same of what only grows, which a queue that drains takes too.
  std::optional<Error> over_limit(std::span<const Arrival> arrivals, std::span<const Arrival> leaves = {});
  /// Whether one did since begin(): then an end makes room.
  void begin() { over_limit_ = never_fits_ = false; }
  bool was_over_limit() const { return over_limit_; }
  /// Whether it is more than the limit by itself, so that no end does.
  bool never_fits() const { return never_fits_; }

 private:
  std::optional<Error> find_obstacle(std::span<const Arrival> arrivals, std::span<const Arrival> leaves);
  Arrival pending_at(std::string_view path);

  bool over_limit_ = false;
  bool never_fits_ = false;
};

}  // namespace fq
