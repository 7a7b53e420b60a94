#include "cli/views/start_estimate.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/counted.h"
#include "core/base/text/duration.h"

namespace fq::cli {

namespace {

// Fewer say too little of the next: arbitrary.
constexpr uint64_t kRunsLeast = 3;
// Further ahead than anybody plans: arbitrary, and no sum of it overflows.
constexpr uint64_t kMostMs = uint64_t{366} * 24 * 3600 * 1000;

std::string before_text(uint64_t ahead) { return std::to_string(ahead) + " before it"; }

/// Of one that its tenant's own rate keeps, and nothing else: those of its tenant before it take their
/// places.
std::optional<StartEstimate> by_rate(const Explanation& of, int64_t now_wall_ms) {
  if (!of.ahead || of.reasons.empty()) return std::nullopt;
  int64_t at_ms = now_wall_ms;
  for (const Reason& reason : of.reasons) {
    const bool own = reason.kind == Reason::Kind::rate && reason.node == of.tenant && reason.until_wall_ms;
    const auto interval_ms = static_cast<uint64_t>(reason.interval_ns / 1'000'000);
    if (!own || interval_ms > kMostMs / (*of.ahead + 1)) return std::nullopt;
    at_ms = std::max(at_ms, *reason.until_wall_ms + static_cast<int64_t>(*of.ahead * interval_ms));
  }
  return StartEstimate{at_ms, before_text(*of.ahead) + " in its tenant, by its rate"};
}

std::optional<StartEstimate> by_runs(const Explanation& of, const Measured& measured, int64_t now_wall_ms) {
  const std::optional<uint64_t> place = of.place ? of.place : of.place_max;
  const Crew::Hands& hands = measured.hands;
  if (!place || of.limited || hands.slots == 0) return std::nullopt;
  const uint64_t free = hands.slots - std::min(hands.busy, hands.slots);
  if (*place <= free) return StartEstimate{now_wall_ms, "a slot is free"};
  if (measured.runs < kRunsLeast) return std::nullopt;
  const double run_ms = static_cast<double>(measured.run_sum_ms) / static_cast<double>(measured.runs);
  const double wait_ms = static_cast<double>(*place - free) * run_ms / static_cast<double>(hands.slots);
  if (wait_ms > static_cast<double>(kMostMs)) return std::nullopt;
  return StartEstimate{now_wall_ms + static_cast<int64_t>(wait_ms),
                       (of.place ? "" : "at most ") + before_text(*place - 1) + ", " +
                           counted(hands.slots, "slot") + ", " +
                           (run_ms < 1 ? "<1ms" : format_duration(static_cast<int64_t>(run_ms))) + " a run"};
}

}  // namespace

std::optional<StartEstimate> estimate_start(const Explanation& of, const Measured& measured,
                                            int64_t now_wall_ms) {
  if (measured.hands.workers == 0 || !of.id || of.state != State::ready) return std::nullopt;
  return of.reasons.empty() ? by_runs(of, measured, now_wall_ms) : by_rate(of, now_wall_ms);
}

std::string hands_text(const Crew::Hands& hands) {
  if (hands.workers == 0) return "no worker attached";
  std::string who = counted(hands.workers, "worker");
  if (hands.stopped == hands.workers) return who + (hands.workers == 1 ? ", stopped" : ", all stopped");
  if (hands.stopped != 0) who += " (" + std::to_string(hands.stopped) + " stopped)";
  who += ", ";
  if (hands.slots == 1) return who + (hands.busy == 0 ? "its one slot free" : "its one slot busy");
  if (hands.busy == hands.slots) return who + "all " + std::to_string(hands.slots) + " slots busy";
  return who + std::to_string(hands.busy) + " of " + std::to_string(hands.slots) + " slots busy";
}

}  // namespace fq::cli
