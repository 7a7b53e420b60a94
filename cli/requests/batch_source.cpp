#include "cli/requests/batch_source.h"

// System.
#include <algorithm>
#include <utility>
// fq, below us.
#include "core/api/command_check.h"
// fq, this room.
#include "cli/requests/numbered_lines.h"

namespace fq::cli {

namespace {

/// "line 3", "lines 1-4, 7 and 9"; "": none.
std::string in_words(const std::vector<uint64_t>& lines) {
  std::vector<std::string> runs;
  for (size_t i = 0, end = 0; i < lines.size(); i = end) {
    for (end = i + 1; end < lines.size() && lines[end] == lines[end - 1] + 1;) ++end;
    std::string run = std::to_string(lines[i]);
    if (end > i + 1) run += "-" + std::to_string(lines[end - 1]);
    runs.push_back(std::move(run));
  }
  std::string text = lines.size() > 1 ? "lines " : "line ";
  for (size_t i = 0; i < runs.size(); ++i)
    text.append(i == 0 ? "" : i + 1 < runs.size() ? ", " : " and ").append(runs[i]);
  return text;
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

}  // namespace

BatchSource::BatchSource(Reader& source, BatchForm form, const PushFields& defaults, const Settings& settings)
    : form_(form),
      defaults_(defaults),
      settings_(settings),
      splitter_(source, form == BatchForm::null ? '\0' : '\n',
                form == BatchForm::ndjson ? json_line_bytes_max(settings.payload_bytes_max)
                                          : settings.payload_bytes_max) {}

Result<void> BatchSource::read() {
  if (!batch_.empty()) return {};
  if (left_over_) add(*std::exchange(left_over_, std::nullopt));
  while (!at_end_ && fits(1)) {
    std::string_view item;
    FQ_TRY_SET(const Splitter::Next next, splitter_.next(item, batch_.empty()));
    if (next == Splitter::Next::pause) return {};
    at_end_ = next == Splitter::Next::end;
    if (at_end_ || (form_ == BatchForm::ndjson && is_blank(item))) continue;
    FQ_TRY_SET(PushLine parsed, parse(item));
    Line line{std::move(parsed), splitter_.number()};
    if (!fits(batch_bytes(line.message()))) {
      left_over_ = std::move(line);
      return {};
    }
    add(std::move(line));
  }
  return {};
}

Result<PushLine> BatchSource::parse(std::string_view item) const {
  PushLine line{defaults_, {}};
  if (form_ == BatchForm::ndjson) {
    Result<PushLine> parsed = parse_push_line(item, defaults_, settings_.order);
    if (!parsed) return splitter_.fault(std::move(parsed).error());
    line = std::move(parsed).value();
  } else {
    line.payload = std::string(item);
  }
  if (line.payload.size() > settings_.payload_bytes_max)
    return splitter_.fault(payload_too_long("payload", settings_.payload_bytes_max));
  return line;
}

bool BatchSource::fits(uint64_t more_bytes) const {
  return batch_.empty() || (batch_.size() < kBatchMessagesMax && bytes_ + more_bytes <= kBatchBytesMax);
}

void BatchSource::add(Line line) {
  bytes_ += batch_bytes(line.message());
  batch_.push_back(std::move(line));
}

Result<void> BatchSource::check_first(const std::string& spool) const {
  bool has_command = false;
  for (const Line& each : batch_) {
    Result<void> checked = check_comes_first(each.line.fields);
    if (!checked) return at_line(std::move(checked).error(), each);
    has_command = has_command || each.line.fields.command;
  }
  // It is of all lines alike, as where the queue is there.
  return has_command ? check_takes_commands(spool, "push") : Result<void>();
}

/// Of a batch of plain lines what they share is at fault, which the command has given.
Error BatchSource::at_line(Error error, const Line& line) const {
  return form_ == BatchForm::ndjson ? splitter_.at_line(std::move(error), line.number) : error;
}

/// Where it was taken in part, as a queue of several servers takes it when one of them is away.
std::string BatchSource::which_are_missing(const std::vector<PushStatus>& statuses) const {
  std::vector<uint64_t> refused, unknown;
  for (size_t i = 0; i < statuses.size(); ++i) {
    if (is_accepted(statuses[i])) continue;
    (statuses[i] == PushStatus::unknown ? unknown : refused).push_back(batch_.at(i).number);
  }
  const bool is_in_part = std::any_of(statuses.begin(), statuses.end(), is_accepted);
  std::string text;
  if (!refused.empty() && (is_in_part || !unknown.empty())) text += "; not pushed: " + in_words(refused);
  if (!unknown.empty() && (is_in_part || !refused.empty())) text += "; not known: " + in_words(unknown);
  return text;
}

Result<void> BatchSource::send(Pusher& pusher) {
  std::vector<NewMessage> messages;
  messages.reserve(batch_.size());
  for (const Line& each : batch_) messages.push_back(each.message());
  if (Result<void> pushed = pusher.push(messages); !pushed) {
    Error error = std::move(pushed).error();
    error.text += which_are_missing(pusher.statuses());
    return error.item ? at_line(std::move(error), batch_.at(*error.item)) : error;
  }
  batch_.clear();
  bytes_ = 0;
  return {};
}

Result<void> BatchSource::push(Pusher& pusher) {
  for (;;) {
    FQ_TRY(read());
    if (batch_.empty()) return {};
    FQ_TRY(send(pusher));
  }
}

}  // namespace fq::cli
