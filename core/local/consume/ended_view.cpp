#include "core/local/consume/ended_view.h"

// System.
#include <algorithm>
#include <charconv>
// fq, below us.
#include "core/base/sort_key.h"
// fq, this room.
#include "core/local/files/ended/ended_steps.h"
#include "core/local/read/event_walk.h"

namespace fq {

namespace {

LastError error_in(const EndedRecord& record) {
  LastError error;
  error.at_wall_ms = record.error_wall_ms;
  if (record.error_exit) error.exit = *record.error_exit;
  if (record.error_signal) error.signal = *record.error_signal;
  error.reason = record.error_reason;
  error.stderr_tail = record.error_stderr;
  return error;
}

MessageInfo info_of(const EndedRecord& record) {
  MessageInfo info;
  info.id = record.id;
  info.tenant = record.tenant;
  info.state = record.verdict == RecordType::acked ? State::acked : State::cancelled;
  info.priority = record.priority;
  info.key = decode_sort_key(record.key).value_or("");
  for (const TagView& tag : decode_tags(record.tags).value_or(std::vector<TagView>{}))
    info.tags.push_back({std::string(tag.name), std::string(tag.value)});
  const JobTerms job = decode_job(record.job).value_or(JobTerms{});
  info.command = command_of(job);
  info.timeout_ms = job.timeout_ms;
  const MessageTerms terms = decode_terms(record.terms).value_or(MessageTerms{});
  info.schedule = terms.schedule;
  if (!terms.schedule.empty()) info.scheduled_at_wall_ms = terms.scheduled_wall_ms;
  info.keep_ms = job.keep_ms;
  info.attempts = record.attempts;
  info.attempts_max = record.attempts_max;
  info.deliveries = record.deliveries;
  info.crashes = record.crashes;
  info.pushed_at_wall_ms = record.pushed_wall_ms;
  if (record.started_wall_ms != 0) info.started_at_wall_ms = record.started_wall_ms;
  info.ended_at_wall_ms = record.ended_wall_ms;
  if (record.exit) info.exit = *record.exit;
  if (record.signal) info.signal = *record.signal;
  if (record.pid != 0) info.worker_pid = static_cast<int>(record.pid);
  if (record.error_wall_ms != 0) info.last_error = error_in(record);
  return info;
}

bool takes(const Filter& filter, const MessageInfo& info) {
  if (filter.state && *filter.state != info.state) return false;
  if (filter.tag && std::find(info.tags.begin(), info.tags.end(), *filter.tag) == info.tags.end())
    return false;
  const bool for_reason =
      filter.reason.empty() ||
      (info.last_error && info.last_error->reason.find(filter.reason) != std::string::npos);
  if (!for_reason) return false;
  if (filter.tenant.empty() || info.tenant == filter.tenant) return true;
  return info.tenant.starts_with(filter.tenant + "/");
}

/// A place in the order of pages.
struct AfterEnd {
  int64_t ended_wall_ms = INT64_MAX;
  uint64_t id = UINT64_MAX;

  explicit AfterEnd(const Cursor& cursor) {
    if (cursor.text.empty()) return;
    const char* const end = cursor.text.data() + cursor.text.size();
    const auto at = std::from_chars(cursor.text.data(), end, ended_wall_ms);
    if (at.ptr != end) std::from_chars(at.ptr + 1, end, id);
  }
  bool is_before(const EndedPlace& place) const {
    return place.ended_wall_ms != ended_wall_ms ? place.ended_wall_ms < ended_wall_ms : place.id < id;
  }
};

}  // namespace

Result<std::optional<MessageInfo>> EndedView::find(MessageId id) {
  FQ_TRY_SET(const std::optional<EndedRecord> record, log().find(id, gate().now().wall_ms));
  endings_.notes().tend();
  return record ? std::optional<MessageInfo>(info_of(*record)) : std::nullopt;
}

Result<std::optional<JobOutput>> EndedView::output(MessageId id) {
  return log().output(id, gate().now().wall_ms);
}

std::optional<std::vector<StepInfo>> EndedView::steps(MessageId id) {
  const Result<std::optional<EndedRecord>> record = log().find(id, gate().now().wall_ms);
  // As with the rest that was noted: where nothing can be read, nothing is known.
  if (!record.ok() || !*record) return std::nullopt;
  return decode_ended_steps((*record)->steps);
}

Result<bool> EndedView::lives(uint64_t id) {
  bool lives = false;
  FQ_TRY(locked([&]() -> Result<void> {
    lives = schedule().messages().find(MessageId{id}).has_value();
    return {};
  }));
  return lives;
}

Result<MessagePage> EndedView::page(const Filter& filter, const Cursor& from, size_t n) {
  FQ_TRY_SET(const std::vector<EndedPlace> places, log().newest_first(gate().now().wall_ms));
  const AfterEnd after(from);
  MessagePage page;
  auto place = std::find_if(places.begin(), places.end(),
                            [&](const EndedPlace& each) { return after.is_before(each); });
  for (; place != places.end() && page.messages.size() < n; ++place) {
    // Its end may never have come about: then it is told from the queue.
    FQ_TRY_SET(const bool alive, lives(place->id));
    if (alive) continue;
    FQ_TRY_SET(const std::optional<EndedRecord> record, read_ended(disk(), *place));
    if (!record) continue;
    MessageInfo info = info_of(*record);
    if (takes(filter, info)) page.messages.push_back(std::move(info));
  }
  if (place != places.end() && place != places.begin()) {
    const EndedPlace& last = *(place - 1);
    page.next.text = std::to_string(last.ended_wall_ms) + "." + std::to_string(last.id);
  }
  return page;
}

Result<HistoryPage> EndedView::history(MessageId id) {
  HistoryPage page;
  FQ_TRY_SET(const std::optional<MessageInfo> info, find(id));
  if (!info) return page;
  page.tenant = info->tenant;
  const auto add = [&](std::string_view name, int64_t at_wall_ms) -> HistoryEvent& {
    HistoryEvent& event = page.events.emplace_back();
    event.event = name;
    event.at_wall_ms = at_wall_ms;
    return event;
  };
  add(name_of_event(RecordType::pushed), *info->pushed_at_wall_ms);
  if (info->started_at_wall_ms)
    add(name_of_event(RecordType::leased), *info->started_at_wall_ms).pid = info->worker_pid;
  const bool acked = info->state == State::acked;
  add(name_of_event(acked ? RecordType::acked : RecordType::cancelled), *info->ended_at_wall_ms);
  return page;
}

}  // namespace fq
