#include "cli/stats_view.h"

// System.
#include <cmath>
#include <cstdio>
// fq, below us.
#include "core/base/duration.h"
#include "core/base/json_writer.h"
#include "core/base/size.h"
// fq, this room.
#include "cli/output.h"
#include "cli/table.h"

namespace fq::cli {

namespace {

struct Count {
  std::string_view name;
  uint64_t StatsRow::*member;
  std::string_view help;
};

constexpr Count kGauges[] = {
    {"ready", &StatsRow::ready, "Messages that can be served or whose tenant is parked."},
    {"delayed", &StatsRow::delayed, "Messages that are not due yet."},
    {"leased", &StatsRow::leased, "Messages that somebody holds."},
    {"held", &StatsRow::held, "Messages that wait for others."},
    {"dead", &StatsRow::dead, "Buried messages."},
    {"tenants", &StatsRow::tenants, "Tenants that are known."},
    {"active_tenants", &StatsRow::active_tenants, "Tenants that can be served now."},
    {"parked_tenants", &StatsRow::parked_tenants, "Tenants that have messages but may not be served now."},
};
constexpr Count kCounters[] = {
    {"pushed", &StatsRow::pushed, "Messages accepted."},
    {"popped", &StatsRow::popped, "Deliveries of any kind."},
    {"acked", &StatsRow::acked, "Messages acked."},
    {"retried", &StatsRow::retried, "Messages given back, counted as an attempt."},
    {"released", &StatsRow::released, "Messages given back, not counted."},
    {"buried", &StatsRow::buried, "Messages buried."},
    {"expired", &StatsRow::expired, "Messages whose time to live ran out."},
    {"cancelled", &StatsRow::cancelled, "Messages cancelled."},
};
constexpr Count kFileGauges[] = {
    {"segment_bytes", &StatsRow::segment_bytes, "Bytes of the shared segment."},
    {"journal_bytes", &StatsRow::journal_bytes, "Bytes of the journal."},
    {"recoveries", &StatsRow::recoveries, "Times that the segment was rebuilt."},
};

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

void write_row(JsonWriter& json, const std::string& queue, const StatsRow& row, bool tenants) {
  json.begin_object().key("queue").text(queue);
  if (tenants) {
    json.key("tenant").text(row.tenant).key("weight").number(row.weight).key("share");
    row.share ? json.number(*row.share) : json.null();
    json.key("running").number(row.leased);
  }
  for (const Count& gauge : kGauges) json.key(gauge.name).number(row.*gauge.member);
  json.key("oldest_ready_s");
  row.oldest_ready_s ? json.number(*row.oldest_ready_s) : json.null();
  json.key("bytes").number(row.bytes);
  for (const Count& counter : kCounters) json.key(counter.name).number(row.*counter.member);
  write_percentiles(json, "wait_ms", row.wait_ms);
  write_percentiles(json, "run_ms", row.run_ms);
  for (const Count& gauge : kFileGauges) json.key(gauge.name).number(row.*gauge.member);
  json.end_object();
}

std::string span_text(const std::optional<int64_t>& ms) { return ms ? format_duration(*ms) : "-"; }

std::string age_text(const std::optional<double>& seconds) {
  if (!seconds) return "-";
  return *seconds < 1 ? "<1s" : format_duration(std::llround(*seconds) * 1000);
}

std::string percent_text(const std::optional<double>& share) {
  if (!share) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%%", *share * 100);
  return text;
}

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

class Prometheus {
 public:
  Prometheus(const std::vector<QueueStats>& queues, bool tenants) : queues_(queues), tenants_(tenants) {}

  void counts(std::span<const Count> counts, std::string_view type, std::string_view suffix) {
    for (const Count& count : counts) {
      const std::string name = begin(std::string(count.name).append(suffix), type, count.help);
      each([&](const std::string& labels, const StatsRow& row) {
        value(name, labels, std::to_string(row.*count.member));
      });
    }
  }

  void oldest() {
    const std::string name = begin("oldest_ready_seconds", "gauge", "Age of the oldest ready message.");
    each([&](const std::string& labels, const StatsRow& row) {
      value(name, labels, decimal(row.oldest_ready_s.value_or(0)));
    });
  }

  void bytes() {
    const std::string name = begin("payload_bytes", "gauge", "Payload bytes of what is not finished.");
    each([&](const std::string& labels, const StatsRow& row) {
      value(name, labels, std::to_string(row.bytes));
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
      value(name + "_count", labels, std::to_string(of.count));
    });
  }

  std::string text;

 private:
  static std::string decimal(double number) {
    char digits[64];
    std::snprintf(digits, sizeof digits, "%.3f", number);
    return digits;
  }
  std::string begin(std::string_view base, std::string_view type, std::string_view help) {
    const std::string name = (tenants_ ? "fq_tenant_" : "fq_") + std::string(base);
    text.append("# HELP ")
        .append(name)
        .append(" ")
        .append(help)
        .append("\n# TYPE ")
        .append(name)
        .append(" ")
        .append(type)
        .append("\n");
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

std::string stats_table(const std::vector<QueueStats>& queues, bool tenants) {
  Table table(tenants ? std::vector<size_t>{0, 1} : std::vector<size_t>{0});
  if (tenants) {
    table.row({"QUEUE", "TENANT", "READY", "DELAYED", "LEASED", "DEAD", "PUSHED", "ACKED", "SHARE", "OLDEST",
               "WAIT P50", "P99"});
  } else {
    table.row({"QUEUE", "READY", "DELAYED", "LEASED", "DEAD", "TENANTS", "PUSHED", "ACKED", "OLDEST",
               "WAIT P50", "P99", "JOURNAL"});
  }
  for (const QueueStats& queue : queues) {
    for (const StatsRow& row : queue.stats.rows) {
      std::vector<std::string> cells{queue.queue};
      if (tenants) cells.push_back(shown_short(row.tenant, 40));
      for (const uint64_t count : {row.ready, row.delayed, row.leased, row.dead})
        cells.push_back(std::to_string(count));
      if (!tenants) cells.push_back(std::to_string(row.tenants));
      for (const uint64_t count : {row.pushed, row.acked}) cells.push_back(std::to_string(count));
      if (tenants) cells.push_back(percent_text(row.share));
      cells.push_back(age_text(row.oldest_ready_s));
      cells.push_back(span_text(row.wait_ms.p50));
      cells.push_back(span_text(row.wait_ms.p99));
      if (!tenants) cells.push_back(format_size(row.journal_bytes));
      table.row(std::move(cells));
    }
  }
  return queues.empty() ? "" : table.text();
}

std::string stats_json(const std::vector<QueueStats>& queues, bool tenants) {
  std::string text;
  for (const QueueStats& queue : queues) {
    for (const StatsRow& row : queue.stats.rows) {
      JsonWriter json(text);
      write_row(json, queue.queue, row, tenants);
      text += "\n";
    }
  }
  return text;
}

std::string stats_prometheus(const std::vector<QueueStats>& queues, bool tenants) {
  Prometheus prometheus(queues, tenants);
  prometheus.counts(kGauges, "gauge", "");
  prometheus.oldest();
  prometheus.bytes();
  prometheus.counts(kCounters, "counter", "_total");
  prometheus.summary("wait_seconds", &StatsRow::wait_ms, "From ready to the first delivery.");
  prometheus.summary("run_seconds", &StatsRow::run_ms, "From a delivery to its verdict.");
  if (!tenants) prometheus.counts(kFileGauges, "gauge", "");
  return std::move(prometheus.text);
}

}  // namespace fq::cli
