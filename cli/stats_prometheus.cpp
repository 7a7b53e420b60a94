// stats_prometheus - the counts in Prometheus' text format, for a textfile collector.
//
// Times of a queue are histograms, whose buckets can be summed and rated; those of a tenant speak of recent
// times only and shrink at times, so they are summaries without a count.

// System.
#include <array>
#include <cstdio>
// fq, this room.
#include "cli/stats_view.h"

namespace fq::cli {

namespace {

constexpr StatsCount kFileGauges[] = {
    {"segment_bytes", &StatsRow::segment_bytes, "Bytes of the shared segment."},
    {"journal_bytes", &StatsRow::journal_bytes, "Bytes of the journal."},
};
constexpr StatsCount kBytes[] = {
    {"payload_bytes", &StatsRow::bytes, "Payload bytes of what is not finished."},
};
constexpr StatsCount kRecoveries[] = {
    {"recoveries", &StatsRow::recoveries, "Times that what a killed process left was repaired."},
};
constexpr size_t kOctavesTold = 29;  // the longest bucket ends at 2^28 ms, three days

/// A label's value as Prometheus reads it.
std::string label(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') text.push_back('\\');
    if (c == '\n') {
      text += "\\n";
    } else {
      text.push_back(c);
    }
  }
  return text + "\"";
}

std::string decimal(double number, int digits = 3) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.*f", digits, number);
  return text.data();
}

class Prometheus {
 public:
  Prometheus(const std::vector<QueueStats>& queues, bool tenants) : queues_(queues), tenants_(tenants) {}

  void counts(std::span<const StatsCount> counts, std::string_view type, std::string_view suffix) {
    for (const StatsCount& count : counts) {
      const std::string name = begin(std::string(count.name).append(suffix), type, count.help);
      each([&](const std::string& labels, const StatsRow& row) {
        value(name, labels, std::to_string(row.*count.member));
      });
    }
  }

  /// `of(row)` is optional; a row without one is left out.
  template <class Of>
  void gauge(std::string_view base, std::string_view help, Of&& of) {
    const std::string name = begin(base, "gauge", help);
    each([&](const std::string& labels, const StatsRow& row) {
      const std::optional<double> number = of(row);
      if (number) value(name, labels, decimal(*number, 6));
    });
  }

  void histogram(std::string_view base, Percentiles StatsRow::*member, std::string_view help) {
    const std::string name = begin(base, "histogram", help);
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
        if (ms)
          value(name, labels + ",quantile=" + label(quantile), decimal(static_cast<double>(*ms) / 1000));
      }
    });
  }

  std::string text;

 private:
  std::string begin(std::string_view base, std::string_view type, std::string_view help) {
    const std::string name = (tenants_ ? "fq_tenant_" : "fq_") + std::string(base);
    text.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ").append(name);
    text.append(" ").append(type).append("\n");
    return name;
  }
  template <class F>
  void each(F&& f) {
    for (const QueueStats& queue : queues_) {
      for (const StatsRow& row : queue.stats.rows) {
        std::string labels = "queue=" + label(queue.queue);
        if (tenants_) labels += ",tenant=" + label(row.tenant);
        f(labels, row);
      }
    }
  }
  void value(const std::string& name, const std::string& labels, const std::string& number) {
    text.append(name).append("{").append(labels).append("} ").append(number).append("\n");
  }

  const std::vector<QueueStats>& queues_;
  const bool tenants_;
};

}  // namespace

std::string stats_prometheus(const std::vector<QueueStats>& queues, bool tenants) {
  Prometheus prometheus(queues, tenants);
  // Of a tenant's row the gauges of tenants say nothing.
  prometheus.counts(tenants ? stats_gauges().first(5) : stats_gauges(), "gauge", "");
  prometheus.gauge("oldest_ready_seconds", "Age of the oldest ready message, 0 without one.",
                   [](const StatsRow& row) { return std::optional<double>(row.oldest_ready_s.value_or(0)); });
  prometheus.counts(kBytes, "gauge", "");
  prometheus.counts(stats_counters(), "counter", "_total");
  if (tenants) {
    prometheus.gauge("parked", "1 while it has messages but may not be served.", [](const StatsRow& row) {
      return std::optional<double>(static_cast<double>(row.parked_tenants));
    });
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
    prometheus.counts(kFileGauges, "gauge", "");
    prometheus.counts(kRecoveries, "counter", "_total");
  }
  return std::move(prometheus.text);
}

}  // namespace fq::cli
