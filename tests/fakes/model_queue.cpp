// model_queue - what goes in and out of the model as an engine: pushes, leases, verdicts.
#include "tests/fakes/model_queue.h"

// System.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>
// fq, below us.
#include "core/api/policy_checks.h"
#include "core/engine/message_checks.h"

namespace fq::test {

namespace {

bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char lead = byte(i);
    size_t more = 0;
    if (lead >= 0x80) more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if (more != 0 && (lead < 0xC2 || lead > 0xF4)) return false;
    if (i + more >= text.size()) return false;
    for (size_t k = 1; k <= more; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return false;
    }
    if ((lead == 0xE0 && byte(i + 1) < 0xA0) || (lead == 0xED && byte(i + 1) >= 0xA0)) return false;
    if ((lead == 0xF0 && byte(i + 1) < 0x90) || (lead == 0xF4 && byte(i + 1) >= 0x90)) return false;
    i += more + 1;
  }
  return true;
}

bool is_tenant(std::string_view tenant) {
  if (tenant.empty() || tenant.size() > kTenantBytesMax || !is_utf8(tenant)) return false;
  if (std::any_of(tenant.begin(), tenant.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; })) {
    return false;
  }
  size_t levels = 0;
  for (size_t start = 0; start <= tenant.size(); ++levels) {
    const size_t end = std::min(tenant.find('/', start), tenant.size());
    const std::string_view level = tenant.substr(start, end - start);
    if (level.empty() || level == "." || level == "..") return false;
    start = end + 1;
  }
  return levels <= kTenantLevelsMax;
}

/// Why this message cannot be taken, or "".
std::string_view problem_with(const NewMessage& message, const Settings& settings) {
  if (!is_tenant(message.tenant)) return "tenant: breaks a rule of names";
  if (message.payload.size() > settings.payload_bytes_max) return "payload: is too long";
  if (message.key.size() > kSortKeyBytesMax) return "key: is too long";
  if (message.attempts_max && (*message.attempts_max == 0 || *message.attempts_max > kAttemptsMax)) {
    return "attempts: is out of range";
  }
  for (const std::optional<int64_t>& span : {message.delay_ms, message.timeout_ms, message.keep_ms})
    if (span && *span < 0) return "a span: is negative";
  if (message.unique_for_ms < 0) return "unique_for: is negative";
  if (message.ttl_ms && *message.ttl_ms <= 0) return "ttl: must be longer than 0s";
  if (message.unique.size() > kUniqueKeyBytesMax || message.debounce.size() > kUniqueKeyBytesMax)
    return "key: is too long";
  const bool two = !message.unique.empty() || message.delay_ms || message.at_wall_ms;
  if (!message.debounce.empty() && (two || message.quiet_ms <= 0)) return "debounce: is wrong";
  const bool waits = !message.after.empty() || !message.after_any.empty();
  if (waits && !message.debounce.empty()) return "debounce: is wrong";
  if (message.after.size() + message.after_any.size() > kAfterMax) return "after: is too long";
  if (message.tags.size() > kTagsMax) return "tags: are too many";
  for (const Tag& tag : message.tags) {
    if (tag.name.size() + tag.value.size() > kTagBytesMax) return "tag: is too long";
  }
  return "";
}

/// Why a receipt holds nothing.
SettleStatus refusal(const Receipt& receipt, Model& model) {
  uint64_t id = 0, serial = 0;
  const std::string text = receipt.text();
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, id);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return SettleStatus::invalid;
  const auto second = std::from_chars(first.ptr + 1, end, serial);
  if (second.ec != std::errc() || second.ptr != end) return SettleStatus::invalid;
  const Model::Message* const message = model.find(MessageId{id});
  return message == nullptr || is_finished(message->info.state) ? SettleStatus::gone : SettleStatus::stale;
}

}  // namespace

Caps ModelQueue::caps() const {
  return {.exact_global_order = true,
          .queue_scope = true,
          .ties_between_accounts = true,
          .wake_latency_bound_ms = 10,
          .tells_timers = true,
          .event_horizon_ms = INT64_MAX};
}

Result<PushReply> ModelQueue::push(std::span<const NewMessage> messages, const PushOptions&) {
  const std::lock_guard lock(store_->mutex);
  if (messages.size() > kBatchMessagesMax) return Error{ErrorKind::usage, "batch: has too many messages", 0};
  PushReply reply;
  for (const NewMessage& message : messages) {
    const std::string_view problem = problem_with(message, store_->model.settings);
    reply.items.push_back({problem.empty() ? PushStatus::unknown : PushStatus::invalid, {}});
    if (!problem.empty()) reply.error = Error{ErrorKind::usage, std::string(problem), 0};
  }
  if (reply.error) return reply;
  for (size_t i = 0; i < messages.size(); ++i) {
    for (const auto* ids : {&messages[i].after, &messages[i].after_any}) {
      for (const MessageId id : *ids) {
        if (store_->model.find(id) == nullptr)
          return at_item({ErrorKind::missing, "message " + std::to_string(number(id)) + ": not known", 0}, i);
      }
    }
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    reply.items[i] = store_->model.put(messages[i]);
  }
  store_->model.settle_held();
  return reply;
}

