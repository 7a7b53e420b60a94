#include "cli/views/tenant_list.h"

// System.
#include <algorithm>
#include <map>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/text/json_writer.h"
#include "core/base/text/wall_time.h"
// fq, this room.
#include "cli/views/message_view.h"
#include "core/policy/policy.h"
#include "cli/policy/policy_layers.h"
#include "core/policy/policy_value.h"
#include "cli/views/policy_view.h"
#include "cli/session/filter.h"
#include "cli/terminal/screen.h"
#include "cli/terminal/shown.h"
#include "cli/terminal/table.h"

namespace fq::cli {

namespace {

/// What keeps a tenant from being served, the widest first.
struct Obstacle {
  std::string_view what;  // "": nothing
  std::string_view at;    // the node above it that this was set for, else ""
  std::optional<int64_t> until_wall_ms;
};

class TenantList {
 public:
  TenantList(const PolicyLayers& layers, bool file_known) : layers_(layers), file_known_(file_known) {}

  /// By path; what was set for one that has no messages is shown too.
  std::map<std::string, StatsRow> rows(StatsReply reply, const std::string& below) const {
    std::map<std::string, StatsRow> rows;
    for (StatsRow& row : reply.rows) rows[row.tenant] = std::move(row);
    for (const auto& [path, values] : layers_.overrides()) {
      const bool wanted = below.empty() || path == below || path.starts_with(below + "/");
      if (!path.empty() && wanted) rows.try_emplace(path).first->second.tenant = path;
    }
    return rows;
  }

  std::vector<std::string> cells(const StatsRow& row) const {
    std::string limits;
    std::string weight;
    for (const HeldValue& held : layers_.of_tenant(row.tenant)) {
      const std::string text = policy_value_text(held.value);
      if (held.value.key == PolicyKey::weight) weight = text;
      if (held.value.key == PolicyKey::weight || spec_of(held.value.key) == nullptr) continue;
      if (held.layer == Layer::standard) continue;
      limits.append(limits.empty() ? "" : " ")
          .append(policy_key_name(held.value.key))
          .append("=")
          .append(text);
    }
    return {shown(row.tenant),  file_known_ ? weight : "?", limits.empty() ? "-" : shown(limits),
            obstacle_text(row), std::to_string(row.ready),  std::to_string(row.leased)};
  }

  void write(JsonWriter& json, const std::string& queue, const StatsRow& row) const {
    json.begin_object().key("queue").text(queue).key("tenant").text(row.tenant);
    for (const HeldValue& held : layers_.of_tenant(row.tenant)) {
      if (spec_of(held.value.key) == nullptr) continue;
      json.key(policy_key_name(held.value.key));
      const bool known = file_known_ || held.layer == Layer::run_time;
      if (known) write_policy_value(json, held.value);
      if (!known) json.null();
    }
    const Obstacle obstacle = obstacle_of(row);
    json.key("blocked");
    obstacle.what.empty() ? json.null() : json.text(obstacle.what);
    json.key("blocked_by");
    obstacle.at.empty() ? json.null() : json.text(obstacle.at);
    json.key("blocked_until");
    obstacle.until_wall_ms ? json.text(format_wall_time(*obstacle.until_wall_ms)) : json.null();
    json.key("ready").number(row.ready).key("running").number(row.leased).end_object();
  }

 private:
  /// For which node on its path that was set, the widest first, and until when; nothing where it was for
  /// none.
  Obstacle set_on_path(const std::string& tenant, PolicyKey key, Reason::Kind kind) const {
    if (key == PolicyKey::paused && layers_.find_override("", key) != nullptr)
      return {"queue paused", "", {}};
    const auto set_for = [&](std::string_view node, std::string_view at) -> Obstacle {
      const PolicyValue* set = layers_.find_override(node, key);
      if (set == nullptr) return {};
      Obstacle obstacle{name_of(kind), at, {}};
      if (key == PolicyKey::limited) obstacle.until_wall_ms = now_ms_ + set->number;
      return obstacle;
    };
    const std::vector<std::string_view> above = nodes_above(tenant);
    for (auto node = above.rbegin(); node != above.rend(); ++node) {
      const Obstacle obstacle = set_for(*node, *node);
      if (!obstacle.what.empty()) return obstacle;
    }
    return set_for(tenant, "");
  }

