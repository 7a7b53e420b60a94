#include "core/redis/views/redis_peek.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/decimal.h"
// fq, this room.
#include "core/redis/records/argument_list.h"

namespace fq {

namespace {

constexpr size_t kFirstLook = 256;    // turns; where that is not enough four times as many, and so on
constexpr size_t kPagesPerPeek = 16;  // looked through, before a page that found little is given

// The lists in which messages stand, one behind the other: ready ones by turns, then those that lie further
// by id, those with a timer by time, those held by living by id, held ones by id, dead ones by the time of
// their death.
constexpr std::string_view kLists = "rftlhd";
constexpr std::string_view kKeys[] = {"", "", "t", "lv", "hd", "d"};

/// Whether something of this state may stand in a list.
bool may_hold(char list, const std::optional<State>& state) {
  if (!state) return true;
  if (list == 'r' || list == 'f') return *state == State::ready;
  if (list == 'd') return *state == State::dead;
  if (list == 'h') return *state == State::held;
  if (list == 'l') return *state == State::leased;
  return *state == State::delayed || *state == State::leased;
}

std::vector<uint64_t> ids_in(const Reply& told, size_t from = 0) {
  std::vector<uint64_t> ids;
  for (size_t i = from; i < told.items.size(); ++i) {
    if (const std::optional<uint64_t> id = parse_decimal(told.at(i).text)) ids.push_back(*id);
  }
  return ids;
}

}  // namespace

Result<RedisPeek::Place> RedisPeek::place_of(const Cursor& cursor) {
  if (cursor.text.empty()) return Place();
  const Place place{kLists.find(cursor.text[0]), cursor.text.substr(1)};
  const size_t dot = std::min(place.behind.find('.'), place.behind.size());
  const bool is_number = parse_decimal(place.behind.substr(0, dot)).has_value();
  const bool is_timed = dot < place.behind.size() && parse_decimal(place.behind.substr(dot + 1)).has_value();
  const bool is_ours = place.list != std::string_view::npos &&
                       (place.behind.empty() || (is_number && is_timed == (place.list > 1)));
  if (is_ours) return place;
  return Error{ErrorKind::usage, "cursor: is none of this queue", 0};
}

Result<MessagePage> RedisPeek::peek(const Filter& filter, const Cursor& cursor, size_t n) {
  FQ_TRY_SET(Place place, place_of(cursor));
  MessagePage page;
  for (size_t pages = 0; place.list < kLists.size();) {
    const bool has_some = may_hold(kLists[place.list], filter.state);
    if (has_some && (page.messages.size() == n || pages++ == kPagesPerPeek)) {
      page.next.text = kLists[place.list] + place.behind;
      return page;
    }
    bool goes_on = false;
    if (has_some) {
      FQ_TRY_SET(goes_on, add_page(filter, place, n, page));
    }
    if (!goes_on) place = {place.list + 1, ""};
  }
  return page;
}

/// Goes on in a list. False: it is over.
Result<bool> RedisPeek::add_page(const Filter& filter, Place& place, size_t n, MessagePage& page) {
  if (kLists[place.list] == 'r') return add_ready(filter, place, n, page);
  if (kLists[place.list] == 'f') return add_far(filter, place, n, page);
  return add_timed(filter, place, n, page);
}

Result<void> RedisPeek::add_shown(const Filter& filter, const std::vector<uint64_t>& ids, MessagePage& page) {
  if (ids.empty()) return {};
  ArgumentList arguments;
  arguments.borrow("show");
  for (const uint64_t id : ids) arguments.add(std::to_string(id));
  FQ_TRY_SET(const Reply reply, shard_.look(arguments.words()));
  for (const Reply& shown : reply.at(1).items) {
    std::optional<MessageInfo> info = look_.info_of(shown, reply);
    if (info && info->state == State::ready && is_taken_by(filter, *info))
      page.messages.push_back(std::move(*info));
  }
  return {};
}

/// The listing that stands there: the one that is remembered, or one as far as its place says.
Result<void> RedisPeek::go_on(const Filter& filter, const Place& place) {
  const std::string at = kLists[place.list] + place.behind;
  if (!place.behind.empty() && listing_.tenant == filter.tenant && listing_.behind == at) return {};
  listing_ = Listing();
  listing_.tenant = filter.tenant;
  uint64_t passed = kLists[place.list] == 'r' ? parse_decimal(place.behind).value_or(0) : kTurnsTold;
  while (passed > 0) {
    FQ_TRY_SET(const std::vector<uint64_t> ids, next_turns(std::min<uint64_t>(passed, kTurnsTold)));
    if (ids.empty()) return {};
    passed -= std::min<uint64_t>(passed, ids.size());
  }
  return {};
}

/// At most so many that were not shown yet; none: there are no more, or they are too far.
Result<std::vector<uint64_t>> RedisPeek::next_turns(size_t n) {
  std::vector<uint64_t> found;
  while (found.size() < n) {
    if (listing_.next < listing_.ids.size()) {
      const uint64_t id = listing_.ids[listing_.next++];
      if (listing_.shown.insert(id).second) found.push_back(id);
      continue;
    }
    if (listing_.is_whole || listing_.asked == kTurnsTold) return found;
    listing_.asked = std::min<size_t>(kTurnsTold, listing_.asked == 0 ? kFirstLook : 4 * listing_.asked);
    FQ_TRY_SET(const Reply reply, shard_.look({"order", listing_.tenant, std::to_string(listing_.asked)}));
    listing_.ids = ids_in(reply.at(1));
    listing_.next = 0;
    listing_.is_whole = listing_.ids.size() < listing_.asked;
  }
  return found;
}

Result<bool> RedisPeek::add_ready(const Filter& filter, Place& place, size_t n, MessagePage& page) {
  FQ_TRY(go_on(filter, place));
  FQ_TRY_SET(const std::vector<uint64_t> ids,
             next_turns(std::min(kMessagesPerCall, n - page.messages.size())));
  FQ_TRY(add_shown(filter, ids, page));
  place.behind = std::to_string(parse_decimal(place.behind).value_or(0) + ids.size());
  listing_.behind = kLists[place.list] + place.behind;
  return !ids.empty();
}

Result<bool> RedisPeek::add_far(const Filter& filter, Place& place, size_t n, MessagePage& page) {
  const bool begins = place.behind.empty();
  const bool remembered = begins && listing_.tenant == filter.tenant && listing_.asked > 0;
  if (!remembered) FQ_TRY(go_on(filter, place));
  if (listing_.is_whole) return false;
  const std::string last = begins ? "0" : place.behind;
  const std::string count = std::to_string(std::min(kMessagesPerCall, n - page.messages.size()));
  const std::string state = std::to_string(static_cast<int>(State::ready));
  FQ_TRY_SET(const Reply reply, shard_.look({"select", last, count, state, filter.tenant, ""}));
  std::vector<uint64_t> ids = ids_in(reply.at(1), 1);
  ids.erase(std::remove_if(ids.begin(), ids.end(), [&](uint64_t id) { return listing_.shown.count(id) > 0; }),
            ids.end());
  FQ_TRY(add_shown(filter, ids, page));
  place.behind = reply.at(1).at(0).text;
  listing_.behind = kLists[place.list] + place.behind;
  return !place.behind.empty();
}

Result<bool> RedisPeek::add_timed(const Filter& filter, Place& place, size_t n, MessagePage& page) {
  const size_t dot = place.behind.find('.');
  std::string at = place.behind.empty() ? "-inf" : place.behind.substr(0, dot);
  std::string id = place.behind.empty() ? "0" : place.behind.substr(dot + 1);
  const std::string count = std::to_string(kMessagesPerCall);
  FQ_TRY_SET(const Reply reply, shard_.look({"timed", kKeys[place.list], at, id, count}));
  for (const Reply& each : reply.at(1).items) {
    if (page.messages.size() == n) return true;
    place.behind = each.at(0).text + "." + each.at(1).at(0).text;
    std::optional<MessageInfo> info = look_.info_of(each.at(1), reply);
    const bool stands_here = info && may_hold(kLists[place.list], info->state);
    if (stands_here && is_taken_by(filter, *info)) page.messages.push_back(std::move(*info));
  }
  return reply.at(1).items.size() == kMessagesPerCall;
}

}  // namespace fq
