#include "core/local/look/viewer.h"

// System.
#include <algorithm>
#include <array>
#include <charconv>
#include <span>
// fq, below us.
#include "core/api/receipt.h"
#include "core/base/host_name.h"
// fq, this room.
#include "core/local/files/blobs.h"
#include "core/local/read/item_view.h"

namespace fq {

namespace {

constexpr size_t kTurnsPerPage = 512;
// Messages that are looked at for one page of which the filter takes none: between two pages a caller hears
// of signals.
constexpr size_t kLooksPerPage = 4096;
constexpr int kItemTries = 3;  // against compaction and other payloads

template <class Number>
Number number_in(std::string_view text) {
  Number value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// A time, which may lie before this boot, and an id; none: from the start.
std::optional<PagePlace> place_in(const Cursor& cursor) {
  if (cursor.text.empty()) return std::nullopt;
  const std::string_view text = cursor.text;
  const size_t dot = text.find('.');
  PagePlace place{number_in<int64_t>(text), 0};
  if (dot != std::string_view::npos) place.id = number_in<uint64_t>(text.substr(dot + 1));
  return place;
}

MessageInfo describe_finished(MessageId id, const Outcome& outcome) {
  MessageInfo info;
  info.id = id;
  info.state = state_of_end(outcome.verdict);
  info.attempts = outcome.attempts;
  return info;
}

/// Of one that is held; without a delay it is due when it was pushed, which says nothing.
void add_due(const Snapshot& snapshot, const MessageItem& item, MessageInfo& info) {
  if (snapshot.state != State::held || snapshot.suspended) return;
  if (item.due_wall_ms < 0) info.delay_ms = -item.due_wall_ms;
  if (item.due_wall_ms > item.pushed_wall_ms) info.due_at_wall_ms = snapshot.wakes_wall_ms;
}

}  // namespace

Result<MessageInfo> Viewer::describe(const Snapshot& snapshot) {
  MessageInfo info;
  info.id = MessageId{snapshot.id};
  info.state = snapshot.state;
  info.attempts = snapshot.attempts;
  info.attempts_max = snapshot.attempts_max;
  info.deliveries = snapshot.deliveries;
  info.crashes = snapshot.crashes;
  if (snapshot.state == State::delayed) info.due_at_wall_ms = snapshot.at_wall_ms;
  const bool will_start = snapshot.state == State::ready || snapshot.state == State::delayed;
  if (snapshot.ttl_ms != 0 && will_start) info.expires_at_wall_ms = snapshot.at_wall_ms + snapshot.ttl_ms;
  if (snapshot.state == State::leased) {
    info.receipt = Receipt(snapshot.id, snapshot.serial, mark());
    if (snapshot.at_wall_ms != 0) info.lease_until_wall_ms = snapshot.at_wall_ms;
    info.holder_pid = reaper_.keeper_of(snapshot);
    if (info.holder_pid) info.holder_host = host_name();
  }
  FQ_TRY(add_item(snapshot, info));
  if (!snapshot.has_ttl) info.ttl_ms.reset();
  FQ_TRY_SET(info.last_error, last_error_of(link_, snapshot));
  if (snapshot.state == State::leased || snapshot.state == State::dead) FQ_TRY(add_run(snapshot, info));
  return info;
}

/// Its last run, which goes on or was the last: of a dead one also how that ended.
Result<void> Viewer::add_run(const Snapshot& snapshot, MessageInfo& info) {
  FQ_TRY(
      walk_events(link_, snapshot.id, snapshot.event_position,
                  [&](RecordType type, int64_t at_wall_ms, const EventDetail& detail, uint64_t, EventSource) {
                    if (type != RecordType::leased) return true;
                    info.started_at_wall_ms = at_wall_ms;
                    if (detail.pid != 0) info.worker_pid = static_cast<int>(detail.pid);
                    return false;
                  }));
  if (snapshot.state != State::dead) return {};
  info.ended_at_wall_ms = snapshot.at_wall_ms;
  if (!info.last_error) return {};
  info.exit = info.last_error->exit;
  info.signal = info.last_error->signal;
  return {};
}

/// What a step of it waits for stands in no item, unless it was copied forward since.
Result<void> Viewer::add_waits(const Snapshot& snapshot, const MessageItem& item, MessageInfo& info) {
  if (snapshot.state != State::held) return {};
  std::array<uint64_t, kWaitsMax> ids;
  uint32_t count = 0;
  FQ_TRY(locked([&]() -> Result<void> {
    count = 0;
    const std::optional<SlotIndex> slot = schedule().messages().find(MessageId{snapshot.id});
    const bool held = slot && state_of(schedule().messages().entry(*slot)) == SlotState::held;
    if (held) count = schedule().dependents().waits_of(*slot, ids);
    return {};
  }));
  const std::span waits = std::span(ids).first(count);
  const std::optional<MessageTerms> terms = decode_terms(item.terms);
  if (!waits_for_step(terms ? terms->after : Bytes(), waits)) return {};
  info.after.clear();
  info.after_any.clear();
  // However they end: its job sees to that.
  for (const uint64_t id : waits) info.after_any.push_back(MessageId{id});
  std::sort(info.after_any.begin(), info.after_any.end());
  return {};
}

/// What its record says, with the payload, or what of them is lost. Of a message that has ended meanwhile as
/// much as can be read.
Result<void> Viewer::add_item(const Snapshot& snapshot, MessageInfo& info) {
  FoundMessage message{snapshot.id, snapshot.place};
  for (int attempt = 0; attempt < kItemTries; ++attempt) {
    FQ_TRY_SET(const bool readable, messages_.read(message));
    if (readable) describe_item(messages_.item(), info);
    if (readable) add_due(snapshot, messages_.item(), info);
    if (readable) FQ_TRY(add_waits(snapshot, messages_.item(), info));
    PayloadMemory memory(readable ? messages_.item().payload.size() : 0);
    Payload payload;
    const Result<void> has = readable ? messages_.payload(memory, payload)
                                      : Error{ErrorKind::bad_data, messages_.lost_text(message), 0};
    if (has.ok()) {
      FQ_TRY_SET(info.payload, payload.read_all());
      return {};
    }
    if (!is_lost(has.error())) return has.error();
    std::optional<uint64_t> position;
    std::array<char, kTextBytesMax> text;
    std::string_view tenant;
    FQ_TRY(locked([&]() -> Result<void> {
      position.reset();
      const std::optional<SlotIndex> slot = schedule().messages().find(MessageId{snapshot.id});
      if (!slot) return {};
      position = schedule().messages().entry(*slot).item_position;
      tenant =
          schedule().tenants().path_copy(TenantIndex{schedule().messages().entry(*slot).tenant.get()}, text);
      return {};
    }));
    if (!position) return {};
    info.tenant = tenant;
    info.lost = readable ? lost_payload_text(has.error()) : has.error().text;
    if (!message.place || *position == message.place->position) return {};
    // It got another payload, or was copied forward.
    info.lost.clear();
    message.place.reset();
  }
  return {};
}

Result<MessagePage> Viewer::peek_ready(const Filter& filter, size_t given, size_t n) {
  MessagePage page;
  given = std::min<size_t>(given, UINT32_MAX);  // as many as have a slot
  const size_t end = given + kLooksPerPage;
  bool more = true;
  while (more && page.messages.empty() && given < end) {
    FQ_TRY_SET(const std::vector<Snapshot> snapshot, turns_.turns(filter, given, n));
    more = snapshot.size() == n && n > 0;
    given += n;
    for (const Snapshot& one : snapshot) {
      FQ_TRY_SET(const bool fits, messages_.fits(one, filter));
      if (!fits) continue;
      FQ_TRY_SET(MessageInfo info, describe(one));
      page.messages.push_back(std::move(info));
    }
  }
  if (more) page.next.text = std::to_string(given);
  return page;
}

Result<MessagePage> Viewer::peek(const Filter& filter, const Cursor& from, size_t n) {
  if (filter.state == State::ready)
    return peek_ready(filter, number_in<size_t>(from.text), std::min(n, kTurnsPerPage));
  PagePlace after = place_in(from).value_or(PagePlace{INT64_MIN, 0});
  const bool by_id = !filter.state || filter.state == State::held;
  const auto order = by_id ? Pages::Order::id : Pages::Order::due;
  MessagePage page;
  bool more = true;
  for (size_t looks = 0; more && page.messages.empty() && looks < kLooksPerPage; looks += n) {
    FQ_TRY_SET(const std::vector<PagePlace> places, pages_.select(filter, order, after, n));
    more = places.size() == n && n > 0;
    for (const PagePlace& place : places) {
      after = place;
      FQ_TRY_SET(const std::optional<Snapshot> snapshot, pages_.look_again(filter, place));
      if (!snapshot) continue;
      FQ_TRY_SET(MessageInfo info, describe(*snapshot));
      page.messages.push_back(std::move(info));
    }
  }
  if (more) page.next.text = std::to_string(after.at_ms) + "." + std::to_string(after.id);
  return page;
}

Result<MessagePage> Viewer::dead(const Filter& filter, const Cursor& from, size_t n) {
  int64_t wall_minus_boot_ms = 0;
  FQ_TRY(locked([&]() -> Result<void> {
    wall_minus_boot_ms = store().wall_of(0);
    return {};
  }));
  PagePlace after{INT64_MIN, 0};
  if (const auto told = place_in(from)) after = newest_place(told->at_ms - wall_minus_boot_ms, told->id);
  MessagePage page;
  bool more = n > 0;
  while (more && page.messages.size() < n) {
    const size_t want = n - page.messages.size();
    FQ_TRY_SET(const std::vector<PagePlace> places, pages_.select(filter, Pages::Order::newest, after, want));
    more = places.size() == want;
    for (const PagePlace& place : places) {
      after = place;
      const PagePlace told = newest_place(place.at_ms, place.id);
      FQ_TRY_SET(const std::optional<Snapshot> snapshot, pages_.look_again(filter, told));
      if (!snapshot) continue;
      FQ_TRY_SET(MessageInfo info, describe(*snapshot));
      page.messages.push_back(std::move(info));
    }
  }
  if (more && !page.messages.empty()) {
    const MessageInfo& last = page.messages.back();
    page.next.text = std::to_string(*last.ended_at_wall_ms) + "." + std::to_string(number(last.id));
  }
  return page;
}

Result<std::optional<MessageInfo>> Viewer::get(MessageId id) {
  std::optional<Snapshot> snapshot;
  std::optional<Outcome> outcome;
  uint64_t ended_before = 0;
  FQ_TRY(locked([&]() -> Result<void> {
    snapshot.reset();
    gate().fire_timers(gate().now(), 1);
    const std::optional<SlotIndex> slot = schedule().messages().find(id);
    if (slot) snapshot = take_snapshot(link_, *slot);
    if (!slot) outcome = schedule().past().outcome(id);
    ended_before = header().tail;
    return {};
  }));
  if (snapshot) {
    FQ_TRY_SET(MessageInfo info, describe(*snapshot));
    return std::optional<MessageInfo>(std::move(info));
  }
  // An end is told only once it can no longer be lost.
  if (!syncs_lazily()) FQ_TRY(flusher().wait_durable(ended_before));
  Result<std::optional<MessageInfo>> noted = ended_.find(id);
  if (!outcome) return noted;
  MessageInfo finished = describe_finished(id, *outcome);
  if (finished.state == State::moved) {
    FQ_TRY(walk_events(link_, number(id), outcome->event_position,
                       [&](RecordType type, int64_t, const EventDetail& detail, uint64_t, EventSource) {
                         if (type == RecordType::left)
                           finished.moved_to = Elsewhere{std::string(detail.queue), detail.id_there};
                         return false;
                       }));
  }
  // One that ended otherwise than was noted of it, or of which nothing can be read, is told from what is
  // sure.
  return noted.ok() && *noted && (*noted)->state == finished.state
             ? std::move(noted)
             : std::optional<MessageInfo>(std::move(finished));
}

}  // namespace fq
