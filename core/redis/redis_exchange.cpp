#include "core/redis/redis_exchange.h"

// System.
#include <algorithm>
#include <iterator>
#include <map>
// fq, below us.
#include "core/base/crc32c.h"
#include "core/base/text/decimal.h"
#include "core/engine/exported_state.h"
#include "core/engine/message_checks.h"
// fq, this room.
#include "core/redis/records/argument_list.h"
#include "core/redis/records/packing.h"
#include "core/redis/records/records.h"
#include "core/redis/redis_push.h"

namespace fq {

namespace {

// Of what one call takes in: few enough not to keep a server from others for long.
constexpr size_t kImportsPerCall = 64;
constexpr size_t kImportBytes = size_t{1} << 20;
constexpr size_t kImportSteps = 256;

ExportedMessage exported_of(const MessageRecord& record) {
  ExportedMessage message;
  message.tenant = record.tenant;
  message.payload = record.payload;
  message.priority = record.priority;
  message.key = record.key;
  if (record.attempts_max != 0) message.attempts_max = record.attempts_max;
  // That its lease was given others, as the queue has them, says nothing.
  const bool has_own = record.attempts_max != 0 && record.attempts_in_force != 0;
  message.attempts_in_force = has_own ? record.attempts_max : record.attempts_in_force;
  message.attempts = record.attempts;
  message.deliveries = record.deliveries;
  message.crashes = record.crashes;
  message.tags = record.tags;
  message.command = record.command;
  message.timeout_ms = record.timeout_ms;
  message.keep_ms = record.keep_ms;
  message.ttl_ms = record.ttl_ms;
  message.schedule = record.schedule;
  message.scheduled_at_wall_ms = record.scheduled_wall_ms;
  message.state = record.state;
  message.wait_failed = record.wait_failed;
  return message;
}

std::string failure_of(const ExportedMessage& message, const Shard& shard) {
  LastError error = message.last_error.value_or(LastError{});
  // In a queue on a server that is its last failure too.
  if (message.expired) error = {{}, {}, "expired", {}, message.since_wall_ms};
  if (!message.last_error && !message.expired) return {};
  Settle settle;
  settle.exit = error.exit;
  settle.signal = error.signal;
  settle.reason = error.reason;
  settle.stderr_tail = error.stderr_tail;
  Packer at;
  at.number(static_cast<double>(shard.server_of(error.at_wall_ms)));
  return at.bytes() + failure_bytes(settle);
}

std::string objection_to(const ExportedMessage& message, Order order) {
  if (message.priority != 0 && order != Order::priority)
    return "has a priority, which the order of this queue ignores";
  if (!message.key.empty() && order != Order::key)
    return "has a sort key, which the order of this queue ignores";
  return "";
}

std::map<std::string, std::string> pairs_of(const Reply& told) {
  std::map<std::string, std::string> pairs;
  for (size_t i = 0; i + 1 < told.items.size(); i += 2) pairs[told.at(i).text] = told.at(i + 1).text;
  return pairs;
}

/// Why it is not taken, before the server is asked; "": it is.
std::string objection_on_server(const ExportedMessage& message, const Settings& settings, bool has_key) {
  std::string why = import_fault(message, settings.payload_bytes_max);
  if (why.empty() && message.command && !has_key) why = lacks_command_key("command").text;
  if (why.empty()) why = objection_to(message, settings.order);
  if (!why.empty()) return why;
  const Result<void> fits = check_on_server(values_of(message));
  return fits.ok() ? std::string() : fits.error().text;
}

}  // namespace

Result<std::string> RedisExchange::origin() {
  return mark_ + "." + std::to_string(crc32c(0, as_bytes(shard_.place())));
}

Result<std::optional<ExportedMessage>> RedisExchange::exported(MessageId id) {
  if (number(id) > kMessageIdMax) return std::optional<ExportedMessage>();
  FQ_TRY_SET(const Reply reply, shard_.look({"export", std::to_string(number(id))}));
  const Reply& shown = reply.at(1);
  if (!shown.at(1).is_text()) return std::optional<ExportedMessage>();
  const std::optional<MessageRecord> record = read_record(shown.at(1).text);
  if (record && has_ended(record->state)) return std::optional<ExportedMessage>();
  ExportedMessage message = record ? exported_of(*record) : ExportedMessage();
  message.id = id;
  if (!record) message.lost = "its record cannot be read";
  // Whoever takes it in would sign it.
  if (record && record->command && signer_.has_key())
    message.lost = signer_.fault(message_of(*record), record->signature, kUnlimited);
  if (!message.lost.empty()) return std::optional(std::move(message));
  const int64_t clock_ms = clock_in(reply), lead_ms = reply.at(0).at(0).number - clock_ms;
  const int64_t now_wall_ms = shard_.wall_of(clock_ms);
  message.pushed_at_wall_ms = shard_.wall_of(record->pushed_ms);
  // What is to come is told by the clock, as whoever takes it in reads it.
  message.since_wall_ms =
      shard_.wall_of(message.state == State::delayed ? record->timer_ms - lead_ms : record->since_ms);
  if (message.state == State::leased) message.state = State::ready, message.since_wall_ms = now_wall_ms;
  if (const std::optional<TiesRecord> ties = read_ties(shown.at(3).text)) {
    message.behind = MessageId{message.state == State::held ? ties->behind : 0};
    // Another may have its key by now: there too it would be in the way of that one. A dead one may get it
    // back, one that is held behind another gets it then.
    const bool gets_key = message.state == State::dead || number(message.behind) != 0;
    const bool has_key = !record->debounced && (record->holds_key || gets_key);
    if (has_key) message.unique = ties->unique;
    if (has_key) message.unique_for_ms = ties->unique_for_ms;
    if (record->debounced && record->holds_key) message.debounce = ties->unique;
    message.after = ties->waits;
    for (ExportedWait& wait : message.after) wait.closed = wait.closed && message.state != State::dead;
    // A kick holds a dead one again for what it came after.
    const bool is_held_again = message.state == State::dead && !message.after.empty();
    if (message.state == State::held || record->suspended || is_held_again) {
      message.delay_ms = std::max<int64_t>(ties->delay_ms, 0);
      // Without a delay it is due when it was pushed, which says nothing.
      const bool is_put_off = ties->due_ms > (record->suspended ? 0 : record->pushed_ms);
      message.due_wall_ms = is_put_off ? shard_.wall_of(ties->due_ms - lead_ms) : 0;
    }
    if (record->suspended) message.state = State::held;
  }
  settle_state(now_wall_ms, message);
  message.expired = message.state == State::dead && record->expired;
  if (!message.expired) message.last_error = read_failure(shown.at(2).text);
  if (message.last_error) message.last_error->at_wall_ms = shard_.wall_of(message.last_error->at_wall_ms);
  FQ_TRY(add_steps(shown, message));
  return std::optional(std::move(message));
}

Result<void> RedisExchange::add_steps(const Reply& shown, ExportedMessage& message) {
  const std::map<std::string, std::string> outputs = pairs_of(shown.at(6));
  std::vector<std::pair<uint64_t, ExportedStep>> found;
  for (const auto& [name, bytes] : pairs_of(shown.at(5))) {
    uint64_t place = 0;
    std::optional<ExportedStep> step = read_step(bytes, place);
    if (!step) continue;  // of a newer fq
    step->name = name;
    step->at_wall_ms = shard_.wall_of(step->at_wall_ms);
    if (const auto output = outputs.find(name); output != outputs.end()) step->output = output->second;
    std::vector<MessageId> left;
    for (const MessageId id : step->ids) {
      FQ_TRY_SET(const std::optional<MessageInfo> info, look_.get(id));
      if (info && !has_ended(info->state)) left.push_back(id);
      const bool forgotten_failed = !info && step->open && message.wait_failed;
      step->failed = step->failed || forgotten_failed || (info && info->state == State::cancelled);
    }
    step->ids = std::move(left);
    found.emplace_back(place, *std::move(step));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [place, step] : found) message.steps.push_back(std::move(step));
  return {};
}

/// So many of the first ones go in one call; one that is longer than a call goes alone.
size_t RedisExchange::count_of_call(std::span<const ExportedMessage> messages) {
  size_t count = 0, bytes = 0, steps = 0;
  while (count < std::min(kImportsPerCall, messages.size())) {
    const ExportedMessage& message = messages[count];
    bytes += message.payload.size();
    steps += message.steps.size();
    for (const ExportedStep& step : message.steps) bytes += step.output.size();
    if (count > 0 && (bytes > kImportBytes || steps > kImportSteps)) break;
    ++count;
  }
  return count;
}

Result<ImportReply> RedisExchange::import_messages(std::span<const ExportedMessage> messages,
                                                   std::string_view origin) {
  ImportReply reply;
  FQ_TRY_SET(const Settings settings, policy_.settings());
  while (reply.items.size() < messages.size() && !reply.error) {
    const auto left = messages.subspan(reply.items.size());
    FQ_TRY(import_some(left.first(count_of_call(left)), origin, settings, reply));
  }
  return reply;
}

/// Where one of them finds no room none is taken, so they are asked for one by one then.
Result<void> RedisExchange::import_some(std::span<const ExportedMessage> messages, std::string_view origin,
                                        const Settings& settings, ImportReply& reply) {
  Result<std::vector<ImportResult>> taken = import_all(messages, origin, settings);
  if (taken.ok()) {
    std::move(taken->begin(), taken->end(), std::back_inserter(reply.items));
    return {};
  }
  if (taken.error().kind != ErrorKind::later) return std::move(taken).error();
  if (messages.size() == 1) reply.error = std::move(taken).error();
  for (size_t i = 0; messages.size() > 1 && i < messages.size() && !reply.error; ++i)
    FQ_TRY(import_some(messages.subspan(i, 1), origin, settings, reply));
  return {};
}

Result<std::vector<ImportResult>> RedisExchange::import_all(std::span<const ExportedMessage> messages,
                                                            std::string_view origin,
                                                            const Settings& settings) {
  std::vector<ImportResult> results;
  std::vector<size_t> sent;
  ArgumentList arguments;
  for (const ExportedMessage& message : messages) {
    results.emplace_back().why = objection_on_server(message, settings, signer_.has_key());
    if (!results.back().why.empty()) continue;
    sent.push_back(results.size() - 1);
    FQ_TRY(add_words(message, origin, arguments));
  }
  if (sent.empty()) return results;
  FQ_TRY_SET(const Reply reply, shard_.change("import", arguments.words()));
  for (size_t i = 0; i < sent.size(); ++i) {
    const std::string& said = reply.at(1).at(2 * i).text;
    ImportResult& result = results[sent[i]];
    if (said == "held") {
      const bool is_debounced = !messages[sent[i]].debounce.empty();
      result.why =
          "its " + std::string(is_debounced ? "debounce" : "unique") + " key is in use in this queue";
      continue;
    }
    result.id = MessageId{parse_decimal(reply.at(1).at(2 * i + 1).text).value_or(0)};
    result.what = said == "known" ? ImportResult::What::known : ImportResult::What::imported;
  }
  return results;
}

/// Of one message, as import.lua reads it.
Result<void> RedisExchange::add_words(const ExportedMessage& message, std::string_view origin,
                                      ArgumentList& arguments) {
  const NewMessage pushed = values_of(message);
  const int64_t due_wall_ms = message.state == State::delayed ? message.since_wall_ms : message.due_wall_ms;
  FQ_TRY_SET(const std::string signature, signer_.sign(pushed, due_wall_ms));
  PastRecord past;
  past.state = message.state;
  past.pushed_ms = shard_.server_of(message.pushed_at_wall_ms);
  past.since_ms = shard_.server_of(message.since_wall_ms);
  if (message.due_wall_ms != 0) past.due_ms = shard_.server_of(message.due_wall_ms);
  arguments.add(std::to_string(message.steps.size()));
  arguments.add(std::string(origin) + ":" + std::to_string(number(message.id)));
  arguments.borrow(message.tenant);
  arguments.add(push_fields(pushed, 0));
  arguments.borrow(message.key);
  arguments.add(push_rest(pushed, signature));
  arguments.add(past_bytes(message, past));
  arguments.add(failure_of(message, shard_));
  for (const ExportedStep& step : message.steps) {
    arguments.borrow(step.name);
    arguments.add(step_bytes(step, shard_.server_of(step.at_wall_ms)));
    arguments.borrow(step.output);
  }
  return {};
}

}  // namespace fq
