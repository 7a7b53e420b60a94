// item_view - a message's record, as the door tells it.
#pragma once

// System.
#include <span>
// fq, below us.
#include "core/api/queue.h"
#include "core/journal/codec.h"
// fq, this room.
#include "core/local/read/message_reader.h"

namespace fq {

/// Whether a held message waits for what a step of it named, of which its push tells nothing: then it waits
/// for that alone. `after`: of its push.
bool waits_for_step(Bytes after, std::span<const uint64_t> waits);

/// All but its payload. Other fields of `info` stay.
void describe_item(const MessageItem& item, MessageInfo& info);
/// The values that a push gives of a message, its payload and its terms left out.
template <class Message>
void copy_values(const MessageItem& item, Message& message) {
  message.tenant = item.tenant;
  message.priority = item.priority;
  message.key = item.key;
  if (item.attempts_max != 0) message.attempts_max = item.attempts_max;
  for (const TagView& tag : decode_tags(item.tags).value_or(std::vector<TagView>{}))
    message.tags.push_back({std::string(tag.name), std::string(tag.value)});
  const JobTerms job = decode_job(item.job).value_or(JobTerms{});
  message.command = command_of(job);
  message.timeout_ms = job.timeout_ms;
  message.keep_ms = job.keep_ms;
}
/// Its tags and terms, for the worker that is to run it.
void describe_delivery(const MessageItem& item, Delivery& delivery);

}  // namespace fq
