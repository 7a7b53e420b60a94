#include "cli/views/simulate_view.h"

// fq, below us.
#include "core/base/text/duration.h"
#include "core/base/text/json_writer.h"
// fq, this room.
#include "cli/terminal/shown.h"
#include "cli/terminal/table.h"
#include "cli/views/stats/stats_text.h"

namespace fq::cli {

namespace {

/// To a hundredth of what it is, or a millisecond: a wait is no exact thing.
std::string rounded(int64_t ms) {
  int64_t unit = 1;
  while (ms / unit >= 1000) unit *= 10;
  return format_duration((ms + unit / 2) / unit * unit);
}

void write_figures(JsonWriter& json, const TenantFigures& figures) {
  json.key("count").number(figures.count).key("wait_ms").begin_object();
  const auto write_wait = [&](std::string_view key, int64_t WaitFigures::*which) {
    json.key(key);
    figures.wait ? json.number((*figures.wait).*which) : json.null();
  };
  write_wait("p50", &WaitFigures::p50_ms);
  write_wait("p99", &WaitFigures::p99_ms);
  write_wait("max", &WaitFigures::max_ms);
  json.end_object().key("run_s").number(static_cast<double>(figures.run_ms) / 1000);
  const auto write_part = [&](std::string_view key, const std::optional<double>& part) {
    json.key(key);
    part ? json.number(*part) : json.null();
  };
  write_part("share", figures.share);
  write_part("entitled", figures.entitled);
}

}  // namespace

std::string simulate_table(const Compared& compared, const Screen& screen) {
  enum Column : size_t { tenant, when, messages, p50, p99, max, run, share, entitled, fair };
  Table table({tenant, when});
  table.row({"TENANT", "", "MESSAGES", "P50", "P99", "MAX", "RUN", "SHARE", "ENTITLED", "FAIR"});
  table.right({messages, p50, p99, max, run, share, entitled, fair});
  if (!compared.before) table.hide({when});
  table.spare({run, fair, messages});
  table.shorten({tenant}, kNameLeast);
  const auto add = [&](const std::string& name, std::string_view word, const TenantFigures& figures,
                       const std::string& index) {
    const auto wait = [&](int64_t WaitFigures::*which) {
      return figures.wait ? rounded((*figures.wait).*which) : std::string("-");
    };
    table.row({name, std::string(word), std::to_string(figures.count), wait(&WaitFigures::p50_ms),
               wait(&WaitFigures::p99_ms), wait(&WaitFigures::max_ms), rounded(figures.run_ms),
               percent_text(figures.share), percent_text(figures.entitled), index});
  };
  const auto add_both = [&](const std::string& name, const TenantFigures* before, const TenantFigures& after,
                            const std::string& index_before, const std::string& index_after) {
    if (before != nullptr) add(name, "before", *before, index_before);
    add(before != nullptr ? "" : name, "after", after, index_after);
  };
  for (size_t i = 0; i < compared.after.tenants.size(); ++i) {
    const TenantFigures& after = compared.after.tenants[i];
    add_both(shown(after.tenant), compared.before ? &compared.before->tenants[i] : nullptr, after, "", "");
  }
  add_both("(all)", compared.before ? &compared.before->all : nullptr, compared.after.all,
           compared.before ? index_text(compared.before->jain) : "", index_text(compared.after.jain));
  return table.text(screen);
}

std::string simulate_json(const Compared& compared) {
  std::string text;
  const auto add = [&](const std::string* tenant, const TenantFigures* before, const TenantFigures& after) {
    JsonWriter json(text);
    json.begin_object().key("tenant");
    tenant != nullptr ? json.text(*tenant) : json.null();
    const auto write = [&](std::string_view key, const TenantFigures* figures, const Report* of_all) {
      json.key(key);
      if (figures == nullptr) {
        json.null();
        return;
      }
      json.begin_object();
      write_figures(json, *figures);
      if (tenant == nullptr) {
        json.key("jain");
        of_all->jain ? json.number(*of_all->jain) : json.null();
        json.key("refused").number(of_all->refused).key("left").number(of_all->left);
      }
      json.end_object();
    };
    write("before", before, compared.before ? &*compared.before : nullptr);
    write("after", &after, &compared.after);
    json.end_object();
    text += "\n";
  };
  for (size_t i = 0; i < compared.after.tenants.size(); ++i) {
    const TenantFigures& after = compared.after.tenants[i];
    add(&after.tenant, compared.before ? &compared.before->tenants[i] : nullptr, after);
  }
  add(nullptr, compared.before ? &compared.before->all : nullptr, compared.after.all);
  return text;
}

}  // namespace fq::cli
