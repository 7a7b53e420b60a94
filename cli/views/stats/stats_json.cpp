// stats_json - an object a queue, or a tenant.

// fq, below us.
#include "core/base/text/json_writer.h"
#include "core/base/text/wall_time.h"
// fq, this room.
#include "cli/words/away_words.h"
#include "cli/views/stats/stats_view.h"

namespace fq::cli {

namespace {

constexpr std::string_view kFairBy[] = {"turns", "bytes", "time"};

void write_percentiles(JsonWriter& json, std::string_view key, const Percentiles& of) {
  json.key(key).begin_object().key("count").number(of.count);
  const std::pair<std::string_view, const std::optional<int64_t>*> parts[] = {
      {"p50", &of.p50}, {"p90", &of.p90}, {"p99", &of.p99}, {"max", &of.max}};
  for (const auto& [name, value] : parts) {
    json.key(name);
    *value ? json.number(**value) : json.null();
  }
  json.end_object();
}

void write_number(JsonWriter& json, std::string_view key, const std::optional<double>& value) {
  json.key(key);
  value ? json.number(*value) : json.null();
}

void write_rates(JsonWriter& json, std::string_view key, const std::optional<Rates>& rates) {
  json.key(key);
  if (!rates) {
    json.null();
    return;
  }
  json.begin_object().key("m1").number(rates->m1).key("m5").number(rates->m5).key("m15").number(rates->m15);
  json.end_object();
}

void write_row(JsonWriter& json, const QueueStats& queue, const StatsRow& row, bool tenants) {
  json.begin_object().key("queue").text(queue.queue);
  if (tenants) {
    json.key("tenant").text(row.tenant).key("weight").number(row.weight);
    write_number(json, "share", row.share);
    write_number(json, "served_share", row.served_share);
    json.key("blocked");
    row.blocked ? json.text(name_of(*row.blocked)) : json.null();
    json.key("running").number(row.leased);
  } else {
    json.key("paused").boolean(row.paused).key("draining").boolean(row.draining);
  }
  for (const StatsCount& gauge : stats_gauges()) json.key(gauge.name).number(row.*gauge.member);
  write_number(json, "oldest_ready_s", row.oldest_ready_s);
  json.key("bytes").number(row.bytes);
  for (const StatsCount& counter : stats_counters()) json.key(counter.name).number(row.*counter.member);
  write_percentiles(json, "wait_ms", row.wait_ms);
  write_percentiles(json, "run_ms", row.run_ms);
  if (!tenants) {
    write_rates(json, "pushed_per_s", row.pushed_per_s);
    write_rates(json, "popped_per_s", row.popped_per_s);
    write_rates(json, "acked_per_s", row.acked_per_s);
    write_number(json, "jain", row.jain);
    json.key("fair_by").text(kFairBy[static_cast<size_t>(row.fair_by)]);
  }
  const std::pair<std::string_view, std::optional<uint64_t>> of_queue[] = {
      {"segment_bytes", row.segment_bytes},
      {"journal_bytes", row.journal_bytes},
      {"recoveries", row.recoveries},
      {"schedules", row.schedules}};
  for (const auto& [key, count] : of_queue) {
    json.key(key);
    tenants || !count ? json.null() : json.number(*count);
  }
  json.key("next_schedule_at");
  row.next_schedule_wall_ms ? json.text(format_wall_time(*row.next_schedule_wall_ms)) : json.null();
  write_partial(json, queue.away);
  json.end_object();
}

}  // namespace

Result<void> write_stats_json(const std::vector<QueueStats>& queues, bool tenants, const WritePiece& write) {
  std::string line;
  for (const QueueStats& queue : queues) {
    for (const StatsRow& row : queue.stats.rows) {
      line.clear();
      JsonWriter json(line);
      write_row(json, queue, row, tenants);
      line.push_back('\n');
      FQ_TRY(write(line));
    }
  }
  return {};
}

}  // namespace fq::cli
