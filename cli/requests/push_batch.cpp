#include "cli/requests/push_batch.h"

// System.
#include <algorithm>
#include <random>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/text/json_writer.h"
// fq, this room.
#include "cli/requests/numbered_lines.h"
#include "cli/session/patience.h"
#include "cli/terminal/signals.h"

namespace fq::cli {

namespace {

/// Cuts the input into items and numbers them.
class Splitter {
 public:
  Splitter(Reader& source, char separator, uint64_t item_bytes_max)
      : source_(source), separator_(separator), item_bytes_max_(item_bytes_max) {}

  enum class Next { item, pause, end };

  /// The next item, in `item` until the next call; `pause` when none is complete and nothing more has come.
  /// With `wait` never `pause`.
  Result<Next> next(std::string_view& item, bool wait) {
    for (;;) {
      const size_t end = buffer_.find(separator_, searched_);
      if (end != std::string::npos) return take(item, end, end + 1);
      searched_ = buffer_.size();
      if (at_end_)
        return at_ < buffer_.size() ? take(item, buffer_.size(), buffer_.size()) : Result<Next>(Next::end);
      if (buffer_.size() - at_ > item_bytes_max_) return too_long();
      if (!wait && !source_.ready()) return Next::pause;
      buffer_.erase(0, at_);
      searched_ -= at_;
      at_ = 0;
      FQ_TRY_SET(const bool more, source_.read_some(buffer_));
      at_end_ = !more;
    }
  }

  uint64_t number() const { return number_; }
  Error at_line(Error error, uint64_t number) const {
    error.text = source_.name() + ": line " + std::to_string(number) + ": " + error.text;
    return error;
  }
  Error fault(Error error) const {
    error.kind = ErrorKind::bad_data;
    return at_line(std::move(error), number_);
  }

 private:
  Result<Next> take(std::string_view& item, size_t end, size_t resume) {
    item = std::string_view(buffer_).substr(at_, end - at_);
    at_ = searched_ = resume;
    ++number_;
    if (item.size() > item_bytes_max_) return --number_, too_long();
    return Next::item;
  }
  Error too_long() {
    ++number_;
    return fault(payload_too_long("payload", item_bytes_max_));
  }

  Reader& source_;
  const char separator_;
  const uint64_t item_bytes_max_;
  std::string buffer_;
  size_t at_ = 0;        // where the next item starts
  size_t searched_ = 0;  // no separator in [at_, searched_)
  uint64_t number_ = 0;  // of the item given last
  bool at_end_ = false;
};

struct Batch {
  std::vector<PushLine> lines;
  std::vector<uint64_t> numbers;  // theirs
  uint64_t bytes = 0;

  bool fits(uint64_t more) const {
    return lines.empty() || (lines.size() < kBatchMessagesMax && bytes + more <= kBatchBytesMax);
  }
  void add(PushLine line, uint64_t number) {
    bytes += batch_bytes(message_of(line.fields, line.payload));
    lines.push_back(std::move(line));
    numbers.push_back(number);
  }
  /// Of an Error that is a line's, `item` is that line's number.
  Result<void> send(Pusher& pusher) {
    if (lines.empty()) return {};
    std::vector<NewMessage> messages;
    messages.reserve(lines.size());
    for (const PushLine& line : lines) messages.push_back(message_of(line.fields, line.payload));
    if (Result<void> pushed = pusher.push(messages); !pushed) {
      Error error = std::move(pushed).error();
      if (error.item) error.item = numbers.at(*error.item);
      return error;
    }
    lines.clear();
    numbers.clear();
    bytes = 0;
    return {};
  }
};

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

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

}  // namespace

Result<void> Pusher::push(std::span<const NewMessage> messages) {
  FQ_TRY_SET(const PushReply reply, put(messages));
  const bool never = !reply.items.empty() &&
                     std::all_of(reply.items.begin(), reply.items.end(),
                                 [](const PushResult& item) { return item.status == PushStatus::full; });
  if (never && options_.block && messages.size() > 1) return push_halves(messages);
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
Result<void> Pusher::push_halves(std::span<const NewMessage> messages) {
  const size_t half = messages.size() / 2;
  FQ_TRY(push(messages.first(half)));
  Result<void> rest = push(messages.subspan(half));
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
  return reply;
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

Result<void> push_batch(Pusher& pusher, Reader& source, BatchForm form, const PushFields& defaults) {
  const Settings& settings = pusher.settings();
  Splitter splitter(source, form == BatchForm::null ? '\0' : '\n',
                    form == BatchForm::ndjson ? json_line_bytes_max(settings.payload_bytes_max)
                                              : settings.payload_bytes_max);
  Batch batch;
  // Of a batch of plain lines what they share is at fault, which the command has given.
  const auto send = [&]() -> Result<void> {
    Result<void> sent = batch.send(pusher);
    if (sent || !sent.error().item || form != BatchForm::ndjson) return sent;
    const uint64_t number = *sent.error().item;
    return splitter.at_line(std::move(sent).error(), number);
  };
  for (;;) {
    std::string_view item;
    FQ_TRY_SET(const Splitter::Next next, splitter.next(item, batch.lines.empty()));
    if (next == Splitter::Next::item) {
      if (form == BatchForm::ndjson && is_blank(item)) continue;
      PushLine line;
      if (form == BatchForm::ndjson) {
        Result<PushLine> parsed = parse_push_line(item, defaults, settings.order);
        if (!parsed) return splitter.fault(std::move(parsed).error());
        line = std::move(parsed).value();
      } else {
        line = PushLine{defaults, std::string(item)};
      }
      if (line.payload.size() > settings.payload_bytes_max) {
        return splitter.fault(payload_too_long("payload", settings.payload_bytes_max));
      }
      if (!batch.fits(batch_bytes(message_of(line.fields, line.payload)))) FQ_TRY(send());
      batch.add(std::move(line), splitter.number());
      if (batch.fits(1)) continue;
    }
    FQ_TRY(send());
    if (next == Splitter::Next::end) return {};
  }
}

}  // namespace fq::cli
