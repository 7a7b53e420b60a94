#include "core/local/consume/endings.h"

// System.
#include <algorithm>
#include <cerrno>
// fq, below us.
#include "core/base/fault_point.h"
#include "core/base/text/size.h"
// fq, this room.
#include "core/local/files/ended/ended_steps.h"
#include "core/local/files/jobs/outputs.h"
#include "core/local/read/step_reader.h"

namespace fq {

namespace {

constexpr int64_t kLogTimeoutMs = 1'000;  // chosen: a verdict does not wait longer for a record
constexpr int64_t kNoTryMs = 1'000;       // arbitrary
constexpr int64_t kBetweenLooksMs = 60'000;
constexpr int64_t kRunToldMs = UINT32_MAX;  // an entry knows when it began modulo 2^32

bool is_end(RecordType type) { return type == RecordType::acked || type == RecordType::cancelled; }

std::optional<int16_t> status_in(const std::optional<int>& status) {
  return status ? std::optional(static_cast<int16_t>(*status)) : std::nullopt;
}

uint64_t bytes_of(const JobOutput& output) {
  return kept_bytes(output, Channel::out) + kept_bytes(output, Channel::err);
}

Error too_long(uint64_t bytes) {
  return Error{ErrorKind::usage,
               "it has " + format_size(bytes) + ", and " + format_size(kEndedOutputBytesMax) +
                   " is the most that is kept of one",
               0};
}

}  // namespace

bool Endings::lacks_note(RecordType type, SlotIndex slot, const Settle* settle) {
  const bool has_output = settle != nullptr && settle->output != nullptr;
  if (!is_end(type) && !has_output) return false;
  const Entry& entry = schedule().messages().entry(slot);
  if (!is_told_of(entry, header().settings.retention_ms, has_output)) return false;
  const bool last = type == RecordType::retried && entry.attempts + 1U >= entry.attempts_max;
  // What is run again is told of when it ends.
  if (!is_end(type) && type != RecordType::buried && !last) return false;
  return !notes_ || notes_->lacks(type, slot, settle);
}

EndNotes& Endings::notes() {
  if (!notes_) notes_ = std::make_unique<EndNotes>(link_, messages_);
  return *notes_;
}

bool EndNotes::lacks(RecordType type, SlotIndex slot, const Settle* settle) {
  const Entry& entry = schedule().messages().entry(slot);
  if (gave_up_ || is_noted(entry.id, entry.event_position)) return false;
  const auto end = found_.begin() + static_cast<ptrdiff_t>(found_count_);
  const bool found =
      std::any_of(found_.begin(), end, [&](const Found& each) { return each.snapshot.id == entry.id; });
  if (found || found_count_ == found_.size()) return true;
  Found& one = found_[found_count_++];
  one.snapshot = take_snapshot(link_, slot);
  one.type = is_end(type) ? type : RecordType::buried;
  one.settle = settle;
  one.started_wall_ms = 0;
  if (one.snapshot.state == State::leased) {
    const Now now = gate().now();
    one.started_wall_ms = now.wall_ms - (static_cast<uint32_t>(now.boot_ms) - entry.began_ms);
  }
  return true;
}

bool EndNotes::is_noted(uint64_t id, uint64_t event_position) const {
  return std::any_of(noted_.begin(), noted_.end(), [&](const Noted& each) {
    return each.id == id && each.event_position == event_position;
  });
}

void EndNotes::overcome() {
  if (found_count_ == 0) return;  // we were not there to be told: now we are
  if (has_log_) {
    note_found();
  } else {
    // What takes long is done before others have to wait for us.
    keep_long_outputs();
    has_log_ = take_log();
  }
  found_count_ = 0;
}

void EndNotes::done() {
  if (has_log_) log_.unlock();
  has_log_ = false;
  gave_up_ = false;
  found_count_ = 0;
  noted_.clear();
  outputs_tried_.clear();
}

bool EndNotes::take_log() {
  const bool soon_again = clock().boot_ms() < no_try_until_ms_;
  const Result<bool> taken = log_.lock(soon_again ? 0 : kLogTimeoutMs);
  if (taken.ok() && *taken) return true;
  give_up(taken.ok() ? "another process has held ended/lock for too long" : taken.error().text);
  return false;
}

void EndNotes::give_up(const std::string& why) {
  gave_up_ = true;
  no_try_until_ms_ = clock().boot_ms() + kNoTryMs;
  if (why == told_why_) {
    if (std::exchange(said_for_all_, true)) return;
    return notice(object() + ": the ends of later messages are not kept either: " + why);
  }
  told_why_ = why;
  said_for_all_ = false;
  const std::string others = found_count_ > 1 ? " and of others" : "";
  notice(object() + ": the end of message " + std::to_string(found_[0].snapshot.id) + others +
         " is not kept: " + why);
}

/// Needs: the log.
void EndNotes::note_found() {
  now_wall_ms_ = gate().now().wall_ms;
  std::vector<EndedRecord> records;
  for (const Found& found : std::span(found_).first(found_count_)) {
    if (std::optional<EndedRecord> record = record_of(found)) records.push_back(std::move(*record));
  }
  const Result<void> noted = records.empty() ? Result<void>() : log_.append(records, now_wall_ms_);
  if (!noted.ok()) return give_up(noted.error().text);
  const bool is_over = !records.empty() && !std::exchange(told_why_, {}).empty();
  if (is_over) notice(object() + ": the ends of messages are kept again");
  for (const Found& found : std::span(found_).first(found_count_))
    noted_.push_back({found.snapshot.id, found.snapshot.event_position});
  FQ_POINT("ended.noted");
}

void EndNotes::keep_long_outputs() {
  now_wall_ms_ = gate().now().wall_ms;
  for (const Found& found : std::span(found_).first(found_count_)) {
    if (is_long(found.settle)) keep_long_output(found);
  }
}

bool EndNotes::is_long(const Settle* settle) {
  return settle != nullptr && settle->output != nullptr && bytes_of(*settle->output) > kEndedInlineBytesMax;
}

/// In a file of its own, until when its record will be told.
void EndNotes::keep_long_output(const Found& found) {
  const JobOutput& output = *found.settle->output;
  const int64_t until_wall_ms = now_wall_ms_ + std::min(output.keep_ms, kLatestMs);
  const MessageId id{found.snapshot.id};
  const uint64_t bytes = bytes_of(output);
  // Before it is written: all others would have to make room for it, and it for the next.
  const Result<void> kept =
      bytes > kEndedOutputBytesMax ? too_long(bytes) : keep_output(disk(), id, output, until_wall_ms);
  outputs_tried_.push_back({found.snapshot.id, kept.ok() ? until_wall_ms : 0});
  if (kept.ok()) return;
  notice(object() + ": the output of message " + std::to_string(found.snapshot.id) +
         " is not kept: " + kept.error().text);
}

/// 0: it is not told of.
int64_t EndNotes::kept_ms(const JobTerms& terms, const Settle* settle) {
  const int64_t by_policy = retention_of(header().settings.retention_ms.peek(), !terms.argv.empty());
  int64_t asked = terms.keep_ms.value_or(by_policy);
  if (asked == 0 && settle != nullptr && settle->output != nullptr) asked = settle->output->keep_ms;
  return std::clamp<int64_t>(asked, 0, kLatestMs);
}

std::optional<EndedRecord> EndNotes::record_of(const Found& found) {
  FoundMessage message{found.snapshot.id, found.snapshot.place};
  const Result<bool> readable = messages_.read(message);
  // What cannot be read is told by check, and is not told of after its end.
  if (!readable.ok() || !*readable) return std::nullopt;
  const MessageItem& item = messages_.item();
  JobTerms terms = decode_job(item.job).value_or(JobTerms{});
  const int64_t kept = kept_ms(terms, found.settle);
  if (kept == 0) return std::nullopt;
  EndedRecord record;
  record.id = MessageId{found.snapshot.id};
  record.verdict = found.type;
  record.until_wall_ms = now_wall_ms_ + kept;
  record.ended_wall_ms = now_wall_ms_;
  record.pushed_wall_ms = item.pushed_wall_ms;
  record.started_wall_ms = found.started_wall_ms;
  record.priority = item.priority;
  record.pid = static_cast<uint32_t>(found.snapshot.pid);
  record.deliveries = found.snapshot.deliveries;
  record.attempts = found.snapshot.attempts;
  record.attempts_max = found.snapshot.attempts_max;
  record.crashes = found.snapshot.crashes;
  record.tenant = item.tenant;
  record.key = item.key;
  record.tags = item.tags;
  // Its variables may be secrets, and nobody runs it again.
  terms.env.clear();
  record.job = encode_job(terms);
  record.terms = item.terms;
  add_steps(found, record);
  add_output(found, record);
  add_past(found, record);
  if (found.settle != nullptr) record.exit = status_in(found.settle->exit);
  if (found.settle != nullptr) record.signal = status_in(found.settle->signal);
  return record;
}

/// As far as they can be read.
void EndNotes::add_steps(const Found& found, EndedRecord& record) {
  const Result<std::optional<std::vector<StepInfo>>> steps =
      StepReader(link_).list(MessageId{found.snapshot.id});
  if (steps.ok() && *steps) record.steps = encode_ended_steps(**steps);
}

void EndNotes::add_output(const Found& found, EndedRecord& record) {
  if (found.settle == nullptr || found.settle->output == nullptr) return;
  const JobOutput& output = *found.settle->output;
  if (!is_long(found.settle)) {
    Result<std::string> out = kept_text(output, Channel::out, 0, kept_bytes(output, Channel::out));
    Result<std::string> err = kept_text(output, Channel::err, 0, kept_bytes(output, Channel::err));
    if (!out.ok() || !err.ok()) return;
    record.output = EndedOutput{std::move(out).value(), std::move(err).value(), gap_of(output, Channel::out),
                                gap_of(output, Channel::err)};
    return;
  }
  const auto of_this = [&](const TriedOutput& tried) { return tried.id == found.snapshot.id; };
  auto tried = std::find_if(outputs_tried_.begin(), outputs_tried_.end(), of_this);
  if (tried == outputs_tried_.end()) {
    keep_long_output(found);
    tried = outputs_tried_.end() - 1;
  }
  if (tried->until_wall_ms == 0) return;
  record.output_bytes = bytes_of(output);
  record.until_wall_ms = tried->until_wall_ms;
}

/// What is in the journal only: why an attempt failed, and when the last run began where it is over, or may
/// be longer than what an entry tells.
void EndNotes::add_past(const Found& found, EndedRecord& record) {
  // As far as it can be read.
  Result<std::optional<LastError>> error = last_error_of(link_, found.snapshot);
  if (error.ok() && *error) {
    record.error_wall_ms = (*error)->at_wall_ms;
    record.error_exit = status_in((*error)->exit);
    record.error_signal = status_in((*error)->signal);
    record.error_reason = std::move((*error)->reason);
    record.error_stderr = std::move((*error)->stderr_tail);
  }
  const bool is_running = found.started_wall_ms != 0;
  if (record.deliveries == 0 || (is_running && now_wall_ms_ - record.pushed_wall_ms <= kRunToldMs)) return;
  if (!is_running) record.exit = record.error_exit;
  if (!is_running) record.signal = record.error_signal;
  static_cast<void>(
      walk_events(link_, found.snapshot.id, found.snapshot.event_position,
                  [&](RecordType type, int64_t at_wall_ms, const EventDetail& detail, uint64_t, EventSource) {
                    if (type != RecordType::leased) return true;
                    record.started_wall_ms = at_wall_ms;
                    record.pid = detail.pid;
                    return false;
                  }));
}

void EndNotes::tend() {
  const int64_t now_ms = clock().boot_ms();
  if (now_ms - tended_at_ms_ < kBetweenLooksMs) return;
  tended_at_ms_ = now_ms;
  if (log_.is_due(gate().now().wall_ms)) sweep();
}

void EndNotes::sweep() {
  if (!log_.holds_something()) return;
  const Result<bool> taken = log_.lock(0);
  if (!taken.ok() || !*taken) return;
  // What cannot be given back now is in nobody's way.
  static_cast<void>(log_.sweep(gate().now().wall_ms, EndedLog::Depth::strays));
  log_.unlock();
}

}  // namespace fq
