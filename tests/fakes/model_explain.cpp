// model_explain - what keeps a message from being served, worked out from what the model knows.

// System.
#include <algorithm>
// Tests.
#include "tests/fakes/model_queue.h"

namespace fq::test {

void ModelTurns::add_reasons(const std::string& path, int64_t now_ms, int64_t wall_minus_boot_ms,
                             std::vector<Reason>& reasons) const {
  const auto add = [&](Reason::Kind kind, const std::string& node) -> Reason& {
    Reason& reason = reasons.emplace_back();
    reason.kind = kind;
    reason.node = node.substr(0, node.find_last_not_of('/') + 1);
    return reason;
  };
  for (std::string path_now = path;; path_now = parent_of(path_now)) {
    const auto found = nodes_.find(path_now);
    static const Node nothing_said;
    const Node& node = found == nodes_.end() ? nothing_said : found->second;
    if (node.paused) add(Reason::Kind::paused, path_now);
    if (node.limited_until_ms > now_ms)
      add(Reason::Kind::limited, path_now).until_wall_ms = node.limited_until_ms + wall_minus_boot_ms;
    if (node.running >= node.concurrency) {
      Reason& reason = add(Reason::Kind::concurrency, path_now);
      reason.running = node.running, reason.limit = node.concurrency;
    }
    if (token_at_ms(node) > now_ms) {
      Reason& reason = add(Reason::Kind::rate, path_now);
      reason.interval_ns = interval_ns(node), reason.until_wall_ms = token_at_ms(node) + wall_minus_boot_ms;
    }
    if (node.gathers) {
      Reason& reason = add(Reason::Kind::gathering, path_now);
      reason.running = node.count, reason.until_wall_ms = node.since_ms + linger_ms_ + wall_minus_boot_ms;
      if (batch_max_ != UINT64_MAX) reason.limit = batch_max_;
    }
    if (const auto pool = pools_.find(node.pool); !path_now.empty() && pool != pools_.end())
      add_pool_reasons(pool->first, now_ms, wall_minus_boot_ms, reasons);
    if (path_now.empty()) return;
  }
}

void ModelTurns::add_pool_reasons(const std::string& name, int64_t now_ms, int64_t wall_minus_boot_ms,
                                  std::vector<Reason>& reasons) const {
  const Limit& limit = pools_.find(name)->second;
  size_t running = 0;
  for (const auto& [path, node] : nodes_)
    if (!path.empty() && path.back() == '/' && pools_of(path).contains(name)) running += node.running;
  if (running >= limit.concurrency) {
    Reason& reason = reasons.emplace_back();
    reason.kind = Reason::Kind::pool_concurrency, reason.node = name;
    reason.running = running, reason.limit = limit.concurrency;
  }
  if (token_at_ms(limit) > now_ms) {
    Reason& reason = reasons.emplace_back();
    reason.kind = Reason::Kind::pool_rate, reason.node = name;
    reason.interval_ns = interval_ns(limit), reason.until_wall_ms = token_at_ms(limit) + wall_minus_boot_ms;
  }
}

bool ModelTurns::is_in_full_pool(std::string_view path) const {
  const std::set<std::string> pools = pools_of(path);
  return std::any_of(pools.begin(), pools.end(), [&](const std::string& each) { return !has_room(each); });
}

bool ModelTurns::counts_in_ring(const std::string& path) const {
  if (!nodes_.at(path).seated) return false;
  if (path.back() == '/') return !is_in_full_pool(path);
  const std::vector<const Entry*> children = children_of(path);
  return std::any_of(children.begin(), children.end(),
                     [&](const Entry* child) { return counts_in_ring(child->first); });
}

double ModelTurns::share_of(std::string path) const {
  double share = nodes_.count(path) == 0 || is_in_full_pool(path) ? 0 : 1;
  for (; share > 0 && !path.empty(); path = parent_of(path)) {
    double all = 0;
    for (const Entry* other : children_of(parent_of(path)))
      all += counts_in_ring(other->first) ? static_cast<double>(other->second.weight_milli) : 0;
    share *= all > 0 && counts_in_ring(path) ? static_cast<double>(nodes_.at(path).weight_milli) / all : 0;
  }
  return share;
}

std::optional<Explanation> Model::explain(MessageId id) {
  const Message* message = find(id);
  if (message == nullptr) return std::nullopt;
  Explanation explained;
  explained.id = id;
  explained.state = message->info.state;
  if (explained.state == State::acked || explained.state == State::cancelled) {
    explained.reasons.emplace_back().kind = Reason::Kind::ended;
    return explained;
  }
  explained.tenant = message->info.tenant;
  const int64_t wall_minus_boot_ms = clock.wall_ms() - clock.boot_ms();
  static const std::map<State, Reason::Kind> kinds = {{State::delayed, Reason::Kind::delayed},
                                                      {State::leased, Reason::Kind::leased},
                                                      {State::held, Reason::Kind::held},
                                                      {State::dead, Reason::Kind::dead}};
  if (const auto kind = kinds.find(explained.state); kind != kinds.end()) {
    Reason& reason = explained.reasons.emplace_back();
    reason.kind = kind->second;
    if (message->expired) reason.kind = Reason::Kind::expired;
    const bool timed = explained.state == State::delayed || explained.state == State::leased;
    if (timed && message->timer) reason.until_wall_ms = *message->timer + wall_minus_boot_ms;
    if (explained.state == State::dead) reason.until_wall_ms = message->since_ms + wall_minus_boot_ms;
  }
  const std::string leaf = explained.tenant + "/";
  const bool will_start =
      explained.state == State::ready || explained.state == State::delayed || explained.state == State::held;
  if (will_start) turns_.add_reasons(leaf, clock.boot_ms(), wall_minus_boot_ms, explained.reasons);
  for (Reason& reason : explained.reasons) tell_running(reason);
  if (explained.state != State::ready) return explained;
  const std::vector<MessageId> all = ready("");
  const auto of_tenant = [&](MessageId other) { return find(other)->info.tenant == explained.tenant; };
  explained.ahead =
      static_cast<uint64_t>(std::count_if(all.begin(), std::find(all.begin(), all.end(), id), of_tenant));
  if (!explained.reasons.empty()) return explained;
  const Outlook outlook = this->outlook("");
  const auto place = std::find(outlook.ids.begin(), outlook.ids.end(), id) - outlook.ids.begin();
  explained.place = static_cast<uint64_t>(place) + 1;
  explained.limited = static_cast<size_t>(place) >= outlook.starting;
  return explained;
}

void Model::tell_running(Reason& reason) const {
  const bool is_pool = reason.kind == Reason::Kind::pool_concurrency;
  if (!is_pool && reason.kind != Reason::Kind::concurrency) return;
  for (const Message& each : messages) {
    const std::string leaf = each.info.tenant + "/";
    const bool holds = is_pool ? turns_.pools_of(leaf).count(reason.node) > 0
                               : reason.node.empty() || leaf.starts_with(reason.node + "/");
    if (holds && each.info.state == State::leased && reason.ids.size() < 5)
      reason.ids.push_back(each.info.id);
  }
}

Result<ExplainReply> ModelQueue::explain(const ExplainRequest& request) {
  const std::lock_guard lock(store_->mutex);
  Model& model = store_->model;
  model.fire_timers();
  store_->schedules.run_due();
  ExplainReply reply;
  if (request.id) {
    reply.subject = model.explain(*request.id);
    return reply;
  }
  const auto waits_here = [&](const Model::Message& each) {
    return !is_finished(each.info.state) && is_below(each.info.tenant, request.tenant);
  };
  if (!request.tenant.empty() && std::any_of(model.messages.begin(), model.messages.end(), waits_here))
    reply.subject.emplace().tenant = request.tenant;
  const Model::Outlook outlook = model.outlook(request.tenant);
  for (size_t i = 0; i < std::min(outlook.ids.size(), request.next); ++i) {
    Explanation& one = reply.next.emplace_back(*model.explain(outlook.ids[i]));
    one.place = i + 1;
    one.limited = i >= outlook.starting;
  }
  return reply;
}

}  // namespace fq::test
