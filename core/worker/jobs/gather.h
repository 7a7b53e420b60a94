// gather - messages of one tenant that wait to be run together.
//
// A batch is full when it has as many as asked for, and due when its oldest message was pushed that long ago.
// How long ago that was is told by the wall clock once, when the message comes; from then on time is the boot
// clock's. Tenants are never mixed, and those that are ready take turns.
#pragma once

// System.
#include <map>
#include <optional>
#include <vector>
// fq, this room.
#include "core/worker/jobs/books.h"

namespace fq::worker {

class Gather {
 public:
  Gather(size_t most, int64_t linger_ms) : most_(most), linger_ms_(linger_ms) {}

  /// It waits for as long as is left of `linger_ms` since its push, and never for longer than all of that.
  void add(size_t source, Arrival arrival, int64_t now_ms, int64_t now_wall_ms);
  /// A batch that is full, or due at this time; empty when there is none.
  Load take_ready(int64_t now_ms);
  /// A batch, ready or not; empty when there is none.
  Load take_any();
  void drop(const Receipt& receipt);
  /// When the next one is due; kNever when none is held.
  int64_t next_ms() const;
  size_t held() const { return held_; }
  size_t batches() const;

 private:
  using Key = std::pair<size_t, std::string>;  // queue and tenant
  struct Gathered {
    Arrival arrival;
    int64_t due_ms = 0;
  };
  using Open = std::map<Key, std::vector<Gathered>>;
  int64_t due_ms(const std::vector<Gathered>& gathered) const;
  Load take(Open::iterator from);

  size_t most_;
  int64_t linger_ms_;
  size_t held_ = 0;
  Open open_;
  std::optional<Key> last_;  // the one whose turn it was
};

}  // namespace fq::worker
