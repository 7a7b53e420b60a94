#include "cli/requests/pusher.h"

// System.
#include <algorithm>
#include <random>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/text/json_writer.h"
// fq, this room.
#include "cli/session/patience.h"
#include "cli/terminal/signals.h"

namespace fq::cli {

namespace {

std::string_view name_of(PushStatus status) {
  switch (status) {
    case PushStatus::duplicate:
      return "duplicate";
    case PushStatus::replaced:
      return "replaced";
    case PushStatus::debounced:
      return "debounced";
    default:
      return "accepted";
  }
}

std::string drawn_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; ++i) token += std::to_string(random()) + ".";
  return token;
}

}  // namespace

Result<void> Pusher::push(std::span<const NewMessage> messages) {
  statuses_.assign(messages.size(), PushStatus::invalid);
  return push_part(messages, 0);
}

/// `first`: which of the batch it begins with.
Result<void> Pusher::push_part(std::span<const NewMessage> messages, size_t first) {
  Result<PushReply> said = put(messages);
  const std::span statuses = std::span(statuses_).subspan(first, messages.size());
  const bool is_unknown = !said && said.error().kind == ErrorKind::io;
  if (is_unknown) std::fill(statuses.begin(), statuses.end(), PushStatus::unknown);
  FQ_TRY_SET(const PushReply reply, std::move(said));
  // All before the first is printed: where that fails, the others were pushed all the same.
  std::transform(reply.items.begin(), reply.items.end(), statuses.begin(),
                 [](const PushResult& item) { return item.status; });
  const bool never = !reply.items.empty() &&
                     std::all_of(reply.items.begin(), reply.items.end(),
                                 [](const PushResult& item) { return item.status == PushStatus::full; });
  if (never && options_.block && messages.size() > 1) return push_halves(messages, first);
  std::optional<PushStatus> worst;
  for (const PushResult& item : reply.items) {
    if (is_accepted(item.status)) {
      FQ_TRY(print(item));
    } else if (!worst || item.status == PushStatus::unknown) {
      worst = item.status;
    }
  }
  FQ_TRY(session_.out().flush());
  if (worst) return refusal(*worst, reply);
  return {};
}

/// A limit below the size of a batch makes smaller ones.
Result<void> Pusher::push_halves(std::span<const NewMessage> messages, size_t first) {
  const size_t half = messages.size() / 2;
  FQ_TRY(push_part(messages.first(half), first));
  Result<void> rest = push_part(messages.subspan(half), first + half);
  if (rest) return {};
  Error error = std::move(rest).error();
  if (error.item) *error.item += half;
  return error;
}

Result<MessageId> Pusher::push_unsaid(const NewMessage& message) {
  FQ_TRY_SET(const PushReply reply, put({&message, 1}));
  const PushResult& item = reply.items.at(0);
  if (!is_accepted(item.status)) return refusal(item.status, reply);
  return item.id;
}

Result<PushReply> Pusher::put(std::span<const NewMessage> messages) {
  Result<PushReply> reply = options_.block ? put_at_last(messages) : queue_.push(messages, options_);
  const bool interrupted = !reply && options_.interrupt != nullptr && options_.interrupt->raised();
  if (interrupted) die_by_caught_signal();
  if (reply || !reply.error().could_wait) return reply;
  Error error = std::move(reply).error();
  error.text += ", or use --block";
  return error;
}

/// Where the server is away meanwhile it goes on: while it waits for room nothing of it is there, and what
/// may be there since an answer was lost is known by its token.
Result<PushReply> Pusher::put_at_last(std::span<const NewMessage> messages) {
  PushOptions options = options_;
  options.token = drawn_token();
  std::optional<PushReply> unknown;
  int64_t unknown_ms = 0;
  Patience patience(options_.wait_ms, options_.interrupt);
  Result<PushReply> reply = patience.ask([&]() -> Result<PushReply> {
    options.wait_ms = patience.left_ms();
    const int64_t now_ms = system_clock().boot_ms();
    if (unknown && now_ms - unknown_ms >= kPushKnownMs) return *unknown;
    Result<PushReply> said = queue_.push(messages, options);
    if (!said || !said->error || !said->error->passes) return said;
    if (!unknown) unknown_ms = now_ms;
    unknown = std::move(said).value();
    return *unknown->error;
  });
  if (!reply && reply.error().passes && unknown) return *std::move(unknown);
  return reply;
}

Error Pusher::refusal(PushStatus status, const PushReply& reply) const {
  if (reply.error) return *reply.error;
  const std::string object = "queue '" + session_.queue_name() + "': ";
  if (status == PushStatus::full) return Error{ErrorKind::later, object + "is full; try again later", 0};
  if (status == PushStatus::invalid)
    return Error{ErrorKind::bad_data, object + "does not take this message", 0};
  return Error{ErrorKind::io, object + "the outcome of the push is unknown", 0};
}

Result<void> Pusher::print(const PushResult& item) {
  const uint64_t id = number(item.id);
  if (session_.format() != Format::json) return session_.out().write(std::to_string(id) + "\n");
  std::string line;
  JsonWriter json(line);
  json.begin_object().key("id").number(id).key("queue").text(session_.queue_name());
  json.key("status").text(name_of(item.status)).end_object();
  return session_.out().write(line + "\n");
}

}  // namespace fq::cli
