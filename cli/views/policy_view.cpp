#include "cli/views/policy_view.h"

// fq, below us.
#include "core/base/text/json_writer.h"
// fq, this room.
#include "cli/terminal/shown.h"
#include "core/policy/policy_value.h"
#include "cli/terminal/table.h"

namespace fq::cli {

namespace {

std::string label_of(const PolicyRow& row) {
  if (!row.tenant.empty()) return shown(row.tenant);
  if (!row.pool.empty()) return shown(row.pool);
  return row.held.pattern.empty() ? "(queue)" : shown(row.held.pattern);
}

std::string from_text(const PolicyRow& row) {
  switch (row.held.layer) {
    case Layer::standard:
      return "default";
    case Layer::last_good:
      return "last good fq.toml";
    case Layer::run_time:
      return "set at run time";
    case Layer::file:
      break;
  }
  std::string text = "fq.toml:" + std::to_string(row.held.line);
  // Which of several patterns made it this tenant's.
  if (!row.tenant.empty() && !row.held.pattern.empty()) text += " " + shown(row.held.pattern);
  return text;
}

std::string_view source_of(Layer layer) {
  switch (layer) {
    case Layer::standard:
      return "default";
    case Layer::last_good:
      return "last_good";
    case Layer::run_time:
      return "set";
    case Layer::file:
      break;
  }
  return "file";
}

void write_name(JsonWriter& json, std::string_view key, std::string_view name) {
  json.key(key);
  name.empty() ? json.null() : json.text(name);
}

}  // namespace

std::string policy_table(const std::vector<PolicySection>& sections) {
  std::string text;
  for (const PolicySection& section : sections) {
    if (section.rows.empty()) continue;
    Table table({0, 1, 2, 3});
    const bool labelled = !section.label.empty();
    std::vector<std::string> heading{"KEY", "VALUE", "FROM"};
    if (labelled) heading.insert(heading.begin(), std::string(section.label));
    table.row(std::move(heading));
    for (const PolicyRow& row : section.rows) {
      std::vector<std::string> cells{std::string(policy_key_name(row.held.value.key)),
                                     shown(policy_value_text(row.held.value)), from_text(row)};
      if (labelled) cells.insert(cells.begin(), label_of(row));
      table.row(std::move(cells));
    }
    if (!text.empty()) text += "\n";
    text += table.text();
  }
  return text;
}

std::string policy_json(const std::string& queue, const std::vector<PolicySection>& sections) {
  std::string text;
  for (const PolicySection& section : sections) {
    for (const PolicyRow& row : section.rows) {
      JsonWriter json(text);
      json.begin_object().key("queue").text(queue);
      write_name(json, "tenant", row.tenant);
      write_name(json, "pool", row.pool);
      json.key("key").text(policy_key_name(row.held.value.key)).key("value");
      write_policy_value(json, row.held.value);
      json.key("source").text(source_of(row.held.layer)).key("line");
      row.held.line == 0 ? json.null() : json.number(uint64_t{row.held.line});
      write_name(json, "pattern", row.held.pattern);
      json.end_object();
      text += "\n";
    }
  }
  return text;
}

std::string_view policy_key_name(PolicyKey key) {
  if (const PolicyKeySpec* spec = spec_of(key)) return spec->name;
  switch (key) {
    case PolicyKey::paused:
      return "paused";
    case PolicyKey::draining:
      return "draining";
    default:
      return "limited";
  }
}

}  // namespace fq::cli
