#include "core/redis/redis_steps.h"

// System.
#include <unistd.h>

#include <algorithm>
#include <array>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/base/limits.h"
#include "core/base/text/decimal.h"
#include "core/base/text/size.h"
#include "core/engine/message_checks.h"
// fq, this room.
#include "core/redis/records/argument_list.h"
#include "core/redis/records/base32.h"
#include "core/redis/records/records.h"
#include "core/redis/redis_push.h"
#include "core/redis/waits/waiting.h"

namespace fq {

namespace {

constexpr size_t kTurnBytes = 8;

class RedisTurn final : public StepTurn {
 public:
  RedisTurn(Shard& shard, std::string id, std::string_view name, std::string token)
      : shard_(shard), id_(std::move(id)), name_(name), token_(std::move(token)) {}
  ~RedisTurn() override { static_cast<void>(shard_.change("pause", {"leave", id_, "0", "", name_, token_})); }
  int descriptor() const override { return -1; }

 private:
  Shard& shard_;
  const std::string id_, name_, token_;
};

std::string kind_name(const Reply& said) {
  const auto kind = static_cast<uint64_t>(said.number);
  const bool known = kind >= 1 && kind <= static_cast<uint64_t>(kLastStepKind);
  return known ? std::string(name_of(static_cast<StepKind>(kind))) : "step of another fq";
}

/// None: it is no refusal of the step itself.
std::optional<Error> fault_of(const Reply& said, const std::string& object, StepKind kind) {
  const std::string& what = said.at(0).text;
  const std::string& count = said.at(1).text;
  if (what == "kind") {
    return Error{ErrorKind::usage,
                 object + ": is a " + kind_name(said.at(1)) + ", not a " + std::string(name_of(kind)) +
                     "; give this step another name",
                 0};
  }
  if (what == "many")
    return Error{ErrorKind::bad_data, object + ": the message has " + count + " steps, which is the limit",
                 0};
  if (what == "long") {
    return Error{ErrorKind::bad_data,
                 object + ": the message would have " + format_size(parse_decimal(count).value_or(0)) +
                     " of outputs, the limit is " + format_size(kStepsBytesMax),
                 0};
  }
  if (what == "itself") return Error{ErrorKind::usage, object + ": would wait for its own message", 0};
  if (what == "unknown")
    return Error{ErrorKind::missing, "message " + count + ": is not known, or no more", 0};
  if (what == "more") {
    return Error{ErrorKind::bad_data,
                 object + ": would wait for " + count + " messages, the limit is " +
                     std::to_string(kStepsPerMessageMax),
                 0};
  }
  return std::nullopt;
}

}  // namespace

Result<RedisSteps::Said> RedisSteps::ask(const Receipt& receipt, std::string_view name, StepKind kind,
                                         std::string_view what, std::span<const std::string_view> more) {
  FQ_TRY(check_step_name(name));
  const RedisLeases::Parts parts = leases_.parts_of(receipt);
  Said said;
  said.receipt = parts.fault;
  if (parts.fault != SettleStatus::ok) return said;
  std::vector<std::string_view> words = {what, parts.id, parts.serial, parts.nonce, name};
  words.insert(words.end(), more.begin(), more.end());
  const bool takes_memory = kind == StepKind::run || kind == StepKind::push;
  // A turn is known by its text, and an output is the same twice.
  const auto lost = kind == StepKind::run ? Shard::Lost::is_repeated : Shard::Lost::is_unknown;
  FQ_TRY_SET(Reply reply, shard_.change(takes_memory ? "step" : "pause", words, lost));
  const Reply& answer = reply.at(1);
  if (std::optional<Error> fault =
          fault_of(answer, "step '" + std::string(name) + "' of message " + parts.id, kind))
    return *std::move(fault);
  said.what = answer.at(0).text;
  said.text = answer.at(1).text;
  said.is_yes = answer.at(1).number == 1;
  if (said.what == "stale" || said.what == "gone") said.receipt = status_of(answer.at(0));
  return said;
}

Result<StepBegin> RedisSteps::begin(const Receipt& receipt, std::string_view name, Interrupt* interrupt) {
  std::string& asked = asked_[receipt.text() + " " + std::string(name)];
  if (asked.empty()) asked = draw_base32(kTurnBytes);
  const std::string token = asked, pid = std::to_string(::getpid());
  Waiting waiting(std::nullopt, interrupt);
  for (;;) {
    FQ_TRY_SET(Said said,
               ask(receipt, name, StepKind::run, "begin", std::array<std::string_view, 2>{token, pid}));
    StepBegin begun;
    begun.receipt = said.receipt;
    if (said.what != "wait") asked_.erase(receipt.text() + " " + std::string(name));
    if (begun.receipt != SettleStatus::ok) return begun;
    if (said.what == "kept") begun.output = std::move(said.text);
    if (said.what == "run") {
      session_.keep_alive();
      begun.turn = std::make_unique<RedisTurn>(shard_, leases_.parts_of(receipt).id, name, token);
    }
    if (said.what != "wait") return begun;
    if (waiting.nap() != Waiting::End::goes_on)
      return Error{ErrorKind::later,
                   "step '" + std::string(name) + "': interrupted; another process is at it", 0};
  }
}

Result<SettleStatus> RedisSteps::keep(const Receipt& receipt, std::string_view name, Bytes output) {
  if (output.size() > kStepBytesMax) {
    return Error{ErrorKind::bad_data,
                 "step '" + std::string(name) + "': put out " + format_size(output.size()) +
                     ", the limit is " + format_size(kStepBytesMax),
                 0};
  }
  FQ_TRY_SET(const Said said,
             ask(receipt, name, StepKind::run, "keep", std::array<std::string_view, 1>{as_text(output)}));
  FQ_POINT("step.durable");
  return said.receipt;
}

Result<StepPush> RedisSteps::push(const Receipt& receipt, std::string_view name, const NewMessage& message) {
  if (has_terms(message))
    return Error{ErrorKind::usage,
                 "step '" + std::string(name) + "': its push takes no unique, debounce or after", 0};
  FQ_TRY_SET(const Settings settings, policy_.settings());
  FQ_TRY(check_message(message, settings.payload_bytes_max));
  FQ_TRY(check_on_server(message));
  FQ_TRY_SET(const std::string signature, signer_.sign(message));
  const std::string fields =
      push_fields(message, message.at_wall_ms ? shard_.server_of(*message.at_wall_ms) : 0);
  const std::string rest = push_rest(message, signature);
  FQ_TRY_SET(const Said said,
             ask(receipt, name, StepKind::push, "push",
                 std::array<std::string_view, 4>{message.tenant, fields, message.key, rest}));
  FQ_POINT("step.pushed");
  return StepPush{said.receipt, MessageId{parse_decimal(said.text).value_or(0)}};
}

Result<StepPause> RedisSteps::pause(const Receipt& receipt, std::string_view name, StepKind kind,
                                    std::span<const std::string_view> more) {
  FQ_TRY_SET(const Said said, ask(receipt, name, kind, kind == StepKind::sleep ? "sleep" : "wait", more));
  FQ_POINT("step.durable");
  return StepPause{said.receipt, said.what == "over", said.is_yes};
}

Result<StepPause> RedisSteps::sleep(const Receipt& receipt, std::string_view name,
                                    std::optional<int64_t> delay_ms, int64_t until_wall_ms) {
  const std::string delay = delay_ms ? std::to_string(std::max<int64_t>(*delay_ms, 0)) : "-1";
  const std::string until = std::to_string(shard_.server_of(until_wall_ms));
  return pause(receipt, name, StepKind::sleep, std::array<std::string_view, 2>{delay, until});
}

Result<StepPause> RedisSteps::wait(const Receipt& receipt, std::string_view name,
                                   std::optional<std::span<const MessageId>> ids) {
  ArgumentList arguments;
  arguments.borrow(ids ? "these" : "all");
  for (const MessageId id : ids.value_or(std::span<const MessageId>()))
    arguments.add(std::to_string(std::min(number(id), kMessageIdMax)));
  return pause(receipt, name, StepKind::wait, arguments.words());
}

Result<std::optional<std::vector<StepInfo>>> RedisSteps::list(MessageId id) {
  FQ_TRY_SET(const Reply reply, shard_.look({"steps", std::to_string(std::min(number(id), kMessageIdMax))}));
  const Reply& told = reply.at(1);
  if (told.at(0).number == 0) return std::optional<std::vector<StepInfo>>();
  std::vector<std::pair<uint64_t, StepInfo>> found;
  for (size_t i = 1; i < told.items.size(); ++i) {
    const Reply& each = told.at(i);
    const auto whole = [&](size_t at) { return parse_decimal(each.at(at).text).value_or(0); };
    const auto kind = static_cast<uint64_t>(each.at(1).number);
    if (kind < 1 || kind > static_cast<uint64_t>(kLastStepKind)) continue;  // of a newer fq
    found.push_back({whole(3),
                     {each.at(0).text, static_cast<StepKind>(kind),
                      shard_.wall_of(static_cast<int64_t>(whole(2))), whole(4), MessageId{whole(5)}}});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<StepInfo> steps;
  for (auto& [place, step] : found) steps.push_back(std::move(step));
  return std::optional(std::move(steps));
}

}  // namespace fq
