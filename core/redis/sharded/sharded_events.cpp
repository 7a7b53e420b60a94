#include "core/redis/sharded/sharded_events.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/text/decimal.h"

namespace fq {

namespace {

// Until what has just happened may be told; and at most, since where it is later others may have news.
constexpr int64_t kHeldBackMs = 2, kHeldBackMaxMs = 100;
constexpr int64_t kOrderMs = 1'000;  // so long who wants what there is waits for what may come before it
constexpr std::string_view kLastOfMs =
    "-18446744073709551615";  // of the numbers of a stream in one millisecond

struct Place {
  uint64_t shard = 0, ms = 0;
  RedisEvents::Place in_shard;
};

/// "SHARD:MS:PLACE"; none: it is none of ours.
std::optional<Place> place_of(std::string_view text) {
  Place place;
  for (uint64_t* const part : {&place.shard, &place.ms}) {
    const std::optional<uint64_t> number = take_decimal(text);
    if (!number || !text.starts_with(":")) return std::nullopt;
    *part = *number;
    text.remove_prefix(1);
  }
  const Result<RedisEvents::Place> in_shard = RedisEvents::place_of({std::string(text)});
  if (!in_shard || text.empty()) return std::nullopt;
  place.in_shard = *in_shard;
  return place;
}

}  // namespace

/// In shards below that of the cursor's event all of its millisecond is behind us, in those above none of it.
Result<void> ShardedEvents::begin(const EventRequest& request) {
  const bool is_same = request.tag == tag_ && request.since_wall_ms == since_wall_ms_;
  if (!parts_.empty() && is_same && request.from.text == told_to_) return {};
  const std::optional<Place> place =
      request.from.text.empty() ? std::optional(Place()) : place_of(request.from.text);
  if (!place || place->shard >= shards_.count())
    return Error{ErrorKind::usage, "cursor: is none of this queue", 0};
  tag_ = request.tag;
  since_wall_ms_ = request.since_wall_ms;
  parts_.clear();
  parts_.resize(shards_.count());
  for (size_t shard = 0; shard < parts_.size(); ++shard) {
    RedisQueue& queue = shards_.at(shard);
    parts_[shard].reader = std::make_unique<RedisEvents>(queue.shard(), queue.leases());
  }
  told_to_ = request.from.text;
  if (request.from.text.empty()) return {};
  for (size_t shard = 0; shard < parts_.size(); ++shard) {
    const uint64_t before = shard < place->shard ? place->ms : place->ms == 0 ? 0 : place->ms - 1;
    parts_[shard].place.entry = std::to_string(before) + std::string(kLastOfMs);
    if (shard == place->shard) parts_[shard].place = place->in_shard;
  }
  return {};
}

Result<void> ShardedEvents::read_on(const EventRequest& request, Part& part) {
  part.told = 0;
  RedisEvents::Place place = part.place;
  Result<bool> at_end = part.reader->read(request, place, part.page, part.ends);
  if (!at_end) part.page.events.clear();  // they are read again, from where they begin
  FQ_TRY_SET(part.at_end, std::move(at_end));
  part.place = std::move(place);
  part.now_ms = part.reader->now_ms();
  return {};
}

/// One that does not answer may tell later what comes before what others have: without it there is no order,
/// unless nobody asks for one. What one has lost comes no more.
Result<void> ShardedEvents::read_on(const EventRequest& request) {
  size_t lost = 0;
  for (size_t shard = 0; shard < parts_.size(); ++shard) {
    Part& part = parts_[shard];
    if (part.has_more()) continue;
    Result<void> read = read_on(request, part);
    if (read) continue;
    const bool is_needed =
        request.passes_over_away ? !serves_nothing(read.error()) : !says_lost_root(read.error());
    if (is_needed || ++lost == parts_.size()) return read;
    shards_.note_away(shard, read.error());
    part.at_end = true;
    part.now_ms = kNever;
  }
  return {};
}

int64_t ShardedEvents::first_ms(const Part& part) const {
  return shards_.at(0).shard().server_of(part.page.events[part.told].at_wall_ms);
}

std::optional<ShardedEvents::Next> ShardedEvents::next() const {
  std::optional<Next> first;
  for (size_t shard = 0; shard < parts_.size(); ++shard) {
    const Part& part = parts_[shard];
    if (!part.has_more() && !part.at_end) return std::nullopt;
    if (!part.has_more()) continue;
    const int64_t ms = first_ms(part);
    if (!first || ms < first->ms) first = {shard, ms};
  }
  const int64_t slack_ms = shards_.told_ms() ? 1 : 0;  // a time that stands still is over with each call
  for (const Part& part : parts_) {
    if (first && !part.has_more() && part.now_ms != kNever)
      first->held_ms = std::max(first->held_ms, first->ms + 1 - part.now_ms - slack_ms);
  }
  return first;
}

int64_t ShardedEvents::merge(size_t n, bool in_order, EventPage& page) {
  while (page.events.size() < n) {
    const std::optional<Next> first = next();
    if (!first) return 0;
    if (in_order && first->held_ms > 0) return first->held_ms;
    Part& part = parts_[first->part];
    page.events.push_back(part.page.events[part.told]);
    told_to_ = std::to_string(first->part) + ":" + std::to_string(first->ms) + ":" +
               RedisEvents::cursor_of(part.ends[part.told]).text;
    ++part.told;
  }
  return 0;
}

bool ShardedEvents::is_all_told() const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [](const Part& part) { return part.at_end && !part.has_more(); });
}

Waiting::End ShardedEvents::await_event(const EventRequest& request, Waiting& waiting) {
  std::vector<Shard*> shards;
  for (size_t shard = 0; shard < shards_.count(); ++shard) shards.push_back(&shards_.at(shard).shard());
  return awaiting_.next(waiting, shards, RedisEvents::awaited(request));
}

Result<void> ShardedEvents::events(const EventRequest& request, EventPage& page) {
  page.events.clear();
  page.notices.clear();
  FQ_TRY(begin(request));
  Waiting waiting(request.wait_ms, request.interrupt);
  const int64_t late_ms = system_clock().boot_ms() + kOrderMs;
  for (;;) {
    FQ_TRY(read_on(request));
    const int64_t held_ms = merge(request.n, request.wait || system_clock().boot_ms() < late_ms, page);
    page.at_end = is_all_told();
    if (!page.events.empty() || request.n == 0) break;
    if (page.at_end && !request.wait) break;
    const Waiting::End end = page.at_end ? await_event(request, waiting)
                                         : waiting.sleep(std::clamp(held_ms, kHeldBackMs, kHeldBackMaxMs));
    if (request.wait && end != Waiting::End::goes_on) break;
  }
  page.next.text = told_to_.empty() ? "0:0:-.0" : told_to_;
  return {};
}

}  // namespace fq