LeaseReply ModelQueue::lease_now(const LeaseRequest& request) {
  const std::lock_guard lock(store_->mutex);
  Model& model = store_->model;
  store_->schedules.run_due();
  LeaseReply reply;
  reply.deliveries = model.lease(request);
  if (const int64_t timer_ms = model.next_timer_ms(); timer_ms != kNever)
    reply.next_wake_ms = timer_ms - model.clock.boot_ms();
  if (request.watch) find_changes(reply);
  for (const Delivery& each : reply.deliveries) {
    if (request.watch) watched_.push_back({each.receipt});
  }
  if (!reply.deliveries.empty()) return reply;
  reply.why_empty = WhyEmpty::nothing;
  if (request.wait && request.until_idle && model.is_idle()) reply.why_empty = WhyEmpty::idle;
  if (request.look && model.next(request.tenant) != nullptr) reply.why_empty = WhyEmpty::servable;
  if (!reply.changes.empty() && reply.why_empty != WhyEmpty::servable) reply.why_empty = WhyEmpty::changed;
  return reply;
}

void ModelQueue::find_changes(LeaseReply& reply) {
  using What = LeaseChange::What;
  std::vector<Watched> held;
  for (const Watched& lease : watched_) {
    const Model::Message* message = store_->model.held_by(lease.receipt);
    if (message == nullptr) {
      const Model::Message* known = store_->model.find(MessageId{std::stoull(lease.receipt.text())});
      const bool cancelled = known != nullptr && known->info.state == State::cancelled;
      reply.changes.push_back({lease.receipt, cancelled ? What::cancelled : What::ended, 0});
      continue;
    }
    held.push_back({lease.receipt, message->extended_until.size()});
    if (held.back().extended > lease.extended)
      reply.changes.push_back(
          {lease.receipt, What::extended, message->extended_until.back() - store_->model.clock.wall_ms()});
  }
  watched_ = std::move(held);
}

Result<LeaseReply> ModelQueue::lease(const LeaseRequest& request) {
  Clock& clock = store_->model.clock;
  const int64_t start_ms = clock.boot_ms();
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {  // between two looks: it has no word
    LeaseReply reply = lease_now(request);
    if (reply.why_empty != WhyEmpty::nothing || !request.wait) return reply;
    const bool timed_out = request.wait_ms && clock.boot_ms() - start_ms >= *request.wait_ms;
    if (timed_out) reply.why_empty = WhyEmpty::timed_out;
    if (request.interrupt != nullptr && request.interrupt->raised()) reply.why_empty = WhyEmpty::interrupted;
    if (reply.why_empty != WhyEmpty::nothing) return reply;
  }
}

Result<SettleReply> ModelQueue::settle(std::span<const Settle> items, const LeaseRequest* next) {
  SettleReply reply;
  {
    const std::lock_guard lock(store_->mutex);
    for (const Settle& item : items) {
      const SettleStatus status = store_->model.settle(item);
      const bool refused = status == SettleStatus::stale;
      const std::string& receipt = item.receipt.text();
      if (item.output != nullptr) {
        JobOutput& kept = store_->outputs[receipt.substr(0, receipt.find('.'))] = model_kept(*item.output);
        kept.keep_ms += store_->model.clock.wall_ms();
      }
      std::erase_if(watched_, [&](const Watched& each) { return each.receipt == item.receipt; });
      reply.items.push_back(refused ? refusal(item.receipt, store_->model) : status);
    }
    if (next == nullptr) store_->schedules.run_due();
  }
  if (next != nullptr) {
    FQ_TRY_SET(reply.next, lease(*next));
  }
  return reply;
}

Result<SettleStatus> ModelQueue::edit(MessageId id, const MessagePatch& patch) {
  const std::lock_guard lock(store_->mutex);
  NewMessage values;
  values.payload = patch.payload.value_or(Bytes());
  values.key = patch.key.value_or(std::string_view());
  values.attempts_max = patch.attempts_max.value_or(std::nullopt);
  values.ttl_ms = patch.ttl_ms.value_or(std::nullopt);
  values.delay_ms = patch.delay_ms;
  values.timeout_ms = patch.timeout_ms.value_or(std::nullopt);
  values.keep_ms = patch.keep_ms.value_or(std::nullopt);
  for (const TagPatch& tag : patch.tags) values.tags.push_back({tag.name, tag.value.value_or("")});
  const std::string_view problem = problem_with(values, store_->model.settings);
  if (!problem.empty()) return Error{ErrorKind::usage, std::string(problem), 0};
  const Model::Message* message = store_->model.find(id);
  const bool timeless = message != nullptr && message->info.state == State::dead;
  if (timeless && (patch.delay_ms || patch.at_wall_ms)) return Error{ErrorKind::usage, "delay: is dead", 0};
  return store_->model.edit(id, patch);
}

Result<void> ModelQueue::policy_set(std::string_view path, const PolicyPatch& patch) {
  const std::lock_guard lock(store_->mutex);
  FQ_TRY(check_patch(path, patch));
  store_->model.set(std::string(path), patch);
  return {};
}

Result<std::vector<ExtendResult>> ModelQueue::extend(std::span<const Receipt> receipts, int64_t duration_ms) {
  const std::lock_guard lock(store_->mutex);
  std::vector<ExtendResult> results;
  for (const Receipt& receipt : receipts) {
    results.push_back(store_->model.extend(receipt, duration_ms));
    ExtendResult& result = results.back();
    if (result.status == SettleStatus::stale) result.status = refusal(receipt, store_->model);
  }
  return results;
}

}  // namespace fq::test
