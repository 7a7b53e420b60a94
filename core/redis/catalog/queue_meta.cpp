#include "core/redis/catalog/queue_meta.h"

// System.
#include <algorithm>
#include <array>
#include <utility>
// fq, below us.
#include "core/base/text/decimal.h"
#include "core/base/text/escape.h"
// fq, this room.
#include "core/redis/shard/shard_places.h"
#include "core/redis/wire/answer.h"
#include "core/redis/wire/slots.h"

namespace fq {

namespace {

// All that is told of a queue. Each is written, so that nothing stays of another queue.
constexpr std::array<const char*, 6> kCopied = {"schema", "shards", "mark", "places", "spread", "events"};

// Chosen: seldom enough to cost nothing, and sooner than a second server is likely to be lost.
constexpr uint64_t kToldForMs = uint64_t{3'600} * 1'000;

template <size_t kCount>
using WordList = std::array<std::string_view, kCount>;

std::string value_of(const Fixed& meta, const char* field) {
  const auto found = meta.find(field);
  return found == meta.end() ? std::string() : found->second;
}

}  // namespace

std::string QueueMeta::key(const std::string& queue) const {
  return access_.place.key("{" + queue + "}:meta");
}

std::vector<std::string> QueueMeta::copies(const std::string& queue) const {
  std::vector<std::string> keys;
  for (const std::string& place : copy_places(queue)) keys.push_back(key(place));
  return keys;
}

Result<bool> QueueMeta::may_have_copies(const std::string& queue, const std::string& places) const {
  const std::vector<std::string> all = places_in(places);
  const bool is_any_elsewhere = std::any_of(
      all.begin(), all.end(), [&](const std::string& place) { return slot_of(place) != slot_of(queue); });
  if (!is_any_elsewhere) return false;
  return access_.link->is_cluster();
}

Result<Fixed> QueueMeta::fixed_in(const std::string& queue, const Reply& reply) const {
  Fixed meta;
  for (size_t i = 0; i + 1 < reply.items.size(); i += 2) meta[reply.at(i).text] = reply.at(i + 1).text;
  if (!meta.empty() && meta["schema"] != kSchema) {
    Error error = other_schema(meta["schema"], kSchema);
    error.text.insert(0, "queue " + in_quotes(queue) + ": ");
    return error;
  }
  return meta;
}

Result<Fixed> QueueMeta::read(const std::string& queue) const {
  const std::string meta = key(queue);
  FQ_TRY_SET(const Reply reply, access_.link->call(meta, WordList<2>{"HGETALL", meta}));
  return fixed_in(queue, reply);
}

Result<QueueMeta::Answer> QueueMeta::ask(const std::string& queue, const std::string& command,
                                         const std::vector<std::string>& words) const {
  const auto asked = [&](const std::string& key) {
    std::vector<std::string> all = {command, key};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  };
  const std::vector<std::string> of_it = asked(key(queue));
  FQ_TRY_SET(const bool is_cluster, access_.link->is_cluster());
  if (is_cluster) {
    Result<Reply> told = std::move(access_.link->ask_anew({of_it}).front());
    if (told) return Answer{std::move(told).value(), {}};
    if (!is_away(told.error())) return std::move(told).error();
    std::vector<std::vector<std::string>> others;
    for (const std::string& copy : copies(queue)) others.push_back(asked(copy));
    for (Result<Reply>& copy : access_.link->ask_anew(others)) {
      const bool is_there = copy && (copy->is_text() || !copy->items.empty());
      if (is_there) return Answer{std::move(copy).value(), told.error().text};
    }
  }
  const std::vector<std::string_view> views(of_it.begin(), of_it.end());
  FQ_TRY_SET(Reply reply, access_.link->call(views[1], views));
  return Answer{std::move(reply), {}};
}

Result<QueueMeta::Told> QueueMeta::tell(const std::string& queue) const {
  FQ_TRY_SET(Answer answer, ask(queue, "HGETALL", {}));
  FQ_TRY_SET(Fixed fixed, fixed_in(queue, answer.reply));
  return Told{std::move(fixed), std::move(answer.away)};
}

Result<std::vector<Fixed>> QueueMeta::forgotten(const std::string& queue) const {
  std::vector<Fixed> found;
  FQ_TRY_SET(const bool is_cluster, access_.link->is_cluster());
  if (!is_cluster) return found;
  std::vector<std::vector<std::string>> commands;
  for (const std::string& copy : copies(queue)) commands.push_back({"HGETALL", copy});
  for (const Result<Reply>& copy : access_.link->ask_anew(commands)) {
    if (!copy || copy->items.empty()) continue;
    FQ_TRY_SET(Fixed fixed, fixed_in(queue, *copy));
    if (leads_to_shards(fixed)) found.push_back(std::move(fixed));
  }
  return found;
}

bool QueueMeta::leads_to_shards(const Fixed& copy) const {
  if (value_of(copy, "mark").empty()) return false;
  std::vector<std::vector<std::string>> commands;
  for (const std::string& place : places_in(value_of(copy, "places")))
    commands.push_back({"EXISTS", access_.place.key("{" + place + "}:h")});
  const std::vector<Result<Reply>> roots = access_.link->ask(commands);
  return std::any_of(roots.begin(), roots.end(),
                     [](const Result<Reply>& root) { return root.ok() && root->number == 1; });
}

Result<std::string> QueueMeta::mark(const std::string& queue) const {
  FQ_TRY_SET(const Answer answer, ask(queue, "HGET", {"mark"}));
  return answer.reply.text;
}

bool QueueMeta::may_lack_copies(const Fixed& meta) const {
  const uint64_t told_ms = parse_decimal(value_of(meta, "copies")).value_or(0);
  const auto now_ms = static_cast<uint64_t>(access_.clock()->wall_ms());
  return std::max(told_ms, now_ms) - std::min(told_ms, now_ms) > kToldForMs;
}

void QueueMeta::make_copies(const std::string& queue, const Fixed& meta) const {
  const std::string places = value_of(meta, "places"), there = key(queue);
  const Result<bool> may_have = may_have_copies(queue, places);
  if (!may_have || !*may_have) return;
  std::vector<std::vector<std::string>> commands;
  for (const std::string& copy : copies(queue)) {
    std::vector<std::string>& command = commands.emplace_back(std::vector<std::string>{"HSET", copy});
    for (const char* field : kCopied) command.insert(command.end(), {field, value_of(meta, field)});
  }
  bool are_there = true;
  for (const Result<Reply>& made : access_.link->ask_anew(commands)) are_there = are_there && made.ok();
  const std::string before = value_of(meta, "copies");
  // Where there are some who cannot be reached is asked once an hour, and not by each who opens it.
  if (!are_there && (before.empty() || before == "0")) return;
  const std::string now_ms = std::to_string(access_.clock()->wall_ms());
  const Result<Reply> said = call_function(*access_.link, *access_.library, "copied", WordList<1>{there},
                                           WordList<2>{places, now_ms});
  if (said && said->at(0).number == 0) static_cast<void>(drop_copies(queue, places));
}

Result<void> QueueMeta::give_up_copies(const std::string& queue, const std::string& places) const {
  FQ_TRY_SET(const bool may_have, may_have_copies(queue, places));
  if (!may_have) return {};
  const std::string there = key(queue);
  const Result<Reply> said =
      call_function(*access_.link, *access_.library, "copied", WordList<1>{there}, WordList<2>{places, "0"});
  Result<void> given_up = said ? drop_copies(queue, places) : said.error();
  if (given_up || given_up.error().kind != ErrorKind::io) return given_up;
  // What became of copies may be unknown: nothing was done to the queue.
  return Error{ErrorKind::later, given_up.error().text, given_up.error().sys};
}

Result<void> QueueMeta::drop_copies(const std::string& queue, const std::string& places) const {
  FQ_TRY_SET(const bool may_have, may_have_copies(queue, places));
  if (!may_have) return {};
  for (const std::string& copy : copies(queue)) {
    FQ_TRY_SET(const Reply there, access_.link->call(copy, WordList<3>{"HGET", copy, "places"}));
    if (there.text == places) FQ_TRY(access_.link->call(copy, WordList<2>{"UNLINK", copy}));
  }
  return {};
}

}  // namespace fq
