#include "core/local/read/item_view.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/sort_key.h"
// fq, this room.
#include "core/local/read/message_reader.h"

namespace fq {

namespace {

/// What it came after, as it was pushed.
void describe_after(Bytes after, MessageInfo& info) {
  info.after.clear();
  info.after_any.clear();
  for (size_t at = 0; at + 8 <= after.size(); at += 8) {
    const auto word = get_number<uint64_t>(after.data() + at);
    const bool is_any = (word & kAfterAny) != 0;
    // One that only has the same key was not named by --after.
    if (is_any && (word & kAfterKey) != 0) continue;
    (is_any ? info.after_any : info.after).push_back(MessageId{word & kMessageIdMax});
  }
}

}  // namespace

bool waits_for_step(Bytes after, std::span<const uint64_t> waits) {
  return std::any_of(waits.begin(), waits.end(), [&](uint64_t id) {
    for (size_t at = 0; at + 8 <= after.size(); at += 8)
      if ((get_number<uint64_t>(after.data() + at) & kMessageIdMax) == id) return false;
    return true;
  });
}

void describe_item(const MessageItem& item, MessageInfo& info) {
  info.tenant = item.tenant;
  info.priority = item.priority;
  info.key = decode_sort_key(item.key).value_or("");
  info.tags.clear();
  for (const TagView& tag : decode_tags(item.tags).value_or(std::vector<TagView>{})) {
    info.tags.push_back({std::string(tag.name), std::string(tag.value)});
  }
  const JobTerms job = decode_job(item.job).value_or(JobTerms{});
  info.command = command_of(job);
  info.timeout_ms = job.timeout_ms;
  info.keep_ms = job.keep_ms;
  const MessageTerms terms = decode_terms(item.terms).value_or(MessageTerms{});
  if (terms.ttl_ms != 0) info.ttl_ms = terms.ttl_ms;
  describe_after(terms.after, info);
  (terms.debounced ? info.debounce : info.unique) = terms.key;
  if (!info.unique.empty()) info.unique_for_ms = terms.key_for_ms;
  info.schedule = terms.schedule;
  if (!terms.schedule.empty()) info.scheduled_at_wall_ms = terms.scheduled_wall_ms;
  info.pushed_at_wall_ms = item.pushed_wall_ms;
}

void describe_delivery(const MessageItem& item, Delivery& delivery) {
  if (!item.tags.empty()) {
    for (const TagView& tag : decode_tags(item.tags).value_or(std::vector<TagView>{}))
      delivery.tags.push_back({std::string(tag.name), std::string(tag.value)});
  }
  if (!item.terms.empty()) {
    const MessageTerms terms = decode_terms(item.terms).value_or(MessageTerms{});
    delivery.schedule = terms.schedule;
    delivery.scheduled_at_wall_ms = terms.scheduled_wall_ms;
  }
  if (item.job.empty()) return;
  const JobTerms terms = decode_job(item.job).value_or(JobTerms{});
  delivery.timeout_ms = terms.timeout_ms;
  delivery.keep_ms = terms.keep_ms;
  if (terms.call != 0) delivery.call = CallId{terms.call};
  delivery.command = command_of(terms);
}

}  // namespace fq
