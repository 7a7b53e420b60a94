// activity - the events of a queue, summed up over time: the turns of each tenant, the messages that came and
// went, and the reasons of failures.
//
// Bounded however many tenants and reasons there are: those after the first few thousand are summed up.
#pragma once

// System.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
// fq, below us.
#include "core/api/event.h"

namespace fq::cli {

/// As a reason of failures.
inline constexpr std::string_view kExpired = "its time to live ran out";

class Activity {
 public:
  static constexpr size_t kSteps = 60;
  using Series = std::array<uint32_t, kSteps>;  // a number for each part of the time
  struct Turns {
    std::string tenant;  // "": of all others
    uint64_t count = 0;
    Series over_time{};
  };
  struct Failure {
    std::string reason;
    uint64_t count = 0;
  };

  /// From then on; none: from the first event on.
  Activity(std::optional<int64_t> since_wall_ms, int64_t until_wall_ms)
      : from_wall_ms_(since_wall_ms), until_wall_ms_(until_wall_ms) {}

  void add(const Event& event);

  bool empty() const { return events_ == 0; }
  uint64_t events() const { return events_; }
  int64_t from_wall_ms() const { return from_wall_ms_.value_or(until_wall_ms_); }
  int64_t until_wall_ms() const { return until_wall_ms_; }

  const Series& pushed() const { return pushed_; }
  const Series& started() const { return started_; }
  const Series& acked() const { return acked_; }
  const Series& failed() const { return failed_; }
  /// The first `most`, those with the most turns first; the others as one behind them.
  std::vector<Turns> turns(size_t most) const;
  std::vector<Failure> failures(size_t most) const;

 private:
  size_t step_of(int64_t at_wall_ms) const;
  void add_turn(const Event& event, size_t step);
  void add_failure(const Event& event);

  std::optional<int64_t> from_wall_ms_;
  const int64_t until_wall_ms_;
  uint64_t events_ = 0;
  Series pushed_{}, started_{}, acked_{}, failed_{};
  std::unordered_map<std::string, Turns> turns_;
  std::unordered_map<std::string, uint64_t> failures_;
};

}  // namespace fq::cli
