// stats_prometheus - the counts in Prometheus' text format, for a textfile collector.
//
// Times of a queue are histograms, whose buckets can be summed and rated; those of a tenant speak of recent
// times only and shrink at times, so they are summaries without a count.

// System.
#include <cmath>
#include <algorithm>
#include <array>
#include <charconv>
// fq, below us.
#include "core/base/text/utf8.h"
// fq, this room.
#include "cli/views/stats/stats_view.h"

namespace fq::cli {

namespace {

constexpr StatsCount kSchedules[] = {
    {"schedules", &StatsRow::schedules, "Schedules of the queue."},
};
constexpr StatsCount kBytes[] = {
    {"payload_bytes", &StatsRow::bytes, "Payload bytes of what is not finished."},
};
constexpr StatsCount kRecoveries[] = {
    {"recoveries", &StatsRow::recoveries, "Times that what a killed process left was repaired."},
};
std::optional<double> number_of(const std::optional<uint64_t>& count) {
  return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
}

constexpr size_t kOctavesTold = 29;  // the longest bucket ends at 2^28 ms, three days

constexpr size_t kGatheredBytes = 48 * 1024;               // arbitrary: less than Output gathers
constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD: the format is UTF-8, whatever a name is

/// A label's value as Prometheus reads it.
std::string label(std::string_view value) {
  std::string text = "\"";
  while (!value.empty()) {
    const size_t bytes = utf8_next(value).bytes;
    if (value[0] == '\\' || value[0] == '"') text.push_back('\\');
    if (value[0] == '\n') {
      text += "\\n";
    } else {
      text += bytes == 0 ? kReplacement : value.substr(0, bytes);
    }
    value.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return text + "\"";
}

void put_number(std::string& to, uint64_t number) {
  std::array<char, 24> text;
  to.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr);
}

void put_decimal(std::string& to, double number, int digits = 3) {
  std::array<char, 400> text;
  const auto format = std::chars_format::fixed;
  to.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), number, format, digits).ptr);
}

std::string decimal(double number) {
  std::string text;
  put_decimal(text, number);
  return text;
}

class Prometheus {
 public:
  Prometheus(const std::vector<QueueStats>& queues, bool tenants, const WritePiece& write)
      : tenants_(tenants), write_(write) {
    for (const QueueStats& queue : queues) {
      const std::string of_queue = "queue=" + label(queue.queue);
      for (const StatsRow& row : queue.stats.rows)
        rows_.push_back({tenants ? of_queue + ",tenant=" + label(row.tenant) : of_queue, &row});
    }
  }

  void counts(std::span<const StatsCount> counts, std::string_view type, std::string_view suffix) {
    for (const StatsCount& count : counts) {
      const std::string name = begin(std::string(count.name).append(suffix), type, count.help);
      each([&](const std::string& labels, const StatsRow& row) {
        begin_value(name, labels);
        put_number(text_, row.*count.member);
        text_.push_back('\n');
      });
    }
  }

  /// `of(row)` is optional; a row without one is left out.
  template <class Of>
  void gauge(std::string_view base, std::string_view help, Of&& of) {
    const std::string name = begin(base, "gauge", help);
    each([&](const std::string& labels, const StatsRow& row) {
      const std::optional<double> number = of(row);
      if (!number) return;
      begin_value(name, labels);
      const bool is_whole = *number == std::floor(*number);
      put_decimal(text_, *number, is_whole ? 0 : 6);
      text_.push_back('\n');
    });
  }

  void histogram(std::string_view base, Percentiles StatsRow::*member, std::string_view help) {
    const std::string name = begin(base, "histogram", help);
    // Of queues, of which there are few.
    each([&](const std::string& labels, const StatsRow& row) {
      const Percentiles& of = row.*member;
      uint64_t below = 0;
      for (size_t octave = 0; octave < kOctavesTold; ++octave) {
        if (octave < of.by_octave.size()) below += of.by_octave[octave];
        const double seconds = static_cast<double>(uint64_t{1} << octave) / 1000;
        value(name + "_bucket", labels + ",le=" + label(decimal(seconds)), std::to_string(below));
      }
      value(name + "_bucket", labels + ",le=\"+Inf\"", std::to_string(of.count));
      value(name + "_sum", labels, decimal(static_cast<double>(of.sum_ms) / 1000));
      value(name + "_count", labels, std::to_string(of.count));
    });
  }

