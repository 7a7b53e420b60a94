#include "core/local/push/push_batch.h"

// System.
#include <algorithm>

namespace fq {

namespace {

MessageTerms message_terms(const NewMessage& message) {
  MessageTerms terms;
  terms.ttl_ms = std::min(message.ttl_ms.value_or(0), kLatestMs);
  terms.debounced = !message.debounce.empty();
  terms.key = terms.debounced ? message.debounce : message.unique;
  if (!terms.debounced && !terms.key.empty()) terms.key_for_ms = std::min(message.unique_for_ms, kLatestMs);
  return terms;
}

/// `behind`: the message with the same key whose end it waits for; 0: none.
std::string terms_text(const NewMessage& message, MessageId behind, int64_t next_wall_ms) {
  std::vector<uint64_t> after;
  const auto add = [&](MessageId id, uint64_t bits) {
    const bool known = std::any_of(after.begin(), after.end(),
                                   [&](uint64_t word) { return (word & kMessageIdMax) == number(id); });
    if (!known) after.push_back(number(id) | bits);
  };
  for (const MessageId id : message.after) add(id, 0);
  for (const MessageId id : message.after_any) add(id, kAfterAny);
  if (number(behind) != 0) {
    std::erase_if(after, [&](uint64_t word) {
      return (word & kMessageIdMax) == number(behind) && (word & kAfterAny) != 0;
    });
    add(behind, kAfterAny);
    // Also where --after names the same one: then it has to be acked, and holds the key all the same.
    for (uint64_t& word : after) {
      if ((word & kMessageIdMax) == number(behind)) word |= kAfterKey;
    }
  }
  std::vector<std::byte> bytes(8 * after.size());
  for (size_t i = 0; i < after.size(); ++i) put_number(bytes.data() + 8 * i, after[i]);
  MessageTerms terms = message_terms(message);
  terms.after = bytes;
  terms.schedule = message.schedule;
  if (!message.schedule.empty()) terms.scheduled_wall_ms = message.scheduled_at_wall_ms;
  if (!message.schedule.empty()) terms.next_wall_ms = next_wall_ms;
  return encode_terms(terms);
}

/// As most, and all these alike: they take kLittle.
bool needs_little(const MessageItem& item) {
  return item.terms.empty() && item.key.empty() && text_cells(item.tenant.size()) == 1 &&
         item.tenant.find('/') == std::string_view::npos;
}
constexpr Need kLittle = Growth::need_of("-", {});

int64_t due_wall_ms(const NewMessage& message, int64_t wall_ms) {
  if (!message.debounce.empty()) {
    return later(wall_ms, std::min(message.quiet_ms, message.max_wait_ms.value_or(kLatestMs)));
  }
  if (message.delay_ms && *message.delay_ms > 0) return later(wall_ms, *message.delay_ms);
  if (message.at_wall_ms && *message.at_wall_ms > wall_ms) return std::min(*message.at_wall_ms, kLatestMs);
  return 0;
}

}  // namespace

std::string job_bytes(const NewMessage& message) {
  JobTerms terms;
  terms.timeout_ms = message.timeout_ms;
  terms.keep_ms = message.keep_ms;
  if (message.call) terms.call = number(*message.call);
  if (message.command) {
    terms.argv.assign(message.command->argv.begin(), message.command->argv.end());
    terms.cwd = message.command->cwd;
    terms.env.assign(message.command->env.begin(), message.command->env.end());
  }
  return encode_job(terms);
}

std::string_view PushBatch::keep(std::string text) { return texts_.emplace_front(std::move(text)); }

/// What is said of it beside its tenant, payload and priority.
void PushBatch::describe(const NewMessage& message, MessageId behind, int64_t next_wall_ms,
                         MessageItem& item) {
  item.key = message.key;
  item.attempts_max = static_cast<uint16_t>(message.attempts_max.value_or(0));
  item.due_wall_ms = due_wall_ms(message, item.pushed_wall_ms);
  if (!message.tags.empty()) {
    std::vector<TagView> views;
    for (const Tag& tag : message.tags) views.push_back({tag.name, tag.value});
    item.tags = keep(encode_tags(views));
  }
  if (message.command || message.timeout_ms || message.keep_ms || message.call) {
    item.job = keep(job_bytes(message));
  }
  if (message.ttl_ms || !message.schedule.empty() || has_terms(message)) {
    item.terms = keep(terms_text(message, behind, next_wall_ms));
  }
}

void PushBatch::set_times(std::span<const NewMessage> messages, int64_t wall_ms) {
  for (size_t i = 0; i < items_.size(); ++i) {
    items_[i].pushed_wall_ms = wall_ms;
    items_[i].due_wall_ms = due_wall_ms(messages[i], wall_ms);
  }
}

Result<void> PushBatch::prepare(std::span<const NewMessage> messages, std::span<const MessageId> behind,
                                int64_t wall_ms, PushedBlobs& blobs, Need& need, int64_t next_wall_ms) {
  FQ_TRY(blobs.begin(messages));
  items_.clear();
  texts_.clear();
  uint32_t little = 0;
  for (const NewMessage& message : messages) {
    MessageItem& item = items_.emplace_back();
    item.tenant = message.tenant;
    item.priority = message.priority;
    item.pushed_wall_ms = wall_ms;
    item.payload_bytes = message.payload.size();
    if (!is_bare(message)) {
      describe(message, behind.empty() ? MessageId{} : behind[items_.size() - 1], next_wall_ms, item);
    }
    if (message.payload.size() > kInlinePayloadBytesMax) {
      FQ_TRY(blobs.write(message.payload, item));
    } else {
      item.payload = message.payload;
    }
    if (needs_little(item)) {
      ++little;
    } else {
      need += need_of(item);
    }
  }
#pragma GCC unroll 11
  for (const auto field : kNeeds) need.*field += little * (kLittle.*field);
  return {};
}

}  // namespace fq
