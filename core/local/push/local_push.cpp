// local_push - messages in: checked, written aside where they are long, appended, made durable.
#include "core/local/write/pushed_blobs.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/fault_point.h"
// fq, this room.
#include "core/local/consume/endings.h"
#include "core/local/push/local_unique.h"
#include "core/local/push/push_checks.h"

namespace fq {

namespace {

static_assert(kBatchedPayloadBytesMax == kInlinePayloadBytesMax);
static_assert(kBatchBytesMax + kRecordHeaderBytes + kFirstItemOffset <= kRecordBytesMax);
constexpr uint32_t kForgottenAtOnce = 32;  // in one transaction

/// How a worker is to run it, as the journal keeps it; empty for most.
std::string job_of(const NewMessage& message) {
  JobTerms terms;
  terms.timeout_ms = message.timeout_ms;
  terms.keep_ms = message.keep_ms;
  if (message.command) {
    terms.argv.assign(message.command->argv.begin(), message.command->argv.end());
    terms.cwd = message.command->cwd;
    terms.env.assign(message.command->env.begin(), message.command->env.end());
  }
  return encode_job(terms);
}

MessageTerms message_terms(const NewMessage& message) {
  MessageTerms terms;
  terms.ttl_ms = std::min(message.ttl_ms.value_or(0), INT64_MAX / 8);
  terms.debounced = !message.debounce.empty();
  terms.key = terms.debounced ? message.debounce : message.unique;
  if (!terms.debounced && !terms.key.empty())
    terms.key_for_ms = std::min(message.unique_for_ms, INT64_MAX / 8);
  return terms;
}

/// `behind`: the message with the same key whose end it waits for; 0: none.
std::string terms_text(const NewMessage& message, MessageId behind) {
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
  return encode_terms(terms);
}

int64_t due_wall_ms(const NewMessage& message, int64_t wall_ms) {
  if (!message.debounce.empty()) {
    const int64_t wait_ms = std::min(message.quiet_ms, message.max_wait_ms.value_or(INT64_MAX));
    return wall_ms + std::min(wait_ms, INT64_MAX / 8);
  }
  if (message.delay_ms && *message.delay_ms > 0) {
    // A delay that does not fit is as good as never; cli has refused what a person would mistype.
    return *message.delay_ms > INT64_MAX / 4 - wall_ms ? INT64_MAX / 4 : wall_ms + *message.delay_ms;
  }
  if (message.at_wall_ms && *message.at_wall_ms > wall_ms)
    return std::min(*message.at_wall_ms, INT64_MAX / 4);
  return 0;
}

}  // namespace

Result<Need> LocalQueue::prepare(std::span<const NewMessage> messages, int64_t wall_ms, PushedBlobs& blobs) {
  FQ_TRY(blobs.begin(messages));
  Need need;
  items_.clear();
  tag_texts_.clear();
  tag_texts_.reserve(messages.size());  // the items point into them
  job_texts_.clear();
  job_texts_.reserve(messages.size());
  term_texts_.clear();
  term_texts_.reserve(messages.size());
  for (const NewMessage& message : messages) {
    MessageItem& item = items_.emplace_back();
    item.tenant = message.tenant;
    item.key = message.key;
    item.priority = message.priority;
    item.attempts_max = static_cast<uint16_t>(message.attempts_max.value_or(0));
    item.due_wall_ms = due_wall_ms(message, wall_ms);
    item.pushed_wall_ms = wall_ms;
    item.payload_bytes = message.payload.size();
    if (!message.tags.empty()) {
      std::vector<TagView> views;
      for (const Tag& tag : message.tags) views.push_back({tag.name, tag.value});
      tag_texts_.push_back(encode_tags(views));
      item.tags = tag_texts_.back();
    }
    if (message.command || message.timeout_ms || message.keep_ms) {
      job_texts_.push_back(job_of(message));
      item.job = job_texts_.back();
    }
    if (message.ttl_ms || has_terms(message)) {
      const MessageId behind = behind_.empty() ? MessageId{} : behind_[items_.size() - 1];
      term_texts_.push_back(terms_text(message, behind));
      item.terms = term_texts_.back();
    }
    if (message.payload.size() > kInlinePayloadBytesMax) {
      FQ_TRY(blobs.write(message.payload, item));
    } else {
      item.payload = message.payload;
    }
    need += need_of(item);
  }
  return need;
}

/// On a full disk what is remembered of the ends of messages gives way to new ones.
Result<void> LocalQueue::forget_ends(const Need& need) {
  for (bool more = true; more;) {
    FQ_TRY(locked([&]() -> Result<void> {
      Txn txn = store().begin();
      more = !schedule().fits(writer_.with_pending(need)) &&
             schedule().forget_outcomes(txn, kForgottenAtOnce) != 0;
      txn.commit();
      return {};
    }));
  }
  return {};
}

PushedMessages LocalQueue::append_pushed(const Need& need, bool lazy, const Now& read) {
  SegmentHeader& shared = header();
  Change change(link_, read);
  Txn& txn = change.txn();
  const MessageId first_id{shared.next_id.get()};
  body_.flags = lazy ? kFlagLazy : 0;
  const uint64_t position = change.append(body_, first_id);
  txn.set(shared.next_id, number(first_id) + items_.size());
  PushedMessages pushed{items_, need, first_id, position, change.now().wall_ms};
  if (need.keys != 0) gate().note_keys(txn, items_);
  if (lazy && shared.applied_end == position) {
    // Nothing is pending before it: it is served at once, as much of it as fits in this very transaction.
    gate().apply_pushed(txn, pushed, need);
  } else {
    gate().note_pending(txn, need, Need{});
  }
  FQ_POINT("push.appended");
  change.commit();
  FQ_POINT("push.committed");
  return pushed;
}

Result<PushReply> LocalQueue::push_once(std::span<const NewMessage> messages, const PushOptions& options) {
  PushReply reply;
  if (messages.empty()) return reply;
  if (messages.size() > kBatchMessagesMax) {
    return Error{ErrorKind::usage, "batch: has more than " + std::to_string(kBatchMessagesMax) + " messages",
                 0};
  }
  const uint64_t payload_bytes_max = header().settings.payload_bytes_max.peek();
  for (const NewMessage& message : messages) FQ_TRY(check_message(message, payload_bytes_max));
  const bool lazy =
      options.durability == Durability::lazy || (options.durability == Durability::policy && syncs_lazily());
  if (std::any_of(messages.begin(), messages.end(), has_terms)) return push_keyed(messages, lazy);
  FQ_TRY_SET(const Appended appended, append_batch(messages, lazy, {}));
  Result<void> durable = lazy ? Result<void>() : flusher().wait_durable(appended.end);
  FQ_POINT("push.durable");
  const PushStatus status = durable.ok() ? PushStatus::accepted : PushStatus::unknown;
  if (!durable.ok()) reply.error = std::move(durable).error();
  reply.items.reserve(messages.size());
  for (size_t i = 0; i < messages.size(); ++i)
    reply.items.push_back({status, MessageId{number(appended.first_id) + i}});
  return reply;
}

Result<LocalQueue::Appended> LocalQueue::append_batch(std::span<const NewMessage> messages, bool lazy,
                                                      const StillSo& still_so) {
  const Now now = gate().now();
  PushedBlobs blobs(link_, *this);
  FQ_TRY_SET(const Need need, prepare(messages, now.wall_ms, blobs));
  encode_pushed(body_, items_, lazy);
  const uint64_t bytes = padded(kRecordHeaderBytes + body_.bytes.size());
  if (bytes > kRecordBytesMax) {
    return Error{ErrorKind::usage,
                 "batch: takes " + std::to_string(bytes) + " bytes, the limit is " +
                     std::to_string(kRecordBytesMax) + "; split it",
                 0};
  }
  const std::vector<Arrival> arrived = schedule().is_capped() ? arrivals() : std::vector<Arrival>();
  Appended appended;
  bool may_grow = true;
  for (int attempt = 0;; ++attempt) {
    Obstacle obstacle = Obstacle::none;
    FQ_TRY(locked([&]() -> Result<void> {
      // Repeated in another segment after damage was met: what was appended has been carried over.
      if (appended.end != 0) return {};
      gate().fire_timers(now, 1);
      appended.changed = still_so && !still_so(now);
      if (appended.changed) return {};
      if (std::optional<Error> refused = refuse_over_limit(arrived)) return std::move(*refused);
      obstacle = writer_.room_for_push(bytes, need, messages.size(), may_grow);
      if (obstacle != Obstacle::none) return {};
      PushedMessages pushed = append_pushed(need, lazy, now);
      appended.first_id = pushed.first_id;
      appended.end = header().tail;
      if (lazy) gate().apply_pending(&pushed);
      return {};
    }));
    if (obstacle == Obstacle::none) break;
    if (attempt == kObstaclesMax) return refuse_full();
    Result<void> overcame = writer_.overcome(obstacle, need);
    const bool no_memory = !overcame.ok() && obstacle == Obstacle::memory && may_grow;
    if (!overcame.ok() && !no_memory) return std::move(overcame).error();
    if (no_memory) FQ_TRY(forget_ends(need));
    if (no_memory) may_grow = false;
  }
  if (appended.changed) return appended;
  blobs.keep();
  return appended;
}

}  // namespace fq
