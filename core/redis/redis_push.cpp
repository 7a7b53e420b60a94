#include "core/redis/redis_push.h"

// System.
#include <algorithm>
#include <iterator>
// fq, below us.
#include "core/base/text/decimal.h"
#include "core/base/text/size.h"
#include "core/engine/message_checks.h"
// fq, this room.
#include "core/redis/records/base32.h"
#include "core/redis/records/records.h"
#include "core/redis/waits/awaiting.h"
#include "core/redis/wire/answer.h"

namespace fq {

namespace {

constexpr size_t kTokenLength = 26;  // 128 bits

bool is_lazy(const PushOptions& options) { return options.durability == Durability::lazy; }

}  // namespace

Result<void> check_on_server(const NewMessage& message) {
  if (message.payload.size() <= kRedisPayloadBytesMax) return {};
  return Error{ErrorKind::bad_data,
               "payload: has " + std::to_string(message.payload.size()) +
                   " bytes, the limit on a server is " + format_size(kRedisPayloadBytesMax),
               0};
}

uint64_t longest_payload(std::span<const NewMessage> messages) {
  uint64_t longest = 0;
  for (const NewMessage& message : messages) longest = std::max<uint64_t>(longest, message.payload.size());
  return longest;
}

/// Of the longest payload that the queue takes the server knows, which need not be asked before.
Result<void> RedisPush::check(std::span<const NewMessage> messages) const {
  if (messages.size() > kBatchMessagesMax)
    return Error{ErrorKind::usage, "batch: has more than " + std::to_string(kBatchMessagesMax) + " messages",
                 0};
  uint64_t bytes = 0;
  for (size_t i = 0; i < messages.size(); ++i) {
    const NewMessage& message = messages[i];
    Result<void> checked = check_message(message, UINT64_MAX);
    if (checked.ok()) checked = check_on_server(message);
    if (!checked.ok()) return at_item(std::move(checked).error(), i);
    if (message.command && !signer_.has_key()) return lacks_command_key("push");
    bytes += message.payload.size();
  }
  if (bytes <= kRedisBatchBytesMax) return {};
  return Error{ErrorKind::bad_data,
               "batch: has more than " + format_size(kRedisBatchBytesMax) + " of payload", 0};
}

Result<PushReply> RedisPush::push(std::span<const NewMessage> messages, const PushOptions& options) {
  if (messages.empty()) return PushReply();
  FQ_TRY(check(messages));
  return push_checked({messages, longest_payload(messages), options.token}, options);
}

/// Not of what was freed in another shard; and where there are many tenants, whose room it lacks is not
/// known.
bool RedisPush::is_told_of_room(std::span<const NewMessage> messages) const {
  return !shard_.is_lent_room() && std::all_of(messages.begin(), messages.end(), [&](const NewMessage& each) {
    return each.tenant == messages[0].tenant;
  });
}

Result<PushReply> RedisPush::push_checked(const BatchPart& part, const PushOptions& options,
                                          std::optional<Result<PushReply>> heard) {
  const size_t count = part.messages.size();
  Waiting waiting(options.wait_ms, options.interrupt);
  Awaiting awaiting;
  for (;; heard.reset()) {
    Result<PushReply> pushed = heard ? std::move(*heard) : push_once(part, options);
    if (!pushed && says_never_fits(pushed.error())) {
      PushReply never;
      never.items.assign(count, PushResult{PushStatus::full, {}});
      never.error = std::move(pushed).error();
      return never;
    }
    if (pushed || !says_full(pushed.error())) return pushed;
    if (!options.block) return but_could_wait(std::move(pushed).error());
    const Waiting::End end =
        is_told_of_room(part.messages)
            ? awaiting.next(waiting, shard_,
                            {.what = Awaited::What::room, .tenant = std::string(part.messages[0].tenant)})
            : waiting.nap();
    if (end != Waiting::End::goes_on) return pushed;
  }
}

Result<ArgumentList> RedisPush::arguments_of(const BatchPart& part) {
  ArgumentList arguments;
  arguments.add(part.token.empty() ? draw_base32(kTokenLength) : part.token);
  arguments.add(std::to_string(part.longest));
  for (const NewMessage& message : part.messages) {
    FQ_TRY_SET(const std::string signature, signer_.sign(message));
    arguments.borrow(message.tenant);
    arguments.add(push_fields(message, message.at_wall_ms ? shard_.server_of(*message.at_wall_ms) : 0));
    arguments.borrow(message.key);
    arguments.add(push_rest(message, signature));
  }
  return arguments;
}

Result<RedisPush::Sent> RedisPush::add_to(CallsAtOnce& calls, const BatchPart& part,
                                          const PushOptions& options) {
  FQ_TRY_SET(ArgumentList arguments, arguments_of(part));
  return Sent{calls, calls.add(shard_, "push", std::move(arguments), is_lazy(options))};
}

Result<PushReply> RedisPush::answer(const Sent& sent, size_t count) {
  return reply_of(sent.calls.answer(sent.call, Shard::Lost::is_repeated), count);
}

Result<PushReply> RedisPush::push_once(const BatchPart& part, const PushOptions& options) {
  FQ_TRY_SET(const ArgumentList arguments, arguments_of(part));
  return reply_of(
      shard_.change("push", arguments.words(), Shard::Lost::is_repeated, nullptr, is_lazy(options)),
      part.messages.size());
}

/// `count`: so many messages were pushed.
Result<PushReply> RedisPush::reply_of(Result<Reply> pushed, size_t count) {
  PushReply reply;
  // Sent, and nothing heard: it may have happened.
  if (!pushed && pushed.error().kind == ErrorKind::io) {
    reply.items.assign(count, PushResult{});
    reply.error = std::move(pushed).error();
    return reply;
  }
  if (!pushed) {
    Error error = std::move(pushed).error();
    if (error.item && *error.item >= count) error.item.reset();
    return error;
  }
  constexpr PushStatus kStatuses[] = {PushStatus::accepted, PushStatus::duplicate, PushStatus::replaced,
                                      PushStatus::debounced};
  const Reply& items = pushed->at(1);
  for (size_t i = 0; i + 1 < items.items.size(); i += 2) {
    const auto status = static_cast<uint64_t>(items.at(i).number);
    const std::optional<uint64_t> id = parse_decimal(items.at(i + 1).text);
    if (status < std::size(kStatuses) && id) reply.items.push_back({kStatuses[status], MessageId{*id}});
  }
  if (reply.items.size() == count) return reply;
  return Error{ErrorKind::io,
               "push: the server answers of another number of messages; the outcome is unknown", 0};
}

}  // namespace fq