  /// What the schedule says, as fq stats tells it, with what the settings add: for whom, until when. Of one
  /// that has no messages there is no row, but what was set holds all the same.
  Obstacle obstacle_of(const StatsRow& row) const {
    using enum Reason::Kind;
    constexpr std::pair<PolicyKey, Reason::Kind> kSet[] = {{PolicyKey::paused, paused},
                                                           {PolicyKey::limited, limited}};
    for (const auto& [key, kind] : kSet) {
      if (row.tenants != 0 && row.blocked != kind) continue;
      const Obstacle obstacle = set_on_path(row.tenant, key, kind);
      if (!obstacle.what.empty()) return obstacle;
    }
    if (row.blocked) return {name_of(*row.blocked), limiting_node(row.tenant, *row.blocked), {}};
    return {};
  }

  static std::optional<PolicyKey> key_of(Reason::Kind kind) {
    using enum Reason::Kind;
    if (kind == concurrency) return PolicyKey::concurrency;
    if (kind == rate) return PolicyKey::rate;
    if (kind == pool_concurrency || kind == pool_rate) return PolicyKey::pool;
    return std::nullopt;
  }

  /// The node above it that has such a limit, or is in a pool, where that is the only one on its path.
  std::string_view limiting_node(std::string_view tenant, Reason::Kind kind) const {
    const std::optional<PolicyKey> key = key_of(kind);
    if (!key) return "";
    const PolicyValue none = standard_of(*spec_of(*key));
    const auto has_it = [&](const std::vector<HeldValue>& values) {
      return std::any_of(values.begin(), values.end(), [&](const HeldValue& held) {
        return held.value.key == *key && !(held.value == none);
      });
    };
    std::string_view found;
    size_t count = (has_it(layers_.of_queue()) ? 1U : 0U) + (has_it(layers_.of_tenant(tenant)) ? 1U : 0U);
    for (const std::string_view node : nodes_above(tenant)) {
      if (!has_it(layers_.of_tenant(node))) continue;
      found = node;
      ++count;
    }
    return count == 1 ? found : "";
  }

  std::string obstacle_text(const StatsRow& row) const {
    const Obstacle obstacle = obstacle_of(row);
    if (obstacle.what.empty()) return "-";
    std::string text(obstacle.what);
    if (obstacle.until_wall_ms) text += ", ends " + relative_time(*obstacle.until_wall_ms, now_ms_);
    if (!obstacle.at.empty()) text += " at " + shown(obstacle.at);
    return text;
  }

  const PolicyLayers& layers_;
  const bool file_known_;
  const int64_t now_ms_ = system_clock().wall_ms();
};

}  // namespace

Result<Exit> list_tenants(Session& session, const std::string& below, bool names_only) {
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::unsaid));
  FQ_TRY_SET(std::vector<PolicyOverride> overrides, all_overrides(*queue));
  say_notices(*queue);
  StatsRequest request;
  request.tenants = true;
  request.tenant = below;
  FQ_TRY_SET(StatsReply reply, queue->stats(request));
  const Result<FilePolicy> file = names_only ? FilePolicy() : read_policy_for(session.location());
  if (!file) say(file.error().text);
  const PolicyLayers layers(file ? *file : FilePolicy(), std::move(overrides));
  const TenantList tenants(layers, file.ok());
  const std::map<std::string, StatsRow> rows = tenants.rows(std::move(reply), below);
  if (rows.empty()) FQ_TRY(refuse_pattern(*queue, below));
  Table table({0, 2, 3});
  table.spare({5, 4, 1});
  table.shorten({0, 3}, kNameLeast);  // what blocks it may name an account
  table.crop({2});
  table.row({"TENANT", "WEIGHT", "LIMITS", "BLOCKED", "READY", "RUNNING"});
  for (const auto& [path, row] : rows) {
    if (names_only) {  // no name holds a newline, or any other control character
      FQ_TRY(session.out().write(path + "\n"));
    } else if (session.format() == Format::json) {
      std::string line;
      JsonWriter json(line);
      tenants.write(json, session.queue_name(), row);
      FQ_TRY(session.out().write(line + "\n"));
    } else {
      table.row(tenants.cells(row));
    }
  }
  const bool as_table = session.format() != Format::json && !names_only;
  if (as_table && !rows.empty()) FQ_TRY(session.out().write(table.text(screen_of(session.out()))));
  FQ_TRY(session.out().flush());
  return rows.empty() ? Exit::nothing : Exit::done;
}

}  // namespace fq::cli