  void summary(std::string_view base, Percentiles StatsRow::*member, std::string_view help) {
    const std::string name = begin(base, "summary", help);
    each([&](const std::string& labels, const StatsRow& row) {
      const Percentiles& of = row.*member;
      const std::pair<std::string_view, std::optional<int64_t>> parts[] = {
          {"0.5", of.p50}, {"0.9", of.p90}, {"0.99", of.p99}, {"1", of.max}};
      for (const auto& [quantile, ms] : parts) {
        if (!ms) continue;
        text_.append(name).push_back('{');
        text_.append(labels).append(",quantile=\"").append(quantile).append("\"} ");
        put_decimal(text_, static_cast<double>(*ms) / 1000);
        text_.push_back('\n');
      }
    });
  }

  Result<void> end() {
    flush();
    return std::move(written_);
  }

 private:
  std::string begin(std::string_view base, std::string_view type, std::string_view help) {
    const std::string name = (tenants_ ? "fq_tenant_" : "fq_") + std::string(base);
    text_.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ").append(name);
    text_.append(" ").append(type).append("\n");
    return name;
  }
  template <class F>
  void each(F&& f) {
    for (const Row& row : rows_) {
      f(row.labels, *row.stats);
      if (text_.size() < kGatheredBytes) continue;
      flush();
      if (!written_) return;
    }
  }
  void flush() {
    if (written_) written_ = write_(text_);
    text_.clear();
  }
  void begin_value(const std::string& name, const std::string& labels) {
    text_.append(name).push_back('{');
    text_.append(labels).append("} ");
  }
  void value(const std::string& name, const std::string& labels, const std::string& number) {
    begin_value(name, labels);
    text_.append(number).push_back('\n');
  }

  struct Row {
    std::string labels;
    const StatsRow* stats;
  };
  std::vector<Row> rows_;
  const bool tenants_;
  const WritePiece& write_;
  std::string text_;
  Result<void> written_;
};

}  // namespace

Result<void> write_stats_prometheus(const std::vector<QueueStats>& queues, bool tenants,
                                    const WritePiece& write) {
  Prometheus prometheus(queues, tenants, write);
  // Of a tenant's row the gauges of tenants say nothing.
  prometheus.counts(tenants ? stats_gauges().first(5) : stats_gauges(), "gauge", "");
  prometheus.gauge("oldest_ready_seconds", "Age of the oldest ready message, 0 without one.",
                   [](const StatsRow& row) { return std::optional<double>(row.oldest_ready_s.value_or(0)); });
  prometheus.counts(kBytes, "gauge", "");
  prometheus.counts(stats_counters(), "counter", "_total");
  if (tenants) {
    prometheus.gauge(
        "parked", "1 while it has something ready but may not be served.",
        [](const StatsRow& row) { return std::optional<double>(static_cast<double>(row.parked_tenants)); });
    prometheus.gauge("weight", "Weight beside its siblings.",
                     [](const StatsRow& row) { return std::optional<double>(row.weight); });
    prometheus.gauge("share_ratio", "Part of all turns that it is entitled to now.",
                     [](const StatsRow& row) { return row.share; });
    prometheus.gauge("served_ratio", "Part that it had of what was given in the last minute or two.",
                     [](const StatsRow& row) { return row.served_share; });
    prometheus.summary("wait_seconds", &StatsRow::wait_ms, "From ready to the first delivery, lately.");
    prometheus.summary("run_seconds", &StatsRow::run_ms, "From a delivery to its verdict, lately.");
  } else {
    prometheus.histogram("wait_seconds", &StatsRow::wait_ms, "From ready to the first delivery.");
    prometheus.histogram("run_seconds", &StatsRow::run_ms, "From a delivery to its verdict.");
    prometheus.gauge("fairness_index",
                     "Jain's index of what active tenants were given lately, in parts of their entitlement.",
                     [](const StatsRow& row) { return row.jain; });
    prometheus.gauge("paused", "1 while the queue is paused.",
                     [](const StatsRow& row) { return std::optional<double>(row.paused ? 1 : 0); });
    prometheus.gauge("draining", "1 while the queue takes nothing more.",
                     [](const StatsRow& row) { return std::optional<double>(row.draining ? 1 : 0); });
    prometheus.gauge("segment_bytes", "Bytes of the shared segment.",
                     [](const StatsRow& row) { return number_of(row.segment_bytes); });
    prometheus.gauge("journal_bytes", "Bytes of the journal.",
                     [](const StatsRow& row) { return number_of(row.journal_bytes); });
    prometheus.counts(kSchedules, "gauge", "");
    prometheus.counts(kRecoveries, "counter", "_total");
  }
  return prometheus.end();
}

}  // namespace fq::cli
