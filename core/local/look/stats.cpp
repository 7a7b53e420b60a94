#include "core/local/look/stats.h"

// System.
#include <algorithm>
#include <array>
// fq, this room.
#include "core/local/look/row_parts.h"
#include "core/local/look/tenant_survey.h"

namespace fq {

namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr uint32_t kSchedulesAtOnce = 4096;  // of the state lock

/// How many times there are of each length: below 1 ms, 1, 2 to 3, 4 to 7 ms, and so on.
using Octaves = std::array<uint64_t, 5 + QueueHistogram::kOctaves + 1>;

Octaves octaves_of(const QueueHistogram& histogram) {
  Octaves octaves{};
  for (uint32_t bucket = 0; bucket < QueueHistogram::kBuckets; ++bucket) {
    const auto octave = static_cast<size_t>(std::bit_width(histogram_value(histogram, bucket)));
    octaves[std::min(octave, octaves.size() - 1)] += histogram.bucket[bucket].get();
  }
  return octaves;
}

/// What is copied under the lock beside the row.
struct QueueTimes {
  Octaves wait{}, run{};
  RatesOver m1, m5, m15;
};

void put_times(StatsRow& row, const QueueTimes& times) {
  const auto put = [](Percentiles& to, const Octaves& from) {
    size_t used = from.size();
    while (used > 0 && from[used - 1] == 0) --used;
    to.by_octave.assign(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(used));
  };
  put(row.wait_ms, times.wait);
  put(row.run_ms, times.run);
  row.pushed_per_s = {times.m1.pushed, times.m5.pushed, times.m15.pushed};
  row.popped_per_s = {times.m1.popped, times.m5.popped, times.m15.popped};
  row.acked_per_s = {times.m1.acked, times.m5.acked, times.m15.acked};
}

}  // namespace

Result<StatsReply> Stats::rows(const StatsRequest& request) {
  StatsReply reply;
  TenantSurvey tenants(request.tenants || !request.tenant.empty(), request.tenant);
  if (request.tenants || !request.tenant.empty()) {
    FQ_TRY(survey(tenants, reply.as_of_wall_ms));
    reply.rows = tenants.take_rows();
    return reply;
  }
  StatsRow row;
  QueueTimes times;
  FQ_TRY(locked([&]() -> Result<void> {
    const Now now = gate().now();
    gate().fire_timers(now);
    const ScheduleRoot& root = schedule().root();
    put_counts(row, CountsNow(root.counts), root.counters);
    row.tenants = root.tenants_count;
    row.active_tenants = root.active_count;
    row.bytes = root.payload_bytes - root.dead_bytes;
    row.wait_ms = percentiles_of(root.wait);
    row.run_ms = percentiles_of(root.run);
    row.wait_ms.sum_ms = root.wait.sum_ms;
    row.run_ms.sum_ms = root.run.sum_ms;
    times = {octaves_of(root.wait), octaves_of(root.run), rates_over(root, kMinuteMs, now.boot_ms),
             rates_over(root, 5 * kMinuteMs, now.boot_ms), rates_over(root, 15 * kMinuteMs, now.boot_ms)};
    row.fair_by = root.terms.fair_by;
    row.paused = (schedule().tenants().at(kRootTenant).blocks & kBlockPaused) != 0;
    row.draining = header().policy.draining != 0;
    row.segment_bytes = header().segment_bytes;
    row.journal_bytes = stream().table().journal_bytes();
    row.recoveries = root.counters.recoveries;
    row.schedules = schedule().timetable().count();
    return {};
  }));
  put_times(row, times);
  if (row.schedules != 0) FQ_TRY(find_next_schedule(row));
  FQ_TRY(survey(tenants, reply.as_of_wall_ms));
  row.parked_tenants = tenants.parked();
  row.oldest_ready_s = tenants.oldest_ready_s();
  row.jain = tenants.jain();
  reply.rows.push_back(std::move(row));
  return reply;
}

Result<void> Stats::find_next_schedule(StatsRow& row) {
  uint32_t end = 1;
  for (uint32_t from = 0; from < end; from += kSchedulesAtOnce) {
    int64_t next_ms = kNever;
    FQ_TRY(locked([&]() -> Result<void> {
      const Timetable timetable = schedule().timetable();
      end = timetable.end();
      next_ms = kNever;
      for (uint32_t i = from; i < std::min(end, from + kSchedulesAtOnce); ++i) {
        const Recurring& recurring = timetable.at(i);
        const bool waits = timetable.is_used(i) && (recurring.flags & kRecurringPaused) == 0;
        if (waits) next_ms = std::min<int64_t>(next_ms, recurring.next_wall_ms);
      }
      return {};
    }));
    if (next_ms != kNever)
      row.next_schedule_wall_ms = std::min(next_ms, row.next_schedule_wall_ms.value_or(kNever));
  }
  return {};
}

Result<void> Stats::survey(TenantSurvey& survey, int64_t& as_of_wall_ms) {
  do {
    FQ_TRY(locked([&]() -> Result<void> {
      const Now now = gate().now();
      gate().fire_timers(now);
      survey.look(schedule(), now.boot_ms);
      as_of_wall_ms = now.wall_ms;
      return {};
    }));
  } while (survey.digest());
  return {};
}

}  // namespace fq
