#include "core/redis/redis_change.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/decimal.h"
#include "core/base/text/size.h"
#include "core/engine/message_checks.h"
#include "core/engine/patched.h"
// fq, this room.
#include "core/redis/records/argument_list.h"
#include "core/redis/records/records.h"
#include "core/redis/redis_push.h"

namespace fq {

namespace {

constexpr int kTriesMax = 100;  // of an edit that others get in the way of

/// As records have it; -1: any.
std::string number_of(const std::optional<State>& state) {
  return std::to_string(state ? static_cast<int>(*state) : -1);
}

Error is_leaving(const std::string& id) {
  return Error{ErrorKind::later, "message " + id + ": is on its way to another queue; try again", 0};
}

std::string_view name_of(Action action) {
  if (action == Action::kick_fresh) return "kick_fresh";
  return action == Action::cancel ? "cancel" : "kick";
}

}  // namespace

Result<MutateReply> RedisChange::mutate(std::span<const MessageId> ids, Action action,
                                        std::optional<State> state) {
  MutateReply reply;
  for (size_t from = 0; from < ids.size(); from += kIdsPerCall) {
    ArgumentList arguments;
    arguments.borrow(name_of(action));
    arguments.add(number_of(state));
    const auto piece = ids.subspan(from, std::min(kIdsPerCall, ids.size() - from));
    // What is no id of any engine is none of a message here, either: 0 stands for it.
    for (const MessageId id : piece)
      arguments.add(std::to_string(number(id) > kMessageIdMax ? 0 : number(id)));
    const Result<Reply> answer = shard_.change("order", arguments.words());
    if (!answer) reply.error = answer.error();
    const Reply nothing;
    for (size_t i = 0; i < piece.size(); ++i) {
      const std::string& said = (answer ? *answer : nothing).at(1).at(i).text;
      if (said == "crossing") reply.error = is_leaving(std::to_string(number(piece[i])));
      reply.items.push_back(said == "ok"      ? SettleStatus::ok
                            : said == "stale" ? SettleStatus::stale
                            : said == "gone"  ? SettleStatus::gone
                                              : SettleStatus::unknown);
      reply.changed += said == "ok" ? 1U : 0U;
    }
    if (!answer) break;
  }
  reply.items.resize(ids.size(), SettleStatus::unknown);
  if (reply.error && reply.changed == 0) return *reply.error;
  return reply;
}

/// A cursor is the last id that was looked at.
Result<IdPage> RedisChange::select(const Filter& filter, const Cursor& from, size_t n) {
  IdPage page;
  std::string last = from.text.empty() ? "0" : from.text;
  if (!parse_decimal(last)) return Error{ErrorKind::usage, "cursor: is none of this queue", 0};
  const bool finished = filter.state && has_ended(*filter.state);
  while (!finished && page.ids.size() < n) {
    ArgumentList arguments;
    arguments.borrow("select");
    arguments.add(last);
    arguments.add(std::to_string(n - page.ids.size()));
    arguments.add(number_of(filter.state));
    arguments.borrow(filter.tenant);
    arguments.borrow(filter.reason);
    if (filter.tag) arguments.borrow(filter.tag->name), arguments.borrow(filter.tag->value);
    FQ_TRY_SET(const Reply reply, shard_.look(arguments.words()));
    const Reply& found = reply.at(1);
    for (size_t i = 1; i < found.items.size(); ++i) {
      if (const std::optional<uint64_t> id = parse_decimal(found.at(i).text))
        page.ids.push_back(MessageId{*id});
    }
    if (found.at(0).text.empty()) return page;
    last = found.at(0).text;
  }
  if (!finished) page.next.text = last;
  return page;
}

/// Nothing is signed that was not genuine, but for a command that the editor gives.
Result<std::string> RedisChange::signature_for(const MessageRecord& record, const MessagePatch& patch,
                                               const NewMessage& before, const NewMessage& message) const {
  if (!message.command) return std::string();
  const bool is_retimed = patch.delay_ms || patch.at_wall_ms;
  const int64_t due_wall_ms =
      record.state == State::delayed && !is_retimed ? shard_.wall_of(record.timer_ms) : 0;
  if (patch.command) return signer_.sign(message, due_wall_ms);
  if (!patch.payload && !(is_retimed && signer_.has_key())) return std::string(record.signature);
  if (!signer_.has_key()) return lacks_command_key("payload");
  const std::string fault = signer_.fault(before, record.signature, kUnlimited);
  if (fault.empty()) return signer_.sign(message, due_wall_ms);
  if (!patch.payload) return std::string(record.signature);
  return Error{ErrorKind::bad_data, "payload: not set: " + fault + "; give the message its command anew", 0};
}

Result<std::optional<SettleStatus>> RedisChange::try_edit(MessageId id, const MessagePatch& patch,
                                                          uint64_t payload_bytes_max) {
  const std::string name = std::to_string(number(id) > kMessageIdMax ? 0 : number(id));
  FQ_TRY_SET(const Reply there, shard_.look({"get", name}));
  const std::string& bytes = there.at(1).at(1).text;
  const std::optional<MessageRecord> record = read_record(bytes);
  if (!record && !bytes.empty())
    return Error{ErrorKind::bad_data, "message " + name + ": its record cannot be read", 0};
  const NewMessage before = record ? message_of(*record) : NewMessage();
  NewMessage message = patched(before, patch);
  if (!patch.payload) message.payload = before.payload;
  FQ_TRY(check_message(message, payload_bytes_max));
  FQ_TRY(check_on_server(message));
  if (!record) return std::optional(SettleStatus::gone);
  FQ_TRY_SET(const std::string signature, signature_for(*record, patch, before, message));
  ArgumentList arguments;
  arguments.borrow("edit");
  arguments.borrow(name);
  const int64_t at_ms = patch.at_wall_ms ? shard_.server_of(*patch.at_wall_ms) : 0;
  arguments.add(edit_fields(patch, message, at_ms, signature != record->signature));
  arguments.borrow(message.key);
  arguments.borrow(rest_of_record(bytes));
  arguments.add(push_rest(message, signature));
  FQ_TRY_SET(const Reply reply, shard_.change("order", arguments.words()));
  const std::string& said = reply.at(1).at(0).text;
  if (said == "timeless")
    return Error{ErrorKind::usage, "message " + name + ": is dead, so it is due at no time; kick it", 0};
  if (said == "crossing") return is_leaving(name);
  if (said == "again") return std::optional<SettleStatus>();
  if (said == "ok") return std::optional(SettleStatus::ok);
  return std::optional(said == "stale" ? SettleStatus::stale : SettleStatus::gone);
}

Result<SettleStatus> RedisChange::edit(MessageId id, const MessagePatch& patch) {
  FQ_TRY_SET(const Settings settings, policy_.settings());
  for (int tries = 0; tries < kTriesMax; ++tries) {
    FQ_TRY_SET(const std::optional<SettleStatus> status, try_edit(id, patch, settings.payload_bytes_max));
    if (status) return *status;
  }
  return Error{ErrorKind::later,
               "message " + std::to_string(number(id)) + ": others change it, too; try again", 0};
}

}  // namespace fq
